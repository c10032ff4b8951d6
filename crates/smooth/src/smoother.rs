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
//! from. Assumed is what no count can show: that the noise is exactly Gaussian and its draws independent; `noise/mod.rs`
//! states how close they come.
//!
//! **This file's duty.** Counts cannot be recomputed from themselves. Draws are made here (by `draw.rs`) and nowhere
//! else: those that choose the class and those that are counted come from different streams, every draw planned is
//! counted, and a sequential run looks at its counts only where it planned to.
//!
//! **Deviations.** An answer [`NONE`](crate::classifier::NONE) counts as a class of its own. PREDICT's test is the
//! binomial one of the box (n_A of n_A + n_B against ½, two-sided), with the proven limit of the checker. Counts do not
//! depend on the number of threads, the size of a batch or the order of inputs, provided that f does not.

use crate::classifier::Classifier;
pub use crate::draw::{Counts, Drawn};
use crate::draw::{Halt, Sampler, Series};
use crate::input_map::InputMap;
use crate::limit::{CountedClass, LimitChoice, lower_limit, radius_of_counts};
use crate::noise::{self, Centre, Noise};
use crate::sequential::{Goal, RadiusNorm, Sequential, Verdict};
use crate::space::{Encoded, Space};
use gambeson_checker::{
    CheckError, FailureProbability, L2Radius, LatentRadius, LinfRadius, NoiseLevel, Rejected, SamplingRule,
    SpectralBound, StatisticsError, Tally, encoding_error_of_both,
};
use gambeson_lowrank::observe::Observer;
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
    /// When to stop before n draws; without a goal, never.
    pub goal: Option<Goal>,
}

/// Why inputs cannot be smoothed like that.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SmoothingParamsError {
    /// A count of 0.
    #[error("{what} must be at least 1")]
    Zero {
        /// Which.
        what: &'static str,
    },
    /// A target or tolerance that is negative or not finite.
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
    /// The classifier does not take what the space gives.
    #[error("the classifier takes {classifier} numbers, but is given {space}")]
    Dimension {
        /// Of the classifier.
        classifier: usize,
        /// Of the space.
        space: usize,
    },
    /// Single precision cannot represent such noise.
    #[error("noise of level {level} is beyond the range of single precision")]
    Level {
        /// On the scale of what the classifier takes.
        level: f64,
    },
    /// The classifier and its input map differ in the length of rows.
    #[error("the classifier takes {classifier} numbers, but its input map gives {map}")]
    InputMap {
        /// Of the classifier.
        classifier: usize,
        /// Of its input map.
        map: usize,
    },
    /// The checker has no limits for such numbers.
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
    /// The error of the coordinates of the input could not be bounded.
    #[error(transparent)]
    Encoding(#[from] CheckError),
    /// The checker refuses the limit.
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
    /// Proven: the distance of what noise was added to from Uᵀu, or from the input itself, is at most this. Taken off
    /// the radius.
    pub encoding_error: f64,
    /// The class and its radii; none where the smoothed classifier abstains.
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
    /// g(z); none where the smoothed classifier abstains.
    pub class: Option<u32>,
}

/// A classifier with noise around it.
pub struct Smoother<'a, C> {
    sampler: Sampler<'a, C>,
    space: &'a Space,
    params: SmoothingParams,
    sequential: Option<Sequential>,
}

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
        let map = classifier.input_map();
        if let Some(map) = map.map(InputMap::dim).filter(|&dim| dim != classifier.dim()) {
            return Err(SmoothingParamsError::InputMap { classifier: classifier.dim(), map });
        }
        // Noise in a projection is on the scale of its coordinates; what is decoded from it is mapped later.
        let map = map.filter(|_| space.is_identity());
        let (sigma, largest) = (params.noise.value(), map.map_or(1.0, InputMap::largest_scale));
        let least = map.map_or(1.0, InputMap::smallest_scale);
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
        let sampler = Sampler::new(classifier, space, sigma, params.batch);
        Ok(Self { sampler, space, params, sequential })
    }

    /// The classifier that is smoothed.
    pub fn classifier(&self) -> &'a C {
        self.sampler.classifier
    }

    /// Where noise is added.
    pub fn space(&self) -> &'a Space {
        self.space
    }

    /// How it smooths.
    pub fn params(&self) -> &SmoothingParams {
        &self.params
    }

    /// The rule by which counts are sampled.
    pub fn rule(&self) -> SamplingRule {
        self.sequential.as_ref().map_or(SamplingRule::Fixed, |plan| plan.rule().clone())
    }

    /// CERTIFY for input `index`, given by its values. None where the observer, asked after every batch, ended it.
    ///
    /// Panics unless there are as many values as the space takes.
    pub fn certify(
        &self,
        index: u64,
        values: &[f64],
        observer: &mut (impl Observer<Drawn> + Send),
    ) -> Result<Option<Certification>, SmoothingError<C::Error>> {
        let (centre, error) = self.encode(values)?;
        let noise = Noise::new(self.params.seed, index);
        let mut draws = |series, range| self.sampler.counts(&centre, noise, series, range, observer);
        let Some(selection) = stopped(draws(Series::Selection, 0..self.params.selection))? else {
            return Ok(None);
        };
        let class = selection.most();
        let mut estimation = Counts::new(self.classifier().classes());
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
        let centre = self.sampler.centre(&code);
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
            CountedClass { rule: &rule, count, runner_up: trials.saturating_sub(count), trials, noise };
        let (_, latent) = radius_of_counts(&counts, self.params.failure, LimitChoice::Natural)?;
        Ok(latent.and_then(|latent| latent.less(error)).map(|latent| {
            let (l2, linf) = self.space.radii(latent);
            Certified { class, latent, l2, linf }
        }))
    }

    /// PREDICT for input `index` with n draws, given by its values. None where the observer, asked after every batch,
    /// ended it.
    ///
    /// Panics unless there are as many values as the space takes.
    pub fn predict(
        &self,
        index: u64,
        values: &[f64],
        observer: &mut (impl Observer<Drawn> + Send),
    ) -> Result<Option<Prediction>, SmoothingError<C::Error>> {
        let (centre, _) = self.encode(values)?;
        let noise = Noise::new(self.params.seed, index);
        let draws = 0..self.params.estimation;
        let counts = self.sampler.counts(&centre, noise, Series::Estimation, draws, observer);
        let Some(counts) = stopped(counts)? else { return Ok(None) };
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

/// Being stopped is not an error.
fn stopped<E: std::error::Error>(
    counts: Result<Counts, Halt<E>>,
) -> Result<Option<Counts>, SmoothingError<E>> {
    match counts {
        Ok(counts) => Ok(Some(counts)),
        Err(Halt::Stopped) => Ok(None),
        Err(Halt::Failed(error)) => Err(SmoothingError::Classifier(error)),
    }
}
