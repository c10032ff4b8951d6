//! The command line of `gambeson check` for records: what a run was made with.

use super::shared::ReadingArguments;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// What records are drawn again with.
#[derive(Debug, Args)]
#[command(next_help_heading = "Records of a run")]
pub(crate) struct ReplayArguments {
    /// The network or toy that the records are about.
    #[arg(long, requires = "data")]
    pub(crate) model: Option<OsString>,
    /// The data that they are about.
    #[arg(long, value_name = "NAME|PATH", requires = "model")]
    pub(crate) data: Option<OsString>,
    #[command(flatten)]
    pub(crate) reading: ReadingArguments,
    /// The projection of the run; its kappa is proven again.
    #[arg(long, value_name = "P.safetensors", requires = "model")]
    pub(crate) projection: Option<PathBuf>,
    /// The certificate of the projection [default: P.cert.json].
    #[arg(long, value_name = "FILE", requires = "projection")]
    pub(crate) projection_certificate: Option<PathBuf>,
    /// The noise levels of the run.
    #[arg(long, value_name = "FILE.npy", requires = "projection")]
    pub(crate) noise_levels: Option<PathBuf>,
    /// Draw this many records again, chosen at random [default: as many as fit into a minute, at least 10].
    #[arg(
        long,
        value_name = "K",
        requires = "model",
        conflicts_with = "all",
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    pub(crate) sample: Option<u64>,
    /// Draw all records again.
    #[arg(long, requires = "model")]
    pub(crate) all: bool,
    /// Draw the record of this input again, and no other.
    #[arg(
        long = "input",
        value_name = "I",
        requires = "model",
        conflicts_with_all = ["all", "sample", "sample_seed"]
    )]
    pub(crate) only_input: Option<u64>,
    /// Chooses the order of the sample [default: at random, and printed].
    #[arg(long, value_name = "S", requires = "model", conflicts_with = "all")]
    pub(crate) sample_seed: Option<u64>,
    /// Reject the records unless their plan has this digest, which was published before the run.
    #[arg(long, value_name = "DIGEST", requires = "model")]
    pub(crate) plan: Option<String>,
    /// Certify afresh with a nonce of your own, and compare statistically: the maker of the run could not know these
    /// draws.
    #[arg(long, value_name = "V", requires = "model")]
    pub(crate) nonce: Option<u64>,
}
