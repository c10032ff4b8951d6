//! CERTIFY and PREDICT of one input as a sequence of draws: which come next, and what follows from the answers.
//!
//! **This file's duty.** Counts cannot be recomputed from themselves. Whoever asks the classifier, on all threads
//! (`sampler.rs`) or one batch after the other ([`crate::session`]), takes the draws from here and brings their counts
//! here: those that choose the class and those that are counted come from different streams, every draw planned is
//! counted, and a sequential run looks at its counts only where it planned to, whatever was drawn beyond. The rows
//! themselves are made by `draw.rs` and nowhere else.

use super::counts::Counts;
use super::draw::{DrawPurpose, NoisyInput};
use super::error::InputError;
use super::plan::{Certified, Errors, SmoothingPlan, predicted};
use crate::noise::RoundedNoise;
use gambeson_checker::StatisticsError;
use std::sync::Arc;

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

/// What PREDICT found for one input.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Counts of all draws.
    pub counts: Counts,
    /// g(z); none where the smoothed classifier abstains.
    pub class: Option<u32>,
}

/// The draws of one input, those counted so far, and the `T` that follows from all of them.
pub struct Procedure<T> {
    plan: Arc<SmoothingPlan>,
    index: u64,
    input: Arc<NoisyInput>,
    errors: Errors,
    /// Selection draws to be made.
    to_select: u64,
    /// Estimation draws, at most.
    most: u64,
    /// Whether the run ends where the plan says so, or else after all draws.
    by_plan: bool,
    selection: Counts,
    estimation: Counts,
    /// No more estimation draws are needed.
    settled: bool,
    conclude: fn(Self) -> Result<T, StatisticsError>,
}

impl Procedure<Certification> {
    /// CERTIFY for input `index`, given by its numbers.
    ///
    /// Panics unless there are as many numbers as the space takes.
    pub(crate) fn certify(plan: &Arc<SmoothingPlan>, index: u64, input: &[f64]) -> Result<Self, InputError> {
        let (selection, most) = (plan.params().selection, plan.params().estimation);
        let new = Self::new(plan, index, input, Self::certification)?;
        Ok(Self { to_select: selection, most, by_plan: true, ..new })
    }

    /// The same, going on from the counts of an earlier run.
    ///
    /// Panics unless there are as many numbers as the space takes.
    pub(crate) fn extend(
        plan: &Arc<SmoothingPlan>,
        index: u64,
        input: &[f64],
        (selection, estimation): (Counts, Counts),
    ) -> Result<Self, InputError> {
        let new = Self::new(plan, index, input, Self::certification)?;
        let most = plan.params().estimation;
        let settled = match estimation.draws() {
            0 => false,
            done => done >= most || plan.settled(selection.most(), &estimation, new.errors)?,
        };
        Ok(Self { most, by_plan: true, selection, estimation, settled, ..new })
    }

    fn certification(self) -> Result<Certification, StatisticsError> {
        let Self { plan, index, errors, selection, estimation, .. } = self;
        let certified = plan.certified(index, &selection, &estimation, errors)?;
        Ok(Certification { selection, estimation, errors, certified })
    }
}

impl Procedure<Prediction> {
    /// PREDICT for input `index` with n draws, given by its numbers.
    ///
    /// Panics unless there are as many numbers as the space takes.
    pub(crate) fn predict(plan: &Arc<SmoothingPlan>, index: u64, input: &[f64]) -> Result<Self, InputError> {
        let new = Self::new(plan, index, input, |done| {
            let class = predicted(&done.estimation, done.plan.params().failure)?;
            Ok(Prediction { counts: done.estimation, class })
        })?;
        Ok(Self { most: plan.params().estimation, ..new })
    }
}

impl Procedure<(Counts, Counts)> {
    /// The counts of all selection draws and of `trials` estimation draws, whatever the rule.
    ///
    /// Panics unless there are as many numbers as the space takes.
    pub(crate) fn draws(
        plan: &Arc<SmoothingPlan>,
        index: u64,
        input: &[f64],
        trials: u64,
    ) -> Result<Self, InputError> {
        let new = Self::new(plan, index, input, |done| Ok((done.selection, done.estimation)))?;
        Ok(Self { to_select: plan.params().selection, most: trials, settled: trials == 0, ..new })
    }
}

impl<T> Procedure<T> {
    /// Without draws.
    fn new(
        plan: &Arc<SmoothingPlan>,
        index: u64,
        input: &[f64],
        conclude: fn(Self) -> Result<T, StatisticsError>,
    ) -> Result<Self, InputError> {
        let (centre, errors) = plan.encode(input)?;
        let none = Counts::new(plan.classifier().classes);
        Ok(Self {
            index,
            input: Arc::new(NoisyInput { centre, noise: RoundedNoise::new(plan.params().seed, index) }),
            errors,
            to_select: 0,
            most: 0,
            by_plan: false,
            selection: none.clone(),
            estimation: none,
            settled: false,
            conclude,
            plan: Arc::clone(plan),
        })
    }

    pub(crate) fn plan(&self) -> &Arc<SmoothingPlan> {
        &self.plan
    }

    /// Which input.
    pub(crate) fn index(&self) -> u64 {
        self.index
    }

    pub(crate) fn input(&self) -> &Arc<NoisyInput> {
        &self.input
    }

    /// The next draw: its series, and its number there. `None`: no more are needed.
    pub(crate) fn next(&self) -> Option<(DrawPurpose, u64)> {
        let selected = self.selection.draws();
        if selected < self.to_select {
            Some((DrawPurpose::Selection, selected))
        } else {
            (!self.settled).then(|| (DrawPurpose::Estimation, self.estimation.draws()))
        }
    }

    /// How many draws there may be of each series.
    pub(crate) fn most(&self) -> (u64, u64) {
        (self.to_select, self.most)
    }

    /// The next number of draws at which to [`add`](Self::add) counts: `None` where no more are needed.
    pub(crate) fn next_look(&self) -> Option<u64> {
        self.next().map(|next| match next {
            (DrawPurpose::Selection, _) => self.to_select,
            (DrawPurpose::Estimation, done) if self.by_plan => self.plan.next_look(done),
            (DrawPurpose::Estimation, _) => self.most,
        })
    }

    /// The same, and others that it is worth to draw together with it.
    pub(crate) fn next_looks(&self) -> Vec<u64> {
        match self.next() {
            Some((DrawPurpose::Estimation, done)) if self.by_plan => self.plan.next_looks(done),
            _ => self.next_look().into_iter().collect(),
        }
    }

    /// Adds the counts of all draws up to the next look.
    pub(crate) fn add(&mut self, counts: &Counts) -> Result<(), StatisticsError> {
        match self.next() {
            None => {}
            Some((DrawPurpose::Selection, _)) => self.selection.add(counts),
            Some((DrawPurpose::Estimation, _)) => {
                self.estimation.add(counts);
                self.settled = self.estimation.draws() >= self.most
                    || self.by_plan
                        && self.plan.settled(self.selection.most(), &self.estimation, self.errors)?;
            }
        }
        Ok(())
    }

    /// What follows from the counts.
    pub(crate) fn conclude(self) -> Result<T, StatisticsError> {
        (self.conclude)(self)
    }
}
