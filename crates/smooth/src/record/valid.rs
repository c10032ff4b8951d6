//! What is asked of every entry in itself, certification record or prediction.

use super::error::RecordProblem;
use super::run::{FIRST_GENERATOR, Law};
use crate::noise::Grid;

/// Letters of an unknown generator that are shown.
const SHOWN: usize = 40;

/// What both kinds of entries say.
pub(super) struct Common<'a> {
    pub(super) version: u32,
    pub(super) law: Option<Law>,
    pub(super) sigma: f64,
    pub(super) alpha: f64,
    pub(super) generator: Option<&'a str>,
    pub(super) grid: Option<Grid>,
    /// Whether noise is in the coordinates of a projection.
    pub(super) projected: bool,
    /// Whether coordinates have noise levels of their own.
    pub(super) levelled: bool,
    pub(super) label: Option<u32>,
    /// How many classes are counted.
    pub(super) classes: usize,
    pub(super) seconds: f64,
}

impl Common<'_> {
    pub(super) fn validate(&self) -> Result<(), RecordProblem> {
        positive("sigma", self.sigma)?;
        if !(self.alpha > 0.0 && self.alpha < 1.0) {
            return Err(RecordProblem::Alpha { value: self.alpha });
        }
        not_negative("seconds", self.seconds)?;
        if self.law.is_none() {
            return Err(RecordProblem::Missing { key: "law" });
        }
        if let Some(later) =
            self.generator.filter(|&generator| self.version == 1 && generator != FIRST_GENERATOR)
        {
            let generator = later.chars().take(SHOWN).collect();
            return Err(RecordProblem::LaterGenerator { generator });
        }
        // Levels belong to the coordinates of a projection, in which σ is then 1.
        if self.levelled && !(self.projected && self.sigma == 1.0) {
            return Err(RecordProblem::Levels { sigma: self.sigma });
        }
        if let Some(grid) = self.grid {
            let sigma = self.sigma;
            Grid::new(sigma, grid.quantum, Some(grid.exponent)).map_err(|reason| RecordProblem::Grid {
                sigma,
                grid,
                reason,
            })?;
        }
        if self.classes == 0 {
            return Err(RecordProblem::Empty);
        }
        match self.label.filter(|&label| label as usize >= self.classes) {
            Some(label) => Err(RecordProblem::Label { label, classes: self.classes }),
            None => Ok(()),
        }
    }
}

pub(super) fn positive(field: &'static str, value: f64) -> Result<(), RecordProblem> {
    let good = value.is_finite() && value > 0.0;
    good.then_some(()).ok_or(RecordProblem::NotPositive { field, value })
}

pub(super) fn not_negative(field: &'static str, value: f64) -> Result<(), RecordProblem> {
    let good = value.is_finite() && value >= 0.0;
    good.then_some(()).ok_or(RecordProblem::Negative { field, value })
}

/// All draws; none where there are more than can be counted.
pub(super) fn total(classes: &[u64], others: [u64; 2]) -> Option<u64> {
    classes.iter().chain(&others).try_fold(0_u64, |sum, &count| sum.checked_add(count))
}
