//! The command line of `gambeson attack`.

use super::certify::{INPUTS, RadiusNormName};
use super::output::FigureArguments;
use super::shared::{NormalisationArguments, OUTPUT, RangeArguments, SplitName, choices};
use clap::Args;
use gambeson::{AttackMethod, AttackParams, AttackRadius, BallBasis, DataParams};
use std::ffi::OsString;
use std::path::PathBuf;

pub(super) const HELP: &str = "\
Looks for changes of inputs that a network answers wrongly, within a radius: projected gradient ascent (pgd), one step of \
it in l_inf (fgsm), or random changes of --sparsity cosine coefficients whose largest change of a value is epsilon \
(sparse, which needs no network). With --sigma the smoothed classifier is attacked, by --draws draws of noise held fixed, \
and PREDICT answers before and after; with --projection, noise is in its coordinates.

--certified RUN.jsonl attacks the inputs that a run of `gambeson certify` certified, each at its own certified radius, away \
from its certified class. A true certificate cannot be broken; PREDICT abstains rather than answer at random. Exit code 1 \
if it returns another class for any of them.

--basis dct means balls of cosine coefficients (in l2 the same as balls of values). --figure draws original, perturbed and \
magnified difference; --out writes the perturbed inputs as .npy.

Examples:
  gambeson attack --model net.safetensors --data cifar10 --norm linf --epsilon 0.03 --every 100 --figure adversarial
  gambeson attack --model net.safetensors --data fashion --sigma 0.25 --certified run.jsonl --norm l2";

const MODEL: &str = "Model and data";
const ATTACK: &str = "Attack";
const ANSWERS: &str = "Answers of the smoothed classifier";

#[derive(Debug, Args)]
pub(crate) struct AttackArguments {
    /// A network's file: of gambeson, a state dict, or an ONNX graph of layers that our engine has.
    #[arg(long, value_name = "FILE", required_unless_present = "sparsity", help_heading = MODEL)]
    pub(crate) model: Option<PathBuf>,
    /// Name or path of a data set, as in `gambeson data`.
    #[arg(long, value_name = "NAME|PATH", help_heading = MODEL)]
    pub(crate) data: OsString,
    /// Which split, for data sets that have two.
    #[arg(long, value_enum, default_value_t = DataParams::default().split.into(), help_heading = MODEL)]
    pub(crate) split: SplitName,
    #[command(flatten, next_help_heading = MODEL)]
    pub(crate) normalisation: NormalisationArguments,
    /// The network sees inputs through this projection.
    #[arg(long, value_name = "P.safetensors", help_heading = MODEL)]
    pub(crate) projection: Option<PathBuf>,
    /// The certificate of the projection [default: P.cert.json].
    #[arg(long, value_name = "FILE", requires = "projection", help_heading = MODEL)]
    pub(crate) certificate: Option<PathBuf>,
    /// How to look.
    #[arg(long, value_enum, default_value_t = defaults().method.into(), help_heading = ATTACK)]
    pub(crate) method: MethodName,
    /// The shape of the ball.
    #[arg(long, value_enum, default_value_t = defaults().norm.into(), help_heading = ATTACK)]
    pub(crate) norm: RadiusNormName,
    /// Coordinates of the ball [default: values].
    #[arg(long, value_enum, help_heading = ATTACK)]
    pub(crate) basis: Option<BallBasisName>,
    /// Radius of the ball.
    #[arg(long, value_name = "E", required_unless_present = "certified", conflicts_with = "certified", allow_negative_numbers = true, help_heading = ATTACK)]
    pub(crate) epsilon: Option<f64>,
    /// Attack the inputs of these records at their certified radii.
    #[arg(long, value_name = "RUN.jsonl", requires = "sigma", help_heading = ATTACK)]
    pub(crate) certified: Option<PathBuf>,
    /// Steps of pgd.
    #[arg(long, value_name = "N", default_value_t = defaults().steps, help_heading = ATTACK)]
    pub(crate) steps: usize,
    /// Coefficients that `sparse` changes.
    #[arg(long, value_name = "K", help_heading = ATTACK)]
    pub(crate) sparsity: Option<usize>,
    /// Let values leave [0, 1].
    #[arg(long, help_heading = ATTACK)]
    pub(crate) any_values: bool,
    /// Standard deviation of the noise: attacks the smoothed classifier.
    #[arg(long, value_name = "S", allow_negative_numbers = true, help_heading = ATTACK)]
    pub(crate) sigma: Option<f64>,
    /// Noise samples per gradient.
    #[arg(long, value_name = "M", default_value_t = defaults().draws, requires = "sigma", help_heading = ATTACK)]
    pub(crate) draws: usize,
    /// Seed of everything random.
    #[arg(long, default_value_t = defaults().seed, help_heading = ATTACK)]
    pub(crate) seed: u64,
    /// Draws of PREDICT.
    #[arg(long, value_name = "N", default_value_t = defaults().n, requires = "sigma", help_heading = ANSWERS)]
    pub(crate) n: u64,
    /// Failure probability of PREDICT.
    #[arg(long, value_name = "A", default_value_t = defaults().alpha, allow_negative_numbers = true, requires = "sigma", help_heading = ANSWERS)]
    pub(crate) alpha: f64,
    #[command(flatten, next_help_heading = INPUTS)]
    pub(crate) range: RangeArguments,
    #[command(flatten)]
    pub(crate) figure: FigureArguments,
    /// Pictures in the figure, and in the JSON object if asked for.
    #[arg(long, value_name = "N", help_heading = OUTPUT)]
    pub(crate) pictures: Option<usize>,
    /// Write the perturbed inputs here: inputs x channels x height x width, single precision.
    #[arg(long, value_name = "FILE.npy", help_heading = OUTPUT)]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

/// Of everything but the radius.
fn defaults() -> AttackParams {
    AttackParams::new(AttackRadius::Epsilon(1.0))
}

choices! { MethodName for AttackMethod {
    /// Projected gradient ascent
    Pgd = AttackMethod::Pgd,
    /// The fast gradient sign method
    Fgsm = AttackMethod::Fgsm,
    /// Random changes of few cosine coefficients
    Sparse = AttackMethod::Sparse,
} }

choices! { BallBasisName for BallBasis {
    /// The values of the data: pixels, samples
    Values = BallBasis::Values,
    /// Their cosine coefficients
    Dct = BallBasis::Dct,
} }
