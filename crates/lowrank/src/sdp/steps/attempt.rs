//! One run of a solver, and what several of them add up to.

use crate::linalg::operator::Operator;
use crate::linalg::unit_rows::UnitRows;
use crate::parameter::ParameterError;
use crate::sdp::burer_monteiro::{BurerMonteiroParams, COLUMN_STEP, burer_monteiro};
use crate::sdp::mwu::multiplicative_weights;
use crate::sdp::params::{BoundParams, Solver};
use crate::sdp::problem::Problem;
use crate::sdp::progress::Stop;
use crate::sdp::steps::monitor::RunMonitor;
use gambeson_checker::Quadratic;
use rand_chacha::ChaCha8Rng;

impl Solver {
    /// Fractions of the requested gap at which to stop by estimate, one per attempt.
    pub(crate) fn ambitions(self) -> &'static [f64] {
        match self {
            // Starts from scratch every time, so there is one attempt.
            Solver::MultiplicativeWeights => &[0.8],
            // Continues from where it stopped.
            Solver::BurerMonteiro => &[0.6, 0.2, 0.05, 0.01],
        }
    }
}

/// Columns for the low-rank factorisation with which it takes at most so many bytes besides the matrix; where there are
/// none, the bytes that the fewest take.
pub(crate) fn columns_within(
    params: &BurerMonteiroParams,
    problem: &Problem,
    bytes: u64,
) -> Result<usize, u64> {
    let n = problem.quadratic().dim();
    // A copy in single precision.
    let copy = if matches!(problem.quadratic(), Quadratic::Sparse { .. }) { 0 } else { problem.bytes() / 2 };
    let found = params.columns_within(n, bytes.saturating_sub(copy));
    found.ok_or_else(|| BurerMonteiroParams::bytes(n, COLUMN_STEP).saturating_add(copy))
}

/// One run of a solver.
pub(crate) fn solve(
    operator: &Operator<'_>,
    params: &BoundParams,
    start: Option<&UnitRows>,
    rng: &mut ChaCha8Rng,
    monitor: &mut RunMonitor<'_>,
) -> Result<Solved, ParameterError> {
    Ok(match params.solver {
        Solver::MultiplicativeWeights => {
            let solution = multiplicative_weights(operator, &params.mwu, rng, monitor)?;
            let scale = solution.estimate / solution.weights.iter().sum::<f64>();
            Solved {
                weights: solution.weights.iter().map(|weight| weight * scale).collect(),
                uncertainty: solution.uncertainty,
                point: solution.point,
                iterations: solution.iterations,
                products: solution.products,
                stop: monitor.stop.unwrap_or(Stop::Solver(solution.stop)),
            }
        }
        Solver::BurerMonteiro => {
            let mut own = params.burer_monteiro.clone();
            // It stops by itself where the monitor would stop it, and plans its looks at the dual accordingly.
            (own.gap, own.offset) = (monitor.gap, monitor.units.constant);
            own.max_iterations -= monitor.earlier;
            let solution = burer_monteiro(operator, &own, start, rng, monitor)?;
            Solved {
                weights: solution.weights,
                uncertainty: solution.uncertainty,
                point: solution.point,
                iterations: solution.iterations,
                products: solution.products,
                stop: monitor.stop.unwrap_or(Stop::Solver(solution.stop)),
            }
        }
    })
}

/// What a solver found.
pub(crate) struct Solved {
    pub(crate) weights: Vec<f64>,
    /// By how much they may miss being feasible, relatively.
    pub(crate) uncertainty: f64,
    pub(crate) point: UnitRows,
    pub(crate) iterations: usize,
    pub(crate) products: usize,
    pub(crate) stop: Stop,
}

impl Solved {
    pub(crate) fn zero(n: usize) -> Self {
        let point = UnitRows { entries: vec![1.0; n], columns: 1 };
        let weights = vec![1.0; n];
        Self { weights, uncertainty: 0.0, point, iterations: 0, products: 0, stop: Stop::Zero }
    }
}

/// Sums over all attempts.
pub(crate) struct Totals {
    pub(crate) iterations: usize,
    pub(crate) products: usize,
    pub(crate) seconds_check: f64,
    pub(crate) stop: Stop,
}

impl Default for Totals {
    fn default() -> Self {
        Self { iterations: 0, products: 0, seconds_check: 0.0, stop: Stop::Zero }
    }
}

impl Totals {
    pub(crate) fn add(&mut self, found: &Solved) {
        self.iterations += found.iterations;
        self.products += found.products;
        self.stop = found.stop;
    }
}
