//! The command lines of `gambeson bound` and `gambeson check`.

use super::replay::ReplayArguments;
use super::shared::{OUTPUT, seconds};
use clap::{Args, ValueEnum};
use gambeson::RandomInstance;
use gambeson_checker::Domain;
use gambeson_lowrank::sdp::bracket::{BoundParams, Solver};
use gambeson_lowrank::sdp::mwu::{MwuParams, Width};
use gambeson_lowrank::sdp::problem::OperatorNorm;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) const BOUND_HELP: &str = "\
Formats, recognised by content: .npy and .npz (numpy, scipy sparse), Matrix Market, graphs (rudy, G-set), and SDPA files \
of max-cut problems. A graph stands for M = L/4 on the vertices {-1, 1}^n (max-cut).

A matrix with a negative diagonal entry needs --domain vertices: on the cube, the maximum need not be at a vertex.

JSON: upper, lower, sdp_lower, gap and kappa are proven; seconds_read (or generate), seconds_solve and seconds_check are \
wall-clock seconds; peak_memory is in bytes, null if the system does not report it.

Exit codes: 0 done (and the gap reached, if --gap was given); 1 the gap was not reached (without --gap: only if \
--time-limit or Ctrl-C stopped the run); 2 error.";

pub(super) const CHECK_USAGE: &str = "\
gambeson check [OPTIONS] <INPUT> <CERTIFICATE>
       gambeson check [OPTIONS] <INPUT> [CERTIFICATE] --vertex <FILE.npy>
       gambeson check [OPTIONS] --random <KIND:N:SEED> <CERTIFICATE>
       gambeson check [OPTIONS] <RUN.jsonl> --model <MODEL> --data <NAME|PATH>";

pub(super) const CHECK_HELP: &str = "\
A certificate is not trusted to say what it proves: --norm, --gram and --domain ask the question, and a certificate for \
another question is rejected. A vertex x proves that the maximum is at least x'Mx; with a certificate that is a bracket. \
For the inf->1 norm its entries are the signs of the rows of A, then those of its columns.

Records of `certify` are drawn again with the network, the data and the projection that they name: counts must be equal, and \
kappa, encoding errors and radii are proven again. What remains is an assumption: that ChaCha8's words are random, and that \
the seed was not chosen. The default seed is hashed from network, projection, data, sigma and grid, so nobody tunes a network \
to it by accident; but whoever makes M variants of a run and shows the best has a failure probability of up to M * alpha. Only \
a nonce that you choose, after you were given network and data, excludes that: --nonce.

Exit codes: 0 proven, 1 rejected, 2 error.";

const SOLVER: &str = "Solver";

