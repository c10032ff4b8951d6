//! The command line of `gambeson project`.

use super::data::AudioArguments;
use super::output::FigureArguments;
use super::shared::{DATA, OUTPUT, SplitName, choices, seconds};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, Subcommand};
use gambeson::{
    Basis, DataParams, EnergyParams, FitMethodKind, FitParams, SparseParams, SweepParams, Target,
};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub(super) const HELP: &str = "\
kappa is proven: changing each coordinate by at most eps moves the code by at most kappa * eps. The error is the \
fraction of the energy (the sum of squares of all values, centred or not) that the projection loses. The limit is the \
square root of the rank PCA needs for that error: no orthogonal projection of a channel with that error has a smaller \
kappa. For all channels together, no projection that treats each channel separately, with these errors, has a smaller \
kappa.

Exit codes: 0 done; 1 stopped by Ctrl-C or --time-limit (the best result so far is printed and kept), or inspect \
rejected the certificate; 2 error.";

const SWEEP_HELP: &str = "\
Rows are printed as they are found, the largest error first. The default takes about a minute on the built-in data \
(--data fashion); --full asks for smaller errors too, which takes several times longer.";

const FIT_USAGE: &str = "\
gambeson project fit [OPTIONS] --data <NAME|PATH> --error <E>
       gambeson project fit [OPTIONS] --data <NAME|PATH> --rank <R>
       gambeson project fit [OPTIONS] --data <NAME|PATH> --kappa <K>";

const FIT_HELP: &str = "\
Give one of --rank, --error and --kappa; algorithm3 also takes --rank and --error together.";

const TARGET: &str = "Target";
const SEARCH: &str = "Search";

#[derive(Debug, Subcommand)]
pub(crate) enum ProjectCommand {
    /// Fit a projection to data, prove its kappa, and write it with its certificate.
    #[command(override_usage = FIT_USAGE, after_help = FIT_HELP)]
    Fit(FitArguments),
    /// Describe a projection file and what its certificate proves.
    Inspect(InspectArguments),
    /// Compare methods: kappa against error, with the limit.
    #[command(after_help = SWEEP_HELP)]
    Sweep(SweepArguments),
    /// Show the error of principal components and of coordinates, by rank and channel.
    Spectrum(SpectrumArguments),
}

/// The data and the coordinates.
#[derive(Debug, Args)]
#[command(next_help_heading = DATA)]
pub(crate) struct FitDataArguments {
    /// Name or path of a data set, as in `gambeson data`.
    #[arg(long, value_name = "NAME|PATH")]
    pub(crate) data: OsString,
    /// Which split, for data sets that have two.
    #[arg(long, value_enum, default_value_t = DataParams::train().split.into())]
    pub(crate) split: SplitName,
    /// The coordinates to work in.
    #[arg(long, value_enum, default_value_t = EnergyParams::default().basis.into())]
    pub(crate) basis: BasisName,
    /// Subtract the mean first; errors are then relative to the energy around the mean.
    #[arg(long)]
    pub(crate) centre: bool,
    /// Use only the lowest G x G frequencies (audio: the first G), for networks on small grids.
    #[arg(long, value_name = "G", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) grid: Option<u32>,
    #[command(flatten)]
    pub(crate) audio: AudioArguments,
}

