//! How a time limit is shared out: when planning, the solver and a proof are to end.
//!
//! **Problem.** A solver's weights are worth nothing until they are proven, and the proof cannot be cut short. How long it
//! takes is a prediction until one has been made, and other processes may come and go meanwhile.
//!
//! **Method.** The solver is told to end when what is left is a reserve for the proof, for its own last step and for the
//! lower ends. The reserve is the predicted time times a factor for the error of the prediction: the operations of the
//! proof at the best speed that was measured, times the slowdown of the machine, which is measured again and again once the
//! end is not far ([`speed`](crate::sdp::speed)). After the first proof its own time is the prediction; if that leaves enough
//! for another round of solver and proof, there is one, and the better bound is kept.

use crate::observe::Interrupt;
use crate::sdp::params::BoundParams;
use crate::sdp::speed::{Speed, Timer};
use crate::sdp::steps::pace::Pace;
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::Duration;

/// The part of a time limit that a proof may take which could be reduced.
const PROOF_PART: f64 = 0.35;
/// The largest slowdown believed for that: few measurements may say anything, and what is given up cannot be had again.
const BELIEVED: f64 = 4.0;
/// The part of a time limit that a proof which could only be given up may take where nothing else runs. Predictions err, and
/// there is nothing to lose.
const WHOLE_PROOF_PART: f64 = 2.5;
/// What is kept for a proof, relative to its time.
const RESERVE: f64 = 1.25;
/// The same before the first proof, where the machine is as busy as this or more.
const RESERVE_IN_DOUBT: f64 = 1.5;
const BUSY: f64 = 1.3;
/// The part of a time limit that the solver gets in any case, and with the proof.
const SOLVER_PART: (f64, f64) = (0.2, 0.9);
/// The part of a time limit that another round of the solver is worth beginning for.
const ANOTHER_ROUND: f64 = 0.05;
/// Seconds beyond the limit that do not count.
const OVERRUN: f64 = 0.1;
/// What is kept at most for the lower ends, and for a bound that needs no factorisation, when a proof is under way: a part of
/// the limit.
const LAST_PART: f64 = 0.15;
/// The part of the time limit until which the value of a point is to be proven; later a vertex has to do.
const LATEST_POINT: f64 = 1.1;
/// The part of a time limit that a measurement of the machine may take.
const MEASURING_PART: f64 = 0.02;
/// The part of the time limit after which the machine is measured again, and how often: this many times as long as it took,
/// or this part of the limit later.
const WATCHED_FROM: f64 = 0.1;
const SELDOM: (f64, f64) = (100.0, 0.1);

/// The time limit of one run, and how much of it is used up.
pub(crate) struct TimeBudget {
    timer: Timer,
    started: f64,
    limit: Option<f64>,
    interrupt: Interrupt,
    grace: Duration,
    /// When the interruption was first seen.
    seen: OnceLock<f64>,
    learned: Mutex<Learned>,
}

/// What is learned on the way.
#[derive(Default)]
struct Learned {
    speed: Speed,
    pace: Pace,
    /// Seconds of a proof where nothing else runs, by prediction.
    predicted: f64,
    /// Seconds that the last proof took.
    measured: Option<f64>,
    /// When the machine is measured next.
    next_look: f64,
}

impl Learned {
    /// Seconds that a proof takes now.
    fn proof(&self) -> f64 {
        self.measured.unwrap_or_else(|| self.predicted * self.speed.slowdown())
    }

    /// Seconds to keep for it.
    fn reserve(&self) -> f64 {
        let in_doubt = self.measured.is_none() && self.speed.slowdown() >= BUSY;
        let factor = if in_doubt { RESERVE_IN_DOUBT } else { RESERVE };
        factor * self.proof()
    }
}

impl TimeBudget {
    /// The clock starts now.
    pub(crate) fn start(params: &BoundParams, timer: Timer) -> Self {
        Self {
            started: (timer.now)(),
            timer,
            limit: params.time_limit.map(|limit| limit.as_secs_f64()),
            interrupt: params.interrupt.clone(),
            grace: params.grace,
            seen: OnceLock::new(),
            learned: Mutex::default(),
        }
    }

    fn learned(&self) -> MutexGuard<'_, Learned> {
        // Nothing that holds it can panic half-way.
        self.learned.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Seconds since the start.
    pub(crate) fn elapsed(&self) -> f64 {
        (self.timer.now)() - self.started
    }

    /// How fast the machine is; measured now, where the caller asks for it or a limit depends on it.
    pub(crate) fn speed(&self, measured: impl FnOnce(&Timer) -> Speed) -> Speed {
        let speed = match self.limit {
            Some(limit) => Speed::measured(&self.timer, MEASURING_PART * limit),
            None => measured(&self.timer),
        };
        self.learned().speed = speed.clone();
        speed
    }

    /// Seconds, where nothing else runs, that a proof may take by plan: one that could be reduced, and one that could not.
    pub(crate) fn for_proof(&self) -> Option<(f64, f64)> {
        let slowdown = self.learned().speed.slowdown().min(BELIEVED);
        self.limit.map(|limit| (PROOF_PART * limit / slowdown, WHOLE_PROOF_PART * limit))
    }

    /// Whether planning the proof has taken as long as the proof may, or the caller has interrupted.
    pub(crate) fn planning_is_over(&self) -> bool {
        self.is_interrupted() || self.limit.is_some_and(|limit| self.elapsed() > PROOF_PART * limit)
    }

