//! Original, perturbed, and what was changed.

use super::attacked::Attacked;
use super::record::AttackPicture;
use gambeson_data::dataset::Shape;
use gambeson_report::figure::Pixels;
use gambeson_report::figure::gallery::{Gallery, Picture};

/// The pictures of an attack: original, perturbed, and the difference, magnified.
pub fn attack_figure(attacked: &Attacked) -> Gallery {
    // Grey stays where nothing changes; the largest change is black or white.
    let magnified = 0.5 / attacked.largest().max(1e-9);
    let pictures = attacked.pictures();
    let rows = pictures.iter().map(|picture| row(picture, attacked.shape, magnified)).collect();
    let times = if magnified >= 10.0 { format!("{magnified:.0}") } else { format!("{magnified:.1}") };
    Gallery {
        headings: vec!["original".to_owned(), "perturbed".to_owned(), format!("difference × {times}")],
        rows,
        note: None,
    }
}

fn row(shown: &AttackPicture, shape: Shape, magnified: f64) -> Vec<Picture> {
    let Shape { channels, height, width } = shape;
    let picture = |values: &[f64], caption: String| Picture {
        pixels: Pixels::of_values(channels, height, width, values),
        caption,
    };
    let difference: Vec<f64> =
        shown.perturbed.iter().zip(&shown.original).map(|(p, o)| 0.5 + magnified * (p - o)).collect();
    let before = shown.before.clone().unwrap_or_else(|| shown.class.clone());
    vec![
        picture(&shown.original, before),
        picture(&shown.perturbed, shown.after.clone().unwrap_or_default()),
        picture(&difference, String::new()),
    ]
}
