//! Solve, certify, check: a proven bracket for a [`Problem`].
//!
//! **Problem.** Proven ends, from above and below and as close as asked, for max xᵀMx and for its semidefinite
//! relaxation.
//!
//! **Method**, within limits on time and memory:
//! 1. *Plan* the proof: which entries it factorises and in which order ([`plan`](crate::sdp::plan)).
//! 2. *Reduce* the problem to those entries, without rows of zeros (`steps/reduce.rs`).
//! 3. *Scale* it by a power of two, if its entries are extreme.
//! 4. *Solve* the relaxation to a fraction of the gap (`steps/attempt.rs`).
//! 5. *Repair* the weights, if a failed proof would take long (`steps/repair.rs`). Where the repaired weights are too
//!    large for the gap, back to 4, from the point found and with a smaller fraction.
//! 6. *Prove* the upper end (`steps/upper.rs`) and raise the point until its value reaches the gap. Where it does not,
//!    back to 4 likewise; so too where a time limit ended the solver, and the proof took less than was kept for it
//!    (`steps/budget.rs`).
//! 7. *Lower ends*: the value at the point, and at a vertex rounded from it (`steps/lower.rs`).
//!
//! **Guarantee.** Solvers propose; every number in a [`Bracket`] was made by the checker.

use crate::linalg::operator::Operator;
use crate::linalg::unit_rows::UnitRows;
use crate::memory::MemoryLimit;
use crate::observe::Observer;
use crate::sdp::burer_monteiro::BurerMonteiroParams;
pub use crate::sdp::outcome::{BoundError, Bracket};
pub use crate::sdp::params::{BoundParams, Solver};
pub use crate::sdp::plan::{DroppedEntries, ProofCost, ProofPlan};
use crate::sdp::plan::{ProofLimits, speed_for};
use crate::sdp::problem::{OperatorNorm, PowerOfTwoScale, Problem};
pub use crate::sdp::progress::Stop;
use crate::sdp::progress::{Progress, StopReason, relative_gap};
use crate::sdp::speed::Timer;
use crate::sdp::steps::attempt::{Solved, Totals, columns_within, solve};
use crate::sdp::steps::budget::TimeBudget;
pub use crate::sdp::steps::lower::prove_vertex;
use crate::sdp::steps::lower::{lower_ends, rounded};
use crate::sdp::steps::monitor::{ResultUnits, RunMonitor};
use crate::sdp::steps::reduce::ReducedProblem;
use crate::sdp::steps::repair::repaired;
use crate::sdp::steps::trivial::is_trivial;
use crate::sdp::steps::upper::{CertifiedUpper, FeasibleWeights, UpperProof};
pub use crate::sdp::steps::upper::{Upper, prove, prove_as_planned};
use gambeson_checker::{RelaxationValue, relaxation_value};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The most steps spent on raising the lower end of the relaxation to the requested gap.
const ASCENT_STEPS: usize = 30;
/// The part of the gap by which the point is raised: a little less than all of it, for rounding errors.
const RAISED_TO: f64 = 0.95;
/// Weights are enlarged by a fraction of the gap to make the proof pass; larger gaps count as this one.
const LARGEST_MARGIN: f64 = 2e-3;
/// The part of the gap by which repaired weights may still fail to dominate.
const REPAIRED_TO: f64 = 0.02;
/// Steps of the low-rank factorisation where a proof takes long, unless the caller says how many: the gap of a graph with so
/// many rows falls ever more slowly.
const LONG_ENOUGH: usize = 1500;
/// Vertices tried by rounding.
const ROUNDING_TRIALS: usize = 16;
/// The same where the caller is waiting.
const HURRIED_TRIALS: usize = 2;

/// Solves and proves. The observer sees estimates in the units of the result and may end the search; the best
/// bracket so far is then proven and returned.
pub fn bracket(
    problem: &Problem,
    params: &BoundParams,
    observer: &mut (dyn Observer<Progress> + Send),
) -> Result<Bracket, BoundError> {
    params.validate()?;
    // As a task of the pool itself: from outside, each of the many short parallel steps would wait for a thread to
    // wake up twice.
    rayon::scope(|_| solve_and_prove(problem, params, Timer::of_machine(), observer))
}

