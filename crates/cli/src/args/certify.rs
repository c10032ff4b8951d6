//! The command lines of `gambeson certify` and `gambeson predict`.

use super::shared::choices;
use super::shared::{OUTPUT, RangeArguments, ReadingArguments, at_least_one, seconds};
use clap::{ArgGroup, Args};
use gambeson::{
    BallNorm, CertifyParams, DrawParams, Goal, LimitRule, PredictParams, Quantum, RadiusNorm, Seed, Shard,
};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What both verbs say about models, inputs and records.
macro_rules! help {
    ($projection:literal, $table:literal) => {
        concat!(
            "\
MODEL is a network or a toy. Networks are files of gambeson, state dicts of CIFAR ResNets as PyTorch saves them (.th, \
.pth, .safetensors), and ONNX graphs. Our own engine computes all of these, except graphs with operators that it lacks: \
these need ONNX Runtime (`pip install onnxruntime`, or set ORT_DYLIB_PATH). --runtime chooses; a run that is continued \
keeps the runtime it began with. Toys have two classes: toy:half-space,offset=B answers 1 if the mean of the values is above B; with cosine=K it uses the K-th \
cosine coefficient of the first channel instead of the mean, with normal=FILE.npy the product with any vector. \
toy:ball,radius=R,centre=C answers 1 if |x - C| <= R.

Inputs have the values of the data: pixels in [0, 1], sound in [-1, 1). Noise is added first, in these units, and \
nothing is clipped; --mean and --std apply after it, and only to networks that do not normalise by themselves.

With --projection, noise is added only to the r coordinates z = U'u",
            $projection,
            ".

The records in --out hold the counts; `gambeson analyze` makes tables from them, also for another alpha. Running the \
same command again continues where it stopped. Draws depend only on the seed and the index of the input, not on shards, \
threads, batches or the machine: `gambeson check RUN.jsonl --model ... --data ...` draws them again and compares. Noise is \
exactly Gaussian, rounded to a fixed grid; what is assumed is that ChaCha8's words are random and the seed was not chosen \
to suit network and data.",
            $table,
            "

Exit codes: 0 done, 1 stopped by Ctrl-C or --time-limit (finished inputs are kept), 2 error."
        )
    };
}

pub(super) const CERTIFY_HELP: &str = help!(
    "; the certificate proves what a radius in z means for the input, in the coordinates of the projection (dct or pixel)",
    " Radii in the table of --tsv are cut off, not rounded."
);
pub(super) const PREDICT_HELP: &str = help!("", "");

const MODEL: &str = "Model and data";
const SMOOTHING: &str = "Smoothing";
const SAMPLING: &str = "Sampling";
pub(super) const INPUTS: &str = "Which inputs";

