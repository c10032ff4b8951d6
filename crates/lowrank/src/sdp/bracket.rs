//! Solve, certify, check: a proven bracket for a [`Problem`].
//!
//! Solvers propose; every number in a [`Bracket`] was made by the checker.

use crate::linalg::lanczos::TopEigenspace;
use crate::linalg::operator::Operator;
use crate::linalg::unit_rows::UnitRows;
use crate::observe::Observer;
use crate::parameter::ParameterError;
use crate::sdp::burer_monteiro::BurerMonteiroParams;
pub use crate::sdp::params::{BoundParams, GRACE, Solver};
use crate::sdp::plan::ProofLimits;
pub use crate::sdp::plan::{Paid, ProofCost, ProofPlan};
use crate::sdp::problem::{Norm, Problem, Unit};
pub use crate::sdp::progress::Stop;
use crate::sdp::progress::{Progress, RunMonitor, StopReason, relative_gap};
use crate::sdp::steps::attempt::{Solved, Totals, columns_within, solve};
use crate::sdp::steps::compact::Compact;
use crate::sdp::steps::repair::repaired;
use crate::sdp::steps::upper::{CertifiedUpper, certificate_with_proof};
pub use crate::sdp::steps::upper::{Upper, prove, prove_as_planned};
use crate::sdp::vertex::best_vertex;
use gambeson_checker::rounding::add_up;
use gambeson_checker::{
    Certificate, CheckError, Domain, Quadratic, RelaxationValue, VertexValue, relaxation_value, vertex_value,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use thiserror::Error;

/// The most steps spent on raising the lower end of the relaxation to the requested gap.
const ASCENT_STEPS: usize = 30;
/// Weights are enlarged by a fraction of the gap to make the proof pass; larger gaps count as this one.
const LARGEST_MARGIN: f64 = 2e-3;
/// The part of a time limit that the proof may take.
const PROOF_PART: f64 = 0.35;
/// What a proof may take at most, relative to the time limit, before it is given up for a trivial one.
const OVERRUN: f64 = 1.5;
/// Steps of the low-rank factorisation where a proof takes long, unless the caller says how many: the gap of a graph with so
/// many rows falls ever more slowly.
const LONG_ENOUGH: usize = 1500;
/// Vertices tried by rounding.
const ROUNDING_TRIALS: usize = 16;

/// Why there is no bracket.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BoundError {
    /// A parameter is out of its range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// More memory than there may be.
    #[error(
        "solving takes {:.2} GB at least, more than the memory limit of {:.2} GB",
        *.needed as f64 / 1e9,
        *.limit as f64 / 1e9
    )]
    Memory {
        /// Bytes, the matrix included.
        needed: u64,
        /// Bytes.
        limit: u64,
    },
    /// The checker rejected the solver's own certificate.
    #[error("the certificate found could not be proven")]
    Check(#[from] CheckError),
}

/// A proven bracket, in units of the requested norm (the square for ∞→2).
#[derive(Clone, Debug)]
pub struct Bracket {
    /// Evidence for `upper`.
    pub certificate: Certificate,
    /// What was paid for instead of being factorised; the certificate needs it to be checked at the same price.
    pub paid: Paid,
    /// Whether a proof with nothing given up was within the limits. Something may be given up all the same: absolute values
    /// may prove more than weights of a solver that had no time.
    pub affordable: bool,
    /// What a proof with nothing given up would take, by estimate.
    pub full_proof: ProofCost,
    /// Proven upper bound on the maximum and on the relaxation.
    pub upper: Upper,
    /// Proven: the form takes this value at a vertex.
    pub lower: VertexValue,
    /// Proven: the relaxation is at least this.
    pub sdp_lower: RelaxationValue,
    /// The feasible point V that `sdp_lower` is proven from; another run may start from it.
    pub point: UnitRows,
    /// True where no weights did noticeably better than equal ones: the bound is n·λ_max(M), which is n for a
    /// projection.
    pub trivial: bool,
    /// Rounds of the solver.
    pub iterations: usize,
    /// Products with M inside the solver; in the low-rank factorisation a block of columns counts as one.
    pub products: usize,
    /// Time for the solver and the lower ends.
    pub seconds_solve: f64,
    /// Time for the proof of the upper bound.
    pub seconds_check: f64,
    /// Why it ended.
    pub stop: Stop,
}

