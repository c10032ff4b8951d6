//! Randomized smoothing: PREDICT and CERTIFY, in the coordinates of a projection or on the input itself.
//!
//! **Problem.** For noise η ~ N(0, σ²I_r) the smoothed classifier g(z) is the class that f(z + η) takes most often, where
//! f = F∘Q rounds to the nearest point of a fixed grid and then asks the classifier F. Find g(z), with a radius around z in
//! which it is constant.
//!
//! **Reference.** Cohen, Rosenfeld, Kolter, *Certified adversarial robustness via randomized smoothing* (ICML 2019),
//! the two boxes of section 3.2; Awasthi et al. (NeurIPS 2020), Prop. 2.2 and section 2, for the projection.
//!
//! **Guarantee.** CERTIFY: with probability at least 1 − α over the draws of an input, it abstains or the class is g(z)
//! and constant within the radius, which is proven by the checker from the counts. Two errors are taken off it: the
//! distance of what noise was added to from the true coordinates of the input, and a bound on the same distance for every
//! input that the radius is about. So it holds for g of true coordinates and for a program that computes them. PREDICT: with
//! probability at least 1 − α it abstains or the class is g of z as stored, which is what the second error is taken off
//! for. Draws have the exact law (`noise/mod.rs` has the proof). Assumed is that the words of the generator are random, and
//! that they were not known to whoever chose classifier and input.
//!
//! **This file's duty.** Counts cannot be recomputed from themselves. Draws are made here (by `draw.rs`) and nowhere
//! else: those that choose the class and those that are counted come from different streams, every draw planned is
//! counted, and a sequential run looks at its counts only where it planned to.
//!
//! **Deviations.** An answer [`NONE`](crate::classifier::NONE) counts as a class of its own. Undecided draws (some 10⁻⁸ of
//! them) count for no class, and against A. PREDICT's test is the binomial one of the box (n_A of n_A + n_B against ½,
//! two-sided), with the proven limit of the checker; undecided draws are added to n_B: whatever they would have been, the
//! test on the true counts is then passed too. Counts do not depend on the number of threads, the size of a batch or the
//! order of inputs, provided that F does not.

use crate::classifier::Classifier;
pub use crate::draw::{Counts, Drawn};
use crate::draw::{Halt, Sampler, Series};
use crate::limit::{CountedClass, LimitChoice, lower_limit, radius_of_counts};
use crate::noise::{Centre, CentreError, Grid, RoundedNoise};
pub use crate::params::{SmoothingParams, SmoothingParamsError};
use crate::sequential::{EVERY, RadiusNorm, Sequential, Verdict};
use crate::space::{Encoded, Space};
use gambeson_checker::{
    CheckError, FailureProbability, L2Radius, LatentRadius, LinfRadius, NoiseLevel, Rejected, SamplingRule,
    SpectralBound, StatisticsError, Tally, encoding_error_of_both,
};
use gambeson_lowrank::observe::Observer;
use thiserror::Error;

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
    /// There is no room for noise around the input.
    #[error(transparent)]
    Centre(#[from] CentreError),
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
    /// Proven bounds on distances, taken off the radius.
    pub errors: Errors,
    /// The class and its radii; none where the smoothed classifier abstains.
    pub certified: Option<Certified>,
}

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

/// What PREDICT found for one input.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Counts of all draws.
    pub counts: Counts,
    /// g(z); none where the smoothed classifier abstains.
    pub class: Option<u32>,
}

/// An input that draws can be made of.
struct Prepared {
    /// What noise is added to.
    centre: Centre,
    noise: RoundedNoise,
    /// What is taken off its radii.
    errors: Errors,
}

