//! From counts to a class and radii, by the checker alone.
//!
//! Problem: what do the counts of one input prove about the smoothed classifier?
//! Reference: CERTIFY of Cohen, Rosenfeld and Kolter (2019), with p_B where two limits are used.
//! Guarantee: with probability 1 − α over the draws, the smoothed classifier has class `class` within the radii, if
//! the draws were made as the rule says and κ and s are what they were proven to be. Every number is rounded down.
//! Deviations: limits fit the rule by which sampling ended, and are those of the run (`limit/rule.rs`); both errors of
//! encoding are taken off the radius.

use super::certified::{Derived, Record};
use super::error::RecordProblem;
pub use crate::limit::LimitChoice;
use crate::limit::{ClassDraws, Sample};
use crate::noise::limit_share;
use gambeson_checker::rounding::root_above;
use gambeson_checker::{
    FailureProbability, LowerLimit, NoiseLevel, ProvenRadius, StatisticsError, UpperLimit,
};

/// What counts prove.
#[derive(Clone, Copy, Debug)]
pub struct Proven {
    /// Class and radii; all none where nothing is proven.
    pub derived: Derived,
    /// The lower limit on the probability of the class selected; none where no class was.
    pub lower_limit: Option<LowerLimit>,
    /// The upper limit on the probability of every other class, where the class has two limits.
    pub upper_limit: Option<UpperLimit>,
}

impl Record {
    /// What the counts prove at the failure probability α, whatever the record says.
    pub fn derive(&self, alpha: FailureProbability, how: LimitChoice) -> Result<Proven, StatisticsError> {
        let run = &self.run;
        let sample = Sample {
            selection: ClassDraws {
                classes: &self.selection,
                none: self.selection_none,
                undecided: self.selection_undecided,
            },
            estimation: ClassDraws {
                classes: &self.estimation,
                none: self.estimation_none,
                undecided: self.estimation_undecided,
            },
            rule: run.rule.into(),
            planned: run.common.n,
            limits: run.limits,
            share: limit_share(run.common.seed, self.index),
            noise: NoiseLevel::new(run.common.sigma)?,
        };
        let (selected, proven) = (sample.selected(), sample.prove(alpha, how)?);
        let radius = proven.and_then(ProvenRadius::radius);
        let derived = match radius.and_then(|radius| radius.less(self.errors().sum())) {
            None => Derived::default(),
            Some(radius) => {
                let latent = radius.value();
                let l2 = run.spectral.map_or(latent, |spectral| radius.over(spectral));
                let linf = radius.over(run.kappa.unwrap_or_else(|| root_above(run.dimension)));
                Derived { class: selected, latent: Some(latent), l2: Some(l2), linf: Some(linf) }
            }
        };
        Ok(Proven {
            derived,
            lower_limit: proven.map(ProvenRadius::lower),
            upper_limit: proven.and_then(ProvenRadius::upper),
        })
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

    /// Fills in what the counts prove by the limits of the run, as a record to be written has it.
    pub fn with_derived(mut self) -> Result<Self, StatisticsError> {
        let alpha = FailureProbability::new(self.run.common.alpha)?;
        self.derived = self.derive(alpha, LimitChoice::Natural)?.derived;
        Ok(self)
    }
}
