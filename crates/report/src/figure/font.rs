//! The one font of figures, built in: a subset of DejaVu Sans (`fonts/LICENSE`).

use ttf_parser::Face;

pub(super) const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";
const BYTES: &[u8] = include_bytes!("../../fonts/DejaVuSans.ttf");

pub(super) fn face() -> Option<Face<'static>> {
    Face::parse(BYTES, 0).ok()
}

/// Length of a line of text in units of `size`.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let Some(face) = face() else { return 0.0 };
    let advance = |letter| face.glyph_index(letter).and_then(|glyph| face.glyph_hor_advance(glyph));
    let units: f64 = text.chars().filter_map(advance).map(f64::from).sum();
    units * size / f64::from(face.units_per_em())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_is_readable_and_has_the_letters_used() {
        let face = face().expect("a font");
        for letter in "aZ09 .,:()%±×≤−–·⁻⁰¹²³⁴⁹\u{2009}'".chars() {
            assert!(face.glyph_index(letter).is_some(), "{letter}");
        }
        assert!((width("10", 100.0) - 2.0 * width("1", 100.0)).abs() < 1e-9, "digits are of one width");
    }
}