impl Bracket {
    /// upper/sdp_lower − 1, rounded up; for negative values (vertices with a negative diagonal) with both signs
    /// changed. Zero where the ends meet, infinite where zero lies between them.
    pub fn gap(&self) -> f64 {
        let gap = relative_gap(self.upper.value(), self.sdp_lower.value());
        // Two roundings: of the quotient, which is one plus the gap, and of the difference.
        if gap > 0.0 { add_up(gap, f64::EPSILON * (1.0 + gap)) } else { 0.0 }
    }
}

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
    rayon::scope(|_| solve_and_prove(problem, params, observer))
}

#[allow(clippy::too_many_lines)] // in the order of what happens
fn solve_and_prove(
    problem: &Problem,
    params: &BoundParams,
    observer: &mut dyn Observer<Progress>,
) -> Result<Bracket, BoundError> {
    let started = Instant::now();
    let matrix = problem.quadratic();
    let stop = Stopwatch::new(started, params);
    let part = params.time_limit.map(|limit| PROOF_PART * limit.as_secs_f64());
    let limits = ProofLimits {
        seconds: part,
        bytes: params.memory_limit.map(|limit| limit.saturating_sub(problem.bytes())),
    };
    let planned = |most: f64| part.is_some_and(|part| started.elapsed().as_secs_f64() > most * part);
    let plan = ProofPlan::within(problem, &limits, params.threads, &|| planned(1.0))?;
    let mut params = params.clone();
    if plan.is_long() && params.burer_monteiro.max_iterations == BurerMonteiroParams::default().max_iterations
    {
        params.burer_monteiro.max_iterations = LONG_ENOUGH;
    }
    // The solver gets what is proven in full, without rows of zeros.
    let reduced = plan.reduced(problem);
    let compact = Compact::of(reduced.as_ref().unwrap_or(problem));
    let solved_for = compact.problem(reduced.as_ref().unwrap_or(problem));
    if let Some(limit) = params.memory_limit
        && params.solver == Solver::BurerMonteiro
    {
        let columns =
            columns_within(&params.burer_monteiro, solved_for, limit.saturating_sub(problem.bytes()));
        let needed = |bytes: u64| bytes.saturating_add(problem.bytes());
        let columns = columns.map_err(|bytes| BoundError::Memory { needed: needed(bytes), limit })?;
        params.burer_monteiro.columns = Some(columns);
    }
    let params = &params;
    // Squares of extreme entries would overflow or vanish in the solvers: they get a copy of ordinary size.
    let rescaled = solved_for.rescaled();
    let (working, unit) = rescaled.as_ref().map_or((solved_for, Unit::ONE), |(copy, unit)| (copy, *unit));
    let operator = Operator::new(working.quadratic(), problem.domain);
    let n = operator.dim();
    let scale = if problem.norm == Norm::InfToOne { 0.5 } else { 1.0 };
    let constant = operator.left_out_trace();
    let mut rng = ChaCha8Rng::seed_from_u64(params.seed);
    // The lower ends take about as long as a few steps of the solver, and the proof what was planned.
    let left = |limit: Duration| {
        (0.9 * limit.as_secs_f64() - 1.3 * plan.cost.seconds).max(0.2 * limit.as_secs_f64())
    };
    let deadline = params.time_limit.and_then(|limit| Duration::try_from_secs_f64(left(limit)).ok());
    let deadline = deadline.and_then(|left| started.checked_add(left));
    let mut monitor = RunMonitor {
        inner: observer,
        gap: params.gap,
        constant,
        unit,
        scale,
        deadline,
        stop: None,
        reached: f64::INFINITY,
        earlier: 0,
        upper: f64::INFINITY,
        lower: f64::NEG_INFINITY,
    };
    // A proof is a little wider than the estimate, so the solver aims at a smaller gap: a much smaller one if needed.
    let mut total = Totals::default();
    let mut ambitions = params.solver.ambitions().iter();
    let mut start = params.start.as_ref().map(|start| compact.part_of(start));
    let mut proven: Option<CertifiedUpper> = None;
    let mut raised: Option<(UnitRows, RelaxationValue)> = None;
    let (mut best, point, sdp_lower) = loop {
        let ambition = ambitions.next();
        monitor.gap = ambition.unwrap_or(&1.0) * params.gap;
        monitor.earlier = total.iterations;
        let found = if operator.is_zero() {
            Solved::zero(n)
        } else {
            solve(&operator, params, start.as_ref(), &mut rng, &mut monitor)?
        };
        total.add(&found);
        let is_time = |deadline: Option<Instant>| deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let mut weights = found.weights.clone();
        if plan.is_long() && !operator.is_zero() {
            let late = || is_time(deadline) || stop.asks();
            weights = repaired(&operator, &weights, 0.02 * params.gap, &mut rng, &late);
            let upper = scale * (weights.iter().sum::<f64>() + constant);
            let far = relative_gap(upper, monitor.lower) > params.gap;
            let left = total.iterations < params.burer_monteiro.max_iterations && !late();
            if far && total.stop == Stop::Gap && ambitions.len() > 0 && left {
                start = Some(found.point);
                continue; // a proof would show that, and take long
            }
        }
        weights.iter_mut().for_each(|weight| *weight = unit.of(*weight));
        let weights = compact.whole(weights, 0.0);
        let solved = Instant::now();
        // After an early stop a margin as small as the requested gap would be wasted effort.
        let gap = monitor.reached.clamp(params.gap.min(LARGEST_MARGIN), LARGEST_MARGIN);
        let attempt = certificate_with_proof(problem, &plan, &weights, gap, params.threads, &|| stop.asks())?;
        total.seconds_check += solved.elapsed().as_secs_f64();
        // What earlier attempts proved stays, whatever this one comes to.
        let best = match proven.take() {
            Some(earlier) if earlier.upper.value() <= attempt.upper.value() => earlier,
            _ => attempt,
        };
        let upper = best.upper;
        // The lower end is raised after the proof, when the value needed is known.
        let most = 1.0 + 0.95 * params.gap;
        let value = unit.inverse(upper.value());
        let enough = if value > 0.0 { value / most } else { value * most } / scale - constant;
        let mut point = found.point;
        let steps = if total.in_a_hurry() || reduced.is_some() { 0 } else { ASCENT_STEPS };
        point.ascend(&operator, &found.weights, steps, enough);
        let point = compact.whole_point(point);
        let value = relaxation_value(matrix, problem.domain, &point.entries, point.columns, params.threads)?;
        let (point, sdp_lower) = match raised.take() {
            Some(earlier) if earlier.1.value() >= value.value() => earlier,
            _ => (point, value),
        };
        let reached = relative_gap(upper.value(), scale * sdp_lower.value()) <= params.gap;
        let time_is_left = !is_time(deadline) && !stop.asks();
        let left =
            total.iterations < params.burer_monteiro.max_iterations && time_is_left && best.paid.is_nothing();
        if !reached && total.stop == Stop::Gap && ambitions.len() > 0 && left {
            start = Some(compact.part_of(&point));
            (proven, raised) = (Some(best), Some((point, sdp_lower)));
            continue;
        }
        if !reached && total.stop == Stop::Gap && !best.paid.is_nothing() {
            total.stop = Stop::Reduced;
        } else if !reached && total.stop == Stop::Gap {
            total.stop = Stop::Solver(StopReason::Stalled); // the estimates were too optimistic
        }
        break (best, point, sdp_lower);
    };
    let trivial = total.stop != Stop::Zero
        && !total.in_a_hurry()
        && best.paid.is_nothing()
        && is_trivial(problem, &operator, &point, unit, &mut best, params.threads, &stop);
    let CertifiedUpper { certificate, upper, paid } = best;
    let trials = match total.stop {
        Stop::Zero => 1,
        _ if total.in_a_hurry() => 2,
        _ => ROUNDING_TRIALS,
    };
    // A vertex is one of the whole problem, whatever the solver got.
    let again = reduced.as_ref().map(|_| Compact::of(problem));
    let compact = again.as_ref().unwrap_or(&compact);
    let whole = again.as_ref().map(|of| Operator::new(of.problem(problem).quadratic(), problem.domain));
    let vertex = best_vertex(whole.as_ref().unwrap_or(&operator), &compact.part_of(&point), trials, &mut rng);
    let vertex = compact.whole(vertex, 1.0);
    let (lower, sdp_lower) = lower_ends(problem, &vertex, sdp_lower, params.threads)?;
    Ok(Bracket {
        certificate,
        paid,
        affordable: plan.paid.is_nothing(),
        full_proof: plan.full,
        upper,
        lower,
        sdp_lower,
        point,
        trivial,
        iterations: total.iterations,
        products: total.products,
        seconds_solve: started.elapsed().as_secs_f64() - total.seconds_check,
        seconds_check: total.seconds_check,
        stop: total.stop,
    })
}

