//! The command line of `gambeson project`.

use super::{AudioArguments, data::SplitName, seconds};
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use serde::Deserialize;
use std::path::PathBuf;
use std::time::Duration;

pub(super) const HELP: &str = "\
kappa is proven: no change of the coordinates by at most eps each moves the code by more than kappa * eps. The error is \
the part of the energy (of the squares of all values, centred or not) that the projection loses. The limit is the square \
root of the rank PCA needs for that error: no orthogonal projection of the channel with that error has a smaller kappa; \
of all channels together, none that projects each channel by itself with the errors given.

Exit codes: 0 done, 1 stopped by Ctrl-C or --time-limit (the best there was is printed and kept), or, of inspect, the \
certificate rejected; 2 error.";

#[derive(Debug, Subcommand)]
pub(crate) enum ProjectCommand {
    /// Fit a projection to data, prove its kappa, write it with its certificate.
    Fit(FitArguments),
    /// Say what a projection file is, and what its certificate proves.
    Inspect(InspectArguments),
    /// The frontier: kappa against error for all methods, with the limit; a table and a figure.
    Sweep(SweepArguments),
    /// Error of principal components and of coordinates, for every number of them, channel by channel.
    Spectrum(SpectrumArguments),
}

/// The data and the coordinates.
#[derive(Debug, Args)]
pub(crate) struct FitDataArguments {
    /// Name or path of a data set, as in `gambeson data`.
    #[arg(long, value_name = "NAME|PATH")]
    pub(crate) data: String,
    /// Which part, of sets that have two.
    #[arg(long, value_enum, default_value_t = SplitName::Train)]
    pub(crate) split: SplitName,
    /// The coordinates to work in.
    #[arg(long, value_enum, default_value_t = BasisName::Dct)]
    pub(crate) basis: BasisName,
    /// Take off the mean first; errors are then relative to the energy around it.
    #[arg(long)]
    pub(crate) centre: bool,
    /// Use only the low G x G block of frequencies (audio: the first G), for networks on small grids.
    #[arg(long, value_name = "G", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) grid: Option<u32>,
    #[command(flatten)]
    pub(crate) audio: AudioArguments,
}

/// The sparse part of sparse-pca and algorithm3.
#[derive(Debug, Args)]
pub(crate) struct SparseArguments {
    /// sparse-pca, algorithm3: price of a unit of code, in units of the energy of the last coordinate that `axis`
    /// would take; larger means sparser [default: 0.3].
    #[arg(long, value_name = "A", allow_negative_numbers = true)]
    pub(crate) alpha: Option<f64>,
    /// sparse-pca, algorithm3: most rounds of sparse PCA [default: 60].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: Option<u32>,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("target").args(["rank", "error", "kappa"]).required(true).multiple(true))]
pub(crate) struct FitArguments {
    #[command(flatten)]
    pub(crate) data: FitDataArguments,
    /// How to look for it.
    #[arg(long, value_enum, default_value_t = FitMethodName::Robust)]
    pub(crate) method: FitMethodName,
    /// Dimensions, in each channel. algorithm3 takes it together with --error.
    #[arg(long, value_name = "R", conflicts_with = "kappa")]
    pub(crate) rank: Option<usize>,
    /// The part of the energy that may be lost, in each channel.
    #[arg(long, value_name = "E", conflicts_with = "kappa", allow_negative_numbers = true)]
    pub(crate) error: Option<f64>,
    /// The largest proven kappa allowed, in each channel.
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub(crate) kappa: Option<f64>,
    /// algorithm3: the values of r (principal components) to try [default: a ladder from 0 to the rank].
    #[arg(long, value_name = "R,R,...", value_delimiter = ',')]
    pub(crate) splits: Vec<usize>,
    #[command(flatten)]
    pub(crate) sparse: SparseArguments,
    /// How tightly kappa squared is proven: upper/sdp_lower - 1.
    #[arg(long, default_value_t = 1e-4, allow_negative_numbers = true)]
    pub(crate) gap: f64,
    /// Take the best there is after so many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) time_limit: Option<Duration>,
    /// Write the projection here, and its certificate beside it.
    #[arg(long, value_name = "P.safetensors")]
    pub(crate) out: Option<PathBuf>,
    /// Where the certificate goes [default: the name of --out with the ending .cert.json].
    #[arg(long, value_name = "FILE", requires = "out")]
    pub(crate) certificate: Option<PathBuf>,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    /// The projection.
    pub(crate) projection: PathBuf,
    /// Its certificate [default: the same name with the ending .cert.json, where there is one].
    pub(crate) certificate: Option<PathBuf>,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SweepArguments {
    #[command(flatten)]
    pub(crate) data: FitDataArguments,
    /// The channel to sweep, counting from 0.
    #[arg(long, default_value_t = 0)]
    pub(crate) channel: usize,
    /// Errors to ask for.
    #[arg(long, value_name = "E,E,...", value_delimiter = ',', default_values_t = [0.005, 0.01, 0.02, 0.0345, 0.05, 0.1])]
    pub(crate) errors: Vec<f64>,
    /// Methods to compare.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = FitMethodName::ALL)]
    pub(crate) methods: Vec<FitMethodName>,
    #[command(flatten)]
    pub(crate) sparse: SparseArguments,
    /// How tightly kappa squared is proven.
    #[arg(long, default_value_t = 1e-3, allow_negative_numbers = true)]
    pub(crate) gap: f64,
    /// Draw the frontier to NAME.svg and NAME.png.
    #[arg(long, value_name = "NAME")]
    pub(crate) figure: Option<PathBuf>,
    /// One JSON object a point on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SpectrumArguments {
    #[command(flatten)]
    pub(crate) data: FitDataArguments,
    /// One JSON object on stdout, with the errors of every rank from 0.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BasisName {
    /// Cosine transform: of rows and columns for images, of the frame for sound.
    Dct,
    /// The values as they are.
    Pixel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FitMethodName {
    /// Coordinates of largest energy.
    Axis,
    /// Principal components.
    Pca,
    /// Sparse components.
    SparsePca,
    /// Algorithm 3 of the paper: principal and sparse components.
    Algorithm3,
    /// The smallest proven kappa: coordinates, tilted ones, groups, principal components, whichever is best.
    Robust,
}

impl FitMethodName {
    pub(crate) const ALL: [Self; 5] =
        [Self::Axis, Self::Pca, Self::SparsePca, Self::Algorithm3, Self::Robust];

    /// As on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Axis => "axis",
            Self::Pca => "pca",
            Self::SparsePca => "sparse-pca",
            Self::Algorithm3 => "algorithm3",
            Self::Robust => "robust",
        }
    }
}

impl std::fmt::Display for FitMethodName {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name())
    }
}
