//! What a certification run ends with: clean accuracy, and certified accuracy at a few radii.

use gambeson_checker::SpectralBound;
use gambeson_smooth::record::{Derived, Record};
use gambeson_smooth::space::Space;
use serde::Serialize;
use std::io::Write;

/// Radii shown, in units of σ.
const MULTIPLES: [f64; 4] = [0.0, 0.5, 1.0, 2.0];

/// Fractions of the inputs that have a record.
#[derive(Serialize)]
pub(super) struct Accuracy {
    /// The most frequent class of all draws is the label; null without labels.
    clean: Option<f64>,
    l2: AtRadii,
    /// Null without a projection.
    linf: Option<AtRadii>,
}

/// Answered correctly (without labels: answered) with at least each of the radii.
#[derive(Serialize)]
struct AtRadii {
    radii: Vec<f64>,
    accuracy: Vec<f64>,
}

impl Accuracy {
    pub(super) fn new<'a>(
        records: &(impl Iterator<Item = &'a Record> + Clone),
        space: &Space,
        sigma: f64,
        labelled: bool,
    ) -> Self {
        let total = records.clone().count().max(1) as f64;
        let share =
            |of: &dyn Fn(&Record) -> bool| records.clone().filter(|record| of(record)).count() as f64 / total;
        let right = |record: &Record| !labelled || record.derived.class == record.label;
        let certified = |unit: f64, radius: fn(&Derived) -> Option<f64>| {
            let radii: Vec<f64> = MULTIPLES.iter().map(|multiple| round(multiple * unit)).collect();
            let reaches = |least: f64| {
                share(&|record| {
                    right(record) && radius(&record.derived).is_some_and(|radius| radius >= least)
                })
            };
            AtRadii { accuracy: radii.iter().map(|&least| reaches(least)).collect(), radii }
        };
        Self {
            clean: labelled.then(|| share(&|record| most_frequent(record) == record.label)),
            l2: certified(sigma / space.spectral().map_or(1.0, SpectralBound::value), |derived| derived.l2),
            linf: space.kappa().map(|kappa| certified(sigma / kappa.value(), |derived| derived.linf)),
        }
    }

    /// `cosines`: whether ℓ∞ is of cosine coefficients.
    pub(super) fn print(&self, cosines: bool, stdout: &mut impl Write) -> std::io::Result<()> {
        if let Some(clean) = self.clean {
            writeln!(
                stdout,
                "clean        accuracy {:.1} % (most frequent class of all draws)",
                100.0 * clean
            )?;
        }
        let share = if self.clean.is_some() { "accuracy" } else { "share" };
        let mut table = |first: &str, norm: &str, AtRadii { radii, accuracy }: &AtRadii| {
            let cells = |values: Vec<String>| -> String {
                values.iter().map(|cell| format!("{cell:>10}")).collect::<Vec<_>>().concat()
            };
            let radii = cells(radii.iter().map(ToString::to_string).collect());
            let accuracy = cells(accuracy.iter().map(|part| format!("{:.1} %", 100.0 * part)).collect());
            writeln!(stdout, "{first:<12} {norm:<12}{radii}\n{:<12} {share:<12}{accuracy}", "")
        };
        table("certified", "l2 radius", &self.l2)?;
        if let Some(linf) = &self.linf {
            table("", "l_inf radius", linf)?;
            if cosines {
                writeln!(stdout, "{:<12} (l_inf of cosine coefficients)", "")?;
            }
        }
        Ok(())
    }
}

/// To three significant digits, so that the radius shown is the radius meant.
fn round(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

fn most_frequent(record: &Record) -> Option<u32> {
    let counts = record.selection.iter().zip(&record.estimation).map(|(first, second)| first + second);
    let most = counts.enumerate().max_by_key(|&(class, count)| (count, std::cmp::Reverse(class)))?;
    u32::try_from(most.0).ok().filter(|_| most.1 > 0)
}
