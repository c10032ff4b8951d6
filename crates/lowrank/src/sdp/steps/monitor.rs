//! The observer between the solvers and the caller.

use crate::observe::Observer;
use crate::sdp::problem::PowerOfTwoScale;
use crate::sdp::progress::{Progress, Stop, relative_gap};
use crate::sdp::steps::budget::TimeBudget;
use std::ops::ControlFlow;

/// From the numbers of a solver to those of the result: the solver's problem leaves a constant out, may be a dilation,
/// and may be divided by a power of two.
#[derive(Clone, Copy)]
pub(crate) struct ResultUnits {
    /// Added to the solver's numbers.
    pub(crate) constant: f64,
    /// What the sum is multiplied by.
    pub(crate) factor: f64,
    /// What that is multiplied by in the end. Comparisons do without it.
    pub(crate) scale: PowerOfTwoScale,
}

impl ResultUnits {
    /// A value of the solver in those of the result, but for the power of two.
    pub(crate) fn unscaled(self, value: f64) -> f64 {
        self.factor * (value + self.constant)
    }

    /// The solver's value that is the `part`-th of a result (or `part` times it, if negative).
    pub(crate) fn solver_value(self, result: f64, part: f64) -> f64 {
        let value = self.scale.inverse(result);
        (if value > 0.0 { value / part } else { value * part }) / self.factor - self.constant
    }
}

/// Stops a solver at the gap or the time limit and passes its progress on in the units of the result. However often the
/// solver starts again, the bracket shown never widens and the count of rounds never falls.
pub(crate) struct RunMonitor<'a> {
    pub(crate) inner: &'a mut dyn Observer<Progress>,
    budget: &'a TimeBudget,
    /// The gap at which to stop, by estimates.
    pub(crate) gap: f64,
    pub(crate) units: ResultUnits,
    pub(crate) stop: Option<Stop>,
    /// The gap by the latest estimates.
    pub(crate) reached: f64,
    /// Rounds of earlier attempts.
    pub(crate) earlier: usize,
    /// The narrowest bracket so far.
    pub(crate) upper: f64,
    pub(crate) lower: f64,
}

impl<'a> RunMonitor<'a> {
    /// Before the first round.
    pub(crate) fn new(
        inner: &'a mut dyn Observer<Progress>,
        units: ResultUnits,
        budget: &'a TimeBudget,
    ) -> Self {
        Self {
            inner,
            budget,
            gap: 0.0,
            units,
            stop: None,
            reached: f64::INFINITY,
            earlier: 0,
            upper: f64::INFINITY,
            lower: f64::NEG_INFINITY,
        }
    }
}

impl Observer<Progress> for RunMonitor<'_> {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.budget.step();
        let (upper, lower) = (self.units.unscaled(progress.upper), self.units.unscaled(progress.lower));
        self.reached = relative_gap(upper, lower);
        (self.upper, self.lower) = (self.upper.min(upper), self.lower.max(lower));
        let shown = Progress {
            iteration: self.earlier + progress.iteration,
            upper: self.units.scale.of(self.upper),
            lower: self.units.scale.of(self.lower),
        };
        self.stop = if self.inner.observe(&shown).is_break() || self.budget.is_interrupted() {
            Some(Stop::Interrupted)
        } else if self.reached <= self.gap {
            Some(Stop::Gap)
        } else if self.budget.ends_solver() {
            Some(Stop::TimeLimit)
        } else {
            None
        };
        if self.stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn drops_step(&self) -> bool {
        self.budget.excludes_proof() || self.budget.grace_is_over()
    }

    fn is_late(&self) -> bool {
        self.budget.is_late()
    }
}
