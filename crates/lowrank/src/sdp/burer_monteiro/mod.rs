//! Low-rank factorisation: maximise ⟨M, VVᵀ⟩ over n × k matrices with unit rows, and read the dual off.
//!
//! **Problem.** The same relaxation as Algorithm 2, max ⟨M, X⟩ over X ⪰ 0, X_ii = 1, with X = VVᵀ (Burer and Monteiro,
//! Math. Prog. 95, 2003). For M_ii ≥ 0, X_ii ≤ 1 has the same value: Diag(1 − X_ii) may be
//! added to X.
//!
//! **Method.** L-BFGS on the product of spheres (`lbfgs.rs`), one block product a step, in single precision on the
//! difference to the last point whose product is known in double (`rough.rs`); where it crawls, a truncated Newton
//! step by conjugate gradients on the tangent space (`newton.rs`). At a critical point M·V = Diag(y)·V with
//! y_i = ⟨v_i, (MV)_i⟩; if also Diag(y) ⪰ M then V is optimal and y the dual optimum. The eigenspace that decides
//! this starts from the columns of V, which span the cluster at the top. An eigenvector that violates
//! Diag(y) ⪰ M is a direction to climb along: it becomes a further column (escape).
//!
//! **Deviation.** Beyond V and its like it keeps a copy of M in single precision, half the size of M, unless M is
//! sparse or known by its products alone.
//!
//! **Guarantee.** None: the checker proves what (Σ y)·λ_max(D^−½MD^−½) the weights give. The optimal X has rank far
//! below √(2n) in practice, so k stays small; the proof would notice if it were too small.

mod evaluate;
mod lbfgs;
mod newton;

use crate::linalg::lanczos::TopEigenspace;
use crate::linalg::operator::Operator;
use crate::linalg::sphere::{add, inner, normalise, project, retract};
use crate::linalg::unit_rows::UnitRows;
use crate::observe::Observer;
use crate::parameter::ParameterError;
use crate::sdp::burer_monteiro::evaluate::{Evaluator, State};
use crate::sdp::burer_monteiro::lbfgs::Memory;
use crate::sdp::progress::{Progress, StopReason, relative_gap};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// Columns come in multiples of this, the width of a vector register.
const COLUMN_STEP: usize = 8;

/// Steps without progress after which a Newton step is tried.
const PATIENCE: usize = 60;
/// Criticality at which the dual is first looked at.
const FIRST_LOOK: f64 = 0.02;
/// By how much the criticality falls between two looks, at least and at most.
const NEXT_LOOK: (f64, f64) = (0.5, 0.02);
/// What every weight gets on top, in criticalities or gaps of the mean weight, whichever is larger: weights far below
/// the mean are not known to a small part of themselves, and would have to be multiplied by a lot to be safe.
const SLACK: f64 = 0.1;
/// Share of V, against its criticality, below which a column may go.
const NEGLIGIBLE_COLUMN: f64 = 0.03;
/// Steps that failed in single precision within one climb after which it is given up.
const ROUGH_FAILURES: usize = 5;

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

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a small positive number
    fn columns(&self, n: usize) -> usize {
        let enough = ((2.0 * n as f64).sqrt().ceil() as usize + 1).min(32);
        self.columns.unwrap_or(enough).max(1).next_multiple_of(COLUMN_STEP)
    }
}

/// Outcome of a run. Nothing in here is proven.
pub struct BurerMonteiroSolution {
    /// Weights for the checker, scaled so that they are estimated to be just feasible.
    pub weights: Vec<f64>,
    /// Their sum: the estimated bound, slightly low.
    pub estimate: f64,
    /// V.
    pub point: UnitRows,
    /// Steps done.
    pub iterations: usize,
    /// Products with M, a block of columns counted as one.
    pub products: usize,
    /// Why it ended.
    pub stop: StopReason,
}

