//! What is asked of every run and every entry in itself, of certification or prediction.

use super::certified::Record;
use super::error::RecordProblem;
use super::head::RunContent;
use super::run::{ASSUMED, CommonRun, Rule, Run};
use crate::noise::{GENERATOR, Grid};
use gambeson_checker::{FailureProbability, Tally};

/// Letters shown of a text that should be another.
const SHOWN: usize = 40;

impl CommonRun {
    /// What is wrong with what both kinds of runs have. `levelled`: whether coordinates have noise levels of their own.
    pub(super) fn validate(&self, levelled: bool) -> Result<(), RecordProblem> {
        positive("sigma", self.sigma)?;
        if !(self.alpha > 0.0 && self.alpha < 1.0) {
            return Err(RecordProblem::Alpha { value: self.alpha });
        }
        FailureProbability::new(self.alpha)?; // which refuses what it cannot halve
        positive("batch", self.batch as f64)?;
        draws("n", self.n)?;
        for (key, text, expected) in
            [("generator", &self.generator, GENERATOR), ("assumed", &self.assumed, ASSUMED)]
        {
            if text != expected {
                let found = text.chars().take(SHOWN).collect();
                return Err(RecordProblem::Unknown { key, found, expected });
            }
        }
        // Levels belong to the coordinates of a projection, in which σ is then 1.
        if levelled && !(self.projection.is_some() && self.sigma == 1.0) {
            return Err(RecordProblem::Levels { sigma: self.sigma });
        }
        let Self { sigma, grid, .. } = *self;
        if let Err(reason) = Grid::new(sigma, grid.quantum, Some(grid.exponent)) {
            return Err(RecordProblem::Grid { sigma, grid, reason });
        }
        Ok(())
    }
}

/// What is wrong with the input of an entry that counts so many classes.
pub(super) fn validate_input(label: Option<u32>, classes: usize, seconds: f64) -> Result<(), RecordProblem> {
    not_negative("seconds", seconds)?;
    if classes == 0 {
        return Err(RecordProblem::Empty);
    }
    match label.filter(|&label| label as usize >= classes) {
        Some(label) => Err(RecordProblem::Label { label, classes }),
        None => Ok(()),
    }
}

impl RunContent for Run {
    const KIND: &'static str = "certification";

    fn validate(&self) -> Result<(), RecordProblem> {
        self.common.validate(self.noise.is_some())?;
        draws("n0", self.n0)?;
        self.validate_bounds()?;
        self.validate_rule()
    }
}

impl Record {
    /// What is wrong with the counts, if anything is.
    pub fn validate(&self) -> Result<(), RecordProblem> {
        validate_input(self.label, self.estimation.len(), self.seconds)?;
        not_negative("encoding_error", self.encoding_error)?;
        not_negative("perturbed_error", self.perturbed_error)?;
        self.validate_counts()
    }

    fn validate_counts(&self) -> Result<(), RecordProblem> {
        let run = &self.run;
        if self.selection.len() != self.estimation.len() {
            let (selection, estimation) = (self.selection.len(), self.estimation.len());
            return Err(RecordProblem::Classes { selection, estimation });
        }
        let selected = total(&self.selection, [self.selection_none, self.selection_undecided]);
        if selected != Some(run.n0) {
            let counted = selected.unwrap_or(u64::MAX);
            return Err(RecordProblem::Selection { counted, n0: run.n0 });
        }
        let estimated = total(&self.estimation, [self.estimation_none, self.estimation_undecided]);
        let counted = estimated.unwrap_or(u64::MAX);
        let n = run.common.n;
        let fits = match run.rule {
            Rule::Fixed => counted == n,
            Rule::Anytime | Rule::MixtureAndLast { .. } => counted <= n,
        };
        if estimated.is_none() || counted == 0 || !fits {
            return Err(RecordProblem::Estimation { counted, n });
        }
        Ok(())
    }
}

impl Run {
    /// Whether κ and s go with the projection, with each other and with the dimension.
    fn validate_bounds(&self) -> Result<(), RecordProblem> {
        for (field, value) in [("kappa", self.kappa), ("spectral", self.spectral)] {
            value.map_or(Ok(()), |value| positive(field, value))?;
        }
        let projected = self.common.projection.is_some();
        let bounded = [self.kappa.is_some(), self.spectral.is_some(), self.representation.is_some()];
        if bounded != [projected; 3] {
            return Err(RecordProblem::Projection);
        }
        if self.dimension == 0 {
            return Err(RecordProblem::Empty);
        }
        let (Some(kappa), Some(spectral)) = (self.kappa, self.spectral) else { return Ok(()) };
        // A change of length 1 in the direction that is stretched most has no entry above 1.
        if kappa < spectral * (1.0 - 1e-6) {
            return Err(RecordProblem::Kappa { kappa, spectral });
        }
        // |Uᵀd|₂ ≤ s·|d|₂ ≤ s·√n for |d|_inf ≤ 1: no proof needs a larger κ, but for its margin.
        if kappa > 1.001 * spectral * (self.dimension as f64).sqrt() {
            return Err(RecordProblem::Dimension { dimension: self.dimension, kappa, spectral });
        }
        Ok(())
    }

    fn validate_rule(&self) -> Result<(), RecordProblem> {
        if let Rule::MixtureAndLast { last } = self.rule
            && !(1..=self.common.n).contains(&last)
        {
            return Err(RecordProblem::LastLook { last, n: self.common.n });
        }
        let Some(goal) = &self.goal else { return Ok(()) };
        if self.rule == Rule::Fixed {
            return Err(RecordProblem::Goal);
        }
        goal.targets.iter().try_for_each(|&target| not_negative("a target of the goal", target))?;
        goal.tolerance.map_or(Ok(()), |tolerance| not_negative("the tolerance of the goal", tolerance))
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

/// Whether the checker has limits for so many draws.
fn draws(field: &'static str, draws: u64) -> Result<(), RecordProblem> {
    Tally::new(0, draws).map(drop).map_err(|_| RecordProblem::Draws { field, draws })
}

/// All draws; none where there are more than can be counted.
pub(super) fn total(classes: &[u64], others: [u64; 2]) -> Option<u64> {
    classes.iter().chain(&others).try_fold(0_u64, |sum, &count| sum.checked_add(count))
}
