//! Randomized smoothing: PREDICT and CERTIFY, in the coordinates of a projection or on the input itself.
//!
//! **Problem.** For a classifier f and noise η ~ N(0, σ²I_r), the smoothed classifier g(z) is the class that f(z + η)
//! takes most often. Find g(z), with a radius around z in which it is constant.
//!
//! **Reference.** Cohen, Rosenfeld, Kolter, *Certified adversarial robustness via randomized smoothing* (ICML 2019),
//! the two boxes of section 3.2; Awasthi et al. (NeurIPS 2020), Prop. 2.2 and section 2, for the projection.
//!
//! **Guarantee.** CERTIFY: with probability at least 1 − α over the draws of an input, it abstains or the class is g(z)
//! and constant within the radius, which is proven by the checker from the counts. PREDICT: with probability at least
//! 1 − α it abstains or the class is g of z as stored, which is off by the encoding error: it has no radius to take that
//! from. Assumed is what no count can show: the noise is exactly Gaussian and its draws
//! independent; `noise.rs` says how near they come.
//!
//! **This file's duty.** Counts cannot be recomputed from themselves. Here, and nowhere else, draws are made: those that
//! choose the class and those that are counted come from different streams, every draw planned is counted, and a
//! sequential run looks at its counts only where it planned to.
//!
//! **Deviations.** An answer [`NONE`](crate::classifier::NONE) counts as a class of its own. PREDICT's test is the
//! binomial one of the box (n_A of n_A + n_B against ½, two-sided), with the proven limit of the checker. Counts do not
//! depend on the number of threads, the size of a batch or the order of inputs, as far as f does not.

use crate::classifier::Classifier;
pub use crate::draw::Counts;
use crate::draw::{self, Halt, Series};
use crate::input_map::Feed;
use crate::limit::{Certification as Derivation, ClassCount, lower_limit, radius_of_counts};
use crate::noise::{self, Centre, Noise};
use crate::sequential::{Goal, RadiusNorm, Sequential, Verdict};
use crate::space::{Encoded, Space};
use gambeson_checker::{
    CheckError, FailureProbability, L2Radius, LatentRadius, LinfRadius, NoiseLevel, Rejected, SamplingRule,
    StatisticsError, Tally, encoding_error_of_both,
};
use std::ops::ControlFlow;
use std::sync::Mutex;
use thiserror::Error;

/// How to smooth.
#[derive(Clone, Debug, PartialEq)]
pub struct SmoothingParams {
    /// σ, in every coordinate of z; 1 in a space with levels.
    pub noise: NoiseLevel,
    /// n₀: draws that choose the class.
    pub selection: u64,
    /// n: draws that are counted, at most.
    pub estimation: u64,
    /// α.
    pub failure: FailureProbability,
    /// Draws given to the classifier at once.
    pub batch: usize,
    /// Seed of all noise.
    pub seed: u64,
    /// When to stop before n draws; never, where there is none.
    pub goal: Option<Goal>,
}

/// Why a run cannot be.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SmoothingParamsError {
    /// A count of nothing.
    #[error("{what} must be at least 1")]
    Zero {
        /// Which.
        what: &'static str,
    },
    /// A target or tolerance that is none.
    #[error("{what} {value}: it must be finite and not negative")]
    Goal {
        /// Which.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A goal that asks for nothing.
    #[error("a sequential run needs a target radius or a tolerance")]
    NoGoal,
    /// The classifier takes something else than the space gives.
    #[error("the classifier takes {classifier} numbers, but is given {space}")]
    Dimension {
        /// Of the classifier.
        classifier: usize,
        /// Of the space.
        space: usize,
    },
    /// Single precision has no such noise.
    #[error("noise of level {level} is beyond the range of single precision")]
    Level {
        /// On the scale of what the classifier takes.
        level: f64,
    },
    /// The classifier says it takes rows of two lengths.
    #[error("the classifier takes {classifier} numbers, but is fed {feed}")]
    Feed {
        /// Of the classifier.
        classifier: usize,
        /// Of its feed.
        feed: usize,
    },
    /// No limit can be had for such numbers.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
}

/// Why an input has no counts.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SmoothingError<E: std::error::Error + 'static> {
    /// The classifier failed.
    #[error(transparent)]
    Classifier(E),
    /// The input has no coordinates with a proven error.
    #[error(transparent)]
    Encoding(#[from] CheckError),
    /// No limit could be had.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
}

