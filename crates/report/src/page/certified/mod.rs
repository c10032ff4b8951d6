//! Certified accuracy of runs on the same inputs: curves with a radius to choose, the same by class, and the distribution
//! of the limits that radii come from.

mod classes;
pub(super) mod data;
mod html;
mod limits;

use super::steps::Steps;

/// What a run is called, and its colour, which it has everywhere on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLabel {
    /// A short name that no other run has.
    pub label: String,
    /// Colour and dashes.
    pub style: usize,
}

/// Certified accuracy of runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Certified {
    /// Paragraphs before everything.
    pub notes: Vec<String>,
    /// The runs.
    pub runs: Vec<CertifiedRun>,
    /// The norms of radii, at least one.
    pub norms: Vec<NormView>,
    /// Names of the classes, if known: the class with number k is the k-th.
    pub classes: Vec<String>,
    /// Whether a certified class must be the label to count.
    pub labelled: bool,
}

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct CertifiedRun {
    /// Its name and colour.
    pub run: RunLabel,
    /// How it was made, in a few words.
    pub about: String,
    /// What its inputs came to; `None` where only shares are known.
    pub outcomes: Option<Outcomes>,
    /// Lower limits on the probability of the class; `None` where the run has none.
    pub limits: Option<Limits>,
}

/// Lower limits on the probability of the class under noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Inputs with at least each limit.
    pub steps: Steps,
    /// Shares of the inputs, and the least limit that so many do not exceed.
    pub quantiles: Vec<(f64, f64)>,
    /// The same over the inputs that are certified for their label.
    pub right_quantiles: Vec<(f64, f64)>,
}

/// What the inputs of a run came to, at radius 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// Inputs that count, those without a record included.
    pub inputs: u64,
    /// Certified for their label; without labels, for any class.
    pub right: u64,
    /// Certified for another class than their label.
    pub wrong: u64,
    /// The smoothed classifier abstains.
    pub abstained: u64,
    /// Inputs planned that have no record: not certified.
    pub missing: u64,
}

/// Radii in one norm.
#[derive(Clone, Debug, PartialEq)]
pub struct NormView {
    /// A name for programs, such as `l2`.
    pub key: &'static str,
    /// A name for people, such as `ℓ∞ of cosine coefficients`.
    pub name: String,
    /// The radii of the table, as they are written.
    pub radii: Vec<(f64, String)>,
    /// The radii to choose from.
    pub scale: RadiusScale,
    /// One per run; `None` where a run has no radii in this norm.
    pub curves: Vec<Option<RadiusCurve>>,
    /// Lines for a shell that compute the numbers again: what comes before the radius, and after it.
    pub commands: Vec<(String, String)>,
}

/// Multiples of a round decimal: `unit`·10^−`digits`, from 0 to `last` times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadiusScale {
    /// 1 or 5, or more where the radii are large.
    pub unit: u32,
    /// Places after the point.
    pub digits: u32,
    /// The largest multiple.
    pub last: u32,
    /// The multiple that is shown first.
    pub start: u32,
}

/// Certified accuracy of a run in one norm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RadiusCurve {
    /// All inputs.
    pub steps: Steps,
    /// The mean radius, counting 0 for what is not certified.
    pub average: Option<f64>,
    /// The inputs of each label that occurs, by rising label.
    pub by_class: Vec<(u32, Steps)>,
}

impl RadiusScale {
    /// Between two hundred and a thousand radii, from 0 to beyond the largest; the first shown is near a third of it.
    pub fn up_to(largest: f64) -> Self {
        const POSITIONS: f64 = 200.0;
        let largest = if largest.is_finite() && largest > 1e-12 { largest.min(1e9) } else { 1.0 };
        let rough = largest / POSITIONS;
        let power = rough.log10().floor();
        // Quarters are multiples of either.
        let unit = if 5.0 * 10_f64.powf(power) <= rough { 5.0 } else { 1.0 };
        let (unit, power) = if power > 0.0 { (unit * 10_f64.powf(power), 0.0) } else { (unit, power) };
        let step = unit * 10_f64.powf(power);
        let last = (largest / step).ceil();
        Self { unit: whole(unit), digits: whole(-power), last: whole(last), start: whole(last / 3.0) }
    }

    /// The same, with the multiple nearest to a radius shown first.
    #[must_use]
    pub fn starting_at(self, radius: f64) -> Self {
        let step = f64::from(self.unit) / 10_f64.powf(f64::from(self.digits));
        Self { start: whole(radius / step).min(self.last), ..self }
    }

    /// A radius as it is written.
    pub fn text(&self, multiple: u32) -> String {
        let places = self.digits as usize;
        let digits = format!("{:0>width$}", u64::from(multiple) * u64::from(self.unit), width = places + 1);
        let (before, after) = digits.split_at(digits.len() - places);
        if places == 0 { before.to_owned() } else { format!("{before}.{after}") }
    }

    /// A radius.
    pub fn radius(&self, multiple: u32) -> f64 {
        self.text(multiple).parse().unwrap_or(0.0) // digits and a point
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
fn whole(value: f64) -> u32 {
    value.round() as u32
}

impl Outcomes {
    /// What they come to in words.
    fn words(&self, labelled: bool) -> Vec<(&'static str, u64)> {
        let wrong = (labelled && self.wrong > 0).then_some(("another class", self.wrong));
        let missing = (self.missing > 0).then_some(("without a record", self.missing));
        [wrong, Some(("abstained", self.abstained)), missing].into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radii_to_choose_from_are_round_and_reach_the_largest() {
        for largest in [1.31, 0.033, 4.0, 100.0, 3000.0, 1e-9, 0.0, f64::NAN, f64::INFINITY, 5e8] {
            let scale = RadiusScale::up_to(largest);
            assert!((200..=1001).contains(&scale.last), "{largest}: {scale:?}");
            assert_eq!(scale.radius(0), 0.0);
            if largest.is_finite() && largest > 1e-12 {
                assert!(scale.radius(scale.last) >= largest * (1.0 - 1e-9), "{largest}: {scale:?}");
            }
            assert!(scale.start < scale.last);
        }
        let scale = RadiusScale::up_to(1.31);
        assert_eq!((scale.unit, scale.digits, scale.text(3)), (5, 3, "0.015".to_owned()));
        assert_eq!(RadiusScale { unit: 5, digits: 0, last: 9, start: 0 }.text(3), "15");
        // What is written is what is meant: digits, read as the nearest number.
        assert_eq!(scale.radius(70), 0.35);
        assert_eq!((scale.starting_at(0.25).start, scale.starting_at(9.0).start), (50, scale.last));
    }
}
