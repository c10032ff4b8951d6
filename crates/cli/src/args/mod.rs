//! The command line.

mod analyze;
mod certify;
mod data;
mod project;

pub(crate) use analyze::{AnalyzeArguments, CertificationName, Radius};
pub(crate) use certify::{CertifyArguments, PredictArguments, SmoothArguments};
pub(crate) use data::{
    AudioArguments, DataCommand, FetchArguments, ImportArguments, InfoArguments, SourceName,
};
pub(crate) use project::{
    BasisName, FitArguments, FitDataArguments, FitMethodName, InspectArguments, ProjectCommand,
    SparseArguments, SpectrumArguments, SweepArguments,
};

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use gambeson_checker::Domain;
use gambeson_lowrank::sdp::problem::Norm;
use serde::Deserialize;
use std::path::PathBuf;
use std::time::Duration;

/// Certified adversarial robustness from low-rank structure.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Threads to use [default: all cores]. Results do not depend on it.
    #[arg(long, global = true, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// A tour on built-in data: bound a norm, write the certificate, check it, and see a forged one rejected.
    Quickstart,
    /// Prove an upper bound on max x'Mx over |x|_inf <= 1, or on an inf->1 or inf->2 norm.
    #[command(after_help = BOUND_HELP)]
    Bound(BoundArguments),
    /// Prove what a certificate says about a matrix: exit 0 proven, 1 rejected, 2 error.
    #[command(override_usage = CHECK_USAGE, allow_missing_positional = true)]
    Check(CheckArguments),
    /// Run an experiment of the paper again: records, then its table or figure.
    #[command(after_help = REPRODUCE_HELP)]
    Reproduce(ReproduceArguments),
    /// Data sets: say what they are, fetch them, import your own.
    #[command(subcommand, after_help = data::HELP)]
    Data(DataCommand),
    /// Projections: fit them to data with a proven kappa, look at them, compare methods.
    #[command(subcommand, after_help = project::HELP)]
    Project(ProjectCommand),
    /// Certify a smoothed classifier: the class of every input, with radii in which it cannot be changed.
    #[command(after_help = certify::CERTIFY_HELP)]
    Certify(Box<CertifyArguments>),
    /// The class of every input by a smoothed classifier, or an abstention.
    #[command(after_help = certify::CERTIFY_HELP)]
    Predict(Box<PredictArguments>),
    /// Certified accuracy from logs of certification, ours and those of others: tables, figures, envelopes.
    #[command(after_help = analyze::HELP)]
    Analyze(Box<AnalyzeArguments>),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
}

const BOUND_HELP: &str = "\
Formats, recognised by content: .npy, .npz (numpy, scipy sparse), Matrix Market, rudy / G-set graphs and SDPA files \
of max-cut shape. Graphs mean M = L/4 on the vertices {-1, 1}^n (max-cut).

JSON: upper, lower, sdp_lower, gap and kappa are proven; seconds_read (or generate), seconds_solve and seconds_check \
are wall-clock seconds; peak_memory is in bytes, null where the system does not tell.

Exit codes: 0 done (and the gap reached, where --gap is given), 1 the gap was not reached (without --gap: because of \
--time-limit or Ctrl-C), 2 error.";

const REPRODUCE_HELP: &str = "\
Every run is a process of its own, and its record is appended to DIR/NAME.SCALE.jsonl as soon as it is there: a command \
that was stopped goes on where it was. The .md, .tex, .svg and .png beside it are functions of the records alone.

table-norms and fig-pca-error need cifar10 and cifar100 (`gambeson data fetch`), table-audio a folder of speech.

Exit codes: 0 all runs there and as asked, 1 runs are missing or fell short of their gap, 2 error: also where a run \
failed, after all the others.";

const CHECK_USAGE: &str = "\
gambeson check [OPTIONS] <INPUT> <CERTIFICATE>
       gambeson check [OPTIONS] --random <KIND:N:SEED> <CERTIFICATE>";

