//! Tables, as Markdown, as LaTeX, as HTML and for the terminal.

mod columns;
mod html;
mod latex;
mod terminal;

pub use columns::Table;
pub use latex::latex_letter;
