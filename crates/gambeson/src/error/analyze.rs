//! Why logs cannot be analysed. The texts name fields of [`AnalyzeParams`](crate::AnalyzeParams).

use gambeson_smooth::analysis::{AnalysisError, LogError};
use gambeson_smooth::record::ProjectionMismatch;
use std::fmt;
use thiserror::Error as ThisError;

/// Why logs cannot be analysed.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum AnalyzeError {
    /// No log was named.
    #[error("there are no logs to analyze")]
    NoLogs,
    /// All logs were skipped.
    #[error("none of the logs can be read")]
    AllSkipped,
    /// An interrupt came before there was a result.
    #[error("stopped")]
    Stopped,
    /// A log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A log does not answer the question.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// Two parameters contradict each other.
    #[error("{field} cannot be used with {other}")]
    Conflict {
        /// One parameter.
        field: &'static str,
        /// The other.
        other: &'static str,
    },
    /// A parameter means nothing without another.
    #[error("{field} is without meaning where there is no {other}")]
    Alone {
        /// The parameter given.
        field: &'static str,
        /// The parameter missing.
        other: &'static str,
    },
    /// A scale was given for l2 radii.
    #[error("scale is for linf radii, but norm is l2")]
    ScaleOfL2,
    /// The number of labels is not the number of logs.
    #[error("{labels} labels for {logs} logs (shards of one run are one log)")]
    Labels {
        /// Labels given.
        labels: usize,
        /// Logs read.
        logs: usize,
    },
    /// Some l_inf radii are of cosine coefficients, others are not.
    #[error(
        "{cosines} has l_inf radii of cosine coefficients, {other} does not: they cannot be compared; analyze them \
         separately"
    )]
    TwoBases {
        /// A log with radii of cosine coefficients.
        cosines: String,
        /// A log with other radii.
        other: String,
    },
    /// Logs that were to be compared have different inputs.
    #[error("{field}: {difference}")]
    Incomparable {
        /// What was asked for: `envelope` or `paired`.
        field: &'static str,
        /// How they differ.
        difference: Difference,
    },
    /// Only two logs can be paired.
    #[error("paired compares two logs, but there are {logs}")]
    PairOf {
        /// Logs read.
        logs: usize,
    },
    /// The projection that a log was made with is missing.
    #[error("{log}: made with the projection sha256:{sha256}, which is none of those given")]
    OtherProjection {
        /// The log.
        log: String,
        /// Hash of its projection.
        sha256: String,
    },
    /// The projection does not prove what the log claims.
    #[error("{}", unproven(log, projection, reason))]
    Unproven {
        /// The log.
        log: String,
        /// The file of the projection.
        projection: String,
        /// Why not.
        reason: ProjectionMismatch,
    },
    /// A log says that inputs have another number of coordinates than those of the data that it names.
    #[error("{log}: says that inputs have {recorded} coordinates, but those of {data} have {found}")]
    Coordinates {
        /// The log.
        log: String,
        /// Name and hash of the data.
        data: String,
        /// According to the log.
        recorded: u64,
        /// In the data.
        found: u64,
    },
    /// No log was made with this projection.
    #[error("{projection}: no log says that it was made with this projection")]
    UnusedProjection {
        /// The file of the projection.
        projection: String,
    },
}

fn unproven(log: &str, projection: &str, reason: &ProjectionMismatch) -> String {
    match reason {
        ProjectionMismatch::OneLevel | ProjectionMismatch::Levels { .. } => format!("{log}: {reason}"),
        ProjectionMismatch::Bound { field, recorded, proven } => {
            format!(
                "{log}: says {field} is {recorded}, but {projection} and its certificate prove only {proven}"
            )
        }
        ProjectionMismatch::Inputs => {
            format!("{log}: its inputs are not those of {projection}, though it names that file")
        }
        _ => format!("{log}, {projection}: {reason}"),
    }
}

impl AnalyzeError {
    /// The parameter that is wrong, where one is.
    pub(crate) fn field(&self) -> Option<&'static str> {
        match self {
            Self::Conflict { field, .. } | Self::Alone { field, .. } | Self::Incomparable { field, .. } => {
                Some(field)
            }
            Self::ScaleOfL2 | Self::Analysis(AnalysisError::Dimension { .. }) => Some("scale"),
            Self::Labels { .. } => Some("labels"),
            Self::PairOf { .. } => Some("paired"),
            Self::OtherProjection { .. } | Self::UnusedProjection { .. } => Some("projections"),
            Self::Unproven {
                reason: ProjectionMismatch::OneLevel | ProjectionMismatch::Levels { .. },
                ..
            } => Some("noise_levels"),
            Self::Log(LogError::NoSigma { .. }) => Some("sigma"),
            Self::Log(LogError::NoAlpha { .. }) => Some("alpha"),
            Self::Analysis(AnalysisError::NoAlpha { .. }) => Some("log_alpha"),
            _ => None,
        }
    }
}

/// Why the accuracies of two logs cannot be compared. Names are escaped for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Label of one log.
    pub first: String,
    /// Label of the other.
    pub second: String,
    /// In what they differ.
    pub what: DifferentInputs,
}

/// How the inputs of two logs differ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DifferentInputs {
    /// They name different data.
    Data {
        /// Data of the first log.
        first: String,
        /// Data of the second.
        second: String,
    },
    /// One has more images.
    Count {
        /// Images of the first log.
        first: usize,
        /// Images of the second.
        second: usize,
    },
    /// Their images have different numbers.
    Images,
    /// They contradict each other about an image.
    Label {
        /// Number of the image.
        index: u64,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first: a, second: b, what } = self;
        match what {
            DifferentInputs::Data { first, second } => {
                write!(f, "{a} and {b} are of different data ({first} and {second})")
            }
            DifferentInputs::Count { first, second } => {
                write!(f, "{a} and {b} have different numbers of images ({first} and {second})")
            }
            DifferentInputs::Images => write!(f, "{a} and {b} are of different images"),
            DifferentInputs::Label { index } => {
                write!(f, "{a} and {b} have different labels for image {index}")
            }
        }
    }
}