/// What is smoothed, and on what.
#[derive(Debug, Args)]
pub(crate) struct SmoothArguments {
    /// A network's file, or toy:...; see below.
    #[arg(long, help_heading = MODEL)]
    pub(crate) model: OsString,
    /// Name or path of a data set, as in `gambeson data`.
    #[arg(long, value_name = "NAME|PATH", help_heading = MODEL)]
    pub(crate) data: OsString,
    #[command(flatten, next_help_heading = MODEL)]
    pub(crate) reading: ReadingArguments,
    /// Add noise in the coordinates of this projection.
    #[arg(long, value_name = "P.safetensors", help_heading = SMOOTHING)]
    pub(crate) projection: Option<PathBuf>,
    /// The certificate of the projection [default: P.cert.json].
    #[arg(long, value_name = "FILE", requires = "projection", help_heading = SMOOTHING)]
    pub(crate) certificate: Option<PathBuf>,
    /// Standard deviation of the noise.
    #[arg(long, value_name = "S", allow_negative_numbers = true, help_heading = SMOOTHING)]
    pub(crate) sigma: Option<f64>,
    /// Instead of --sigma: one noise level per coordinate of the projection, channel by channel.
    #[arg(long, value_name = "FILE.npy", requires = "projection", help_heading = SMOOTHING)]
    pub(crate) noise_levels: Option<PathBuf>,
    /// Failure probability of each answer.
    #[arg(long, value_name = "A", default_value_t = draws().alpha, allow_negative_numbers = true, help_heading = SAMPLING)]
    pub(crate) alpha: f64,
    /// Seed of the noise [default: hashed from network, projection, data, sigma, grid, numbers of draws and
    /// --nonce].
    #[arg(long, conflicts_with = "nonce", help_heading = SAMPLING)]
    pub(crate) seed: Option<u64>,
    /// Goes into the default seed. Leave it alone unless a verifier asked for a number: showing the best of M tries
    /// multiplies the failure probability by M.
    #[arg(long, value_name = "V", default_value_t = nonce(), help_heading = SAMPLING)]
    pub(crate) nonce: u64,
    /// Noisy inputs are rounded to multiples of h = quantum * 2^E, part of the smoothed classifier; the quantum is 1/255
    /// for bytes, 1/32768 for 16-bit sound, else 1 [default: such that sigma/h is in [128, 256)].
    #[arg(long, value_name = "E", allow_negative_numbers = true, help_heading = SMOOTHING)]
    pub(crate) grid_exponent: Option<i32>,
    /// Another quantum than that of the data: to ask a classifier that was certified on bytes about real numbers, as
    /// perturbed images are.
    #[arg(long, value_name = "Q", value_enum, help_heading = SMOOTHING)]
    pub(crate) grid_quantum: Option<QuantumName>,
    #[command(flatten, next_help_heading = INPUTS)]
    pub(crate) range: RangeArguments,
    /// Take part I of K of these inputs, I from 1 to K.
    #[arg(long, value_name = "I/K", default_value = "1/1", value_parser = shard, help_heading = INPUTS)]
    pub(crate) shard: Shard,
    /// Draws per call of the model.
    #[arg(long, value_name = "N", default_value_t = draws().batch, value_parser = at_least_one, help_heading = SAMPLING)]
    pub(crate) batch: usize,
    /// Stop after this many seconds.
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = seconds,
        allow_negative_numbers = true,
        help_heading = SAMPLING
    )]
    pub(crate) time_limit: Option<Duration>,
    /// Append one record per input to this file; inputs already in it are skipped.
    #[arg(long, value_name = "RUN.jsonl", help_heading = OUTPUT)]
    pub(crate) out: Option<PathBuf>,
    /// Write the table of Cohen et al., tab-separated. An existing file is overwritten only with --force.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) tsv: Option<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("noise").args(["sigma", "noise_levels"]).required(true),
    override_usage = "gambeson certify [OPTIONS] --model <MODEL> --data <NAME|PATH> --sigma <S>"
)]
pub(crate) struct CertifyArguments {
    #[command(flatten)]
    pub(crate) smooth: SmoothArguments,
    /// Draw nothing: print the digest of the plan, and write the head of the records to --out. Published before the run,
    /// the digest shows that the run was not chosen afterwards (`check --plan`).
    #[arg(long, conflicts_with = "tsv", help_heading = OUTPUT)]
    pub(crate) plan_only: bool,
    /// Draws that select the class.
    #[arg(long, value_name = "N", default_value_t = certification().n0, help_heading = SAMPLING)]
    pub(crate) n0: u64,
    /// Draws that are counted; with --sequential, at most.
    #[arg(long, value_name = "N", default_value_t = certification().n, help_heading = SAMPLING)]
    pub(crate) n: u64,
    /// Confidence limits on class probabilities [default: chosen; one-sided with --sequential].
    #[arg(long, value_enum, help_heading = SAMPLING)]
    pub(crate) limits: Option<LimitRuleName>,
    /// Stop drawing when the answer is settled, at the same alpha.
    #[arg(long, help_heading = SAMPLING)]
    pub(crate) sequential: bool,
    /// Stop once each of these radii is certified or out of reach [default: 0, sigma, 2 sigma and 3 sigma, unless
    /// there is a tolerance].
    #[arg(
        long,
        value_name = "R,...",
        value_delimiter = ',',
        allow_hyphen_values = true,
        requires = "sequential",
        help_heading = SAMPLING
    )]
    pub(crate) target: Vec<f64>,
    /// Stop once the radius is within T of the best that n draws could give. If all draws agree, the radius keeps
    /// growing with their number, so a small T saves little.
    #[arg(long, value_name = "T", allow_negative_numbers = true, requires = "sequential", help_heading = SAMPLING)]
    pub(crate) tolerance: Option<f64>,
    /// The norm of --target and --tolerance.
    #[arg(long, value_enum, default_value_t = Goal::default().norm.into(), requires = "sequential", help_heading = SAMPLING)]
    pub(crate) norm: RadiusNormName,
    /// Go on from the records of an earlier --sequential run with a smaller --n, and write the new ones to --out.
    #[arg(long, value_name = "RUN.jsonl", requires_all = ["sequential", "out"], help_heading = SAMPLING)]
    pub(crate) extend: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("noise").args(["sigma", "noise_levels", "clean"]).required(true),
    override_usage = "gambeson predict [OPTIONS] --model <MODEL> --data <NAME|PATH> --sigma <S>"
)]
pub(crate) struct PredictArguments {
    #[command(flatten)]
    pub(crate) smooth: SmoothArguments,
    /// Draws per input.
    #[arg(long, value_name = "N", default_value_t = PredictParams::new(1.0).n, help_heading = SAMPLING)]
    pub(crate) n: u64,
    /// Ask the network itself, once per input and without noise.
    #[arg(long, conflicts_with_all = ["out", "tsv", "n", "alpha", "seed", "nonce", "grid_exponent", "grid_quantum"], help_heading = SMOOTHING)]
    pub(crate) clean: bool,
}