/// What CERTIFY found for one input. The counts are the evidence; the rest follows from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Certification {
    /// Counts of the draws that chose the class.
    pub selection: Counts,
    /// Counts of the other draws.
    pub estimation: Counts,
    /// Proven: what noise was added to is at most so far from Uᵀu, or from the input itself; taken off the radius.
    pub encoding_error: f64,
    /// None: abstain.
    pub certified: Option<Certified>,
}

/// A class with its radii.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certified {
    /// g(z).
    pub class: u32,
    /// In z, the encoding error taken off.
    pub latent: LatentRadius,
    /// Of the input, in ℓ2.
    pub l2: L2Radius,
    /// Of the input, in ℓ∞.
    pub linf: LinfRadius,
}

/// What PREDICT found for one input.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Counts of all draws.
    pub counts: Counts,
    /// g(z); none: abstain.
    pub class: Option<u32>,
}

/// A classifier with noise around it.
pub struct Smoother<'a, C> {
    pub(crate) classifier: &'a C,
    pub(crate) space: &'a Space,
    pub(crate) params: SmoothingParams,
    pub(crate) sequential: Option<Sequential>,
    pub(crate) idle: Mutex<Vec<draw::Scratch>>,
}

/// Asked after every batch with the number of draws it had, from any thread; `Break` ends the run.
pub type Watch<'a> = &'a (dyn Fn(u64) -> ControlFlow<()> + Sync);

