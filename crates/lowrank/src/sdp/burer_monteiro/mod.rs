//! Low-rank factorisation: maximise ⟨M, VVᵀ⟩ over n × k matrices with unit rows, and read the dual off.
//!
//! **Problem.** The same relaxation as Algorithm 2, max ⟨M, X⟩ over X ⪰ 0, X_ii = 1, with X = VVᵀ (Burer and Monteiro,
//! Math. Prog. 95, 2003). For M_ii ≥ 0, X_ii ≤ 1 has the same value: Diag(1 − X_ii) may be
//! added to X.
//!
//! **Method.** L-BFGS on the product of spheres (`lbfgs.rs`), one block product per step, in single precision on the
//! difference from the last point whose product is known in double (`linalg/single.rs`); where it crawls, a truncated
//! Newton step by conjugate gradients on the tangent space (`newton.rs`); all of it driven by `ascent.rs`. At a critical point M·V = Diag(y)·V with
//! y_i = ⟨v_i, (MV)_i⟩; if also Diag(y) ⪰ M then V is optimal and y the dual optimum. The eigenspace that decides
//! this starts from the columns of V, which span the cluster at the top. An eigenvector that violates
//! Diag(y) ⪰ M is a direction of ascent: it becomes a further column (escape).
//!
//! **Deviation.** Besides V and matrices of its size, a copy of M in single precision is kept, half the size of M,
//! unless M is sparse or known by its products alone.
//!
//! **Guarantee.** None: the checker proves what (Σ y)·λ_max(D^−½MD^−½) the weights give. The optimal X has rank far
//! below √(2n) in practice, so k stays small; the proof would notice if it were too small.

mod ascent;
mod evaluate;
mod lbfgs;
mod newton;

use crate::linalg::operator::Operator;
use crate::linalg::unit_rows::UnitRows;
use crate::observe::Observer;
use crate::parameter::ParameterError;
pub(crate) use crate::sdp::burer_monteiro::ascent::COLUMN_STEP;
use crate::sdp::burer_monteiro::ascent::{Ascent, Dual, StageEnd};
use crate::sdp::progress::{Progress, StopReason, relative_gap};
use rand::Rng;

/// By how much the criticality falls between two looks, at least and at most.
const NEXT_LOOK: (f64, f64) = (0.5, 0.02);
/// What is added to every weight, in criticalities or gaps (whichever is larger) times the mean weight: weights far
/// below the mean have a large relative error, and would have to be multiplied by a lot to be safe.
const SLACK: f64 = 0.1;

/// Parameters of [`burer_monteiro`].
#[derive(Clone, Debug, PartialEq)]
pub struct BurerMonteiroParams {
    /// k; None takes min(32, ⌈√(2n)⌉ + 1), rounded up to a multiple of eight.
    pub columns: Option<usize>,
    /// Steps at most, each one block product or a little more.
    pub max_iterations: usize,
    /// Relative gap (upper + offset)/(lower + offset) − 1, by estimates, at which to stop.
    pub gap: f64,
    /// A constant that belongs to the value but not to M.
    pub offset: f64,
}

impl Default for BurerMonteiroParams {
    fn default() -> Self {
        Self { columns: None, max_iterations: 20_000, gap: 1e-9, offset: 0.0 }
    }
}

impl BurerMonteiroParams {
    /// Checks every parameter once.
    pub fn validate(&self) -> Result<(), ParameterError> {
        if !(self.gap > 0.0) {
            return Err(ParameterError { name: "gap", value: self.gap, range: "positive" });
        }
        if !self.offset.is_finite() {
            return Err(ParameterError { name: "offset", value: self.offset, range: "finite" });
        }
        if self.columns == Some(0) {
            return Err(ParameterError { name: "columns", value: 0.0, range: "positive" });
        }
        if self.max_iterations == 0 {
            return Err(ParameterError { name: "max_iterations", value: 0.0, range: "positive" });
        }
        Ok(())
    }

    /// Bytes that a run on n rows with this many columns takes besides M, about: points with their products and gradients,
    /// the memory of L-BFGS, and an eigenspace with its products.
    pub(crate) fn bytes(n: usize, columns: usize) -> u64 {
        let (points, eigenspace) = (28 * columns as u64, 2 * (columns as u64 + 61));
        (points + eigenspace).saturating_mul(8 * n as u64)
    }

    /// The columns it takes on n rows, or fewer that take at most so many bytes, if a run is possible with them.
    pub(crate) fn columns_within(&self, n: usize, bytes: u64) -> Option<usize> {
        let mut columns = self.columns(n);
        while Self::bytes(n, columns) > bytes && columns > COLUMN_STEP {
            columns -= COLUMN_STEP;
        }
        (Self::bytes(n, columns) <= bytes).then_some(columns)
    }

