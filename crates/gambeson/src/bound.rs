//! A proven bracket around max x'Mx, a norm ∞→1 or a norm ∞→2, with its certificate.

use crate::context::Context;
use crate::error::Error;
use crate::event::Event;
use crate::evidence::Vertex;
use crate::matrix::MatrixInput;
use gambeson_checker::{Domain, InfToTwoBound};
use gambeson_lowrank::linalg::unit_rows::UnitRows;
use gambeson_lowrank::sdp::bracket::{self as sdp, Bracket, DroppedEntries, Solver, Stop, bracket};
use gambeson_lowrank::sdp::certificate::CertificateFile;
use gambeson_lowrank::sdp::mwu::{MwuParams, Width};
use gambeson_lowrank::sdp::problem::{MatrixRole, OperatorNorm, Problem};
use gambeson_lowrank::sdp::progress::StopReason;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Which solver looks for the certificate. What it finds is proven in the same way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The best for the matrix: the low-rank factorisation, on every matrix tried.
    #[default]
    Auto,
    /// Algorithm 2, multiplicative weights.
    Mwu,
    /// Low-rank factorisation.
    BurerMonteiro,
}

impl Method {
    /// The solver it stands for.
    pub fn solver(self) -> Solver {
        match self {
            Self::Mwu => Solver::MultiplicativeWeights,
            Self::Auto | Self::BurerMonteiro => Solver::BurerMonteiro,
        }
    }

    /// As in commands and experiments.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Mwu => "mwu",
            Self::BurerMonteiro => "burer-monteiro",
        }
    }

    /// The method chosen for every matrix.
    fn chosen(self) -> Self {
        match self.solver() {
            Solver::MultiplicativeWeights => Self::Mwu,
            Solver::BurerMonteiro => Self::BurerMonteiro,
        }
    }
}

/// Parameters of [`bound`].
#[derive(Clone, Debug)]
pub struct BoundParams {
    /// What is bounded.
    pub norm: OperatorNorm,
    /// Whether the matrix is the factor U of M = UUᵀ.
    pub gram: bool,
    /// Where x lies: the vertices for the quadratic form of a graph, the cube for everything else, if `None`.
    pub domain: Option<Domain>,
    /// The solver.
    pub method: Method,
    /// upper/sdp_lower − 1 at which to stop; the solver's own default if `None`, and then a wish.
    pub gap: Option<f64>,
    /// What everything together should take, the proof included.
    pub time_limit: Option<Duration>,
    /// How long a proof may go on after an interrupt.
    pub grace: Duration,
    /// Steps of the solver at most; its own default if `None`.
    pub iterations: Option<usize>,
    /// Seed of the start and of the rounding.
    pub seed: u64,
    /// Algorithm 2: ρ.
    pub width: Width,
    /// Algorithm 2: also stop where the box of the paper does.
    pub early_stop: bool,
    /// Algorithm 2: δ; as the gap requires if `None`.
    pub accuracy: Option<f64>,
    /// Where the low-rank factorisation starts: the point of an earlier bound, of a similar matrix.
    pub start: Option<UnitRows>,
    /// Whether the certificate is wanted. Without it the matrix need not be hashed, which takes a moment if it is large.
    pub certificate: bool,
}

impl Default for BoundParams {
    fn default() -> Self {
        let (own, mwu) = (sdp::BoundParams::default(), MwuParams::default());
        Self {
            norm: OperatorNorm::Quadratic,
            gram: false,
            domain: None,
            method: Method::default(),
            gap: None,
            time_limit: None,
            grace: own.grace,
            iterations: None,
            seed: own.seed,
            width: mwu.width,
            early_stop: own.mwu.early_stop,
            accuracy: None,
            start: None,
            certificate: true,
        }
    }
}