/// Runs the method. `start` is a point to begin from, of an earlier run say: n rows,
/// which are brought to length one. The dual weights follow from it.
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
        return Ok(BurerMonteiroSolution { weights, estimate: 0.0, point, iterations: 0, products: 0, stop });
    }
    if let Some(UnitRows { entries, columns }) = start {
        if *columns == 0 || entries.len() != n * columns {
            let value = entries.len() as f64;
            return Err(ParameterError { name: "numbers of the start", value, range: "n times its columns" });
        }
        if let Some(&value) = entries.iter().find(|x| !x.is_finite()) {
            return Err(ParameterError { name: "start", value, range: "finite" });
        }
    }
    let mut evaluator = Evaluator::new(operator);
    let state = match start {
        Some(rows) => evaluator.given(rows),
        None => evaluator.random(params.columns(n), rng),
    };
    let probe: Vec<f64> = (0..n).map(|_| StandardNormal.sample(rng)).collect();
    let mut probe_image = vec![0.0; n];
    operator.apply(&probe, &mut probe_image);
    evaluator.products += 1;
    let mut run = Run {
        evaluator,
        state,
        memory: Memory::default(),
        probe: (probe, probe_image),
        iterations: 0,
        highest: f64::NEG_INFINITY,
    };
    let mut best: Option<(f64, Vec<f64>)> = None;
    // Criticality at which the dual is looked at next.
    let mut target = run.first_target();
    let mut stop = StopReason::IterationLimit;
    while run.iterations < params.max_iterations {
        let (before, steps_before) = (run.state.criticality(), run.iterations);
        let least = best.as_ref().map_or(f64::INFINITY, |(least, _)| *least);
        let climbed = run.climb(target, params.max_iterations, least, observer);
        if climbed == Climb::Interrupted && best.is_some() && run.state.criticality() > 0.5 * before {
            stop = StopReason::Interrupted; // another look would not find much more
            break;
        }
        if run.iterations == steps_before && best.is_some() {
            stop = StopReason::Stalled; // nothing left to climb, and that has been looked at
            break;
        }
        run.settle();
        let slack = SLACK * run.state.criticality().max(params.gap);
        let (weights, theta, violating) = run.dual(slack, 0.1 * target.min(1e-2));
        let upper: f64 = weights.iter().sum::<f64>() * theta;
        if upper < least {
            best = Some((upper, weights.iter().map(|y| y * theta).collect()));
        }
        let (least, lower) = (least.min(upper), run.highest());
        let progress = Progress { iteration: run.iterations, upper: least, lower };
        if observer.observe(&progress).is_break() || climbed == Climb::Interrupted {
            stop = StopReason::Interrupted;
            break;
        }
        if relative_gap(least + params.offset, lower + params.offset) <= params.gap {
            stop = StopReason::Converged;
            break;
        }
        // Nearly critical, yet not optimal: more columns are needed.
        if theta - 1.0 > 20.0 * run.state.criticality() && run.escape(&violating) {
            target = run.first_target();
        } else if climbed == Climb::Stuck {
            stop = StopReason::Stalled;
            break;
        } else {
            // The gap follows the criticality: on to where it should be reached.
            let gap = relative_gap(upper + params.offset, lower + params.offset);
            let (most, least) = NEXT_LOOK;
            let factor = (0.6 * params.gap / gap).max(least).min(most);
            target = factor * target.min(run.state.criticality());
            run.narrow();
        }
    }
    let (estimate, weights) = best.unwrap_or_else(|| (f64::INFINITY, vec![1.0; n]));
    let Run { evaluator, state, iterations, .. } = run;
    Ok(BurerMonteiroSolution {
        weights,
        estimate,
        point: state.point,
        iterations,
        products: evaluator.products,
        stop,
    })
}

/// How a climb ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Climb {
    /// The criticality aimed at, or the steps used up.
    Reached,
    /// No direction gains any more.
    Stuck,
    /// The observer ended it.
    Interrupted,
}

struct Run<'a> {
    evaluator: Evaluator<'a>,
    state: State,
    memory: Memory,
    /// A random vector and M times it: without it, the eigenspace of a symmetric point might see nothing beyond it.
    probe: (Vec<f64>, Vec<f64>),
    iterations: usize,
    highest: f64,
}