/// The matrix, and what is asked about it.
#[derive(Debug, Args)]
pub(crate) struct MatrixArguments {
    /// Matrix or graph file.
    #[arg(required_unless_present_any = ["random", "demo"], conflicts_with = "random")]
    pub(crate) input: Option<PathBuf>,
    /// Use a random matrix of appendix E: psd:N:SEED (AA' with trace 1) or qp:N:SEED (symmetric, normal entries,
    /// |diagonal|).
    #[arg(long, value_name = "KIND:N:SEED")]
    pub(crate) random: Option<RandomInstance>,
    /// Where x lies [default: vertices for graphs, otherwise cube].
    #[arg(long, value_enum)]
    pub(crate) domain: Option<DomainName>,
    /// The file holds the n x r factor U of M = UU'.
    #[arg(long)]
    pub(crate) gram: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BoundArguments {
    #[command(flatten)]
    pub(crate) matrix: MatrixArguments,
    /// Take a tour: bound a random matrix, check the certificate, see a forged one rejected.
    #[arg(long, exclusive = true)]
    pub(crate) demo: bool,
    /// What to bound. inf-to-two of an m x n matrix A uses M = A'A and reports the square and kappa.
    #[arg(long, value_enum, default_value_t = NormName::Quadratic)]
    pub(crate) norm: NormName,
    /// The solver.
    #[arg(long, value_enum, default_value_t = SolverName::Auto, help_heading = SOLVER)]
    pub(crate) method: SolverName,
    #[arg(long, help = gap_help(), allow_hyphen_values = true, help_heading = SOLVER)]
    pub(crate) gap: Option<f64>,
    /// Take about this many seconds, the proof included: where the whole proof would take longer, prove the best bound
    /// that can be, and say what was given up.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true, help_heading = SOLVER)]
    pub(crate) time_limit: Option<Duration>,
    /// Maximum number of iterations.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = SOLVER)]
    pub(crate) iterations: Option<u32>,
    #[arg(long, help = accuracy_help(), allow_negative_numbers = true, help_heading = SOLVER)]
    pub(crate) accuracy: Option<f64>,
    /// mwu: also stop where Algorithm 2 in the paper does: v or X feasible up to the accuracy.
    #[arg(long, help_heading = SOLVER)]
    pub(crate) early_stop: bool,
    /// mwu: rho of Algorithm 2: `theorem` (n/delta), `aggressive`, or a number.
    #[arg(
        long,
        default_value_t = MwuParams::default().width,
        allow_negative_numbers = true,
        help_heading = SOLVER
    )]
    pub(crate) width: Width,
    /// Seed of the solver's start and of the rounding.
    #[arg(long, default_value_t = BoundParams::default().seed, help_heading = SOLVER)]
    pub(crate) seed: u64,
    /// Write the certificate, evidence for the upper end, to this file.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) certificate: Option<PathBuf>,
    /// Write the vertex x, evidence for the lower end, to this file: a numpy array of 1 and -1 (f64).
    #[arg(long, value_name = "FILE.npy", help_heading = OUTPUT)]
    pub(crate) vertex: Option<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Matrix or graph file, a projection, or records of `certify`; left out with --random.
    #[arg(required_unless_present_any = ["random", "model", "vertex"], conflicts_with = "random")]
    pub(crate) input: Option<PathBuf>,
    /// The certificate, as written by `bound` or `project fit`; not needed with --vertex, and records have none.
    #[arg(required_unless_present_any = ["model", "vertex"])]
    pub(crate) certificate: Option<PathBuf>,
    /// A vertex, as written by `bound --vertex`: prove the value of the form there.
    #[arg(long, value_name = "FILE.npy", conflicts_with = "model")]
    pub(crate) vertex: Option<PathBuf>,
    /// Use a random matrix instead of a file, as in `bound`.
    #[arg(long, value_name = "KIND:N:SEED")]
    pub(crate) random: Option<RandomInstance>,
    /// Where x lies [default: vertices for graphs, otherwise cube].
    #[arg(long, value_enum)]
    pub(crate) domain: Option<DomainName>,
    /// What is bounded [default: quadratic for a symmetric matrix, otherwise what the certificate says].
    #[arg(long, value_enum)]
    pub(crate) norm: Option<NormName>,
    /// The file holds the factor U of M = UU'. Not needed if the matrix is not symmetric and no norm is given.
    #[arg(long)]
    pub(crate) gram: bool,
    /// Give up after about this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) time_limit: Option<Duration>,
    /// Reject unless the proven upper bound is at most this: the number printed, which for a projection is kappa, not its
    /// square.
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    pub(crate) at_most: Option<f64>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    // The last: its heading is for all that follows.
    #[command(flatten)]
    pub(crate) replay: ReplayArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DomainName {
    /// |x|_inf <= 1
    Cube,
    /// x in {-1, 1}^n
    Vertices,
}

impl From<DomainName> for Domain {
    fn from(name: DomainName) -> Self {
        match name {
            DomainName::Cube => Domain::Cube,
            DomainName::Vertices => Domain::Vertices,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NormName {
    /// max x'Mx
    Quadratic,
    /// The inf->1 norm of A
    InfToOne,
    /// The square of the inf->2 norm of A
    InfToTwo,
}

impl CheckArguments {
    /// The matrix or projection, unless it is random, and the certificate: a single position may be taken for either.
    pub(crate) fn positions(&self) -> (Option<&Path>, Option<&Path>) {
        match (self.input.as_deref(), self.certificate.as_deref()) {
            (None, Some(path)) | (Some(path), None) if self.random.is_none() => (Some(path), None),
            (Some(path), None) => (None, Some(path)),
            both => both,
        }
    }
}

impl From<NormName> for OperatorNorm {
    fn from(name: NormName) -> Self {
        match name {
            NormName::Quadratic => OperatorNorm::Quadratic,
            NormName::InfToOne => OperatorNorm::InfToOne,
            NormName::InfToTwo => OperatorNorm::InfToTwo,
        }
    }
}

impl From<SolverName> for gambeson::Method {
    fn from(name: SolverName) -> Self {
        match name {
            SolverName::Auto => Self::Auto,
            SolverName::Mwu => Self::Mwu,
            SolverName::BurerMonteiro => Self::BurerMonteiro,
        }
    }
}

/// A solver of the semidefinite relaxation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SolverName {
    /// The best for the matrix
    #[default]
    Auto,
    /// Algorithm 2, multiplicative weights
    Mwu,
    /// Low-rank factorisation
    BurerMonteiro,
}

fn gap_help() -> String {
    let [gap, mwu] = [Solver::BurerMonteiro, Solver::MultiplicativeWeights].map(Solver::default_gap);
    format!(
        "Stop when upper/sdp_lower - 1 is at most this; exit 1 if it is not reached [default: {gap:e}, or {mwu:e} for \
         mwu, required only if --time-limit or Ctrl-C stops the run]"
    )
}

fn accuracy_help() -> String {
    format!(
        "mwu: delta of Algorithm 2, in (0, 1/2): smoothing of the weights, slack of --early-stop [default: the gap, at \
         most {:e}]",
        MwuParams::default().accuracy
    )
}