/// The method, in the order of its stages.
pub(crate) fn solve_and_prove(
    problem: &Problem,
    params: &BoundParams,
    timer: Timer,
    observer: &mut dyn Observer<Progress>,
) -> Result<Bracket, BoundError> {
    // Plan.
    let budget = &TimeBudget::start(params, timer);
    let speed = budget.speed(|timer| speed_for(problem, timer));
    let (seconds, most_seconds) = budget.for_proof().unzip();
    let limits = ProofLimits { seconds, most_seconds, bytes: bytes_beside(problem, params) };
    let plan = ProofPlan::within(problem, &limits, &speed, params.threads, &|| budget.planning_is_over())?;
    budget.expect_proof(plan.cost.seconds);
    // Reduce.
    let reduced = ReducedProblem::planned(problem, &plan);
    let solved_for = reduced.problem(problem);
    let params = &affordable(params, &plan, problem, solved_for)?;
    // Scale.
    let rescaled = solved_for.rescaled();
    let (working, scale) =
        rescaled.as_ref().map_or((solved_for, PowerOfTwoScale::ONE), |(copy, scale)| (copy, *scale));
    let operator = &Operator::new(working.quadratic(), problem.domain);
    let mut run = Run::new(problem, params, &plan, budget, &reduced, (operator, scale), observer);
    let ends = loop {
        let found = run.solve()?;
        let weights = run.repair(&found.weights);
        if run.falls_short(&weights) && run.may_go_on() {
            run.start = Some(found.point);
            continue; // a proof would fall short as well, and take long
        }
        let upper = run.prove(weights, found.uncertainty)?;
        if run.may_improve() {
            run.start = Some(found.point);
            continue; // the proof took less than was kept for it
        }
        let ends = run.raise(found, upper)?;
        if run.reaches_gap(&ends) || !run.may_go_on() || ends.drops_entries() {
            break ends;
        }
        run.start = Some(reduced.part_of(&ends.point));
        run.earlier = Some(ends);
    };
    // Lower ends.
    run.finish(ends)
}

/// What may be taken besides the matrix itself; `None` without a limit.
fn bytes_beside(problem: &Problem, params: &BoundParams) -> Option<u64> {
    let limit = params.memory_limit;
    (limit != MemoryLimit::NONE).then(|| limit.limit().saturating_sub(problem.bytes()))
}

/// The parameters with as many steps and columns as are worthwhile and fit.
fn affordable(
    params: &BoundParams,
    plan: &ProofPlan,
    problem: &Problem,
    solved_for: &Problem,
) -> Result<BoundParams, BoundError> {
    let mut params = params.clone();
    let own = &mut params.burer_monteiro;
    if plan.is_long() && own.max_iterations == BurerMonteiroParams::default().max_iterations {
        own.max_iterations = LONG_ENOUGH;
    }
    if let Some(bytes) = bytes_beside(problem, &params)
        && params.solver == Solver::BurerMonteiro
    {
        let columns = columns_within(&params.burer_monteiro, solved_for, bytes);
        let limit = params.memory_limit.limit();
        let needed = |bytes: u64| bytes.saturating_add(problem.bytes());
        params.burer_monteiro.columns =
            Some(columns.map_err(|bytes| BoundError::Memory { needed: needed(bytes), limit })?);
    }
    Ok(params)
}

/// Both ends of the relaxation as far as they are proven, in the units of the problem.
struct Ends {
    upper: CertifiedUpper,
    /// The feasible point that `lower` is proven from.
    point: UnitRows,
    lower: RelaxationValue,
}

impl Ends {
    /// Whether the upper end is of a proof that gives entries up.
    fn drops_entries(&self) -> bool {
        !self.upper.paid.is_nothing()
    }
}

/// A run between its stages.
struct Run<'a> {
    problem: &'a Problem,
    params: &'a BoundParams,
    plan: &'a ProofPlan,
    budget: &'a TimeBudget,
    reduced: &'a ReducedProblem,
    /// Of the reduced and scaled problem; weights and points of solvers belong to it.
    operator: &'a Operator<'a>,
    monitor: RunMonitor<'a>,
    rng: ChaCha8Rng,
    /// Fractions of the gap that are still to be tried.
    ambitions: std::slice::Iter<'static, f64>,
    /// The best upper end so far.
    upper: Option<CertifiedUpper>,
    /// Where the solver starts next.
    start: Option<UnitRows>,
    /// The best ends of earlier rounds.
    earlier: Option<Ends>,
    total: Totals,
}

