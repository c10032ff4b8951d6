//! How long a solver's steps take, seen from the calls of its observer.
//!
//! Nothing is known of a step before it ends, and some are long: a look at the dual may take as long as thirty others. So a
//! solver that is to end at some moment has to be told so before, by as much as its longest step.

use std::collections::VecDeque;

/// Steps that tell how long one takes at present.
const PRESENT: usize = 9;
/// Ordinary steps that a look at the dual takes, as long as none was seen.
const LOOK: f64 = 20.0;
/// Ordinary steps that the lower ends take: the point is multiplied in double precision, with bounds on every rounding.
const LOWER_ENDS: f64 = 16.0;

/// The steps of one run of a solver.
#[derive(Default)]
pub(crate) struct Pace {
    last: f64,
    longest: f64,
    present: VecDeque<f64>,
}

impl Pace {
    /// A step has ended at this moment.
    pub(crate) fn step(&mut self, now: f64) {
        let seconds = now - std::mem::replace(&mut self.last, now);
        self.longest = self.longest.max(seconds);
        self.present.push_back(seconds);
        if self.present.len() > PRESENT {
            self.present.pop_front();
        }
    }

    /// Steps begin at this moment, or go on: what passed before was none.
    pub(crate) fn resume(&mut self, now: f64) {
        self.last = now;
    }

    /// Seconds of an ordinary step: the median of the latest.
    fn ordinary(&self) -> f64 {
        let mut present: Vec<f64> = self.present.iter().copied().collect();
        present.sort_by(f64::total_cmp);
        present.get(present.len() / 2).copied().unwrap_or(0.0)
    }

    /// Seconds that pass, at most, between the request to end and the end: a step, and a last look at the dual.
    pub(crate) fn to_end(&self) -> f64 {
        self.longest.max(LOOK * self.ordinary())
    }

    /// Seconds that the lower ends take afterwards.
    pub(crate) fn lower_ends(&self) -> f64 {
        LOWER_ENDS * self.ordinary()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_steps_are_remembered_and_ordinary_ones_are_the_median() {
        let mut pace = Pace::default();
        assert_eq!((pace.to_end(), pace.lower_ends()), (0.0, 0.0));
        pace.resume(7.0);
        [8.0, 9.0, 10.0, 50.0, 51.0].iter().for_each(|&now| pace.step(now));
        assert_eq!((pace.to_end(), pace.lower_ends()), (40.0, 16.0));
        // A proof in between is no step.
        pace.resume(1000.0);
        (1..20).for_each(|k| pace.step(1000.0 + 3.0 * f64::from(k)));
        assert_eq!((pace.to_end(), pace.lower_ends()), (60.0, 48.0));
    }
}