/// Where the matrix comes from, and what is asked of it.
#[derive(Debug, Args)]
pub(crate) struct SourceArguments {
    /// Matrix or graph file.
    #[arg(required_unless_present = "random", conflicts_with = "random")]
    pub(crate) input: Option<PathBuf>,
    /// A random instance of appendix E instead of a file: psd:N:SEED (AA' with trace 1) or qp:N:SEED (symmetric
    /// normal with |diagonal|).
    #[arg(long, value_name = "KIND:N:SEED")]
    pub(crate) random: Option<RandomInstance>,
    /// Where x lies [default: vertices for graphs, else cube].
    #[arg(long, value_enum)]
    pub(crate) domain: Option<DomainName>,
    /// The file holds the n x r factor U of M = UU'.
    #[arg(long)]
    pub(crate) gram: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BoundArguments {
    #[command(flatten)]
    pub(crate) source: SourceArguments,
    /// What to bound. inf-to-two of an m x n matrix A goes by M = A'A and reports the square and kappa.
    #[arg(long, value_enum, default_value_t = NormName::Quadratic)]
    pub(crate) norm: NormName,
    /// The solver.
    #[arg(long, value_enum, default_value_t = MethodName::Auto)]
    pub(crate) method: MethodName,
    /// Stop when upper/sdp_lower - 1 is at most this; exit 1 if it is not reached [default: 1e-4, for mwu 5e-3, not
    /// insisted on unless --time-limit or Ctrl-C cuts the run short].
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) gap: Option<f64>,
    /// Solve for at most so many seconds, then prove the best there is.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) time_limit: Option<Duration>,
    /// Most iterations of the solver.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) iterations: Option<u32>,
    /// delta of Algorithm 2, in (0, 1/2): smoothing of the weights, slack of --early-stop [default: the gap, at
    /// most 5e-3].
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) accuracy: Option<f64>,
    /// mwu: also stop where Algorithm 2's box does: v or X feasible up to accuracy.
    #[arg(long)]
    pub(crate) early_stop: bool,
    /// rho of Algorithm 2: `theorem` (n/delta), `aggressive`, or a number.
    #[arg(long, default_value = "aggressive", value_parser = width, allow_negative_numbers = true)]
    pub(crate) width: gambeson_lowrank::sdp::mwu::Width,
    /// Seed of the solver's start and of the rounding.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Write the certificate here.
    #[arg(long, value_name = "OUT")]
    pub(crate) certificate: Option<PathBuf>,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Matrix or graph file, or a projection; none with --random.
    #[arg(required_unless_present = "random", conflicts_with = "random")]
    pub(crate) input: Option<PathBuf>,
    /// The certificate, as `bound` or `project fit` writes it.
    #[arg(required = true)]
    pub(crate) certificate: PathBuf,
    /// A random instance instead of a file, as in `bound`.
    #[arg(long, value_name = "KIND:N:SEED")]
    pub(crate) random: Option<RandomInstance>,
    /// The domain asked about [default: vertices for graphs, else cube]; a certificate for another is rejected.
    #[arg(long, value_enum)]
    pub(crate) domain: Option<DomainName>,
    /// The norm asked about [default: quadratic for a symmetric matrix, else the certificate's]; a certificate for
    /// another is rejected.
    #[arg(long, value_enum)]
    pub(crate) norm: Option<NormName>,
    /// The question is about M = UU', U the matrix given; a certificate for the matrix as it is is rejected. Not
    /// needed where the matrix is not symmetric and no norm is given.
    #[arg(long)]
    pub(crate) gram: bool,
    /// Reject unless the proven bound is at most this.
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    pub(crate) at_most: Option<f64>,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // one a flag
pub(crate) struct ReproduceArguments {
    /// Table or figure; --list says which there are.
    #[arg(required_unless_present = "list", value_parser = PossibleValuesParser::new(names()))]
    pub(crate) name: Option<String>,
    /// List the names, one line each.
    #[arg(long)]
    pub(crate) list: bool,
    /// How much of it to run.
    #[arg(long, value_enum, default_value_t = ScaleName::Desk)]
    pub(crate) scale: ScaleName,
    /// Where records, tables and figures go.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    /// A folder whose NAME.toml replaces the experiment built in.
    #[arg(long, value_name = "DIR")]
    pub(crate) experiments: Option<PathBuf>,
    /// A folder of sound files for table-audio [default: speech in $GAMBESON_REFERENCE_DATA].
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Run nothing: table and figure from the records there are.
    #[arg(long)]
    pub(crate) render_only: bool,
    /// Begin no run after so many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) time_limit: Option<Duration>,
    /// The records on stdout, one JSON object a line, instead of the table.
    #[arg(long)]
    pub(crate) json: bool,
}