impl BoundParams {
    /// The solver's parameters.
    fn of_solver(&self, context: &Context) -> sdp::BoundParams {
        let mut params = sdp::BoundParams {
            time_limit: self.time_limit,
            memory_limit: context.memory_limit(),
            interrupt: context.interrupt(),
            grace: self.grace,
            seed: self.seed,
            start: self.start.clone(),
            threads: context.threads(),
            ..sdp::BoundParams::for_solver(self.method.solver(), self.gap)
        };
        params.mwu.width = self.width;
        params.mwu.early_stop = self.early_stop;
        params.mwu.accuracy = self.accuracy.unwrap_or(params.mwu.accuracy);
        if let Some(iterations) = self.iterations {
            params.mwu.max_iterations = iterations;
            params.burer_monteiro.max_iterations = iterations;
        }
        params
    }
}

/// A proven bracket. Numbers are in the units of the norm asked for, the square for ∞→2.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Both ends, their evidence, and how they were found.
    pub bracket: Bracket,
    /// The certificate of the upper end, if it was asked for; `check` needs it and the matrix.
    pub certificate: Option<CertificateFile>,
    /// Whether the gap asked for was not reached. Without `gap`: whether a time limit, an interrupt or memory cut it short
    /// of the solver's default.
    pub fell_short: bool,
    norm: OperatorNorm,
    method: Method,
    seconds_read: f64,
    entry_rounding: f64,
}

impl Bound {
    /// Evidence for the lower end, beside the certificate for the upper one.
    pub fn vertex(&self) -> Vertex {
        Vertex { entries: self.bracket.vertex.clone(), name: "the vertex of the bound".to_owned() }
    }

    /// What it says, as data.
    pub fn record(&self) -> BoundRecord {
        let found = &self.bracket;
        BoundRecord {
            n: found.certificate.weights.len(),
            norm: self.norm,
            domain: domain_name(found.certificate.domain).to_owned(),
            method: self.method.chosen().name().to_owned(),
            upper: found.upper.value(),
            lower: found.lower.value(),
            sdp_lower: found.sdp_lower.value(),
            gap: Some(found.gap()).filter(|gap| gap.is_finite()),
            kappa: found.upper.kappa().map(InfToTwoBound::value),
            iterations: found.iterations,
            seconds_read: self.seconds_read,
            seconds_solve: found.seconds_solve,
            seconds_check: found.seconds_check,
            peak_memory: peak_memory(),
            stop: stop_name(found.stop).to_owned(),
            trivial: found.trivial,
            entry_error: self.entry_rounding,
            given_up: match &found.paid {
                DroppedEntries::Nothing => None,
                DroppedEntries::Pairs(pairs) => Some(pairs.len().to_string()),
                DroppedEntries::All => Some("all".to_owned()),
            },
            full_proof_seconds: found.full_proof.seconds,
            full_proof_bytes: found.full_proof.bytes,
        }
    }
}

impl Serialize for Bound {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.record().serialize(serializer)
    }
}

/// Solves the relaxation and proves both ends.
///
/// An interrupt, a time limit or a memory limit is no error: what was proven so far is returned.
pub fn bound(context: &Context, matrix: MatrixInput, params: &BoundParams) -> Result<Bound, Error> {
    context.run(|| {
        let reading = if params.gram { MatrixRole::Gram } else { MatrixRole::Plain };
        // The hash is of the matrix as given, so it is taken before the matrix becomes a problem.
        let hash = params.certificate.then(|| matrix.sha256());
        let MatrixInput { input, name, seconds } = matrix;
        let (natural, error) = (input.kind.natural_domain(params.norm, reading), input.error);
        let domain = params.domain.unwrap_or(natural);
        let problem = Problem::enclosing(
            input.matrix,
            error,
            params.norm,
            reading,
            domain,
            context.memory_limit(),
            context.threads(),
        )
        .map_err(|reason| Error::Problem { name: name.clone(), reason })?;
        let own = params.of_solver(context);
        let found = bracket(&problem, &own, &mut context.watch(|step| Event::Solve(step)))
            .map_err(|reason| Error::Bound { name, reason })?;
        // The default gap is a wish, but a run that was stopped before reaching it fell short.
        let cut_short =
            matches!(found.stop, Stop::TimeLimit | Stop::Interrupted | Stop::Solver(StopReason::Interrupted));
        let fell_short =
            !(found.gap() <= own.gap) && (params.gap.is_some() || cut_short || !found.paid.is_nothing());
        let certificate = hash.map(|hash| {
            CertificateFile::new(found.certificate.clone(), params.norm, reading, hash)
                .paying(found.paid.clone())
        });
        Ok(Bound {
            certificate,
            fell_short,
            norm: params.norm,
            method: params.method,
            seconds_read: seconds,
            entry_rounding: problem.error(),
            bracket: found,
        })
    })
}