    /// Says how long a proof takes where nothing else runs; the solver's end follows.
    pub(crate) fn expect_proof(&self, seconds: f64) {
        self.learned().predicted = seconds;
    }

    /// Says how long a proof took. One that was given up took longer than that.
    pub(crate) fn proof_took(&self, seconds: f64) {
        self.learned().measured = Some(seconds);
    }

    /// A run of the solver begins.
    pub(crate) fn begin_solving(&self) {
        let now = self.elapsed();
        self.learned().pace.resume(now);
    }

    /// A step of the solver has ended. Now and then the machine is measured again, where a limit is not far.
    pub(crate) fn step(&self) {
        let now = self.elapsed();
        let mut learned = self.learned();
        learned.pace.step(now);
        let Some(limit) = self.limit else { return };
        if now > WATCHED_FROM * limit && now >= learned.next_look && learned.measured.is_none() {
            learned.speed.refresh(&self.timer, MEASURING_PART * limit);
            let spent = self.elapsed() - now;
            let (times, part) = SELDOM;
            learned.next_look = now + spent + (times * spent).min(part * limit);
            learned.pace.resume(now + spent); // that was no step of the solver
        }
    }

    /// When the solver is to have ended, so that the proof and the lower ends still fit; `None` without a limit.
    fn solver_end(&self) -> Option<f64> {
        let limit = self.limit?;
        let learned = self.learned();
        let (least, most) = SOLVER_PART;
        let before_lower_ends = limit - learned.pace.lower_ends();
        Some(match learned.measured {
            // What was measured leaves little doubt whether there is time.
            Some(_) => before_lower_ends - learned.reserve(),
            None => (before_lower_ends.min(most * limit) - learned.reserve()).max(least * limit),
        })
    }

    /// Whether the solver is to end: it may take a step and a last look at the dual to do so.
    pub(crate) fn ends_solver(&self) -> bool {
        self.solver_end().is_some_and(|end| self.elapsed() + self.learned().pace.to_end() >= end)
    }

    /// Whether the solver should have ended, and nothing further is to be begun: another look at the dual would leave too
    /// little of the limit, or of the grace, for the proof.
    pub(crate) fn is_late(&self) -> bool {
        let now = self.elapsed();
        let after_a_look = |learned: &Learned| now + learned.pace.to_end() + learned.proof();
        self.solver_end().is_some_and(|end| now >= end)
            || self.grace_end().is_some_and(|end| after_a_look(&self.learned()) >= end)
    }

    /// The same, or a proof is to be given up.
    pub(crate) fn is_over(&self) -> bool {
        self.is_late() || self.ends_proof()
    }

    /// Whether there is time for another round of solver and proof, after a proof that the limit had been kept for.
    pub(crate) fn allows_another_round(&self) -> bool {
        let (Some(limit), Some(end)) = (self.limit, self.solver_end()) else { return false };
        let begun = self.elapsed() + self.learned().pace.to_end();
        !self.is_interrupted() && end - begun >= ANOTHER_ROUND * limit
    }

    /// Whether there is time for one more proof.
    pub(crate) fn allows_proof(&self) -> bool {
        let ends = self.elapsed() + self.learned().proof();
        self.limit.is_none_or(|limit| ends <= limit) && self.grace_end().is_none_or(|end| ends <= end)
    }

    /// Whether the value of a point of the relaxation would be too late: for the limit, or for a caller who has interrupted.
    pub(crate) fn excludes_point(&self) -> bool {
        let taken = self.elapsed() + self.learned().pace.lower_ends();
        self.limit.is_some_and(|limit| taken > LATEST_POINT * limit)
            || self.grace_end().is_some_and(|end| taken > end)
    }

    /// Whether a proof is to be given up for a bound that needs no factorisation.
    pub(crate) fn ends_proof(&self) -> bool {
        let late = self.limit.is_some_and(|limit| {
            let last = self.learned().pace.lower_ends().min(LAST_PART * limit);
            self.elapsed() >= limit - last + OVERRUN
        });
        late || self.grace_is_over()
    }

    /// Whether searches for better lower ends are to end.
    pub(crate) fn ends_search(&self) -> bool {
        let late = self.limit.is_some_and(|limit| self.elapsed() >= limit + OVERRUN);
        late || self.grace_is_over()
    }

    /// Whether the caller has interrupted. The grace begins when this is first seen.
    pub(crate) fn is_interrupted(&self) -> bool {
        let interrupted = self.interrupt.is_requested();
        if interrupted {
            self.seen.get_or_init(|| self.elapsed());
        }
        interrupted
    }

    /// Whether the caller has interrupted and waited for long enough: what is under way is to be dropped.
    pub(crate) fn grace_is_over(&self) -> bool {
        self.grace_end().is_some_and(|end| self.elapsed() >= end)
    }

    /// When that is; `None` where nobody has interrupted.
    fn grace_end(&self) -> Option<f64> {
        let seen = self.is_interrupted().then(|| self.seen.get())?;
        seen.map(|seen| seen + self.grace.as_secs_f64())
    }

    /// Whether a proof that takes as long as predicted is not worth beginning: the caller has interrupted, and what is left
    /// of the grace is far too short. A prediction may be wrong by a factor.
    pub(crate) fn excludes_proof(&self) -> bool {
        const WRONG_BY: f64 = 2.0;
        self.is_interrupted() && self.learned().proof() > WRONG_BY * self.grace.as_secs_f64()
    }
}
