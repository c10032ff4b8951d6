//! What a solver reports, and why a run ends.

/// A look at a running solver. Estimates, not proven numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Rounds done.
    pub iteration: usize,
    /// The best upper bound so far, by estimate.
    pub upper: f64,
    /// The best value of the relaxation so far, by estimate; minus infinity before the first.
    pub lower: f64,
}

/// Why a solver ended. None of these is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// v_i² ≤ 1 + δ for one iterate: it is an almost feasible primal point of its own (early stop of the box).
    IterateFeasible,
    /// X_ii ≤ 1 + δ for the average (early stop of the box).
    AverageFeasible,
    /// The gap the solver itself aims at is reached.
    Converged,
    /// The bound has stopped improving.
    Stalled,
    /// The rounds are used up.
    IterationLimit,
    /// The observer ended it.
    Interrupted,
}

/// Why a whole run ended, with all its attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The requested gap was reached.
    Gap,
    /// The time limit was reached.
    TimeLimit,
    /// The observer ended it.
    Interrupted,
    /// The gap was reached for what could be proven in full within the limits; the rest was paid for.
    Reduced,
    /// The solver ended by itself.
    Solver(StopReason),
    /// The matrix is zero: nothing to solve.
    Zero,
}

/// How far apart two ends are, relative to the one nearer to zero: upper/lower − 1 for positive values. Zero where they
/// meet, infinite where zero lies between them.
pub(crate) fn relative_gap(upper: f64, lower: f64) -> f64 {
    if upper <= lower {
        0.0
    } else if lower > 0.0 {
        upper / lower - 1.0
    } else if upper < 0.0 {
        lower / upper - 1.0
    } else {
        f64::INFINITY
    }
}
