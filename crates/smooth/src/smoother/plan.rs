//! What is decided before any draw, and what counts prove: everything about smoothing but the classifier's answers.

use super::counts::Counts;
use super::error::InputError;
use super::params::{SmoothingParams, SmoothingParamsError};
use crate::classifier::ClassifierSpec;
use crate::limit::{LimitChoice, LimitRule, Sample, lower_limit};
use crate::noise::{Centre, Grid, limit_share};
use crate::sequential::{Decision, EVERY, RadiusNorm, Sequential};
use crate::space::{Encoded, Space};
use gambeson_checker::{
    CheckError, FailureProbability, L2Radius, LatentRadius, LinfRadius, NoiseLevel, ProvenRadius, Rejected,
    SamplingRule, SpectralBound, StatisticsError, Tally, encoding_error_of_both,
};
use std::sync::Arc;

/// What is taken off radii in z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Proven: the distance of what noise was added to from Uᵀu, or from the input itself, is at most this.
    pub encoding: f64,
    /// Proven: the same for every input that a radius around this one can be about.
    pub perturbed: f64,
}

impl Errors {
    /// Both, rounded up.
    pub fn sum(self) -> f64 {
        encoding_error_of_both(self.encoding, self.perturbed)
    }
}

/// A class with its radii.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certified {
    /// g(z).
    pub class: u32,
    /// In z, both errors taken off.
    pub latent: LatentRadius,
    /// Of the input, in ℓ2.
    pub l2: L2Radius,
    /// Of the input, in ℓ∞.
    pub linf: LinfRadius,
}

/// How a classifier is smoothed: its shape, where noise is added, and the parameters, which fit each other.
#[derive(Debug)]
pub struct SmoothingPlan {
    classifier: ClassifierSpec,
    space: Arc<Space>,
    grid: Grid,
    params: SmoothingParams,
    sequential: Option<Sequential>,
}

impl SmoothingPlan {
    /// Checks that everything fits.
    pub fn new(
        classifier: ClassifierSpec,
        space: impl Into<Arc<Space>>,
        params: SmoothingParams,
    ) -> Result<Self, SmoothingParamsError> {
        let space = space.into();
        let grid = params.validate(&classifier, &space)?;
        let sequential = match &params.goal {
            None => None,
            Some(goal) => {
                let last = params.extended_from.unwrap_or(params.estimation);
                let measure = |latent| measure(&space, goal.norm, latent, 0.0);
                Some(Sequential::new(params.estimation, last, goal, params.failure, params.noise, measure)?)
            }
        };
        Ok(Self { classifier, space, grid, params, sequential })
    }

    /// The shape of the classifier.
    pub fn classifier(&self) -> &ClassifierSpec {
        &self.classifier
    }

    /// Where noise is added.
    pub fn space(&self) -> &Arc<Space> {
        &self.space
    }

    /// What noisy inputs are rounded to.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// How it smooths.
    pub fn params(&self) -> &SmoothingParams {
        &self.params
    }

    /// The rule by which counts are sampled.
    pub fn rule(&self) -> SamplingRule {
        self.sequential.as_ref().map_or(SamplingRule::Fixed, Sequential::rule)
    }

    /// The limits on the probabilities of classes.
    pub fn limits(&self) -> LimitRule {
        self.params.limit_rule()
    }

    /// What CERTIFY takes off the radius of an input, given by its numbers.
    ///
    /// Panics unless there are as many numbers as the space takes.
    pub fn errors(&self, input: &[f64]) -> Result<Errors, InputError> {
        self.encode(input).map(|(_, errors)| errors)
    }

    /// What noise is added to for an input, and what is taken off its radii.
    pub(crate) fn encode(&self, input: &[f64]) -> Result<(Centre, Errors), InputError> {
        let Encoded { code, error } = self.space.encode(input)?;
        // As the classifier takes it where nothing is decoded.
        let map = self.classifier.input_map.as_ref().filter(|_| self.space.is_identity());
        let centre = Centre::new(&code, self.params.noise.value(), self.grid, map)?;
        let encoding = encoding_error_of_both(error, centre.error());
        let perturbed = self.space.perturbed_error(input, self.params.noise, self.grid)?;
        let errors = Errors { encoding, perturbed };
        if errors.sum().is_finite() {
            Ok((centre, errors))
        } else {
            Err(CheckError::from(Rejected::TooLarge).into())
        }
    }