impl<'a, C: Classifier> Smoother<'a, C> {
    /// Checks that everything fits.
    pub fn new(
        classifier: &'a C,
        space: &'a Space,
        params: SmoothingParams,
    ) -> Result<Self, SmoothingParamsError> {
        let counts = [
            ("the number of selection draws", params.selection),
            ("the number of estimation draws", params.estimation),
            ("the size of a batch", params.batch as u64),
        ];
        if let Some(&(what, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(SmoothingParamsError::Zero { what });
        }
        Tally::new(0, params.selection)?;
        Tally::new(0, params.estimation)?;
        if classifier.dim() != space.output_dim() {
            let (classifier, space) = (classifier.dim(), space.output_dim());
            return Err(SmoothingParamsError::Dimension { classifier, space });
        }
        if let Some(feed) = classifier.feed().map(Feed::dim).filter(|&feed| feed != classifier.dim()) {
            return Err(SmoothingParamsError::Feed { classifier: classifier.dim(), feed });
        }
        // Noise in a projection is on the scale of its coordinates; what is decoded from it is fed later.
        let feed = classifier.feed().filter(|_| space.is_identity());
        let (sigma, largest) = (params.noise.value(), feed.map_or(1.0, Feed::largest_scale));
        let least = feed.map_or(1.0, Feed::smallest_scale);
        for scale in [least, largest] {
            let level = noise::level(sigma, scale);
            if !(level.is_finite() && level >= f32::MIN_POSITIVE) {
                return Err(SmoothingParamsError::Level { level: sigma * scale });
            }
        }
        let sequential = match &params.goal {
            None => None,
            Some(goal) => {
                let targets = goal.targets.iter().map(|&value| ("target radius", value));
                let tolerance = goal.tolerance.iter().map(|&value| ("tolerance", value));
                let wrong = |(_, value): &(&str, f64)| !(value.is_finite() && *value >= 0.0);
                if let Some((what, value)) = targets.chain(tolerance).find(wrong) {
                    return Err(SmoothingParamsError::Goal { what, value });
                }
                if goal.targets.is_empty() && goal.tolerance.is_none() {
                    return Err(SmoothingParamsError::NoGoal);
                }
                let measure = |latent| measure(space, goal.norm, latent, 0.0);
                Some(Sequential::new(params.estimation, goal, params.failure, params.noise, measure)?)
            }
        };
        Ok(Self { classifier, space, params, sequential, idle: Mutex::new(Vec::new()) })
    }

    /// The rule by which counts are sampled.
    pub fn rule(&self) -> SamplingRule {
        self.sequential.as_ref().map_or(SamplingRule::Fixed, |plan| plan.rule().clone())
    }

    /// CERTIFY for input `index`, given by its values. None where `watch` ended it.
    ///
    /// Panics unless there are as many values as the space takes.
    pub fn certify(
        &self,
        index: u64,
        values: &[f64],
        watch: Watch<'_>,
    ) -> Result<Option<Certification>, SmoothingError<C::Error>> {
        let (centre, error) = self.encode(values)?;
        let noise = Noise::new(self.params.seed, index);
        let draws = |series, range| self.counts(&centre, noise, series, range, watch);
        let Some(selection) = stopped(draws(Series::Selection, 0..self.params.selection))? else {
            return Ok(None);
        };
        let class = selection.most();
        let mut estimation = Counts::new(self.classifier.classes());
        let all = [self.params.estimation];
        let looks = self.sequential.as_ref().map_or(&all[..], Sequential::trials);
        let mut done = 0;
        for &trials in looks {
            let Some(more) = stopped(draws(Series::Estimation, done..trials))? else { return Ok(None) };
            estimation.add(&more);
            done = trials;
            if let Some(plan) = &self.sequential {
                let norm = self.params.goal.as_ref().map_or(RadiusNorm::L2, |goal| goal.norm);
                let measure = |latent| measure(self.space, norm, latent, error);
                let verdict = match class {
                    None => Verdict::Settled,
                    Some(class) => plan.verdict(estimation.of(class), trials, measure)?,
                };
                if verdict == Verdict::Settled {
                    break;
                }
            }
        }
        let certified = match class {
            None => None,
            Some(class) => self.certified(class, estimation.of(class), done, error)?,
        };
        Ok(Some(Certification { selection, estimation, encoding_error: error, certified }))
    }

    /// What noise is added to for an input, and a proven bound on its distance from Uᵀu, or from the input itself.
    fn encode(&self, values: &[f64]) -> Result<(Centre, f64), CheckError> {
        let Encoded { code, error } = self.space.encode(values)?;
        let centre = self.centre(&code);
        let error = encoding_error_of_both(error, centre.error());
        if error.is_finite() { Ok((centre, error)) } else { Err(Rejected::TooLarge.into()) }
    }

    /// The encoding error that [`certify`](Self::certify) takes off the radius of an input, given by its values.
    ///
    /// Panics unless there are as many values as the space takes.
    pub fn encoding_error(&self, values: &[f64]) -> Result<f64, CheckError> {
        self.encode(values).map(|(_, error)| error)
    }

    /// What a count proves.
    fn certified(
        &self,
        class: u32,
        count: u64,
        trials: u64,
        error: f64,
    ) -> Result<Option<Certified>, StatisticsError> {
        let (rule, noise) = (self.rule(), self.params.noise);
        let counts =
            ClassCount { rule: &rule, count, runner_up: trials.saturating_sub(count), trials, noise };
        let (_, latent) = radius_of_counts(&counts, self.params.failure, Derivation::Natural)?;
        Ok(latent.and_then(|latent| latent.less(error)).map(|latent| {
            let (l2, linf) = self.space.radii(latent);
            Certified { class, latent, l2, linf }
        }))
    }

    /// PREDICT for input `index` with n draws, given by its values. None where `watch` ended it.
    ///
    /// Panics unless there are as many values as the space takes.
    pub fn predict(
        &self,
        index: u64,
        values: &[f64],
        watch: Watch<'_>,
    ) -> Result<Option<Prediction>, SmoothingError<C::Error>> {
        let (centre, _) = self.encode(values)?;
        let noise = Noise::new(self.params.seed, index);
        let draws = 0..self.params.estimation;
        let Some(counts) = stopped(self.counts(&centre, noise, Series::Estimation, draws, watch))? else {
            return Ok(None);
        };
        let class = predicted(&counts, self.params.failure)?;
        Ok(Some(Prediction { counts, class }))
    }
}

/// The class of PREDICT: the most frequent, if a two-sided binomial test at level α tells it from the second.
pub fn predicted(counts: &Counts, failure: FailureProbability) -> Result<Option<u32>, StatisticsError> {
    let Some(class) = counts.most() else { return Ok(None) };
    let (first, second) = (counts.of(class), counts.second());
    // The test rejects p = ½ at level α if P(Bin(n, ½) ≥ n_A) ≤ α/2, which is to say: the limit at α/2 is at least ½.
    let tally = Tally::new(first, first + second)?;
    let rule = SamplingRule::Fixed;
    let limit = lower_limit(&rule, tally, rule.method(), failure.half())?;
    Ok((limit.value() > 0.5).then_some(class))
}

/// The radius of the input that a radius in z means.
fn measure(space: &Space, norm: RadiusNorm, latent: LatentRadius, error: f64) -> f64 {
    latent.less(error).map_or(0.0, |latent| {
        let (l2, linf) = space.radii(latent);
        match norm {
            RadiusNorm::L2 => l2.value(),
            RadiusNorm::Linf => linf.value(),
        }
    })
}

/// An end by the watcher is no error.
fn stopped<E: std::error::Error>(
    counts: Result<Counts, Halt<E>>,
) -> Result<Option<Counts>, SmoothingError<E>> {
    match counts {
        Ok(counts) => Ok(Some(counts)),
        Err(Halt::Stopped) => Ok(None),
        Err(Halt::Failed(error)) => Err(SmoothingError::Classifier(error)),
    }
}
