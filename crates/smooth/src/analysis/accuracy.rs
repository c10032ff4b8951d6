//! Certified accuracy: the share of all inputs that are certified, and correctly, with a radius of at least r.

use crate::record::{Derived, Record};
use crate::space::Space;
use gambeson_checker::SpectralBound;
use serde::Serialize;

/// Radii of [`RunAccuracy`], in units of σ.
const MULTIPLES: [f64; 4] = [0.0, 0.5, 1.0, 2.0];

/// The certified radii among a number of inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct CertifiedRadii {
    inputs: usize,
    rising: Vec<f64>,
}

impl CertifiedRadii {
    /// Of so many inputs in all, the radii of those that count as certified.
    pub fn new(inputs: usize, mut radii: Vec<f64>) -> Self {
        radii.sort_by(f64::total_cmp);
        Self { inputs, rising: radii }
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The radii of the inputs that count, rising.
    pub fn rising(&self) -> &[f64] {
        &self.rising
    }

    /// How many inputs have a radius of at least this.
    pub fn certified(&self, radius: f64) -> usize {
        self.rising.len() - self.rising.partition_point(|&own| own < radius)
    }

    /// Their share of the inputs.
    pub fn accuracy(&self, radius: f64) -> f64 {
        self.certified(radius) as f64 / self.inputs.max(1) as f64
    }

    /// The mean radius, counting 0 for what is not certified.
    pub fn average(&self) -> f64 {
        // Not `sum`, which gives −0 for an empty list.
        self.rising.iter().fold(0.0, |sum, radius| sum + radius) / self.inputs.max(1) as f64
    }

    /// The largest radius; 0 where nothing is certified.
    pub fn largest(&self) -> f64 {
        self.rising.last().copied().unwrap_or(0.0)
    }
}

/// What a run comes to: shares of the inputs that have a record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunAccuracy {
    /// The most frequent class of all draws is the label; none without labels.
    pub clean: Option<f64>,
    /// Certified in ℓ2.
    pub l2: AccuracyAtRadii,
    /// Certified in ℓ∞; none without a projection.
    pub linf: Option<AccuracyAtRadii>,
}

/// Answered correctly (without labels: answered) with at least each of the radii.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AccuracyAtRadii {
    /// Rising from 0.
    pub radii: Vec<f64>,
    /// At each of them.
    pub accuracy: Vec<f64>,
}

impl RunAccuracy {
    /// At 0, σ/2, σ and 2σ in z, in units of the norm.
    pub fn of_records<'a>(
        records: &(impl Iterator<Item = &'a Record> + Clone),
        space: &Space,
        sigma: f64,
        labelled: bool,
    ) -> Self {
        let inputs = records.clone().count();
        let right = |record: &&Record| !labelled || record.derived.class == record.label;
        let certified = |unit: f64, radius: fn(&Derived) -> Option<f64>| {
            let found = records.clone().filter(right).filter_map(|record| radius(&record.derived));
            let found = CertifiedRadii::new(inputs, found.collect());
            let radii: Vec<f64> = MULTIPLES.iter().map(|multiple| three_digits(multiple * unit)).collect();
            AccuracyAtRadii { accuracy: radii.iter().map(|&radius| found.accuracy(radius)).collect(), radii }
        };
        let frequent = records.clone().filter(|record| most_frequent(record) == record.label).count();
        Self {
            clean: labelled.then(|| frequent as f64 / inputs.max(1) as f64),
            l2: certified(sigma / space.spectral().map_or(1.0, SpectralBound::value), |derived| derived.l2),
            linf: space.kappa().map(|kappa| certified(sigma / kappa.value(), |derived| derived.linf)),
        }
    }
}

/// To three significant digits, so that the radius shown is the radius meant.
pub(crate) fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

fn most_frequent(record: &Record) -> Option<u32> {
    let counts = record.selection.iter().zip(&record.estimation).map(|(first, second)| first + second);
    let most = counts.enumerate().max_by_key(|&(class, count)| (count, std::cmp::Reverse(class)))?;
    u32::try_from(most.0).ok().filter(|_| most.1 > 0)
}
