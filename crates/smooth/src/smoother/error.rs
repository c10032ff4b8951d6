//! Why an input has no counts.

use crate::noise::CentreError;
use gambeson_checker::{CheckError, StatisticsError};
use thiserror::Error;

/// Why an input has no counts.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SmoothingError<E: std::error::Error + 'static> {
    /// The classifier failed.
    #[error(transparent)]
    Classifier(E),
    /// The error of the coordinates of the input could not be bounded.
    #[error(transparent)]
    Encoding(#[from] CheckError),
    /// There is no room for noise around the input.
    #[error(transparent)]
    Centre(#[from] CentreError),
    /// The checker refuses the limit.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
    /// The classifier, asked one batch after the other, gave answers that cannot be counted.
    #[error(transparent)]
    Session(SessionError),
}

/// Why draws of an input cannot be planned.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputError {
    /// The error of its coordinates could not be bounded.
    #[error(transparent)]
    Encoding(#[from] CheckError),
    /// There is no room for noise around it.
    #[error(transparent)]
    Centre(#[from] CentreError),
    /// The checker refuses the limit for the counts that it goes on from.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
}

impl<E: std::error::Error + 'static> From<InputError> for SmoothingError<E> {
    fn from(error: InputError) -> Self {
        match error {
            InputError::Encoding(error) => Self::Encoding(error),
            InputError::Centre(error) => Self::Centre(error),
            InputError::Statistics(error) => Self::Statistics(error),
        }
    }
}

impl<E: std::error::Error + 'static> From<SessionError> for SmoothingError<E> {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Statistics(error) => Self::Statistics(error),
            other => Self::Session(other),
        }
    }
}

/// Why a session cannot go on. After [`Length`](Self::Length), [`Class`](Self::Class) and [`NoBatch`](Self::NoBatch)
/// it is as it was before.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// There must be one class for each row.
    #[error("{answers} classes were given for a batch of {rows} rows")]
    Length {
        /// Rows of the batch, padding left out.
        rows: usize,
        /// Classes given.
        answers: usize,
    },
    /// A class that does not exist, and is not [`NONE`](crate::classifier::NONE).
    #[error("row {row} of a batch was given class {class}, but there are {classes} classes")]
    Class {
        /// Counting from 0.
        row: usize,
        /// What was answered.
        class: u32,
        /// How many there are.
        classes: usize,
    },
    /// Classes were given, but no batch was asked for.
    #[error("classes were given, but no batch was asked for")]
    NoBatch,
    /// The result was asked for too early.
    #[error("the session is not finished: there are more batches to be classified")]
    Unfinished,
    /// A thread that made noise panicked.
    #[error("a thread that made noise panicked")]
    NoiseLost,
    /// The checker refuses the limit.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
}