impl Run<'_> {
    /// The highest value so far: what is reported never falls.
    fn highest(&mut self) -> f64 {
        self.highest = self.highest.max(self.state.value);
        self.highest
    }

    /// Computes the present point in double precision.
    fn settle(&mut self) {
        if !self.evaluator.is_exact(&self.state) {
            let UnitRows { entries, columns } = self.state.point.clone();
            self.state = self.evaluator.exact(entries, columns);
        }
    }

    /// A criticality worth climbing to from a new place.
    fn first_target(&self) -> f64 {
        (0.2 * self.state.criticality()).min(FIRST_LOOK)
    }

    /// Climbs until the point is `target`-critical, with Newton steps where the other ones crawl.
    fn climb(
        &mut self,
        target: f64,
        most: usize,
        upper: f64,
        observer: &mut dyn Observer<Progress>,
    ) -> Climb {
        let (mut since_progress, mut failures) = (0, 0);
        let mut lowest = self.state.criticality();
        while self.iterations < most {
            let criticality = self.state.criticality();
            if criticality <= target {
                break;
            }
            if criticality < 0.7 * lowest {
                (lowest, since_progress) = (criticality, 0);
            }
            since_progress += 1;
            let moved = if since_progress > PATIENCE {
                self.memory.clear();
                since_progress = 0;
                let seen = Progress { iteration: self.iterations, upper, lower: self.highest() };
                let product = |u: &[f64]| self.evaluator.product(u, self.state.point.columns);
                let step = newton::step(product, &self.state, || observer.observe(&seen).is_continue());
                self.evaluator.products += step.products;
                self.accept_if_better(&step.direction) || self.quasi_newton_step()
            } else {
                self.quasi_newton_step()
            };
            self.iterations += 1;
            if !moved && self.evaluator.is_exact(&self.state) {
                return Climb::Stuck;
            }
            if !moved {
                // The errors of single precision may be all that is left: once more from an exact point.
                failures += 1;
                self.settle();
                if failures == ROUGH_FAILURES {
                    self.evaluator.rough = None;
                }
            }
            let progress = Progress { iteration: self.iterations, upper, lower: self.highest() };
            if observer.observe(&progress).is_break() {
                return Climb::Interrupted;
            }
        }
        Climb::Reached
    }

    fn quasi_newton_step(&mut self) -> bool {
        let mut direction = self.quasi_newton_direction();
        let mut slope = inner(&direction, &self.state.gradient);
        if !(slope > 0.0) {
            self.memory.clear();
            direction = self.quasi_newton_direction();
            slope = inner(&direction, &self.state.gradient);
        }
        let k = self.state.point.columns;
        let mut step = 1.0;
        for _ in 0..25 {
            let next = self.evaluator.near(retract(&self.state.point.entries, step, &direction, k), k);
            // Twice the slope, because the value is ⟨M, VVᵀ⟩ and the gradient half of its.
            // Near the top, rounding errors decide about the last digits: they may be lost.
            if next.value >= self.state.value + 2e-4 * step * slope - 1e-14 * self.state.value.abs() {
                self.remember(&next, step, direction);
                self.state = next;
                return true;
            }
            step *= 0.3;
            if step * slope < f64::EPSILON * self.state.size {
                break; // no gain that small can be told from rounding errors
            }
        }
        let fresh = self.memory.is_empty();
        self.memory.clear();
        !fresh // with a memory there is still the plain gradient to try
    }

    fn quasi_newton_direction(&self) -> Vec<f64> {
        let State { dual, size, gradient, point, .. } = &self.state;
        // Without a memory, a guess at the curvature: the mean dual.
        let guess = dual.len() as f64 / size.max(f64::MIN_POSITIVE);
        let mut direction = self.memory.direction(gradient, guess);
        project(&point.entries, &mut direction, point.columns);
        direction
    }

    fn remember(&mut self, next: &State, step: f64, mut direction: Vec<f64>) {
        let k = self.state.point.columns;
        direction.iter_mut().for_each(|x| *x *= step);
        project(&next.point.entries, &mut direction, k);
        // Minimising the negative: the gradient is −G, so the change is G − G′.
        let mut change = self.state.gradient.clone();
        project(&next.point.entries, &mut change, k);
        add(&mut change, -1.0, &next.gradient);
        self.memory.push(direction, change);
    }

    fn accept_if_better(&mut self, direction: &[f64]) -> bool {
        let k = self.state.point.columns;
        let mut step = 1.0;
        for _ in 0..12 {
            let next = self.evaluator.near(retract(&self.state.point.entries, step, direction, k), k);
            if next.value > self.state.value {
                self.state = next;
                return true;
            }
            step *= 0.4;
        }
        false
    }

    /// Positive weights from the dual, `slack` mean weights added to each, their top generalised eigenvalue θ, and its
    /// vector: (Σ y)·θ is the bound.
    fn dual(&mut self, slack: f64, tolerance: f64) -> (Vec<f64>, f64, Vec<f64>) {
        let State { point, image, dual, size, .. } = &self.state;
        let mean = size / dual.len() as f64;
        let weights: Vec<f64> = dual.iter().map(|y| (y + slack * mean).max(1e-9 * mean)).collect();
        let mut space = TopEigenspace::spanned_by(point, image);
        space.include(self.probe.0.clone(), self.probe.1.clone());
        let top = space.solve(self.evaluator.operator, &weights, tolerance, 60);
        self.evaluator.products += space.products;
        (weights, top.value, top.vector)
    }

    /// Drops columns that die out: towards the optimum they vanish, so that the value rather gains.
    fn narrow(&mut self) {
        let negligible = NEGLIGIBLE_COLUMN * self.state.criticality();
        if let Some(UnitRows { entries, columns }) = self.state.point.narrowed(negligible, COLUMN_STEP) {
            self.state = self.evaluator.exact(entries, columns);
            self.memory.clear();
        }
    }

    /// Adds columns, the first of them along the violating eigenvector, as far as that gains; false if it does not.
    /// To second order the gain is φ²·uᵀ(M − Diag(y))u > 0, so a small enough step gains.
    fn escape(&mut self, violating: &[f64]) -> bool {
        let (n, k) = (self.state.dual.len(), self.state.point.columns);
        let wider = k + COLUMN_STEP;
        let size = violating.iter().fold(0.0_f64, |most, x| most.max(x.abs())).max(f64::MIN_POSITIVE);
        for step in [1.0, 0.4, 0.15, 0.05, 0.02, 0.005] {
            let mut v = vec![0.0; n * wider];
            for (i, row) in v.chunks_exact_mut(wider).enumerate() {
                row[..k].copy_from_slice(&self.state.point.entries[i * k..][..k]);
                row[k] = step * violating[i] / size;
            }
            normalise(&mut v, wider);
            let next = self.evaluator.exact(v, wider);
            if next.value > self.state.value {
                self.state = next;
                self.memory.clear();
                return true;
            }
        }
        false
    }
}