/// Of everything but the noise.
fn certification() -> CertifyParams {
    CertifyParams::new(1.0)
}

fn draws() -> DrawParams {
    certification().draws
}

fn nonce() -> u64 {
    match draws().seed {
        Seed::Derived { nonce } => nonce,
        Seed::Given(_) => 0, // none is given
    }
}

choices! { RadiusNormName for RadiusNorm {
    /// Euclidean
    L2 = RadiusNorm::L2,
    /// Largest absolute entry
    Linf = RadiusNorm::Linf,
} }

impl From<RadiusNormName> for BallNorm {
    fn from(name: RadiusNormName) -> Self {
        match name {
            RadiusNormName::L2 => Self::L2,
            RadiusNormName::Linf => Self::Linf,
        }
    }
}

impl From<BallNorm> for RadiusNormName {
    fn from(norm: BallNorm) -> Self {
        match norm {
            BallNorm::L2 => Self::L2,
            BallNorm::Linf => Self::Linf,
        }
    }
}

choices! { QuantumName for Quantum {
    /// Any numbers.
    #[value(name = "1")]
    One = Quantum::One,
    /// Bytes.
    #[value(name = "1/255")]
    Byte = Quantum::Byte,
    /// 16-bit samples.
    #[value(name = "1/32768")]
    Sample = Quantum::Sample,
} }

/// `I/K`, counted from 1.
fn shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(i, k)| Some((i.parse().ok()?, k.parse().ok()?)));
    match parts {
        Some((index @ 1.., count)) if index <= count => Ok(Shard { index: index - 1, count }),
        _ => Err("expected I/K with I from 1 to K, for example 2/4".to_owned()),
    }
}

choices! { LimitRuleName for LimitRule {
    /// A lower limit for the class
    OneSided = LimitRule::OneSided,
    /// One-sided, or a lower limit for the class and upper limits for all others at half of alpha each, by the selection
    /// draws of each input
    Chosen = LimitRule::Chosen,
    /// Chosen, with the limits randomised by a number from the seed: larger radii at the same alpha
    Randomised = LimitRule::Randomised,
} }