impl<'a> Run<'a> {
    fn new(
        problem: &'a Problem,
        params: &'a BoundParams,
        plan: &'a ProofPlan,
        budget: &'a TimeBudget,
        reduced: &'a ReducedProblem,
        (operator, scale): (&'a Operator<'a>, PowerOfTwoScale),
        observer: &'a mut dyn Observer<Progress>,
    ) -> Self {
        let factor = if problem.norm == OperatorNorm::InfToOne { 0.5 } else { 1.0 };
        let units = ResultUnits { constant: operator.left_out_trace(), factor, scale };
        Self {
            problem,
            params,
            plan,
            budget,
            reduced,
            operator,
            monitor: RunMonitor::new(observer, units, budget),
            rng: ChaCha8Rng::seed_from_u64(params.seed),
            ambitions: params.solver.ambitions().iter(),
            upper: None,
            start: params.start.as_ref().map(|start| reduced.part_of(start)),
            earlier: None,
            total: Totals::default(),
        }
    }

    /// Runs the solver: to a smaller gap than asked, since a proof is a little wider than the estimate, and to a much
    /// smaller one if that was not enough.
    fn solve(&mut self) -> Result<Solved, BoundError> {
        if self.total.stop != Stop::TimeLimit {
            self.monitor.gap = self.ambitions.next().unwrap_or(&1.0) * self.params.gap;
        }
        self.monitor.earlier = self.total.iterations;
        self.budget.begin_solving();
        let found = if self.operator.is_zero() {
            Solved::zero(self.operator.dim())
        } else {
            solve(self.operator, self.params, self.start.as_ref(), &mut self.rng, &mut self.monitor)?
        };
        self.total.add(&found);
        Ok(found)
    }

    /// Whether a failed proof is worth avoiding.
    fn repairs(&self) -> bool {
        self.plan.is_long() && !self.operator.is_zero()
    }

    /// The solver's weights, mended where a failed proof is worth avoiding.
    fn repair(&mut self, weights: &[f64]) -> Vec<f64> {
        if !self.repairs() {
            return weights.to_vec();
        }
        let tolerance = REPAIRED_TO * self.params.gap;
        repaired(self.operator, weights, tolerance, &mut self.rng, &|| self.budget.is_over())
    }

    /// Whether repaired weights are too large for the gap.
    fn falls_short(&self, weights: &[f64]) -> bool {
        let upper = self.monitor.units.unscaled(weights.iter().sum::<f64>());
        self.repairs() && relative_gap(upper, self.monitor.lower) > self.params.gap
    }

    /// Whether another round may help: the solver stopped for having reached what it aimed at, and could aim at less.
    fn may_go_on(&self) -> bool {
        self.total.stop == Stop::Gap
            && self.ambitions.len() > 0
            && self.total.iterations < self.params.burer_monteiro.max_iterations
            && !self.budget.is_over()
            && !self.budget.is_interrupted()
    }

    /// Whether the time limit ended the solver so early, for fear of a long proof, that another round fits.
    fn may_improve(&self) -> bool {
        self.total.stop == Stop::TimeLimit
            && self.params.solver == Solver::BurerMonteiro // the other one would begin anew
            && self.total.iterations < self.params.burer_monteiro.max_iterations
            && self.budget.allows_another_round()
    }

    /// Proves what the weights can. What an earlier round proved stays, whatever this one comes to.
    fn prove(&mut self, mut weights: Vec<f64>, uncertainty: f64) -> Result<CertifiedUpper, BoundError> {
        weights.iter_mut().for_each(|weight| *weight = self.monitor.units.scale.of(*weight));
        let weights = self.reduced.whole(weights, 0.0);
        let started = self.budget.elapsed();
        // After an early stop a margin as small as the requested gap would be wasted effort.
        let gap = self.monitor.reached.clamp(self.params.gap.min(LARGEST_MARGIN), LARGEST_MARGIN);
        let uncertainty = self.is_in_a_hurry().then_some(uncertainty);
        let (problem, plan, threads, budget) = (self.problem, self.plan, self.params.threads, self.budget);
        let proof = UpperProof { problem, plan, threads, budget };
        let found = if budget.excludes_proof() {
            None
        } else {
            proof.of_weights(&FeasibleWeights { weights, gap, uncertainty })
        };
        let best = match (self.upper.take(), found) {
            (Some(earlier), Some(found)) if found.upper.value() < earlier.upper.value() => found,
            (Some(earlier), _) => earlier,
            (None, Some(found)) => found,
            (None, None) => proof.without_factorisation()?,
        };
        self.total.seconds_check += budget.elapsed() - started;
        self.upper = Some(best.clone());
        Ok(best)
    }

