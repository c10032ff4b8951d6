//! The command line of `gambeson quickstart`.

use super::shared::OUTPUT;
use clap::Args;
use std::path::PathBuf;

pub(super) const HELP: &str = "\
On the built-in data, in two to three minutes on two cores: fits a projection and proves its kappa, trains a network by \
Algorithm 1 of the paper and one without a projection for about as long (an epoch takes it five times the time, so it gets a fifth of the epochs, unless --set changes both), certifies test images, attacks them at their certified \
radii, and proves kappa and all radii again from the files.

The folder of --out gets everything: specs, networks, the projection with its certificate, records, figures, and \
report.html. The same command goes on after Ctrl-C. The specs are a place to start from: train your own with `gambeson \
train`. For a tour of bounds on matrices: `gambeson bound --demo`.

Exit codes: 0 done, 1 stopped early or something was not as proven, 2 error.";

/// Folders of the two networks.
pub(crate) const CONTENDERS: [&str; 2] = ["algorithm-1", "baseline"];

#[derive(Debug, Args)]
pub(crate) struct QuickstartArguments {
    /// Folder for everything.
    #[arg(long, value_name = "DIR", default_value = "quickstart", help_heading = OUTPUT)]
    pub(crate) out: PathBuf,
    /// Test images to certify.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = super::shared::at_least_one)]
    pub(crate) images: usize,
    /// Draws counted per image.
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub(crate) n: u64,
    /// Change a key of both specs, such as optimiser.epochs=1; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Print one JSON object instead of text.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}
