//! The observer between a solver and the caller: units, the gap, the time limit, and several attempts as one run.

use crate::observe::Observer;
use crate::sdp::bracket::Stop;
use crate::sdp::problem::Unit;
use crate::sdp::progress::{Progress, relative_gap};
use std::ops::ControlFlow;
use std::time::Instant;

/// Stops a solver at the gap or the time limit and passes everything on, so that the bracket seen never widens and the
/// count never falls, however often the solver begins again.
pub(crate) struct Watch<'a, O> {
    pub(crate) inner: &'a mut O,
    /// The gap at which to stop, by estimates.
    pub(crate) gap: f64,
    /// Added to the solver's numbers.
    pub(crate) constant: f64,
    /// From the solver's numbers to those of the result.
    pub(crate) unit: Unit,
    pub(crate) scale: f64,
    pub(crate) deadline: Option<Instant>,
    pub(crate) stop: Option<Stop>,
    /// The gap by the latest estimates.
    pub(crate) reached: f64,
    /// Rounds of earlier attempts.
    pub(crate) earlier: usize,
    /// The narrowest bracket seen.
    pub(crate) upper: f64,
    pub(crate) lower: f64,
}

impl<O: Observer<Progress>> Observer<Progress> for Watch<'_, O> {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        let upper = self.scale * (progress.upper + self.constant);
        let lower = self.scale * (progress.lower + self.constant);
        self.reached = relative_gap(upper, lower);
        (self.upper, self.lower) = (self.upper.min(upper), self.lower.max(lower));
        let shown = Progress {
            iteration: self.earlier + progress.iteration,
            upper: self.unit.of(self.upper),
            lower: self.unit.of(self.lower),
        };
        self.stop = if self.inner.observe(&shown).is_break() {
            Some(Stop::Interrupted)
        } else if self.reached <= self.gap {
            Some(Stop::Gap)
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Some(Stop::TimeLimit)
        } else {
            None
        };
        if self.stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