    /// Raises the point found until its value reaches the gap, now that it is known what that takes, and proves the value.
    fn raise(&mut self, found: Solved, upper: CertifiedUpper) -> Result<Ends, BoundError> {
        let Solved { mut point, weights, .. } = found;
        let enough = self.monitor.units.solver_value(upper.upper.value(), 1.0 + RAISED_TO * self.params.gap);
        if !self.is_in_a_hurry() && !self.reduced.drops_entries {
            let stop = || self.budget.is_interrupted() || self.budget.is_late();
            point.ascend(self.operator, &weights, ASCENT_STEPS, enough, &stop);
        }
        let point = self.reduced.whole_point(point);
        let (matrix, domain) = (self.problem.quadratic(), self.problem.domain);
        let signs = self.budget.excludes_point().then(|| point.signs());
        let UnitRows { entries, columns } = signs.as_ref().unwrap_or(&point);
        let lower = relaxation_value(matrix, domain, entries, *columns, self.params.threads)?;
        Ok(match self.earlier.take() {
            Some(earlier) if earlier.lower.value() >= lower.value() => Ends { upper, ..earlier },
            _ => Ends { upper, point, lower },
        })
    }

    /// Whether the caller is waiting for the result.
    fn is_in_a_hurry(&self) -> bool {
        matches!(self.total.stop, Stop::TimeLimit | Stop::Interrupted) || self.budget.is_interrupted()
    }

    fn reaches_gap(&self, ends: &Ends) -> bool {
        let lower = self.monitor.units.factor * ends.lower.value();
        relative_gap(ends.upper.upper.value(), lower) <= self.params.gap
    }

    /// Why it ended, all rounds considered.
    fn stop(&self, ends: &Ends) -> Stop {
        match self.total.stop {
            Stop::Gap if self.reaches_gap(ends) => Stop::Gap,
            Stop::Gap if self.budget.is_interrupted() => Stop::Interrupted,
            Stop::Gap if ends.drops_entries() => Stop::Reduced,
            Stop::Gap => Stop::Solver(StopReason::Stalled), // the estimates were too optimistic
            other => other,
        }
    }

    /// Compares with equal weights, rounds to a vertex, and puts everything in the units of the norm.
    fn finish(mut self, mut ends: Ends) -> Result<Bracket, BoundError> {
        let (problem, threads) = (self.problem, self.params.threads);
        let stop = self.stop(&ends);
        let (zero, hurry) = (stop == Stop::Zero, self.is_in_a_hurry());
        let time_left = self.budget.allows_proof();
        let trivial = !zero && !hurry && time_left && !ends.drops_entries() && {
            let working = (self.operator, self.monitor.units.scale);
            let stop = || self.budget.ends_proof();
            is_trivial(problem, working, &ends.point, &mut ends.upper, threads, &stop)
        };
        let trials = if zero {
            1
        } else if hurry {
            HURRIED_TRIALS
        } else {
            ROUNDING_TRIALS
        };
        let (operator, budget) = (self.operator, self.budget);
        let ends_search = || budget.ends_search();
        let vertex =
            rounded(problem, self.reduced, operator, &ends.point, trials, &mut self.rng, &ends_search);
        let (lower, sdp_lower) = lower_ends(problem, &vertex, ends.lower, threads)?;
        let Ends { upper: CertifiedUpper { certificate, upper, paid }, point, .. } = ends;
        Ok(Bracket {
            certificate,
            paid,
            affordable: self.plan.paid.is_nothing(),
            full_proof: self.plan.full,
            upper,
            lower,
            vertex,
            sdp_lower,
            point,
            trivial,
            iterations: self.total.iterations,
            products: self.total.products,
            seconds_solve: self.budget.elapsed() - self.total.seconds_check,
            seconds_check: self.total.seconds_check,
            stop,
        })
    }
}