/// The lower ends at a vertex and at a feasible point, in the units of the norm, for all entries within their error.
fn lower_ends(
    problem: &Problem,
    vertex: &[f64],
    sdp_lower: RelaxationValue,
    threads: usize,
) -> Result<(VertexValue, RelaxationValue), CheckError> {
    let matrix = problem.quadratic();
    let mut lower = vertex_value(matrix, vertex, threads)?;
    let mut sdp_lower = sdp_lower.or_vertex(lower);
    if let Some(rows) = problem.dilated_rows() {
        lower = lower.of_dilation(matrix, rows)?;
        sdp_lower = sdp_lower.of_dilation(matrix, rows)?;
    }
    let error = problem.error();
    Ok(if problem.is_factor() {
        (lower.widened_factor(error), sdp_lower.widened_factor(error))
    } else {
        (lower.widened(error), sdp_lower.widened(error))
    })
}

/// When a proof is to be given up for one that needs no factorisation.
struct Stopwatch {
    deadline: Option<Instant>,
    interrupted: Option<fn() -> bool>,
    /// When the interruption was first seen.
    seen: OnceLock<Instant>,
}

impl Stopwatch {
    fn new(started: Instant, params: &BoundParams) -> Self {
        let deadline = params
            .time_limit
            .and_then(|limit| Duration::try_from_secs_f64(OVERRUN * limit.as_secs_f64() + 1.0).ok())
            .and_then(|limit| started.checked_add(limit));
        Self { deadline, interrupted: params.interrupted, seen: OnceLock::new() }
    }

