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
//! **Order.** `plan.rs` has what is decided before any draw, and what counts prove. `draw.rs` makes the draws, and nothing
//! else does. `procedure.rs` says which draws come next and takes their counts: its duty, since counts cannot be recomputed
//! from themselves, is written there. `sampler.rs` asks a classifier on all threads; [`crate::session`] lets a caller ask
//! it, with the same counts.
//!
//! **Deviations.** An answer [`NONE`](crate::classifier::NONE) counts as a class of its own. Undecided draws (some 10⁻⁸ of
//! them) count for no class, and against A. PREDICT's test is the binomial one of the box (n_A of n_A + n_B against ½,
//! two-sided), with the proven limit of the checker; undecided draws are added to n_B: whatever they would have been, the
//! test on the true counts is then passed too. Counts do not depend on the number of threads, the size of a batch or the
//! order of inputs, provided that F does not.

mod counts;
mod draw;
mod error;
mod params;
mod plan;
mod procedure;
mod sampler;

use crate::classifier::{Classifier, ClassifierSpec};
use crate::noise::Grid;
use crate::space::Space;
pub use counts::{Counts, Drawn};
pub(crate) use draw::{DrawPurpose, NoisyInput, RowMemory, room};
pub use error::{InputError, SessionError, SmoothingError};
use gambeson_checker::SamplingRule;
use gambeson_lowrank::observe::Observer;
pub use params::{SmoothingParams, SmoothingParamsError};
pub use plan::{Certified, Errors, SmoothingPlan, default_targets, predicted};
pub(crate) use procedure::Procedure;
pub use procedure::{Certification, Prediction};
use sampler::{Halt, Sampler};
use std::sync::Arc;

/// A way to have draws classified and counted: a [`Smoother`] asks its classifier on all threads, a
/// [`BatchCallback`](crate::session::BatchCallback) asks on the thread of its caller.
pub trait DrawCounter {
    /// Why the classifier cannot answer.
    type Error: std::error::Error + 'static;

    /// How it smooths.
    fn plan(&self) -> &Arc<SmoothingPlan>;

    /// Makes all draws of a procedure. `None` where the observer, asked after every batch, ended it.
    #[doc(hidden)]
    fn count<T>(
        &mut self,
        procedure: procedure::Procedure<T>,
        observer: &mut (impl Observer<Drawn> + Send),
    ) -> Result<Option<T>, SmoothingError<Self::Error>>;
}

impl<S: DrawCounter> DrawCounter for &mut S {
    type Error = S::Error;

    fn plan(&self) -> &Arc<SmoothingPlan> {
        (**self).plan()
    }

    fn count<T>(
        &mut self,
        procedure: procedure::Procedure<T>,
        observer: &mut (impl Observer<Drawn> + Send),
    ) -> Result<Option<T>, SmoothingError<Self::Error>> {
        (**self).count(procedure, observer)
    }
}

/// A classifier with noise around it.
pub struct Smoother<C> {
    sampler: Sampler<C>,
}

impl<C: Classifier> Smoother<C> {
    /// Checks that everything fits.
    pub fn new(
        classifier: C,
        space: impl Into<Arc<Space>>,
        params: SmoothingParams,
    ) -> Result<Self, SmoothingParamsError> {
        let plan = SmoothingPlan::new(ClassifierSpec::of(&classifier), space, params)?;
        Ok(Self { sampler: Sampler::new(classifier, Arc::new(plan)) })
    }

    /// The classifier that is smoothed.
    pub fn classifier(&self) -> &C {
        &self.sampler.classifier
    }

    /// How it is smoothed.
    pub fn plan(&self) -> &Arc<SmoothingPlan> {
        &self.sampler.plan
    }

    /// Where noise is added.
    pub fn space(&self) -> &Arc<Space> {
        self.plan().space()
    }

    /// What noisy inputs are rounded to.
    pub fn grid(&self) -> Grid {
        self.plan().grid()
    }

    /// How it smooths.
    pub fn params(&self) -> &SmoothingParams {
        self.plan().params()
    }

    /// The rule by which counts are sampled.
    pub fn rule(&self) -> SamplingRule {
        self.plan().rule()
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
        self.run(Procedure::certify(self.plan(), index, input)?, observer)
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
        self.run(Procedure::extend(self.plan(), index, input, counts)?, observer)
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
        self.run(Procedure::draws(self.plan(), index, input, trials)?, observer)
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
        self.run(Procedure::predict(self.plan(), index, input)?, observer)
    }

    /// What [`certify`](Self::certify) takes off the radius of an input, given by its numbers.
    ///
    /// Panics unless there are as many numbers as the space takes.
    pub fn errors(&self, input: &[f64]) -> Result<Errors, InputError> {
        self.plan().errors(input)
    }

    fn run<T>(
        &self,
        mut procedure: Procedure<T>,
        observer: &mut (impl Observer<Drawn> + Send),
    ) -> Result<Option<T>, SmoothingError<C::Error>> {
        while let Some((series, done)) = procedure.next() {
            let looks = procedure.next_looks();
            match self.sampler.counts(procedure.input(), series, done, &looks, observer) {
                Ok(counts) => counts.iter().try_for_each(|counts| procedure.add(counts))?,
                // Being stopped is not an error.
                Err(Halt::Stopped) => return Ok(None),
                Err(Halt::Failed(error)) => return Err(SmoothingError::Classifier(error)),
            }
        }
        Ok(Some(procedure.conclude()?))
    }
}

impl<C: Classifier> DrawCounter for &Smoother<C> {
    type Error = C::Error;

    fn plan(&self) -> &Arc<SmoothingPlan> {
        &self.sampler.plan
    }

    fn count<T>(
        &mut self,
        procedure: Procedure<T>,
        observer: &mut (impl Observer<Drawn> + Send),
    ) -> Result<Option<T>, SmoothingError<C::Error>> {
        self.run(procedure, observer)
    }
}

#[cfg(test)]
mod tests;