/// What `bound --json` prints. Keys are only ever added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundRecord {
    /// Dimension of x.
    pub n: usize,
    /// What is bounded.
    pub norm: OperatorNorm,
    /// `cube` or `vertices`.
    pub domain: String,
    /// `burer-monteiro` or `mwu`.
    pub method: String,
    /// Proven upper end of both brackets.
    pub upper: f64,
    /// Proven lower end for the maximum.
    pub lower: f64,
    /// Proven lower end for the relaxation.
    pub sdp_lower: f64,
    /// upper/sdp_lower − 1; null if infinite.
    pub gap: Option<f64>,
    /// Proven bound on the norm ∞→2 itself; null for other norms.
    pub kappa: Option<f64>,
    /// Steps of the solver.
    pub iterations: usize,
    /// Seconds to read or generate the matrix.
    pub seconds_read: f64,
    /// Seconds for the solver and the lower ends.
    pub seconds_solve: f64,
    /// Seconds for the proof of the upper end.
    pub seconds_check: f64,
    /// Peak memory of the process, in bytes; null if the system does not report it.
    pub peak_memory: Option<u64>,
    /// Why it ended.
    pub stop: String,
    /// Whether no weights did better than equal ones.
    pub trivial: bool,
    /// How far the entries as stored may be from those of the file, all together; both ends allow for it.
    #[serde(default)]
    pub entry_error: f64,
    /// How many entries the proof bounds by their absolute values alone, or `all`; null for none.
    #[serde(default)]
    pub given_up: Option<String>,
    /// Seconds that a proof with nothing given up takes, by estimate.
    #[serde(default)]
    pub full_proof_seconds: f64,
    /// Bytes that it takes.
    #[serde(default)]
    pub full_proof_bytes: u64,
}

impl BoundRecord {
    /// Whether the solver used all its iterations.
    pub fn used_all_iterations(&self) -> bool {
        self.stop == stop_name(Stop::Solver(StopReason::IterationLimit))
    }

    /// Whether an interrupt ended the search.
    pub fn was_interrupted(&self) -> bool {
        self.stop == stop_name(Stop::Interrupted)
    }
}

/// As in certificates.
pub fn domain_name(domain: Domain) -> &'static str {
    match domain {
        Domain::Cube => "cube",
        Domain::Vertices => "vertices",
    }
}

/// As in records.
pub fn stop_name(stop: Stop) -> &'static str {
    match stop {
        Stop::Gap => "gap",
        Stop::TimeLimit => "time-limit",
        Stop::Interrupted | Stop::Solver(StopReason::Interrupted) => "interrupted",
        Stop::Zero => "zero-matrix",
        Stop::Reduced => "limits",
        Stop::Solver(StopReason::IterateFeasible) => "iterate-feasible",
        Stop::Solver(StopReason::AverageFeasible) => "average-feasible",
        Stop::Solver(StopReason::Converged) => "converged",
        Stop::Solver(StopReason::Stalled) => "stalled",
        Stop::Solver(StopReason::IterationLimit) => "iteration-limit",
    }
}

/// Peak memory of this process in bytes, where the system reports it (on Linux).
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