    fn asks(&self) -> bool {
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let interrupted = self.interrupted.is_some_and(|interrupted| interrupted());
        late || interrupted && self.seen.get_or_init(Instant::now).elapsed() >= GRACE
    }
}

/// Whether the bound is no better than what equal weights give, n·λ_max(M): for a projection the trivial n.
///
/// For a factor this is proven, at the cost of an r × r problem, and the bound taken where it is smaller. For a dense
/// form an eigenvalue to three digits decides, which `point` usually shows to be large enough. Max-cut forms are left
/// out: there equal weights are no sign of failure.
fn is_trivial(
    problem: &Problem,
    operator: &Operator<'_>,
    point: &UnitRows,
    unit: Unit,
    best: &mut CertifiedUpper,
    threads: usize,
    stop: &Stopwatch,
) -> bool {
    let n = operator.dim();
    match problem.quadratic() {
        Quadratic::Gram { dim, rank, .. } if rank <= dim => {
            let equal = Certificate { domain: problem.domain, weights: vec![1.0; n], shift: None };
            let plan = ProofPlan::default();
            let proof = prove_as_planned(problem, &equal, &plan, threads, &|| stop.asks());
            let Ok(bound) = proof else { return false };
            let trivial = best.upper.value() > (1.0 - 1e-5) * bound.value();
            if bound.value() < best.upper.value() {
                (best.certificate, best.upper) = (equal, bound);
            }
            trivial
        }
        Quadratic::Dense { .. } if problem.domain == Domain::Cube && problem.norm == Norm::Quadratic => {
            let mut space =
                TopEigenspace::spanned_by(point, &operator.apply_block(&point.entries, point.columns));
            let mut no_better = |most: usize| {
                let value = space.solve(operator, &vec![1.0; n], 1e-3, most).value;
                best.upper.value() > (1.0 - 1e-5) * unit.of(n as f64 * value)
            };
            no_better(0) && no_better(30)
        }
        _ => false,
    }
}
