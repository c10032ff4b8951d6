//! Pictures in rows and columns, each magnified without smoothing.

use super::pixels::Pixels;
use super::{Anchor, Drawing, Primitive, TEXT, TITLE};

/// Side of a picture, the space between two, and around all; in pixels of the SVG.
const SIDE: f64 = 120.0;
const GAP: f64 = 10.0;
const EDGE: f64 = 16.0;
const HEADING: f64 = 26.0;
const CAPTION: f64 = 18.0;

/// Rows of pictures under headings.
pub struct Gallery {
    /// One per column.
    pub headings: Vec<String>,
    /// Pictures of each row, in columns.
    pub rows: Vec<Vec<Picture>>,
    /// What is said below all of them.
    pub note: Option<String>,
}

/// A picture and what is written below it.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// What is shown.
    pub pixels: Pixels,
    /// The line below it; may be empty.
    pub caption: String,
}

impl Gallery {
    /// The gallery as shapes.
    pub fn draw(&self) -> Drawing {
        let columns = self.headings.len().max(self.rows.iter().map(Vec::len).max().unwrap_or(0));
        let captions = self.rows.iter().flatten().any(|picture| !picture.caption.is_empty());
        let step = SIDE + GAP + if captions { CAPTION } else { 0.0 };
        let note = if self.note.is_some() { HEADING } else { 0.0 };
        let width = 2.0 * EDGE + (SIDE + GAP) * columns as f64 - GAP;
        let height = 2.0 * EDGE + HEADING + step * self.rows.len() as f64 - GAP + note;
        let mut drawing = Drawing { width, height, shapes: Vec::new() };
        let left = |column: usize| EDGE + (SIDE + GAP) * column as f64;
        for (column, heading) in self.headings.iter().enumerate() {
            drawing.text((left(column) + SIDE / 2.0, EDGE + TITLE), TEXT, Anchor::Middle, heading);
        }
        for (row, pictures) in self.rows.iter().enumerate() {
            let top = EDGE + HEADING + step * row as f64;
            for (column, Picture { pixels, caption }) in pictures.iter().enumerate() {
                let place = (left(column), top);
                drawing.shapes.push(Primitive::Picture { place, side: SIDE, pixels: pixels.clone() });
                let below = (left(column) + SIDE / 2.0, top + SIDE + CAPTION - 4.0);
                drawing.text(below, TEXT - 3.0, Anchor::Middle, caption);
            }
        }
        if let Some(note) = &self.note {
            drawing.text((EDGE, height - EDGE), TEXT - 2.0, Anchor::Start, note);
        }
        drawing
    }
}
