//! What several verbs have in common.

use clap::{ArgGroup, Args};
use gambeson::{DataParams, FrameParams, InputSelection, RuntimeChoice, Split};
use std::time::Duration;

/// The values of an option that stand for those of a type of the library, whose default is that of the option.
macro_rules! choices {
    ($name:ident for $of:ty { $($(#[$about:meta])* $here:ident = $there:path),* $(,)? }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
        pub(crate) enum $name {
            $($(#[$about])* $here),*
        }

        impl From<$name> for $of {
            fn from(name: $name) -> Self {
                match name {
                    $($name::$here => $there),*
                }
            }
        }

        impl From<$of> for $name {
            fn from(value: $of) -> Self {
                match value {
                    $($there => Self::$here),*
                }
            }
        }
    };
}
pub(super) use choices;

/// Headings of groups of options that several verbs have.
pub(super) const DATA: &str = "Data";
pub(super) const OUTPUT: &str = "Output";

/// How a network and data are read: for `certify` and `predict`, and for `check`, which draws their records again.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("reading")
        .args(["runtime", "split", "window_ms", "hop_ms", "mean", "std"])
        .multiple(true)
)]
pub(crate) struct ReadingArguments {
    /// What computes the network; with auto, what computed the records that there are.
    #[arg(long, value_enum, default_value_t = RuntimeChoice::default().into())]
    pub(crate) runtime: RuntimeName,
    /// Which split, for data sets that have two.
    #[arg(long, value_enum, default_value_t = DataParams::default().split.into())]
    pub(crate) split: SplitName,
    #[command(flatten)]
    pub(crate) frames: FrameArguments,
    #[command(flatten)]
    pub(crate) normalisation: NormalisationArguments,
}

choices! { RuntimeName for RuntimeChoice {
    /// Our engine if it can, else ONNX Runtime; compared where both can
    Auto = RuntimeChoice::Auto,
    /// Our engine
    Own = RuntimeChoice::Own,
    /// ONNX Runtime
    Onnx = RuntimeChoice::Onnx,
} }

choices! { SplitName for Split {
    /// For training and fitting
    Train = Split::Train,
    /// For testing
    Test = Split::Test,
} }

/// How sound is cut into frames; ignored for images.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct FrameArguments {
    /// Length of an audio frame in ms; 25 ms at 48 kHz is 1200 samples.
    #[arg(long, value_name = "MS", default_value_t = FrameParams::default().window_ms, allow_negative_numbers = true)]
    pub(crate) window_ms: f64,
    /// Time from the start of one audio frame to the next, in ms.
    #[arg(long, value_name = "MS", default_value_t = FrameParams::default().hop_ms, allow_negative_numbers = true)]
    pub(crate) hop_ms: f64,
}

impl From<FrameArguments> for FrameParams {
    fn from(FrameArguments { window_ms, hop_ms }: FrameArguments) -> Self {
        Self { window_ms, hop_ms }
    }
}

/// The normalisation of a network that does not normalise by itself.
#[derive(Debug, Args)]
pub(crate) struct NormalisationArguments {
    /// Subtract this from the noisy input, for networks that do not normalise by themselves: one number, or one per channel.
    #[arg(long, value_name = "M,...", value_delimiter = ',', allow_hyphen_values = true, requires = "std")]
    pub(crate) mean: Vec<f32>,
    /// Then divide by this: one number, or one per channel.
    #[arg(long, value_name = "S,...", value_delimiter = ',', allow_hyphen_values = true, requires = "mean")]
    pub(crate) std: Vec<f32>,
}

/// A range of inputs.
#[derive(Debug, Args)]
pub(crate) struct RangeArguments {
    /// First input, counting from 0.
    #[arg(long, value_name = "I", default_value_t = InputSelection::default().start)]
    pub(crate) start: u64,
    /// Stop before this input [default: the number of inputs].
    #[arg(long, value_name = "I")]
    pub(crate) stop: Option<u64>,
    /// Take every N-th input.
    #[arg(
        long,
        value_name = "N",
        default_value_t = InputSelection::default().every,
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    pub(crate) every: u64,
}

impl RangeArguments {
    /// As the library takes it.
    pub(crate) fn selection(&self) -> InputSelection {
        InputSelection { start: self.start, stop: self.stop, every: self.every, ..InputSelection::default() }
    }
}

/// A whole number of at least 1.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..) => Ok(number),
        _ => Err(format!("`{text}` is not a whole number of at least 1")),
    }
}

/// A size of memory: a number of bytes, or of K, M, G or T.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size: expected a number with K, M, G or T, such as 12G");
    let text = text.trim();
    let (number, unit) = match text.strip_suffix(['b', 'B']).unwrap_or(text) {
        text if text.ends_with(['k', 'K']) => (&text[..text.len() - 1], 1e3),
        text if text.ends_with(['m', 'M']) => (&text[..text.len() - 1], 1e6),
        text if text.ends_with(['g', 'G']) => (&text[..text.len() - 1], 1e9),
        text if text.ends_with(['t', 'T']) => (&text[..text.len() - 1], 1e12),
        text => (text, 1.0),
    };
    let size = number.trim().parse::<f64>().map_err(|_| wrong())? * unit;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked to be in range
    if (1.0..1e18).contains(&size) { Ok(size as u64) } else { Err(wrong()) }
}

/// A time limit.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?;
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("{seconds} is not a time"))
}
