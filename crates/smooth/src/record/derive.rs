//! From counts to a class and radii, by the checker alone.
//!
//! Problem: what do the counts of one input prove about the smoothed classifier?
//! Reference: CERTIFY of Cohen, Rosenfeld and Kolter (2019), with p_B for `TwoSided`.
//! Guarantee: with probability 1 − α over the draws, the smoothed classifier has class `class` within the radii, if
//! the draws were made as the rule says and κ and s are what they were proven to be. Every number is rounded down.
//! Deviations: the limit fits the rule by which sampling ended; both errors of encoding are taken off the radius.

use super::certified::{Derived, Record};
use super::error::RecordProblem;
pub use crate::limit::LimitChoice;
use crate::limit::{CountedClass, radius_of_counts};
use gambeson_checker::rounding::root_above;
use gambeson_checker::{
    FailureProbability, LatentRadius, LowerLimit, NoiseLevel, SamplingRule, StatisticsError,
};

/// What counts prove.
#[derive(Clone, Copy, Debug)]
pub struct Proven {
    /// Class and radii; all none where nothing is proven.
    pub derived: Derived,
    /// The lower limit on the probability of the class selected; none where no class was.
    pub lower_limit: Option<LowerLimit>,
}

/// The counts of one input, and how they came about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample<'a> {
    /// The class chosen on the selection draws.
    pub(crate) selected: Option<u32>,
    /// Estimation draws by class.
    pub(crate) estimation: &'a [u64],
    /// Estimation draws without a class.
    pub(crate) none: u64,
    /// Estimation draws that could not be decided.
    pub(crate) undecided: u64,
    pub(crate) rule: SamplingRule,
    pub(crate) sigma: f64,
}

/// The radius in z before any encoding error, and the limit it comes from.
pub(crate) fn latent_radius(
    counts: &Sample,
    alpha: FailureProbability,
    how: LimitChoice,
) -> Result<(Option<LowerLimit>, Option<LatentRadius>), StatisticsError> {
    let Some(class) = counts.selected else { return Ok((None, None)) };
    let noise = NoiseLevel::new(counts.sigma)?;
    let rest = counts.none.saturating_add(counts.undecided);
    let trials = counts.estimation.iter().fold(rest, |sum, &count| sum.saturating_add(count));
    let count = counts.estimation.get(class as usize).copied().unwrap_or(0);
    let others = counts.estimation.iter().enumerate().filter(|(other, _)| *other != class as usize);
    let runner_up =
        others.map(|(_, &count)| count).fold(counts.none, u64::max).saturating_add(counts.undecided);
    let counts = CountedClass { rule: counts.rule, count, runner_up, trials, noise };
    let (lower, radius) = radius_of_counts(counts, alpha, how)?;
    Ok((Some(lower), radius))
}

impl Record {
    /// What the counts prove at the failure probability α, whatever the record says.
    pub fn derive(&self, alpha: FailureProbability, how: LimitChoice) -> Result<Proven, StatisticsError> {
        let run = &self.run;
        let selected = self.selected();
        let counts = Sample {
            selected,
            estimation: &self.estimation,
            none: self.estimation_none,
            undecided: self.estimation_undecided,
            rule: run.rule.into(),
            sigma: run.common.sigma,
        };
        let (lower_limit, radius) = latent_radius(&counts, alpha, how)?;
        let derived = match radius.and_then(|radius| radius.less(self.errors().sum())) {
            None => Derived::default(),
            Some(radius) => {
                let latent = radius.value();
                let l2 = run.spectral.map_or(latent, |spectral| radius.over(spectral));
                let linf = radius.over(run.kappa.unwrap_or_else(|| root_above(run.dimension)));
                Derived { class: selected, latent: Some(latent), l2: Some(l2), linf: Some(linf) }
            }
        };
        Ok(Proven { derived, lower_limit })
    }

    /// Whether the counts prove what is stored beside them, no less and no more: the class and all radii, or none of them.
    pub fn check_claim(&self) -> Result<(), RecordProblem> {
        // Programs may differ in their last digits.
        const LEAST: f64 = 1.0 - 1e-9;
        let alpha = FailureProbability::new(self.run.common.alpha)?;
        let (claimed, proven) = (&self.derived, &self.derive(alpha, LimitChoice::Natural)?.derived);
        if claimed.class != proven.class {
            return Err(RecordProblem::class(claimed.class, proven.class));
        }
        let radii = [
            ("latent", claimed.latent, proven.latent),
            ("l2", claimed.l2, proven.l2),
            ("linf", claimed.linf, proven.linf),
        ];
        for (field, claimed, proven) in radii {
            match (claimed, proven) {
                (None, None) => {}
                (Some(radius), Some(most)) if radius <= most && radius >= most * LEAST => {}
                (claimed, Some(proven)) if claimed.is_none_or(|radius| radius <= proven) => {
                    return Err(RecordProblem::Smaller { field, claimed, proven });
                }
                (claimed, proven) => return Err(RecordProblem::Claim { field, claimed, proven }),
            }
        }
        Ok(())
    }

    /// Fills in what the counts prove by the method natural to the rule, as a record to be written has it.
    pub fn with_derived(mut self) -> Result<Self, StatisticsError> {
        let alpha = FailureProbability::new(self.run.common.alpha)?;
        self.derived = self.derive(alpha, LimitChoice::Natural)?.derived;
        Ok(self)
    }
}
