//! The command lines of `gambeson certify` and `gambeson predict`.

use super::{data::SplitName, seconds};
use clap::{Args, ValueEnum};
use gambeson_data::format::audio::FrameParams;
use gambeson_smooth::sequential::RadiusNorm;
use std::path::PathBuf;
use std::time::Duration;

pub(super) const CERTIFY_HELP: &str = "\
MODEL is an ONNX file, run by ONNX Runtime (`pip install onnxruntime`, or ORT_DYLIB_PATH), or an exact toy of two \
classes: toy:half-space,offset=B (1 where the mean of the values is above B), with cosine=K the K-th cosine \
coefficient of the first channel instead, with normal=FILE.npy any other vector; toy:ball,radius=R,centre=C (1 where \
|x - C| <= R).

Inputs are as the data have them (pixels in [0, 1], sound in [-1, 1)). Noise is added first and nothing is clipped; \
--mean and --std come after it, so give them only for a network that does not normalise by itself, and --sigma in \
units of the inputs.

With --projection noise is added to the r coordinates z = U'u alone; its certificate proves what a radius in z means \
for the input, in the coordinates of its basis (dct or pixel).

The records in --out hold the counts; `gambeson analyze` makes tables of them, also under another alpha. The same \
command again goes on where it was stopped. Draws depend on seed and index alone: shards, threads and batches do not \
change them. The classic table of --tsv has its radii cut off, not rounded.

Exit codes: 0 done, 1 stopped by Ctrl-C or --time-limit (what is finished is kept), 2 error.";

/// What is smoothed, and on what.
#[derive(Debug, Args)]
pub(crate) struct SmoothArguments {
    /// FILE.onnx or toy:...; see below.
    #[arg(long)]
    pub(crate) model: String,
    /// Name or path of a data set, as in `gambeson data`.
    #[arg(long, value_name = "NAME|PATH")]
    pub(crate) data: String,
    /// Which part, of sets that have two.
    #[arg(long, value_enum, default_value_t = SplitName::Test)]
    pub(crate) split: SplitName,
    /// Audio: length of a frame in ms.
    #[arg(long, value_name = "MS", default_value_t = FrameParams::default().window_ms, allow_negative_numbers = true)]
    pub(crate) window_ms: f64,
    /// Audio: from the start of a frame to the start of the next, in ms.
    #[arg(long, value_name = "MS", default_value_t = FrameParams::default().hop_ms, allow_negative_numbers = true)]
    pub(crate) hop_ms: f64,
    /// Add noise in the coordinates of this projection.
    #[arg(long, value_name = "P.safetensors")]
    pub(crate) projection: Option<PathBuf>,
    /// Its certificate [default: P.cert.json].
    #[arg(long, value_name = "P.cert.json", requires = "projection")]
    pub(crate) certificate: Option<PathBuf>,
    /// Standard deviation of the noise.
    #[arg(long, allow_negative_numbers = true, required_unless_present = "noise_levels")]
    pub(crate) sigma: Option<f64>,
    /// A level of noise for each coordinate of the projection instead, channel after channel.
    #[arg(long, value_name = "FILE.npy", requires = "projection", conflicts_with = "sigma")]
    pub(crate) noise_levels: Option<PathBuf>,
    /// Subtracted from every channel, after the noise: one number, or one a channel.
    #[arg(long, value_name = "M,..", value_delimiter = ',', allow_hyphen_values = true, requires = "std")]
    pub(crate) mean: Vec<f32>,
    /// Every channel is divided by, after that.
    #[arg(long, value_name = "S,..", value_delimiter = ',', allow_hyphen_values = true, requires = "mean")]
    pub(crate) std: Vec<f32>,
    /// Failure probability of one answer.
    #[arg(long, default_value_t = 0.001, allow_negative_numbers = true)]
    pub(crate) alpha: f64,
    /// Seed of the noise.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// First input, counting from 0.
    #[arg(long, default_value_t = 0)]
    pub(crate) start: usize,
    /// The input to stop before [default: all].
    #[arg(long)]
    pub(crate) stop: Option<usize>,
    /// Take every so many-th input.
    #[arg(long, default_value_t = 1, value_parser = at_least_one)]
    pub(crate) every: usize,
    /// Take the I-th of K equal parts of these inputs, I from 1 to K.
    #[arg(long, value_name = "I/K", default_value = "1/1")]
    pub(crate) shard: Shard,
    /// Draws given to the model at once.
    #[arg(long, default_value_t = 64, value_parser = at_least_one)]
    pub(crate) batch: usize,
    /// Stop after so many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) time_limit: Option<Duration>,
    /// Append a record a line to this file; inputs that are there already are skipped.
    #[arg(long, value_name = "RUN.jsonl")]
    pub(crate) out: Option<PathBuf>,
    /// Write the classic table, tab-separated.
    #[arg(long, value_name = "FILE")]
    pub(crate) tsv: Option<PathBuf>,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CertifyArguments {
    #[command(flatten)]
    pub(crate) smooth: SmoothArguments,
    /// Draws that choose the class.
    #[arg(long, default_value_t = 100)]
    pub(crate) n0: u64,
    /// Draws that are counted; with --sequential at most.
    #[arg(long, default_value_t = 100_000)]
    pub(crate) n: u64,
    /// Stop drawing when the answer is settled; alpha is kept.
    #[arg(long)]
    pub(crate) sequential: bool,
    /// Settled when these radii are met or will hardly be [default: 0, sigma, 2 sigma and 3 sigma, if there is no
    /// tolerance].
    #[arg(
        long,
        value_name = "R,..",
        value_delimiter = ',',
        allow_hyphen_values = true,
        requires = "sequential"
    )]
    pub(crate) target: Vec<f64>,
    /// Settled when the radius is within this of the best that n draws could give. The radius of inputs that never
    /// fail grows with the number of draws, so a small one saves little.
    #[arg(long, value_name = "T", allow_negative_numbers = true, requires = "sequential")]
    pub(crate) tolerance: Option<f64>,
    /// The norm of --target and --tolerance.
    #[arg(long, value_enum, default_value_t = RadiusNormName::L2, requires = "sequential")]
    pub(crate) norm: RadiusNormName,
}

#[derive(Debug, Args)]
pub(crate) struct PredictArguments {
    #[command(flatten)]
    pub(crate) smooth: SmoothArguments,
    /// Draws an input.
    #[arg(long, default_value_t = 1000)]
    pub(crate) n: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RadiusNormName {
    /// Euclidean.
    L2,
    /// Largest entry.
    Linf,
}

impl From<RadiusNormName> for RadiusNorm {
    fn from(name: RadiusNormName) -> Self {
        match name {
            RadiusNormName::L2 => RadiusNorm::L2,
            RadiusNormName::Linf => RadiusNorm::Linf,
        }
    }
}

/// Which of several equal parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    /// From 0.
    pub(crate) index: usize,
    pub(crate) count: usize,
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(i, k)| Some((i.parse().ok()?, k.parse().ok()?)));
        match parts {
            Some((index @ 1.., count)) if index <= count => Ok(Self { index: index - 1, count }),
            _ => Err("expected I/K with I from 1 to K, for example 2/4".to_owned()),
        }
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..) => Ok(number),
        _ => Err(format!("`{text}` is not a whole number from 1 on")),
    }
}