/// The sparse part of sparse-pca and algorithm3.
#[derive(Debug, Args)]
#[command(next_help_heading = SEARCH)]
pub(crate) struct SparseArguments {
    #[arg(long, help = alpha_help(), value_name = "A", allow_negative_numbers = true)]
    pub(crate) alpha: Option<f64>,
    #[arg(long, help = rounds_help(), value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: Option<u32>,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("target").args(["rank", "error", "kappa"]).required(true).multiple(true))]
pub(crate) struct FitArguments {
    #[command(flatten)]
    pub(crate) data: FitDataArguments,
    /// The method.
    #[arg(long, value_parser = methods(), default_value = defaults().method.name(), help_heading = SEARCH)]
    pub(crate) method: FitMethodKind,
    /// Rank of each channel.
    #[arg(long, value_name = "R", conflicts_with = "kappa", help_heading = TARGET)]
    pub(crate) rank: Option<usize>,
    /// Fraction of the energy that each channel may lose.
    #[arg(long, value_name = "E", conflicts_with = "kappa", allow_negative_numbers = true, help_heading = TARGET)]
    pub(crate) error: Option<f64>,
    /// Largest proven kappa allowed in each channel.
    #[arg(long, value_name = "K", allow_negative_numbers = true, help_heading = TARGET)]
    pub(crate) kappa: Option<f64>,
    /// algorithm3: numbers r of principal components to try [default: a range from 0 to the rank].
    #[arg(long, value_name = "R,...", value_delimiter = ',', help_heading = SEARCH)]
    pub(crate) splits: Vec<usize>,
    #[command(flatten)]
    pub(crate) sparse: SparseArguments,
    /// How tightly kappa squared is proven: upper/sdp_lower - 1.
    #[arg(long, default_value_t = defaults().gap, allow_negative_numbers = true, help_heading = SEARCH)]
    pub(crate) gap: f64,
    /// Stop after this many seconds with the best result so far.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true, help_heading = SEARCH)]
    pub(crate) time_limit: Option<Duration>,
    /// Write the projection to this file, and its certificate beside it.
    #[arg(long, value_name = "P.safetensors", help_heading = OUTPUT)]
    pub(crate) out: Option<PathBuf>,
    /// Write the certificate to this file [default: P.cert.json].
    #[arg(long, value_name = "FILE", requires = "out", help_heading = OUTPUT)]
    pub(crate) certificate: Option<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    /// The projection.
    pub(crate) projection: PathBuf,
    /// Its certificate [default: P.cert.json, if it exists].
    pub(crate) certificate: Option<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SweepArguments {
    #[command(flatten)]
    pub(crate) data: FitDataArguments,
    /// The channel, counting from 0.
    #[arg(long, default_value_t = SweepParams::default().channel, help_heading = DATA)]
    pub(crate) channel: usize,
    #[arg(long, help = errors_help(), value_name = "E,...", value_delimiter = ',', help_heading = SEARCH)]
    pub(crate) errors: Option<Vec<f64>>,
    /// Methods to compare [default: all].
    #[arg(long, value_name = "M,...", value_parser = methods(), value_delimiter = ',', help_heading = SEARCH)]
    pub(crate) methods: Option<Vec<FitMethodKind>>,
    #[arg(long, help = full_help(), conflicts_with = "errors", help_heading = SEARCH)]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) sparse: SparseArguments,
    /// How tightly kappa squared is proven: upper/sdp_lower - 1.
    #[arg(long, default_value_t = SweepParams::default().gap, allow_negative_numbers = true, help_heading = SEARCH)]
    pub(crate) gap: f64,
    #[command(flatten)]
    pub(crate) figure: FigureArguments,
    /// Print one JSON object per point instead of the table.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SpectrumArguments {
    #[command(flatten)]
    pub(crate) data: FitDataArguments,
    #[command(flatten)]
    pub(crate) figure: FigureArguments,
    /// Print one JSON object, with the errors of every rank from 0, instead of the table.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

fn alpha_help() -> String {
    let SparseParams { alpha, .. } = SparseParams::default();
    format!(
        "sparse-pca, algorithm3: sparsity penalty, relative to the energy of the last coordinate that `axis` would \
         take; larger is sparser [default: {alpha}]"
    )
}

fn rounds_help() -> String {
    let SparseParams { max_iterations, .. } = SparseParams::default();
    format!("sparse-pca, algorithm3: maximum number of rounds [default: {max_iterations}]")
}

fn errors_help() -> String {
    format!("Errors to ask for [default: {}]", joined(&SweepParams::default().errors))
}

fn full_help() -> String {
    format!("Ask for errors {}", joined(&SweepParams::full().errors))
}

fn joined(errors: &[f64]) -> String {
    errors.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
}

/// Of everything but the target.
fn defaults() -> FitParams {
    FitParams::new(Target::Rank(1))
}

choices! { BasisName for Basis {
    /// Cosine transform, in two dimensions for images
    Dct = Basis::Dct,
    /// The values themselves
    Pixel = Basis::Pixel,
} }

/// The names of methods of fitting.
fn methods() -> impl TypedValueParser<Value = FitMethodKind> {
    let all = FitMethodKind::ALL.map(|method| PossibleValue::new(method.name()).help(method.about()));
    PossibleValuesParser::new(all).try_map(|name| FitMethodKind::from_name(&name).ok_or("unknown"))
}
