//! Original, perturbed, and what was changed.

use super::summary::{Shown, Summary};
use crate::report::figure::Pixels;
use crate::report::figure::gallery::{Gallery, Picture};
use gambeson_data::dataset::Shape;

pub(super) fn draw(summary: &Summary, shape: Shape) -> Gallery {
    // Grey stays where nothing changes; the largest change is black or white.
    let magnified = 0.5 / summary.largest.max(1e-9);
    let rows = summary.pictures.iter().map(|shown| row(shown, shape, magnified)).collect();
    let times = if magnified >= 10.0 { format!("{magnified:.0}") } else { format!("{magnified:.1}") };
    Gallery {
        headings: vec!["original".to_owned(), "perturbed".to_owned(), format!("difference × {times}")],
        rows,
        note: None,
    }
}

fn row(shown: &Shown, shape: Shape, magnified: f64) -> Vec<Picture> {
    let Shape { channels, height, width } = shape;
    let picture = |values: &[f64], caption: String| Picture {
        pixels: Pixels::of_values(channels, height, width, values),
        caption,
    };
    let difference: Vec<f64> =
        shown.perturbed.iter().zip(&shown.original).map(|(p, o)| 0.5 + magnified * (p - o)).collect();
    let answer = |answer: &Option<String>| answer.clone().unwrap_or_default();
    let before = if shown.before.is_some() { answer(&shown.before) } else { shown.class.clone() };
    vec![
        picture(&shown.original, before),
        picture(&shown.perturbed, answer(&shown.after)),
        picture(&difference, String::new()),
    ]
}
