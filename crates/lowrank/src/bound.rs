//! Solve, certify, check: a proven bracket for a [`Problem`].
//!
//! Solvers propose; every number in a [`Bracket`] was made by the checker.

use crate::mwu::{MwuParams, ParameterError, multiplicative_weights};
use crate::observe::{Observer, Progress, StopReason};
use crate::operator::Operator;
use crate::primal::UnitRows;
use crate::problem::{Norm, Problem};
use crate::round::best_vertex;
use gambeson_checker::{
    Certificate, CheckError, InfToOneBound, InfToTwoBound, Quadratic, QuadraticBound, RelaxationValue,
    VertexValue, check, check_dilation, relaxation_value, vertex_value,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use thiserror::Error;

/// Steps spent at most on raising the lower end of the relaxation to the gap asked for.
const ASCENT_STEPS: usize = 60;
/// Vertices tried by rounding.
const ROUNDING_TRIALS: usize = 16;

/// How the certificate is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Algorithm 2, multiplicative weights.
    MultiplicativeWeights,
}

/// Parameters of [`bracket`].
#[derive(Clone, Debug)]
pub struct BoundParams {
    /// The solver.
    pub method: Method,
    /// upper/sdp_lower − 1 at which to stop; positive.
    pub gap: f64,
    /// Solve no longer than this. What follows (lower ends, check) is not counted.
    pub time_limit: Option<Duration>,
    /// Seed of the start vector and of the rounding.
    pub seed: u64,
    /// Threads of the checker. Solvers use the global pool of rayon.
    pub threads: usize,
    /// Parameters of Algorithm 2.
    pub mwu: MwuParams,
}

impl Default for BoundParams {
    fn default() -> Self {
        Self {
            method: Method::MultiplicativeWeights,
            gap: 5e-3,
            time_limit: None,
            seed: 0,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            mwu: MwuParams { early_stop: false, ..MwuParams::default() },
        }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The gap asked for was reached.
    Gap,
    /// Time was up.
    TimeLimit,
    /// The observer ended it.
    Interrupted,
    /// The solver ended by itself.
    Solver(StopReason),
    /// The matrix is zero: nothing to solve.
    Zero,
}

/// Why there is no bracket.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BoundError {
    /// A parameter is out of its range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The checker turned the solver's own certificate down.
    #[error("the certificate found could not be proven: {0}")]
    Check(#[from] CheckError),
}

/// A proven upper bound of the kind the norm asks for.
#[derive(Clone, Copy, Debug)]
pub enum Upper {
    /// On a quadratic form.
    Quadratic(QuadraticBound),
    /// On ‖A‖_{∞→1}.
    InfToOne(InfToOneBound),
    /// On ‖A‖²_{∞→2}.
    InfToTwo(QuadraticBound),
}

impl Upper {
    /// The number; the square for ∞→2.
    pub fn value(self) -> f64 {
        match self {
            Upper::Quadratic(bound) | Upper::InfToTwo(bound) => bound.value(),
            Upper::InfToOne(bound) => bound.value(),
        }
    }

    /// κ, the bound on ‖A‖_{∞→2} itself, for that norm.
    pub fn kappa(self) -> Option<InfToTwoBound> {
        match self {
            Upper::InfToTwo(bound) => Some(bound.sqrt()),
            Upper::Quadratic(_) | Upper::InfToOne(_) => None,
        }
    }
}

/// A proven bracket, in units of the norm asked for (the square for ∞→2).
#[derive(Clone, Debug)]
pub struct Bracket {
    /// Evidence for `upper`.
    pub certificate: Certificate,
    /// Proven upper bound on the maximum and on the relaxation.
    pub upper: Upper,
    /// Proven: the form takes this value at a vertex.
    pub lower: VertexValue,
    /// Proven: the relaxation is at least this.
    pub sdp_lower: RelaxationValue,
    /// True where no weights did noticeably better than equal ones: the bound is n·λ_max(M), for a projection n.
    pub trivial: bool,
    /// Rounds of the solver.
    pub iterations: usize,
    /// Products with M.
    pub products: usize,
    /// Time for the solver and the lower ends.
    pub seconds_solve: f64,
    /// Time for the proof of the upper bound.
    pub seconds_check: f64,
    /// Why it ended.
    pub stop: Stop,
}

impl Bracket {
    /// upper/sdp_lower − 1, rounded up; zero for an exact zero, infinite where nothing positive is known below.
    pub fn gap(&self) -> f64 {
        let (upper, lower) = (self.upper.value(), self.sdp_lower.value());
        if upper <= lower {
            0.0
        } else if lower > 0.0 {
            ((upper / lower).next_up() - 1.0).next_up()
        } else {
            f64::INFINITY
        }
    }
}

/// Stops a solver at the gap or the time limit and passes everything on.
struct Watch<'a, O> {
    inner: &'a mut O,
    gap: f64,
    constant: f64,
    scale: f64,
    deadline: Option<Instant>,
    stop: Option<Stop>,
}

impl<O: Observer> Observer for Watch<'_, O> {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        let upper = self.scale * (progress.upper + self.constant);
        let lower = self.scale * (progress.lower + self.constant);
        let shown = Progress { upper, lower, ..*progress };
        self.stop = if self.inner.observe(&shown).is_break() {
            Some(Stop::Interrupted)
        } else if lower > 0.0 && upper / lower - 1.0 <= self.gap {
            Some(Stop::Gap)
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Some(Stop::TimeLimit)
        } else {
            None
        };
        if self.stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Solves and proves. The observer sees estimates in the units of the result and may end the search; the best
