//! What an observer sees.

use crate::error::analyze::AnalyzeError;
use crate::progress::{AttackProgress, SweepProgress};
use gambeson_data::progress::LoadProgress;
use gambeson_learn::train::TrainProgress;
use gambeson_lowrank::projection::fit::FitProgress;
use gambeson_lowrank::sdp::progress::Progress;
use gambeson_smooth::runs::RunProgress;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// A step of some work, or something worth saying.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Data are read, fetched or added up.
    Load(&'a LoadProgress),
    /// A projection is looked for.
    Fit(&'a FitProgress),
    /// A solver looks for a bound.
    Solve(&'a Progress),
    /// Inputs are certified or predicted.
    Inputs {
        /// How many are asked for.
        inputs: usize,
        /// What happened.
        progress: &'a RunProgress,
    },
    /// Inputs were classified without noise.
    Classify {
        /// How many are asked for.
        inputs: usize,
        /// How many more are done.
        classified: usize,
    },
    /// Records are drawn again.
    Replay {
        /// How many are to be drawn.
        records: usize,
        /// What happened.
        progress: ReplayProgress,
    },
    /// Methods of fitting are compared.
    Sweep(&'a SweepProgress),
    /// A network is trained.
    Train(&'a TrainProgress),
    /// Inputs are attacked.
    Attack(&'a AttackProgress),
    /// Something worth saying that ends nothing.
    Note(&'a Note),
}

/// A step of [`check_records`](crate::check_records()).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayProgress {
    /// Draws were made.
    Drawn {
        /// How many more.
        draws: u64,
    },
    /// A record is done.
    Checked,
}

/// Something worth saying, as text for people.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Note {
    /// The classifier has fewer classes than the data.
    FewerClasses {
        /// What is smoothed.
        model: String,
        /// Its classes.
        classes: usize,
        /// Those of the data.
        in_data: usize,
    },
    /// Our engine lacks something, so ONNX Runtime computes the network.
    ByOnnxRuntime {
        /// Its file.
        network: String,
        /// What our engine lacks.
        missing: String,
    },
    /// Our engine computes a graph that ONNX Runtime cannot load for comparison.
    NotCompared {
        /// Why not.
        reason: String,
    },
    /// The graph takes batches of one size only.
    FixedBatch {
        /// Its file.
        network: String,
        /// Their size.
        rows: usize,
    },
    /// A log was left out.
    LogSkipped {
        /// Why.
        reason: Arc<AnalyzeError>,
    },
    /// The last line of a log was cut off by a kill, and ignored.
    LineCutOff {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FewerClasses { model, classes, in_data } => {
                write!(
                    f,
                    "{model} has {classes} classes, but the data have {in_data}: it never answers the others"
                )
            }
            Self::ByOnnxRuntime { network, missing } => {
                write!(f, "{network}: run by ONNX Runtime, since our engine does not have {missing}")
            }
            Self::NotCompared { reason } => {
                write!(f, "run by our engine without the usual comparison: {reason}")
            }
            Self::FixedBatch { network, rows } => {
                write!(f, "{network}: the graph takes batches of {rows} only, which is slow")
            }
            Self::LogSkipped { reason } => write!(f, "skipped: {reason}"),
            Self::LineCutOff { path, line } => write!(f, "{}, line {line}: cut off, ignored", path.display()),
        }
    }
}
