//! Tables, as Markdown, as LaTeX and for the terminal.

mod columns;
mod latex;
mod terminal;

pub(crate) use columns::Table;
pub(crate) use latex::latex_letter;
