//! The command line of `gambeson check` for records: what a run was made with.

use super::certify::RuntimeName;
use super::data::SplitName;
use clap::Args;
use gambeson_data::format::audio::FrameParams;
use std::ffi::OsString;
use std::path::PathBuf;

const REPLAY: &str = "Records of a run";

/// What records are drawn again with.
#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// The network or toy that the records are about.
    #[arg(long, requires = "data", help_heading = REPLAY)]
    pub(crate) model: Option<OsString>,
    /// What computes the network [default: what computed the records].
    #[arg(long, value_enum, default_value_t = RuntimeName::Auto, requires = "model", help_heading = REPLAY)]
    pub(crate) runtime: RuntimeName,
    /// The data that they are about.
    #[arg(long, value_name = "NAME|PATH", requires = "model", help_heading = REPLAY)]
    pub(crate) data: Option<OsString>,
    /// Which split, for data sets that have two.
    #[arg(long, value_enum, default_value_t = SplitName::Test, requires = "model", help_heading = REPLAY)]
    pub(crate) split: SplitName,
    /// Audio: length of a frame in ms.
    #[arg(
        long,
        value_name = "MS",
        default_value_t = FrameParams::default().window_ms,
        requires = "model",
        help_heading = REPLAY
    )]
    pub(crate) window_ms: f64,
    /// Audio: time from the start of one frame to the next, in ms.
    #[arg(
        long,
        value_name = "MS",
        default_value_t = FrameParams::default().hop_ms,
        requires = "model",
        help_heading = REPLAY
    )]
    pub(crate) hop_ms: f64,
    /// The projection of the run; its kappa is proven again.
    #[arg(long, value_name = "P.safetensors", requires = "model", help_heading = REPLAY)]
    pub(crate) projection: Option<PathBuf>,
    /// The certificate of the projection [default: P.cert.json].
    #[arg(long, value_name = "FILE", requires = "projection", help_heading = REPLAY)]
    pub(crate) projection_certificate: Option<PathBuf>,
    /// The noise levels of the run.
    #[arg(long, value_name = "FILE.npy", requires = "projection", help_heading = REPLAY)]
    pub(crate) noise_levels: Option<PathBuf>,
    /// As in `certify`.
    #[arg(
        long,
        value_name = "M,...",
        value_delimiter = ',',
        allow_hyphen_values = true,
        requires = "std",
        help_heading = REPLAY
    )]
    pub(crate) mean: Vec<f32>,
    /// As in `certify`.
    #[arg(
        long,
        value_name = "S,...",
        value_delimiter = ',',
        allow_hyphen_values = true,
        requires = "mean",
        help_heading = REPLAY
    )]
    pub(crate) std: Vec<f32>,
    /// Draw this many records again, chosen at random [default: 10].
    #[arg(
        long,
        value_name = "K",
        requires = "model",
        conflicts_with = "all",
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = REPLAY
    )]
    pub(crate) sample: Option<u64>,
    /// Draw all records again.
    #[arg(long, requires = "model", help_heading = REPLAY)]
    pub(crate) all: bool,
    /// Chooses the sample [default: at random, and printed].
    #[arg(long, value_name = "S", requires = "model", conflicts_with = "all", help_heading = REPLAY)]
    pub(crate) sample_seed: Option<u64>,
    /// Certify afresh with a nonce of your own, and compare statistically: the maker of the run could not know these
    /// draws.
    #[arg(long, value_name = "V", requires = "model", help_heading = REPLAY)]
    pub(crate) nonce: Option<u64>,
}