/// bracket so far is then proven and returned.
pub fn bracket(
    problem: &Problem,
    params: &BoundParams,
    observer: &mut impl Observer,
) -> Result<Bracket, BoundError> {
    if !(params.gap > 0.0) {
        return Err(ParameterError { name: "gap", value: params.gap, range: "positive" }.into());
    }
    let started = Instant::now();
    let matrix = problem.quadratic();
    let operator = Operator::new(matrix, problem.domain);
    let n = operator.dim();
    let scale = if problem.norm == Norm::InfToOne { 0.5 } else { 1.0 };
    let constant = operator.left_out_trace();
    let mut rng = ChaCha8Rng::seed_from_u64(params.seed);
    let mut watch = Watch {
        inner: observer,
        gap: 0.9 * params.gap, // what is proven is a little wider than what is estimated
        constant,
        scale,
        deadline: params.time_limit.and_then(|limit| started.checked_add(limit)),
        stop: None,
    };
    let found = if operator.is_zero() {
        Found::zero(n)
    } else {
        match params.method {
            Method::MultiplicativeWeights => {
                let solution = multiplicative_weights(&operator, &params.mwu, &mut rng, &mut watch)?;
                let scale = solution.estimate / solution.weights.iter().sum::<f64>();
                Found {
                    trivial: matches!(matrix, Quadratic::Gram { .. })
                        && solution.estimate > (1.0 - 1e-5) * solution.trivial_estimate,
                    weights: solution.weights.iter().map(|weight| weight * scale).collect(),
                    point: solution.point,
                    iterations: solution.iterations,
                    products: solution.products,
                    stop: watch.stop.unwrap_or(Stop::Solver(solution.stop)),
                }
            }
        }
    };
    let solved = started.elapsed();
    let (certificate, upper) =
        certify(problem, &found.weights, (1e-3 * params.gap).max(1e-7), params.threads)?;
    let checked = started.elapsed();
    // The lower ends are looked for after the proof, when it is known what would do.
    let enough = upper.value() / (scale * (1.0 + 0.95 * params.gap)) - constant;
    let mut point = found.point;
    point.ascend(&operator, &certificate.weights, ASCENT_STEPS, enough);
    let vertex = best_vertex(&operator, &point, ROUNDING_TRIALS, &mut rng);
    let mut lower = vertex_value(matrix, &vertex, params.threads)?;
    let UnitRows { entries, columns } = &point;
    let mut sdp_lower =
        relaxation_value(matrix, problem.domain, entries, *columns, params.threads)?.or_vertex(lower);
    if problem.norm == Norm::InfToOne {
        (lower, sdp_lower) = (lower.of_dilation(), sdp_lower.of_dilation());
    }
    let seconds_check = checked.as_secs_f64() - solved.as_secs_f64();
    Ok(Bracket {
        certificate,
        upper,
        lower,
        sdp_lower,
        trivial: found.trivial,
        iterations: found.iterations,
        products: found.products,
        seconds_solve: started.elapsed().as_secs_f64() - seconds_check,
        seconds_check,
        stop: found.stop,
    })
}

/// A certificate from weights that are estimated to be just feasible, and what it proves.
///
/// Dense and sparse forms: the weights a little enlarged, to be taken as they stand, so that checking costs one
/// factorisation; `margin` and a few times more is tried before the scale is left to the checker. Gram forms leave
/// it to the checker at once, where it costs next to nothing.
fn certify(
    problem: &Problem,
    weights: &[f64],
    margin: f64,
    threads: usize,
) -> Result<(Certificate, Upper), CheckError> {
    let domain = problem.domain;
    // Rows of zeros have no weight, and the checker asks for none; anything positive will do.
    let enlarged =
        |by: f64| weights.iter().map(|w| (w * (1.0 + by)).max(f64::MIN_POSITIVE)).collect::<Vec<f64>>();
    if !matches!(problem.quadratic(), Quadratic::Gram { .. }) {
        for widening in [1.0, 8.0, 64.0, 512.0] {
            let weights = enlarged(margin * widening);
            let certificate = Certificate { domain, weights, shift: Some(0.0) };
            if let Ok(upper) = prove(problem, &certificate, threads) {
                return Ok((certificate, upper));
            }
        }
    }
    let certificate = Certificate { domain, weights: enlarged(0.0), shift: None };
    let upper = prove(problem, &certificate, threads)?;
    Ok((certificate, upper))
}

/// What a certificate proves about a problem, in units of its norm (the square for ∞→2).
pub fn prove(problem: &Problem, certificate: &Certificate, threads: usize) -> Result<Upper, CheckError> {
    let matrix = problem.quadratic();
    Ok(match (problem.norm, problem.dilated_rows()) {
        (_, Some(rows)) => Upper::InfToOne(check_dilation(matrix, rows, certificate, threads)?),
        (Norm::InfToTwo, None) => Upper::InfToTwo(check(matrix, certificate, threads)?),
        (_, None) => Upper::Quadratic(check(matrix, certificate, threads)?),
    })
}

/// What a solver found.
struct Found {
    weights: Vec<f64>,
    point: UnitRows,
    trivial: bool,
    iterations: usize,
    products: usize,
    stop: Stop,
}

impl Found {
    fn zero(n: usize) -> Self {
        let point = UnitRows { entries: vec![1.0; n], columns: 1 };
        Self { weights: vec![1.0; n], point, trivial: false, iterations: 0, products: 0, stop: Stop::Zero }
    }
}
