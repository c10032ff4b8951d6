//! Parameters of a bracket.

use crate::linalg::unit_rows::UnitRows;
use crate::memory::MemoryLimit;
use crate::observe::Interrupt;
use crate::parameter::ParameterError;
use crate::sdp::burer_monteiro::BurerMonteiroParams;
use crate::sdp::mwu::MwuParams;
use std::time::Duration;

/// The gap of Algorithm 2 by default, which is what the paper reaches; smaller ones take very long.
const MWU_GAP: f64 = 5e-3;
/// Improvements of Algorithm 2 above this part of the gap are not a stall: they count towards the gap.
const NO_STALL: f64 = 0.01;

/// Which algorithm looks for the certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// Algorithm 2, multiplicative weights.
    MultiplicativeWeights,
    /// Low-rank factorisation: far faster, and the only choice for small gaps.
    BurerMonteiro,
}

/// Parameters of [`bracket`](crate::sdp::bracket::bracket).
#[derive(Clone, Debug)]
pub struct BoundParams {
    /// The solver.
    pub solver: Solver,
    /// upper/sdp_lower − 1 at which to stop; positive.
    pub gap: f64,
    /// What everything together should take, the proof included: where a full proof does not fit, what can be proven is
    /// (see [`plan`](crate::sdp::plan)).
    pub time_limit: Option<Duration>,
    /// Bytes that everything together may take, the matrix included: the solver gets fewer columns, or refuses, and the
    /// proof gives entries up.
    pub memory_limit: MemoryLimit,
    /// Asked in the search and in the proof. Once it says yes, the search ends, and `grace` later what is under way is
    /// dropped for the bound that needs no factorisation, unless a better one has been proven before.
    pub interrupt: Interrupt,
    /// How long a proof may go on after an interrupt. The default of 0.35 s is enough for some 4,500 dense rows on two idle
    /// cores; a proof that is predicted to take more than twice the grace is not begun. A person at a terminal may prefer to
    /// wait longer for a better bound.
    pub grace: Duration,
    /// Where the low-rank factorisation starts, for instance `point` of the bracket of a similar matrix. Algorithm 2
    /// ignores it.
    pub start: Option<UnitRows>,
    /// Seed of the start vector and of the rounding.
    pub seed: u64,
    /// Threads of the checker. Solvers use the pool of rayon that they are called in.
    pub threads: usize,
    /// Parameters of Algorithm 2.
    pub mwu: MwuParams,
    /// Parameters of the low-rank factorisation.
    pub burer_monteiro: BurerMonteiroParams,
}

impl Default for BoundParams {
    fn default() -> Self {
        Self {
            solver: Solver::BurerMonteiro,
            gap: 1e-4,
            time_limit: None,
            memory_limit: MemoryLimit::NONE,
            interrupt: Interrupt::NEVER,
            grace: Duration::from_millis(350),
            start: None,
            seed: 0,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            mwu: MwuParams { early_stop: false, keep_primal: false, ..MwuParams::default() },
            burer_monteiro: BurerMonteiroParams::default(),
        }
    }
}

impl Solver {
    /// The gap aimed at unless the caller names one.
    pub fn default_gap(self) -> f64 {
        match self {
            Self::MultiplicativeWeights => MWU_GAP,
            Self::BurerMonteiro => BoundParams::default().gap,
        }
    }
}

impl BoundParams {
    /// The defaults for a solver and a gap (by default, [`Solver::default_gap`]): Algorithm 2 is as accurate as the gap
    /// requires.
    pub fn for_solver(solver: Solver, gap: Option<f64>) -> Self {
        let gap = gap.unwrap_or_else(|| solver.default_gap());
        let params = Self { solver, gap, ..Self::default() };
        let accuracy = params.mwu.accuracy.min(gap);
        let stall = params.mwu.stall.min(NO_STALL * gap);
        Self { mwu: MwuParams { accuracy, stall, ..params.mwu }, ..params }
    }

    /// Checks every parameter once, including those of the solver not chosen.
    pub fn validate(&self) -> Result<(), ParameterError> {
        if !(self.gap > 0.0) {
            return Err(ParameterError { name: "gap", value: self.gap, range: "positive" });
        }
        self.mwu.validate()?;
        self.burer_monteiro.validate()
    }
}
