//! Numbers from several trials, and cells of tables that show them.

use crate::decimal::{up, up_to_places};

/// Significant digits of measured numbers.
const DIGITS: usize = 3;
/// In place of a missing number.
pub const NOTHING: &str = "–";

/// How many trials a number is from; shown if some are missing.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // the names say it
pub struct Trials {
    pub there: usize,
    pub planned: usize,
}

impl Trials {
    /// Whether some are missing.
    pub fn are_partial(self) -> bool {
        self.there < self.planned
    }
}

impl std::fmt::Display for Trials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.are_partial() { write!(f, " ({} of {})", self.there, self.planned) } else { Ok(()) }
    }
}

/// The largest number of all trials.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // the names say it
pub struct Largest {
    pub value: f64,
    pub trials: Trials,
}

impl Largest {
    /// In another unit.
    #[must_use]
    pub fn per(self, unit: f64) -> Self {
        Self { value: self.value / unit, ..self }
    }
}

/// Mean and sample standard deviation (divided by n − 1); the latter needs two numbers.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // the names say it
pub struct Spread {
    pub mean: f64,
    pub deviation: Option<f64>,
    pub trials: Trials,
}

impl Spread {
    /// None without values.
    pub fn of(values: &[f64], planned: usize) -> Option<Self> {
        let trials = Trials { there: values.len(), planned };
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
        (!values.is_empty()).then_some(Self { mean, deviation, trials })
    }

    /// `mean ± deviation`, both rounded up, to as many places as the mean shows.
    pub fn text(self, digits: usize) -> String {
        let (mean, trials) = (up(self.mean, digits), self.trials);
        let Some(deviation) = self.deviation else { return format!("{mean}{trials}") };
        let places = mean.split_once('.').map_or(0, |(_, places)| places.len());
        let deviation = if mean.contains('e') { up(deviation, 2) } else { up_to_places(deviation, places) };
        format!("{mean} ± {deviation}{trials}")
    }
}

/// A measured number as a cell.
pub fn cell(spread: Option<Spread>) -> String {
    spread.map_or(NOTHING.to_owned(), |spread| spread.text(DIGITS))
}

/// A bound, a size or another number that is safe rounded up, as a cell.
pub fn bound_cell(largest: Option<Largest>) -> String {
    largest.map_or(NOTHING.to_owned(), |Largest { value, trials }| format!("{}{trials}", up(value, DIGITS)))
}