fn names() -> impl Iterator<Item = &'static str> {
    crate::reproduce::OBJECTS.iter().map(|object| object.name)
}

/// How much of an experiment to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScaleName {
    /// Minutes to an hour on a desk.
    Desk,
    /// As in the paper.
    Paper,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DomainName {
    /// |x|_inf <= 1.
    Cube,
    /// x in {-1, 1}^n.
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
    /// max x'Mx.
    Quadratic,
    /// The inf->1 norm of A.
    InfToOne,
    /// The square of the inf->2 norm of A.
    InfToTwo,
}

impl From<NormName> for Norm {
    fn from(name: NormName) -> Self {
        match name {
            NormName::Quadratic => Norm::Quadratic,
            NormName::InfToOne => Norm::InfToOne,
            NormName::InfToTwo => Norm::InfToTwo,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MethodName {
    /// The best for the matrix at hand.
    #[default]
    Auto,
    /// Algorithm 2, multiplicative weights.
    Mwu,
    /// Low-rank factorisation.
    BurerMonteiro,
}

/// KIND:N:SEED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RandomInstance {
    pub(crate) kind: RandomKind,
    pub(crate) n: usize,
    pub(crate) seed: u64,
}

/// A family of random matrices of appendix E.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) enum RandomKind {
    #[serde(rename = "psd")]
    PositiveSemidefinite,
    #[serde(rename = "qp")]
    QuadraticProgram,
}

impl RandomKind {
    /// As on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::PositiveSemidefinite => "psd",
            Self::QuadraticProgram => "qp",
        }
    }
}

/// Dimensions a random instance may have.
pub(crate) const DIMENSIONS: std::ops::RangeInclusive<usize> = 1..=100_000;

impl std::str::FromStr for RandomInstance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let &[kind, n, seed] = parts.as_slice() else {
            return Err("expected KIND:N:SEED, for example psd:300:1".to_owned());
        };
        let kind = match kind {
            "psd" => RandomKind::PositiveSemidefinite,
            "qp" => RandomKind::QuadraticProgram,
            other => return Err(format!("unknown kind `{other}`: psd or qp")),
        };
        let n = n.parse().map_err(|_| format!("`{n}` is not a dimension"))?;
        if !DIMENSIONS.contains(&n) {
            return Err(format!("dimension {n} is not in {DIMENSIONS:?}"));
        }
        Ok(Self { kind, n, seed: seed.parse().map_err(|_| format!("`{seed}` is not a seed"))? })
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?;
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("{seconds} is not a time"))
}

fn width(text: &str) -> Result<gambeson_lowrank::sdp::mwu::Width, String> {
    use gambeson_lowrank::sdp::mwu::Width;
    match text {
        "theorem" => Ok(Width::Theorem),
        "aggressive" => Ok(Width::Aggressive),
        number => {
            number.parse().map(Width::Fixed).map_err(|_| "expected theorem, aggressive or a number".into())
        }
    }
}
