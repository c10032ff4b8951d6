//! Why no page can be made of runs. The texts name fields of [`ReportParams`](crate::ReportParams).

use gambeson_smooth::analysis::{AnalysisError, LogError};
use std::path::PathBuf;
use thiserror::Error as ThisError;

/// Why no page can be made of runs.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum ReportError {
    /// No run was named.
    #[error("there are no runs to report on")]
    NoRuns,
    /// A run that was named does not exist.
    #[error("{}: no such file or folder", path.display())]
    Missing {
        /// As it was named.
        path: PathBuf,
    },
    /// A folder cannot be listed, or a pattern fits nothing.
    #[error(transparent)]
    Find(#[from] LogError),
    /// Nothing of what was named could be read.
    #[error("nothing to report on: {}", problems.join("; "))]
    Nothing {
        /// Why, file by file.
        problems: Vec<String>,
    },
    /// The number of labels is not the number of runs.
    #[error("{labels} labels for {runs} runs")]
    Labels {
        /// Labels given.
        labels: usize,
        /// Runs found.
        runs: usize,
    },
    /// The statistics of a run.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// The page stays too large without pictures and with rounded radii.
    #[error("the page would have {bytes} bytes, more than most_bytes = {most}: report on fewer runs")]
    TooLarge {
        /// Of the smallest page.
        bytes: usize,
        /// Allowed.
        most: usize,
    },
    /// The data of the page cannot be written as JSON.
    #[error("the page cannot be written: {reason}")]
    Encoding {
        /// What the writer said.
        reason: serde_json::Error,
    },
    /// The file cannot be written.
    #[error("{}: {reason}", path.display())]
    Write {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: std::io::Error,
    },
    /// An interrupt came before there was a result.
    #[error("stopped")]
    Stopped,
}

impl ReportError {
    /// The parameter that is wrong, where one is.
    pub(crate) fn field(&self) -> Option<&'static str> {
        match self {
            Self::Labels { .. } => Some("labels"),
            Self::TooLarge { .. } => Some("most_bytes"),
            Self::Write { .. } => Some("out"),
            _ => None,
        }
    }
}
