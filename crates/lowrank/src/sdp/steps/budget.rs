//! How a time limit is shared out: when planning, the solver and a proof are to end.

use crate::observe::Interrupt;
use crate::sdp::params::BoundParams;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The part of a time limit that is reserved for the proof.
const PROOF_PART: f64 = 0.35;
/// What is kept for the proof, relative to its predicted time.
const RESERVE: f64 = 1.3;
/// The part of a time limit that the solver gets in any case, and with the proof. The rest is for the lower ends, which
/// take about as long as a few steps of the solver.
const SOLVER_PART: (f64, f64) = (0.2, 0.9);
/// What a proof may take at most, relative to the time limit, before it is given up for a trivial one.
const OVERRUN: f64 = 1.5;

/// The time limit of one run, and how much of it is used up.
pub(crate) struct TimeBudget {
    started: Instant,
    limit: Option<Duration>,
    interrupt: Interrupt,
    grace: Duration,
    /// When the interruption was first seen.
    seen: OnceLock<Instant>,
    /// Seconds that a proof takes, by prediction.
    proof_seconds: f64,
}

impl TimeBudget {
    /// The clock starts now.
    pub(crate) fn start(params: &BoundParams) -> Self {
        Self {
            started: Instant::now(),
            limit: params.time_limit,
            interrupt: params.interrupt.clone(),
            grace: params.grace,
            seen: OnceLock::new(),
            proof_seconds: 0.0,
        }
    }

    /// Seconds since the start.
    pub(crate) fn elapsed(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Seconds that a proof may take by plan.
    pub(crate) fn for_proof(&self) -> Option<f64> {
        self.limit.map(|limit| PROOF_PART * limit.as_secs_f64())
    }

    /// Whether planning the proof has taken as long as the proof may.
    pub(crate) fn planning_is_over(&self) -> bool {
        self.for_proof().is_some_and(|most| self.elapsed() > most)
    }

    /// Says how long a proof takes; the solver's deadline follows.
    pub(crate) fn expect_proof(&mut self, seconds: f64) {
        self.proof_seconds = seconds;
    }

    /// When the solver is to end, so that the proof still fits.
    pub(crate) fn solver_deadline(&self) -> Option<Instant> {
        let limit = self.limit?.as_secs_f64();
        let (least, most) = SOLVER_PART;
        let seconds = (most * limit - RESERVE * self.proof_seconds).max(least * limit);
        self.started.checked_add(Duration::try_from_secs_f64(seconds).ok()?)
    }

    /// Whether nothing further is to be begun.
    pub(crate) fn is_over(&self) -> bool {
        self.solver_deadline().is_some_and(has_passed) || self.ends_proof()
    }

    /// Whether a proof is to be given up for one that needs no factorisation.
    pub(crate) fn ends_proof(&self) -> bool {
        let limit = self
            .limit
            .and_then(|limit| Duration::try_from_secs_f64(OVERRUN * limit.as_secs_f64() + 1.0).ok());
        let late = limit.and_then(|limit| self.started.checked_add(limit)).is_some_and(has_passed);
        late || self.grace_is_over()
    }

    /// Whether the caller has interrupted. The grace begins when this is first seen.
    pub(crate) fn is_interrupted(&self) -> bool {
        let interrupted = self.interrupt.is_requested();
        if interrupted {
            self.seen.get_or_init(Instant::now);
        }
        interrupted
    }

    /// Whether the caller has interrupted and waited for long enough: what is under way is to be dropped.
    pub(crate) fn grace_is_over(&self) -> bool {
        self.is_interrupted() && self.seen.get().is_some_and(|seen| seen.elapsed() >= self.grace)
    }

    /// Whether a proof that takes as long as predicted is not worth beginning: the caller has interrupted, and what is left
    /// of the grace is far too short. A prediction may be wrong by a factor.
    pub(crate) fn excludes_proof(&self) -> bool {
        const WRONG_BY: f64 = 2.0;
        self.is_interrupted() && self.proof_seconds > WRONG_BY * self.grace.as_secs_f64()
    }
}

fn has_passed(deadline: Instant) -> bool {
    Instant::now() >= deadline
}
