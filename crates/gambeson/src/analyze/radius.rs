//! Radii as they were written, and those that are shown where none were asked for.

use gambeson_smooth::analysis::RadiusNorm;
use std::fmt;
use std::str::FromStr;
use thiserror::Error as ThisError;

/// More columns than this are too many for a table.
const MOST_COLUMNS: usize = 20;

/// A radius with its spelling, which tables keep: `"2/255".parse()`, or `Radius::from(0.25)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Radius {
    value: f64,
    text: String,
}

impl Radius {
    /// The number.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl From<f64> for Radius {
    fn from(value: f64) -> Self {
        Self { value, text: value.to_string() }
    }
}

impl fmt::Display for Radius {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Why a text is not a radius.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
pub enum RadiusError {
    /// It is no number.
    #[error("`{text}` is not a number")]
    Number {
        /// The part that cannot be read.
        text: String,
    },
    /// It is negative, infinite or NaN.
    #[error("`{text}` is not a radius: expected a number of at least 0")]
    Range {
        /// The text.
        text: String,
    },
}

impl FromStr for Radius {
    type Err = RadiusError;

    /// A decimal number, or a fraction of two.
    fn from_str(text: &str) -> Result<Self, RadiusError> {
        let number = |text: &str| -> Result<f64, RadiusError> {
            text.trim().parse().map_err(|_| RadiusError::Number { text: text.to_owned() })
        };
        let value = match text.split_once('/') {
            Some((above, below)) => number(above)? / number(below)?,
            None => number(text)?,
        };
        if value.is_finite() && value >= 0.0 {
            Ok(Self { value, text: text.trim().to_owned() })
        } else {
            Err(RadiusError::Range { text: text.to_owned() })
        }
    }
}

/// From 0 to the largest, in round steps: of 1/4 in l2, unless that makes too many.
pub(crate) fn default_radii(norm: RadiusNorm, largest: f64) -> Vec<Radius> {
    let largest = largest.min(f64::MAX);
    let step = match norm {
        RadiusNorm::L2 => {
            let mut step = 0.25;
            while largest / step > MOST_COLUMNS as f64 {
                step *= 2.0;
            }
            step
        }
        // Steps of subnormal radii would be rounded to zero.
        RadiusNorm::Linf if largest / 8.0 >= f64::MIN_POSITIVE => {
            let unit = 10_f64.powf((largest / 8.0).log10().floor());
            [1.0, 2.0, 5.0, 10.0]
                .map(|factor| factor * unit)
                .into_iter()
                .find(|step| largest / step <= 8.0)
                .unwrap_or(10.0 * unit)
        }
        RadiusNorm::Linf => 1.0,
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // few
    let count = (largest / step) as usize;
    // By way of decimals: 3 · 0.001 is not the nearest to 0.003.
    let rounded = |value: f64| format!("{value:.12e}").parse().unwrap_or(value);
    (0..=count).map(|at| Radius::from(rounded(at as f64 * step))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radii_keep_their_spelling() {
        let radius: Radius = " 2/255 ".parse().expect("a radius");
        assert_eq!((radius.value(), radius.text()), (2.0 / 255.0, "2/255"));
        for text in ["", "x", "1/", "-1", "1/0", "0/0", "inf", "NaN"] {
            assert!(text.parse::<Radius>().is_err(), "{text}");
        }
    }

    #[test]
    fn default_radii_are_few_round_and_finite() {
        let values =
            |norm, largest| -> Vec<f64> { default_radii(norm, largest).iter().map(Radius::value).collect() };
        assert_eq!(values(RadiusNorm::L2, 0.9), [0.0, 0.25, 0.5, 0.75]);
        assert_eq!(values(RadiusNorm::Linf, 0.0075), [0.0, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007]);
        for norm in [RadiusNorm::L2, RadiusNorm::Linf] {
            for largest in [0.0, 5e-324, 1e-300, 1e300, f64::MAX, f64::INFINITY] {
                let radii = values(norm, largest);
                assert!(radii.len() <= MOST_COLUMNS + 1 && radii[0] == 0.0, "{largest}: {radii:?}");
                assert!(radii.iter().all(|radius| radius.is_finite()), "{largest}: {radii:?}");
            }
        }
    }
}