    /// The first look at the counts after `done` draws.
    pub(crate) fn next_look(&self, done: u64) -> u64 {
        self.sequential.as_ref().map_or(self.params.estimation, |plan| plan.next_look(done))
    }

    /// The next looks, drawn together so that all threads have something to do: two, or a sixteenth of what is done.
    pub(crate) fn next_looks(&self, done: u64) -> Vec<u64> {
        let enough = done + (done / 16).max(2 * EVERY);
        let mut looks = vec![self.next_look(done)];
        let most = self.params.estimation;
        while let Some(&last) = looks.last().filter(|&&last| last < most && last < enough) {
            looks.push(self.next_look(last));
        }
        looks
    }

    /// Whether a run ends with these counts.
    pub(crate) fn settled(
        &self,
        class: Option<u32>,
        counts: &Counts,
        errors: Errors,
    ) -> Result<bool, StatisticsError> {
        let Some(plan) = &self.sequential else { return Ok(counts.draws() >= self.params.estimation) };
        let norm = self.params.goal.as_ref().map_or(RadiusNorm::L2, |goal| goal.norm);
        let measure = |latent| measure(&self.space, norm, latent, errors.sum());
        let Some(class) = class else { return Ok(true) };
        Ok(plan.verdict(counts.of(class), counts.draws(), measure)? == Decision::Settled)
    }

    /// What the counts of input `index` prove.
    pub(crate) fn certified(
        &self,
        index: u64,
        selection: &Counts,
        estimation: &Counts,
        errors: Errors,
    ) -> Result<Option<Certified>, StatisticsError> {
        let SmoothingParams { estimation: planned, failure, noise, seed, .. } = self.params;
        let sample = Sample {
            selection: selection.draws_by_class(),
            estimation: estimation.draws_by_class(),
            rule: self.rule(),
            planned,
            limits: self.limits(),
            share: limit_share(seed, index),
            noise,
        };
        let proven = sample.prove(failure, LimitChoice::Natural)?;
        let latent = proven.and_then(ProvenRadius::radius).and_then(|latent| latent.less(errors.sum()));
        Ok(sample.selected().zip(latent).map(|(class, latent)| {
            let (l2, linf) = self.space.radii(latent);
            Certified { class, latent, l2, linf }
        }))
    }
}

/// The class of PREDICT: the most frequent, if a two-sided binomial test at level α tells it from the second.
pub fn predicted(counts: &Counts, failure: FailureProbability) -> Result<Option<u32>, StatisticsError> {
    let Some(class) = counts.most() else { return Ok(None) };
    let (first, second) = (counts.of(class), counts.draws_by_class().runner_up(class));
    // The test rejects p = ½ at level α if P(Bin(n, ½) ≥ n_A) ≤ α/2, which is to say: the limit at α/2 is at least ½.
    let tally = Tally::new(first, first + second)?;
    let rule = SamplingRule::Fixed;
    let limit = lower_limit(rule, tally, rule.method(), failure.half())?;
    Ok((limit.value() > 0.5).then_some(class))
}

/// Target radii for a sequential run that is given neither targets nor a tolerance: 0, σ, 2σ and 3σ in z, in units of
/// the norm.
pub fn default_targets(space: &Space, norm: RadiusNorm, noise: NoiseLevel) -> Vec<f64> {
    let unit = match (norm, space.kappa(), space.spectral()) {
        (RadiusNorm::L2, _, spectral) => spectral.map_or(1.0, SpectralBound::value),
        (RadiusNorm::Linf, Some(kappa), _) => kappa.value(),
        (RadiusNorm::Linf, None, _) => (space.input_dim() as f64).sqrt(),
    };
    (0..4).map(|k| f64::from(k) * noise.value() / unit).collect()
}

/// The radius around the input that a radius in z means.
fn measure(space: &Space, norm: RadiusNorm, latent: LatentRadius, error: f64) -> f64 {
    latent.less(error).map_or(0.0, |latent| {
        let (l2, linf) = space.radii(latent);
        match norm {
            RadiusNorm::L2 => l2.value(),
            RadiusNorm::Linf => linf.value(),
        }
    })
}
