//! What an observer sees.

use crate::analyze_error::AnalyzeError;
use gambeson_data::progress::LoadProgress;
use gambeson_lowrank::projection::fit::FitProgress;
use gambeson_lowrank::sdp::progress::Progress;
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
    /// Something worth saying that ends nothing.
    Note(&'a Note),
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
            Self::LogSkipped { reason } => write!(f, "skipped: {reason}"),
            Self::LineCutOff { path, line } => write!(f, "{}, line {line}: cut off, ignored", path.display()),
        }
    }
}