/// A classifier with noise around it.
pub struct Smoother<'a, C> {
    sampler: Sampler<'a, C>,
    space: &'a Space,
    grid: Grid,
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
        let grid = params.validate(classifier, space)?;
        let sequential = match &params.goal {
            None => None,
            Some(goal) => {
                let last = params.extended_from.unwrap_or(params.estimation);
                let measure = |latent| measure(space, goal.norm, latent, 0.0);
                Some(Sequential::new(params.estimation, last, goal, params.failure, params.noise, measure)?)
            }
        };
        let sampler = Sampler::new(classifier, space, params.noise.value(), grid, params.batch);
        Ok(Self { sampler, space, grid, params, sequential })
    }

    /// The classifier that is smoothed.
    pub fn classifier(&self) -> &'a C {
        self.sampler.classifier
    }

    /// Where noise is added.
    pub fn space(&self) -> &'a Space {
        self.space
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

    /// CERTIFY for input `index`, given by its numbers. None where the observer, asked after every batch, ended it.
    ///
    /// Panics unless there are as many numbers as the space takes.
    pub fn certify(
        &self,
        index: u64,
        input: &[f64],
        observer: &mut (impl Observer<Drawn> + Send),
    ) -> Result<Option<Certification>, SmoothingError<C::Error>> {
        let prepared = self.prepare(index, input)?;
        let draws = self.params.selection;
        let Some(selection) = self.count(&prepared, Series::Selection, draws, observer)? else {
            return Ok(None);
        };
        let none = Counts::new(self.classifier().classes());
        self.estimate(&prepared, (selection, none), observer)
    }

    /// The same, going on from the counts of an earlier run of this classifier with the same seed and fewer draws.
    /// [`SmoothingParams::extended_from`] must be what that run was planned for: the caller sees to it that its rule allows
    /// to go on.
    ///
    /// Panics unless there are as many numbers as the space takes.
    pub fn extend(
        &self,
        index: u64,
        input: &[f64],
        counts: (Counts, Counts),
        observer: &mut (impl Observer<Drawn> + Send),
    ) -> Result<Option<Certification>, SmoothingError<C::Error>> {
        self.estimate(&self.prepare(index, input)?, counts, observer)
    }

    /// The counts of all selection draws and of `trials` estimation draws, whatever the rule. None where the observer ended
    /// it.
    ///
    /// Panics unless there are as many numbers as the space takes.
    pub fn draws(
        &self,
        index: u64,
        input: &[f64],
        trials: u64,
        observer: &mut (impl Observer<Drawn> + Send),
    ) -> Result<Option<(Counts, Counts)>, SmoothingError<C::Error>> {
        let prepared = self.prepare(index, input)?;
        let mut count = |series, draws| self.count(&prepared, series, draws, observer);
        let Some(selection) = count(Series::Selection, self.params.selection)? else { return Ok(None) };
        let Some(estimation) = count(Series::Estimation, trials)? else { return Ok(None) };
        Ok(Some((selection, estimation)))
    }

    fn prepare(&self, index: u64, input: &[f64]) -> Result<Prepared, SmoothingError<C::Error>> {
        let (centre, errors) = self.encode(input)?;
        Ok(Prepared { centre, noise: RoundedNoise::new(self.params.seed, index), errors })
    }

    /// The counts of the first `draws` of a series. None where the observer ended it.
    fn count(
        &self,
        input: &Prepared,
        series: Series,
        draws: u64,
        observer: &mut (impl Observer<Drawn> + Send),
    ) -> Result<Option<Counts>, SmoothingError<C::Error>> {
        stopped(self.sampler.counts(&input.centre, input.noise, series, 0..draws, observer))
    }

    /// Draws on, up to the last look.
    fn estimate(
        &self,
        &Prepared { ref centre, noise, errors }: &Prepared,
        (selection, mut estimation): (Counts, Counts),
        observer: &mut (impl Observer<Drawn> + Send),
    ) -> Result<Option<Certification>, SmoothingError<C::Error>> {
        let class = selection.most();
        let n = self.params.estimation;
        let mut done = estimation.draws();
        let mut settled = done > 0 && self.settled(class, &estimation, errors)?;
        while done < n && !settled {
            let ends = self.round(done);
            let counts =
                self.sampler.counts_between(centre, noise, Series::Estimation, done, &ends, observer);
            let Some(counts) = stopped(counts)? else { return Ok(None) };
            // Look by look: what was drawn beyond the one that settles it is left out.
            for (counts, end) in counts.iter().zip(ends) {
                estimation.add(counts);
                done = end;
                settled = self.settled(class, &estimation, errors)?;
                if settled {
                    break;
                }
            }
        }
        let certified = match class {
            None => None,
            Some(class) => self.certified(class, estimation.of(class), done, errors)?,
        };
        Ok(Some(Certification { selection, estimation, errors, certified }))
    }

    /// The next looks, drawn together so that all threads have something to do: two, or a sixteenth of what is done.
    fn round(&self, done: u64) -> Vec<u64> {
        let Some(plan) = &self.sequential else { return vec![self.params.estimation] };
        let enough = done + (done / 16).max(2 * EVERY);
        let mut ends = vec![plan.next_look(done)];
        while let Some(&last) = ends.last().filter(|&&last| last < plan.most() && last < enough) {
            ends.push(plan.next_look(last));
        }
        ends
    }

    /// Whether a sequential run ends here.
    fn settled(&self, class: Option<u32>, counts: &Counts, errors: Errors) -> Result<bool, StatisticsError> {
        let Some(plan) = &self.sequential else { return Ok(counts.draws() >= self.params.estimation) };
        let norm = self.params.goal.as_ref().map_or(RadiusNorm::L2, |goal| goal.norm);
        let measure = |latent| measure(self.space, norm, latent, errors.sum());
        let Some(class) = class else { return Ok(true) };
        Ok(plan.verdict(counts.of(class), counts.draws(), measure)? == Verdict::Settled)
    }

    /// What noise is added to for an input, and what is taken off its radii.
    fn encode(&self, input: &[f64]) -> Result<(Centre, Errors), SmoothingError<C::Error>> {
        let Encoded { code, error } = self.space.encode(input)?;
        let centre = self.sampler.centre(&code)?;
        let encoding = encoding_error_of_both(error, centre.error());
        let perturbed = self.space.perturbed_error(input, self.params.noise, self.grid);
        let errors = Errors { encoding, perturbed };
        if errors.sum().is_finite() {
            Ok((centre, errors))
        } else {
            Err(CheckError::from(Rejected::TooLarge).into())
        }
    }

    /// What [`certify`](Self::certify) takes off the radius of an input, given by its numbers.
    ///
    /// Panics unless there are as many numbers as the space takes.
    pub fn errors(&self, input: &[f64]) -> Result<Errors, SmoothingError<C::Error>> {
        self.encode(input).map(|(_, errors)| errors)
    }

    /// What a count proves.
    fn certified(
        &self,
        class: u32,
        count: u64,
        trials: u64,
        errors: Errors,
    ) -> Result<Option<Certified>, StatisticsError> {
        let (rule, noise) = (self.rule(), self.params.noise);
        let counts = CountedClass { rule, count, runner_up: trials.saturating_sub(count), trials, noise };
        let (_, latent) = radius_of_counts(counts, self.params.failure, LimitChoice::Natural)?;
        Ok(latent.and_then(|latent| latent.less(errors.sum())).map(|latent| {
            let (l2, linf) = self.space.radii(latent);
            Certified { class, latent, l2, linf }
        }))
    }

    /// PREDICT for input `index` with n draws, given by its numbers. None where the observer, asked after every batch,
    /// ended it.
    ///
    /// Panics unless there are as many numbers as the space takes.
    pub fn predict(
        &self,
        index: u64,
        input: &[f64],
        observer: &mut (impl Observer<Drawn> + Send),
    ) -> Result<Option<Prediction>, SmoothingError<C::Error>> {
        let prepared = self.prepare(index, input)?;
        let draws = self.params.estimation;
        let Some(counts) = self.count(&prepared, Series::Estimation, draws, observer)? else {
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

/// Being stopped is not an error.
fn stopped<T, E: std::error::Error>(counts: Result<T, Halt<E>>) -> Result<Option<T>, SmoothingError<E>> {
    match counts {
        Ok(counts) => Ok(Some(counts)),
        Err(Halt::Stopped) => Ok(None),
        Err(Halt::Failed(error)) => Err(SmoothingError::Classifier(error)),
    }
}
