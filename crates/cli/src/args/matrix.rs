//! The command lines of `gambeson bound` and `gambeson check`.

use super::replay::ReplayArguments;
use super::shared::{OUTPUT, choices, seconds};
use clap::Args;
use gambeson::{BoundParams, Domain, Method, OperatorNorm, RandomInstance, Width};
use gambeson_lowrank::sdp::mwu::MwuParams;
use std::path::PathBuf;
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
       gambeson check [OPTIONS] --random <KIND:N:SEED> <CERTIFICATE>
       gambeson check [OPTIONS] <RUN.jsonl>... --model <MODEL> --data <NAME|PATH>
       gambeson check [OPTIONS] <BUNDLE>";

pub(super) const CHECK_HELP: &str = "\
A certificate is not trusted to say what it proves: --norm, --gram and --domain ask the question, and a certificate for \
another question is rejected.

Records of `certify` are drawn again with the network, the data and the projection that they name: counts must be equal, and \
kappa, encoding errors and radii are proven again. What remains is an assumption: that ChaCha8's words are random, and that \
the seed was not chosen. The default seed is hashed from network, projection, data, sigma and grid, so nobody tunes a network \
to it by accident; but whoever makes M variants of a run and shows the best has a failure probability of up to M * alpha. Only \
a nonce that you choose, after you were given network and data, excludes that: --nonce.

A bundle, a folder or a zip archive that `bundle` wrote, has all of this in it: its files are compared with the hashes of its \
manifest, its page with what follows from its records, and its records are checked like others. --model and --data give what \
was left out; without them the rest is checked, and the verdict is NOT REDRAWN. Nothing is written.

Exit codes: 0 proven, redrawn, sampled or not refuted; 1 rejected, incomplete, not reproduced or not redrawn; 2 error.";

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
    #[arg(long, value_enum, default_value_t = BoundParams::default().norm.into())]
    pub(crate) norm: NormName,
    /// The solver.
    #[arg(long, value_enum, default_value_t = Method::default().into(), help_heading = SOLVER)]
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
        default_value_t = BoundParams::default().width,
        allow_negative_numbers = true,
        help_heading = SOLVER
    )]
    pub(crate) width: Width,
    /// Seed of the solver's start and of the rounding.
    #[arg(long, default_value_t = BoundParams::default().seed, help_heading = SOLVER)]
    pub(crate) seed: u64,
    /// Write the certificate to this file.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) certificate: Option<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// A matrix, a graph or a projection and its certificate, as written by `bound` or `project fit` (with --random the
    /// certificate alone); or records of `certify`; or a bundle.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
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
    /// Reject unless the proven bound is at most this.
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    pub(crate) at_most: Option<f64>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    // The last: its heading is for all that follows.
    #[command(flatten)]
    pub(crate) replay: ReplayArguments,
}

choices! { DomainName for Domain {
    /// |x|_inf <= 1
    Cube = Domain::Cube,
    /// x in {-1, 1}^n
    Vertices = Domain::Vertices,
} }

choices! { NormName for OperatorNorm {
    /// max x'Mx
    Quadratic = OperatorNorm::Quadratic,
    /// The inf->1 norm of A
    InfToOne = OperatorNorm::InfToOne,
    /// The square of the inf->2 norm of A
    InfToTwo = OperatorNorm::InfToTwo,
} }

choices! { SolverName for Method {
    /// The best for the matrix
    Auto = Method::Auto,
    /// Algorithm 2, multiplicative weights
    Mwu = Method::Mwu,
    /// Low-rank factorisation
    BurerMonteiro = Method::BurerMonteiro,
} }

fn gap_help() -> String {
    let [gap, mwu] = [Method::Auto, Method::Mwu].map(|method| method.solver().default_gap());
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
