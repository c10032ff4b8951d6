//! The ascent on the product of spheres: quasi-Newton and Newton steps, the dual read off a point, columns added and
//! dropped.

use crate::linalg::lanczos::TopEigenspace;
use crate::linalg::operator::Operator;
use crate::linalg::sphere::{add, inner, normalise, project, retract};
use crate::linalg::unit_rows::UnitRows;
use crate::observe::Observer;
use crate::sdp::burer_monteiro::evaluate::{Evaluator, State};
use crate::sdp::burer_monteiro::lbfgs::Memory;
use crate::sdp::burer_monteiro::newton;
use crate::sdp::progress::Progress;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// Columns come in multiples of this, the width of a vector register.
pub(crate) const COLUMN_STEP: usize = 8;
/// Criticality at which the dual is first looked at.
const FIRST_LOOK: f64 = 0.02;
/// Steps without progress after which a Newton step is tried.
const PATIENCE: usize = 60;
/// Share of V, against its criticality, below which a column may go.
const NEGLIGIBLE_COLUMN: f64 = 0.03;
/// Failed steps within one stage after which single precision is given up.
const SINGLE_FAILURES: usize = 5;

/// How a stage of the ascent ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StageEnd {
    /// The criticality aimed at, or the steps used up.
    Reached,
    /// No direction gains any more.
    Stuck,
    /// The observer ended it.
    Interrupted,
}

/// Weights read off a point, and how far they are from feasible.
pub(super) struct Dual {
    pub(super) weights: Vec<f64>,
    /// Their top generalised eigenvalue.
    pub(super) theta: f64,
    /// Its vector, which violates Diag(y) ⪰ M where θ > 1.
    pub(super) violating: Vec<f64>,
    /// The residual of the eigenpair, relative to θ: by as much θ may be too low.
    pub(super) uncertainty: f64,
    /// Whether the look was left unfinished.
    pub(super) is_rough: bool,
}

impl Dual {
    /// (Σ y)·θ, the bound by estimate.
    pub(super) fn bound(&self) -> f64 {
        self.weights.iter().sum::<f64>() * self.theta
    }

    /// The same with what an unfinished look may have missed.
    pub(super) fn cautious_bound(&self) -> f64 {
        if self.is_rough { self.bound() * (1.0 + self.uncertainty) } else { self.bound() }
    }
}

pub(super) struct Ascent<'a> {
    pub(super) evaluator: Evaluator<'a>,
    pub(super) state: State,
    pub(super) memory: Memory,
    /// A random vector and M times it: without it, the eigenspace of a symmetric point might see nothing beyond it.
    pub(super) probe: (Vec<f64>, Vec<f64>),
    pub(super) iterations: usize,
    pub(super) highest: f64,
}

impl<'a> Ascent<'a> {
    /// At `start`, or at a random point with this many columns.
    pub(super) fn new(
        operator: &'a Operator<'a>,
        columns: usize,
        start: Option<&UnitRows>,
        rng: &mut impl Rng,
        observer: &mut dyn Observer<Progress>,
    ) -> Self {
        let mut evaluator = Evaluator::new(operator);
        let state = match start {
            Some(rows) => evaluator.given(rows),
            None => evaluator.random(columns, rng, &mut || {
                let nothing = Progress { iteration: 0, upper: f64::INFINITY, lower: f64::NEG_INFINITY };
                observer.observe(&nothing).is_break()
            }),
        };
        let probe: Vec<f64> = (0..operator.dim()).map(|_| StandardNormal.sample(rng)).collect();
        let mut probe_image = vec![0.0; operator.dim()];
        operator.apply(&probe, &mut probe_image);
        evaluator.products += 1;
        let (memory, probe) = (Memory::default(), (probe, probe_image));
        Self { evaluator, state, memory, probe, iterations: 0, highest: f64::NEG_INFINITY }
    }

    /// The highest value so far: what is reported never falls.
    pub(super) fn highest(&mut self) -> f64 {
        self.highest = self.highest.max(self.state.value);
        self.highest
    }

    /// Computes the present point in double precision.
    pub(super) fn settle(&mut self) {
        if !self.evaluator.is_exact(&self.state) {
            let UnitRows { entries, columns } = self.state.point.clone();
            self.state = self.evaluator.exact(entries, columns);
        }
    }

    /// A criticality worth aiming at from a new place.
    pub(super) fn first_target(&self) -> f64 {
        (0.2 * self.state.criticality()).min(FIRST_LOOK)
    }

    /// Ascends until the point is `target`-critical, with Newton steps where the other ones crawl.
    pub(super) fn ascend(
        &mut self,
        target: f64,
        most: usize,
        upper: f64,
        observer: &mut dyn Observer<Progress>,
    ) -> StageEnd {
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
                return StageEnd::Stuck;
            }
            if !moved {
                // The errors of single precision may be all that is left: once more from an exact point.
                failures += 1;
                self.settle();
                if failures == SINGLE_FAILURES {
                    self.evaluator.single = None;
                }
            }
            let progress = Progress { iteration: self.iterations, upper, lower: self.highest() };
            if observer.observe(&progress).is_break() {
                return StageEnd::Interrupted;
            }
        }
        StageEnd::Reached
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
            // The slope counts twice: `gradient` is half the gradient of the value ⟨M, VVᵀ⟩.
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

    /// Positive weights from the dual, `slack` mean weights added to each. Where `drops` says so, a rough look has to do.
    pub(super) fn dual(&mut self, slack: f64, tolerance: f64, drops: &dyn Fn() -> bool) -> Dual {
        let State { point, image, dual, size, .. } = &self.state;
        let mean = size / dual.len() as f64;
        let weights: Vec<f64> = dual.iter().map(|y| (y + slack * mean).max(1e-9 * mean)).collect();
        let mut space = TopEigenspace::spanned_by(point, image);
        space.include(self.probe.0.clone(), self.probe.1.clone());
        let top = space.solve_until(self.evaluator.operator, &weights, tolerance, 60, drops);
        self.evaluator.products += space.products;
        let uncertainty = top.residual / top.value.abs().max(f64::MIN_POSITIVE);
        let is_rough = uncertainty > tolerance && drops();
        Dual { weights, theta: top.value, violating: top.vector, uncertainty, is_rough }
    }

    /// Drops columns that die out: they vanish towards the optimum, so the value gains rather than loses.
    pub(super) fn narrow(&mut self) {
        let negligible = NEGLIGIBLE_COLUMN * self.state.criticality();
        if let Some(UnitRows { entries, columns }) = self.state.point.narrowed(negligible, COLUMN_STEP) {
            self.state = self.evaluator.exact(entries, columns);
            self.memory.clear();
        }
    }

    /// Adds columns, the first of them along the violating eigenvector; false if no step along it gains.
    /// To second order the gain is φ²·uᵀ(M − Diag(y))u > 0, so a small enough step gains.
    pub(super) fn escape(&mut self, violating: &[f64]) -> bool {
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
