//! Results for people: decimals rounded to the safe side, tables, figures, text and JSON lines.
//!
//! Knows nothing of commands and experiments. Everything here is a function of its arguments.
//!
//! * [`decimal`] rounds numbers up or down in print, towards safety;
//! * [`table`] lays a table out as Markdown, as LaTeX and for the terminal; [`spread`] makes cells of repeated measurements;
//! * [`figure`] draws panels of curves and galleries of pictures, as SVG and PNG from the same shapes;
//! * [`page`](mod@page) makes pages of HTML in one file each;
//! * [`text`] wraps paragraphs and escapes texts that come from files; [`markup`] does so for HTML, [`json`] writes an object on a line;
//! * [`mark`] is what tells files of this program from those of others.

pub mod base64;
pub mod decimal;
pub mod figure;
pub mod json;
pub mod mark;
pub mod markup;
pub mod page;
pub mod spread;
pub mod table;
pub mod text;
