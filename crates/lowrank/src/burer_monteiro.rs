//! Low-rank factorisation: maximise ⟨M, VVᵀ⟩ over n × k matrices with unit rows, and read the dual off.
//!
//! **Problem.** The same relaxation as Algorithm 2, max ⟨M, X⟩ over X ⪰ 0, X_ii = 1, with X = VVᵀ (Burer and Monteiro,
//! Math. Prog. 95, 2003). For a diagonal that is zero or M ⪰ 0, X_ii ≤ 1 has the same value.
//!
//! **Method.** L-BFGS on the product of spheres, one block product a step; where it crawls, a truncated Newton step
//! by conjugate gradients on the tangent space (`newton.rs`). At a critical point M·V = Diag(y)·V with
//! y_i = ⟨v_i, (MV)_i⟩; if also Diag(y) ⪰ M then V is optimal and y the dual optimum. The eigenspace that decides
//! this starts from the columns of V, which span the cluster at the top. An eigenvector that violates
//! Diag(y) ⪰ M is a direction to climb along: it becomes a further column (escape).
//!
//! **Guarantee.** None: the checker proves what (Σ y)·λ_max(D^−½MD^−½) the weights give. The optimal X has rank far
//! below √(2n) in practice, so k stays small; the proof would notice if it were too small.

use crate::lanczos::TopEigenspace;
use crate::mwu::ParameterError;
use crate::newton;
use crate::observe::{Observer, Progress, StopReason};
use crate::operator::Operator;
use crate::primal::UnitRows;
use crate::sphere::{add, inner, normalise, project, retract, row_products};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use std::collections::VecDeque;

/// Pairs of steps and gradient changes L-BFGS remembers.
const MEMORY: usize = 8;
/// Columns come in multiples of this, the width of a vector register.
const COLUMN_STEP: usize = 8;

/// Steps without progress after which a Newton step is tried.
const PATIENCE: usize = 60;
/// Criticality at which the dual is first looked at.
const FIRST_LOOK: f64 = 0.1;

/// Parameters of [`burer_monteiro`].
#[derive(Clone, Debug, PartialEq)]
pub struct BurerMonteiroParams {
    /// k; None takes min(32, ⌈√(2n)⌉ + 1), rounded up to a multiple of eight.
    pub columns: Option<usize>,
    /// Steps at most, each one block product or a little more.
    pub max_iterations: usize,
    /// Relative gap at which further accuracy is pointless; the observer usually stops earlier.
    pub gap: f64,
}

impl Default for BurerMonteiroParams {
    fn default() -> Self {
        Self { columns: None, max_iterations: 20_000, gap: 1e-9 }
    }
}

