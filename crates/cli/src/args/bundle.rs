//! The command line of `gambeson bundle`.

use super::shared::{OUTPUT, ReadingArguments};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

pub(super) const HELP: &str = "\
RUN is the folder of a training run, with records in certified.jsonl beside its network and projection, such as \
quickstart/algorithm-1; or records of `certify`, with --model, --data and --projection as for `certify`. What can be \
examined without drawing is examined first: parts that do not belong together are refused.

The bundle has the records with their plan, the projection with its certificate, the network, index.html (the claim in \
plain words, what it means, what is assumed, how to check it) and manifest.json (the hash of each file, the claim, what was \
left out). The same run gives the same bytes. `gambeson check BUNDLE` checks all of it, offline.

To sign a bundle, sign its manifest, and leave the signature beside it:
  ssh-keygen -Y sign -f KEY -n gambeson DIR/manifest.json
  minisign -S -m DIR/manifest.json
Whoever gets it verifies the signature with the same tool, then runs `gambeson check DIR`.

Examples:
  gambeson bundle quickstart/algorithm-1 --out evidence.zip --with-data
  gambeson bundle run.jsonl --model net.onnx --data cifar10 --out evidence
  gambeson check evidence.zip --all

Exit codes: 0 done, 1 the run is incomplete (the bundle says so), 2 error.";

#[derive(Debug, Args)]
pub(crate) struct BundleArguments {
    /// Folder of a training run; or records of `certify`, shards of one plan.
    #[arg(value_name = "RUN", required = true)]
    pub(crate) run: Vec<PathBuf>,
    /// Write the bundle to this folder, or archive if the name ends with .zip.
    #[arg(long, value_name = "DIR|FILE.zip", help_heading = OUTPUT)]
    pub(crate) out: PathBuf,
    /// Include the data.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) with_data: bool,
    /// Leave the network out, but for its hash.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) without_network: bool,
    /// The network or toy that the records are about [default: that of the folder].
    #[arg(long)]
    pub(crate) model: Option<OsString>,
    /// The data that they are about [default: those in the folder's spec].
    #[arg(long, value_name = "NAME|PATH")]
    pub(crate) data: Option<OsString>,
    #[command(flatten)]
    pub(crate) reading: ReadingArguments,
    /// The projection of the run [default: that of the folder].
    #[arg(long, value_name = "P.safetensors")]
    pub(crate) projection: Option<PathBuf>,
    /// The certificate of the projection [default: P.cert.json].
    #[arg(long, value_name = "FILE", requires = "projection")]
    pub(crate) projection_certificate: Option<PathBuf>,
    /// The noise levels of the run.
    #[arg(long, value_name = "FILE.npy", requires = "projection")]
    pub(crate) noise_levels: Option<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}