    /// The criticality at which the gap should be reached, given both now: the gap follows the criticality.
    fn next_target(&self, gap: f64, criticality: f64) -> f64 {
        let (most, least) = NEXT_LOOK;
        let factor = (0.6 * self.gap / gap).max(least).min(most);
        factor * criticality
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a small positive number
    fn columns(&self, n: usize) -> usize {
        let enough = ((2.0 * n as f64).sqrt().ceil() as usize + 1).min(32);
        self.columns.unwrap_or(enough).max(1).next_multiple_of(COLUMN_STEP)
    }
}

/// Outcome of an ascent. Nothing in here is proven.
pub struct BurerMonteiroSolution {
    /// Weights for the checker, scaled so that they are estimated to be just feasible.
    pub weights: Vec<f64>,
    /// Their sum: the estimated bound, slightly low.
    pub estimate: f64,
    /// By how much the weights may miss being feasible, relatively: the residual of the eigenvalue that scaled them.
    pub uncertainty: f64,
    /// V.
    pub point: UnitRows,
    /// Steps done.
    pub iterations: usize,
    /// Products with M, a block of columns counted as one.
    pub products: usize,
    /// Why it ended.
    pub stop: StopReason,
}

/// Runs the method. `start` is a point to start from, for instance that of an earlier run: n rows, which are brought
/// to length one. The dual weights follow from it.
pub fn burer_monteiro(
    operator: &Operator<'_>,
    params: &BurerMonteiroParams,
    start: Option<&UnitRows>,
    rng: &mut impl Rng,
    observer: &mut dyn Observer<Progress>,
) -> Result<BurerMonteiroSolution, ParameterError> {
    params.validate()?;
    let n = operator.dim();
    if operator.is_zero() {
        let point = UnitRows { entries: vec![1.0; n], columns: 1 };
        let (weights, stop) = (vec![0.0; n], StopReason::Converged);
        let (estimate, uncertainty, iterations, products) = (0.0, 0.0, 0, 0);
        let solution =
            BurerMonteiroSolution { weights, estimate, uncertainty, point, iterations, products, stop };
        return Ok(solution);
    }
    check_start(start, n)?;
    let mut ascent = Ascent::new(operator, params.columns(n), start, rng, observer);
    let mut best = BestDual { upper: f64::INFINITY, uncertainty: 0.0, weights: None };
    let mut looked = false; // at the dual, whatever was seen
    // Criticality at which the dual is looked at next.
    let mut target = ascent.first_target();
    let mut stop = StopReason::IterationLimit;
    while ascent.iterations < params.max_iterations {
        let (before, steps_before) = (ascent.state.criticality(), ascent.iterations);
        let ended = ascent.ascend(target, params.max_iterations, best.upper, observer);
        let in_vain = ascent.state.criticality() > 0.5 * before;
        let in_vain = in_vain && best.weights.is_some();
        let late = observer.is_late() && best.weights.is_some();
        if ended == StageEnd::Interrupted && (in_vain || late || observer.drops_step()) {
            stop = StopReason::Interrupted; // another look would not find much more
            break;
        }
        if ascent.iterations == steps_before && looked {
            stop = StopReason::Stalled; // no direction of ascent left, and that has been looked at
            break;
        }
        ascent.settle();
        let slack = SLACK * ascent.state.criticality().max(params.gap);
        let ends_look = || observer.drops_step() || observer.is_late();
        let dual = ascent.dual(slack, 0.1 * target.min(1e-2), &ends_look);
        looked = true;
        best.improve(&dual);
        let lower = ascent.highest();
        let progress = Progress { iteration: ascent.iterations, upper: best.upper, lower };
        if observer.observe(&progress).is_break() || ended == StageEnd::Interrupted {
            stop = StopReason::Interrupted;
            break;
        }
        if relative_gap(best.upper + params.offset, lower + params.offset) <= params.gap {
            stop = StopReason::Converged;
            break;
        }
        // Nearly critical, yet not optimal: more columns are needed.
        if dual.theta - 1.0 > 20.0 * ascent.state.criticality() && ascent.escape(&dual.violating) {
            target = ascent.first_target();
        } else if ended == StageEnd::Stuck {
            stop = StopReason::Stalled;
            break;
        } else {
            let gap = relative_gap(dual.bound() + params.offset, lower + params.offset);
            target = params.next_target(gap, target.min(ascent.state.criticality()));
            ascent.narrow();
        }
    }
    let Ascent { evaluator, state, iterations, .. } = ascent;
    Ok(BurerMonteiroSolution {
        weights: best.weights.unwrap_or_else(|| vec![1.0; n]),
        estimate: best.upper,
        uncertainty: best.uncertainty,
        point: state.point,
        iterations,
        products: evaluator.products,
        stop,
    })
}

/// Whether a run can start from there: finite numbers, n rows of them.
fn check_start(start: Option<&UnitRows>, n: usize) -> Result<(), ParameterError> {
    let Some(UnitRows { entries, columns }) = start else { return Ok(()) };
    if *columns == 0 || entries.len() != n * columns {
        let value = entries.len() as f64;
        return Err(ParameterError { name: "numbers of the start", value, range: "n times its columns" });
    }
    match entries.iter().find(|x| !x.is_finite()) {
        Some(&value) => Err(ParameterError { name: "start", value, range: "finite" }),
        None => Ok(()),
    }
}

/// The weights with the least bound so far, by estimate.
struct BestDual {
    upper: f64,
    uncertainty: f64,
    weights: Option<Vec<f64>>,
}

impl BestDual {
    fn improve(&mut self, dual: &Dual) {
        let upper = dual.cautious_bound();
        if upper < self.upper {
            self.upper = upper;
            self.uncertainty = dual.uncertainty;
            self.weights = Some(dual.weights.iter().map(|y| y * dual.theta).collect());
        }
    }
}