impl BurerMonteiroParams {
    /// Checks every parameter once.
    pub fn validate(&self) -> Result<(), ParameterError> {
        if !(self.gap > 0.0) {
            return Err(ParameterError { name: "gap", value: self.gap, range: "positive" });
        }
        if self.columns == Some(0) {
            return Err(ParameterError { name: "columns", value: 0.0, range: "positive" });
        }
        if self.max_iterations == 0 {
            return Err(ParameterError { name: "max_iterations", value: 0.0, range: "positive" });
        }
        Ok(())
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

/// V with everything known there.
pub(crate) struct State {
    pub(crate) v: Vec<f64>,
    pub(crate) columns: usize,
    /// M·V.
    pub(crate) image: Vec<f64>,
    /// y_i = ⟨v_i, (MV)_i⟩.
    pub(crate) dual: Vec<f64>,
    /// M·V − Diag(y)·V, half the Riemannian gradient of ⟨M, VVᵀ⟩.
    pub(crate) gradient: Vec<f64>,
    /// ⟨M, VVᵀ⟩ = Σ y.
    pub(crate) value: f64,
}

impl State {
    pub(crate) fn new(operator: &Operator<'_>, v: Vec<f64>, columns: usize) -> Self {
        let image = operator.apply_block(&v, columns);
        let dual = row_products(&v, &image, columns);
        let mut gradient = image.clone();
        project(&v, &mut gradient, columns);
        let value = dual.iter().sum();
        Self { v, columns, image, dual, gradient, value }
    }

    /// |gradient|/value·√n: how far from critical, without units.
    fn criticality(&self) -> f64 {
        let n = self.dual.len() as f64;
        (inner(&self.gradient, &self.gradient) * n).sqrt() / self.value.abs().max(f64::MIN_POSITIVE)
    }
}

/// Runs the method. The operator must not be zero. `start` is a point to begin from, of an earlier run say.
pub fn burer_monteiro(
    operator: &Operator<'_>,
    params: &BurerMonteiroParams,
    start: Option<&UnitRows>,
    rng: &mut impl Rng,
    observer: &mut impl Observer,
) -> Result<BurerMonteiroSolution, ParameterError> {
    params.validate()?;
    let n = operator.dim();
    let mut run = Run {
        operator,
        state: begin(operator, params, start, rng),
        memory: VecDeque::new(),
        products: 6,
        iterations: 0,
        highest: f64::NEG_INFINITY,
    };
    let mut best: Option<(f64, Vec<f64>)> = None;
    // Criticality at which the dual is looked at next.
    let mut target = run.next_target();
    let mut stop = StopReason::IterationLimit;
    while run.iterations < params.max_iterations {
        let least = best.as_ref().map_or(f64::INFINITY, |(least, _)| *least);
        let climbed = run.climb(target, params.max_iterations, least, observer);
        if climbed == Climb::Interrupted && best.is_some() {
            stop = StopReason::Interrupted;
            break;
        }
        let (weights, theta, violating) = run.dual(0.1 * target.min(1e-2));
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
        if least / lower - 1.0 <= params.gap {
            stop = StopReason::Converged;
            break;
        }
        // Nearly critical, yet not optimal: more columns are needed.
        if theta - 1.0 > 20.0 * run.state.criticality() && run.escape(&violating) {
            target = run.next_target();
        } else if climbed == Climb::Stuck {
            stop = StopReason::Stalled;
            break;
        } else {
            target *= 0.2;
        }
    }
    let (estimate, weights) = best.unwrap_or_else(|| (f64::INFINITY, vec![1.0; n]));
    let point = UnitRows { entries: run.state.v, columns: run.state.columns };
    let Run { iterations, products, .. } = run;
    Ok(BurerMonteiroSolution { weights, estimate, point, iterations, products, stop })
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

/// The first point: the given one, or random rows after a few steps of V ← rows of M·V.
fn begin(
    operator: &Operator<'_>,
    params: &BurerMonteiroParams,
    start: Option<&UnitRows>,
    rng: &mut impl Rng,
) -> State {
    if let Some(rows) = start {
        return State::new(operator, rows.entries.clone(), rows.columns);
    }
    let n = operator.dim();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a small positive number
    let enough = ((2.0 * n as f64).sqrt().ceil() as usize + 1).min(32);
    let columns = params.columns.unwrap_or(enough).max(1).next_multiple_of(COLUMN_STEP);
    let mut v: Vec<f64> = (0..n * columns).map(|_| StandardNormal.sample(rng)).collect();
    normalise(&mut v, columns);
    for _ in 0..5 {
        let mut image = operator.apply_block(&v, columns);
        // Half of the present row keeps the step from overshooting where M is indefinite.
        let lengths: Vec<f64> =
            row_products(&image, &image, columns).iter().map(|square| square.sqrt()).collect();
        for ((image, v), length) in image.chunks_exact_mut(columns).zip(v.chunks_exact(columns)).zip(&lengths)
        {
            image.iter_mut().zip(v).for_each(|(image, v)| *image += 0.5 * length * v);
        }
        normalise(&mut image, columns);
        v = image;
    }
    State::new(operator, v, columns)
}

struct Run<'a> {
    operator: &'a Operator<'a>,
    state: State,
    /// (s, y, 1/⟨s, y⟩) of minimising −⟨M, VVᵀ⟩/2, oldest first.
    memory: VecDeque<(Vec<f64>, Vec<f64>, f64)>,
    products: usize,
    iterations: usize,
    highest: f64,
}

impl Run<'_> {
    /// The highest value so far: what is reported never falls.
    fn highest(&mut self) -> f64 {
        self.highest = self.highest.max(self.state.value);
        self.highest
    }

    /// A criticality worth climbing to from here.
    fn next_target(&self) -> f64 {
        (0.2 * self.state.criticality()).min(FIRST_LOOK)
    }

    /// Climbs until the point is `target`-critical, with Newton steps where the other ones crawl.
    fn climb(&mut self, target: f64, most: usize, upper: f64, observer: &mut impl Observer) -> Climb {
        let mut since_progress = 0;
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
                let step = newton::step(self.operator, &self.state);
                self.products += step.products;
                self.accept_if_better(&step.direction)
            } else {
                self.quasi_newton_step()
            };
            self.iterations += 1;
            if !moved {
                return Climb::Stuck;
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
        let k = self.state.columns;
        let mut step = 1.0;
        for _ in 0..25 {
            let next = State::new(self.operator, retract(&self.state.v, step, &direction, k), k);
            self.products += 1;
            // Twice the slope, because the value is ⟨M, VVᵀ⟩ and the gradient half of its.
            // Near the top, rounding errors decide about the last digits: they may be lost.
            if next.value >= self.state.value + 2e-4 * step * slope - 1e-14 * self.state.value.abs() {
                self.remember(&next, step, direction);
                self.state = next;
                return true;
            }
            step *= 0.3;
        }
        let fresh = self.memory.is_empty();
        self.memory.clear();
        !fresh // with a memory there is still the plain gradient to try
    }

    /// Two-loop recursion.
    fn quasi_newton_direction(&self) -> Vec<f64> {
        let mut direction = self.state.gradient.clone();
        let mut factors = Vec::with_capacity(self.memory.len());
        for (s, y, rho) in self.memory.iter().rev() {
            let factor = rho * inner(s, &direction);
            add(&mut direction, -factor, y);
            factors.push(factor);
        }
        let scale = match self.memory.back() {
            Some((_, y, rho)) => 1.0 / (rho * inner(y, y)),
            // A diagonal guess at the curvature: the mean dual.
            None => self.state.dual.len() as f64 / self.state.value.abs().max(f64::MIN_POSITIVE),
        };
        direction.iter_mut().for_each(|x| *x *= scale);
        for ((s, y, rho), factor) in self.memory.iter().zip(factors.iter().rev()) {
            let correction = factor - rho * inner(y, &direction);
            add(&mut direction, correction, s);
        }
        project(&self.state.v, &mut direction, self.state.columns);
        direction
    }

    fn remember(&mut self, next: &State, step: f64, mut direction: Vec<f64>) {
        let k = self.state.columns;
        direction.iter_mut().for_each(|x| *x *= step);
        project(&next.v, &mut direction, k);
        // Minimising the negative: the gradient is −G, so the change is G − G′.
        let mut change = self.state.gradient.clone();
        project(&next.v, &mut change, k);
        add(&mut change, -1.0, &next.gradient);
        let curvature = inner(&direction, &change);
        if curvature > 1e-12 * (inner(&direction, &direction) * inner(&change, &change)).sqrt() {
            if self.memory.len() == MEMORY {
                self.memory.pop_front();
            }
            self.memory.push_back((direction, change, 1.0 / curvature));
        }
    }

    fn accept_if_better(&mut self, direction: &[f64]) -> bool {
        let k = self.state.columns;
        let mut step = 1.0;
        for _ in 0..12 {
            let next = State::new(self.operator, retract(&self.state.v, step, direction, k), k);
            self.products += 1;
            if next.value > self.state.value {
                self.state = next;
                return true;
            }
            step *= 0.4;
        }
        false
    }

    /// Positive weights from the dual, their top generalised eigenvalue θ, and its vector: (Σ y)·θ is the bound.
    fn dual(&mut self, tolerance: f64) -> (Vec<f64>, f64, Vec<f64>) {
        let State { v, image, dual, columns, value, .. } = &self.state;
        let floor = 1e-9 * value.abs() / dual.len() as f64;
        let weights: Vec<f64> = dual.iter().map(|y| y.max(floor)).collect();
        let column =
            |from: &[f64], l: usize| from.iter().skip(l).step_by(*columns).copied().collect::<Vec<f64>>();
        let basis = (0..*columns).map(|l| column(v, l)).collect();
        let images = (0..*columns).map(|l| column(image, l)).collect();
        let mut space = TopEigenspace::seeded(basis, images);
        let top = space.solve(self.operator, &weights, tolerance, 60);
        self.products += space.products;
        (weights, top.value, top.vector)
    }

    /// Adds columns, the first of them along the violating eigenvector, as far as that gains; false if it does not.
    /// To second order the gain is φ²·uᵀ(M − Diag(y))u > 0, so a small enough step gains.
    fn escape(&mut self, violating: &[f64]) -> bool {
        let (n, k) = (self.state.dual.len(), self.state.columns);
        let wider = k + COLUMN_STEP;
        let size = violating.iter().fold(0.0_f64, |most, x| most.max(x.abs())).max(f64::MIN_POSITIVE);
        for step in [1.0, 0.4, 0.15, 0.05, 0.02, 0.005] {
            let mut v = vec![0.0; n * wider];
            for (i, row) in v.chunks_exact_mut(wider).enumerate() {
                row[..k].copy_from_slice(&self.state.v[i * k..][..k]);
                row[k] = step * violating[i] / size;
            }
            normalise(&mut v, wider);
            let next = State::new(self.operator, v, wider);
            self.products += 1;
            if next.value > self.state.value {
                self.state = next;
                self.memory.clear();
                return true;
            }
        }
        false
    }
}
