//! The command line of `gambeson check` for records: what a run was made with.

use super::shared::{ReadingArguments, RuntimeName, SplitName};
use clap::Args;
use gambeson_data::format::audio::FrameParams;
use std::ffi::OsString;
use std::path::PathBuf;

/// What records are drawn again with, those of a bundle too.
#[derive(Debug, Args)]
#[command(next_help_heading = "Records of a run, and bundles")]
pub(crate) struct ReplayArguments {
    /// The network or toy that the records are about, unless a bundle has it.
    #[arg(long)]
    pub(crate) model: Option<OsString>,
    /// The data that they are about, unless a bundle has them.
    #[arg(long, value_name = "NAME|PATH")]
    pub(crate) data: Option<OsString>,
    #[command(flatten)]
    pub(crate) reading: ReadingArguments,
    /// The projection of the run, unless a bundle has it; its kappa is proven again.
    #[arg(long, value_name = "P.safetensors")]
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
        conflicts_with = "all",
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    pub(crate) sample: Option<u64>,
    /// Draw all records again.
    #[arg(long)]
    pub(crate) all: bool,
    /// Draw the record of this input again, and no other.
    #[arg(
        long = "input",
        value_name = "I",
        conflicts_with_all = ["all", "sample", "sample_seed"]
    )]
    pub(crate) only_input: Option<u64>,
    /// Chooses the order of the sample [default: at random, and printed].
    #[arg(long, value_name = "S", conflicts_with = "all")]
    pub(crate) sample_seed: Option<u64>,
    /// Reject the records unless their plan has this digest, which was published before the run.
    #[arg(long, value_name = "DIGEST")]
    pub(crate) plan: Option<String>,
    /// Certify afresh with a nonce of your own, and compare statistically: the maker of the run could not know these
    /// draws.
    #[arg(long, value_name = "V")]
    pub(crate) nonce: Option<u64>,
}

impl ReplayArguments {
    /// An option that has no meaning without records, if one is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let ReadingArguments { runtime, split, frames, normalisation } = &self.reading;
        let frames = FrameParams::from(*frames) != FrameParams::default();
        let given = [
            (self.data.is_some(), "--data"),
            (self.projection.is_some(), "--projection"),
            (self.projection_certificate.is_some(), "--projection-certificate"),
            (self.noise_levels.is_some(), "--noise-levels"),
            (self.sample.is_some(), "--sample"),
            (self.all, "--all"),
            (self.only_input.is_some(), "--input"),
            (self.sample_seed.is_some(), "--sample-seed"),
            (self.plan.is_some(), "--plan"),
            (self.nonce.is_some(), "--nonce"),
            (*runtime != RuntimeName::Auto, "--runtime"),
            (*split != SplitName::Test, "--split"),
            (frames, "--window-ms and --hop-ms"),
            (!normalisation.mean.is_empty(), "--mean"),
        ];
        given.into_iter().find(|(given, _)| *given).map(|(_, option)| option)
    }
}
