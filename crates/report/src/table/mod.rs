//! Tables, as Markdown, as LaTeX and for the terminal.

mod columns;
mod latex;
mod terminal;

pub use columns::Table;
pub use latex::latex_letter;
