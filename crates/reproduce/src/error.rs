//! What can go wrong with an experiment.

use gambeson_learn::train::SpecError;
use gambeson_report::figure::FigureError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why an experiment could not be run or shown. Records made before are kept.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReproduceError {
    /// Reading or writing failed.
    #[error("{}: {reason}", path.display())]
    File {
        /// Which file or folder.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// Another process is adding to the records.
    #[error("{}: another process is adding to it", path.display())]
    Locked {
        /// Their file.
        path: PathBuf,
    },
    /// The folder of experiments is none.
    #[error("{}: is not a folder", path.display())]
    NotAFolder {
        /// What was named.
        path: PathBuf,
    },
    /// There is nothing to draw.
    #[error("{}: no records yet", path.display())]
    NoRecords {
        /// Their file.
        path: PathBuf,
    },
    /// A line that is not a record.
    #[error("{}, line {line}: not a record: {reason}", path.display())]
    NotARecord {
        /// Which file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What the parser said.
        reason: serde_json::Error,
    },
    /// An experiment that is not TOML, or that lacks keys.
    #[error("{file}: {reason}")]
    Syntax {
        /// Its file.
        file: String,
        /// What the parser said.
        reason: String,
    },
    /// An experiment that contradicts itself.
    #[error("{file}: {problem}")]
    Invalid {
        /// Its file.
        file: String,
        /// In which way.
        problem: Invalid,
    },
    /// A folder of sound files was given for an object that reads none.
    #[error("data: {name} does not read sound files")]
    NoSound {
        /// The table or figure.
        name: &'static str,
    },
    /// A record cannot be written as JSON.
    #[error("a record cannot be written: {0}")]
    Encoding(#[from] serde_json::Error),
    /// The figure cannot be drawn.
    #[error(transparent)]
    Figure(#[from] FigureError),
}

/// What is wrong with an experiment, and where in it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", [&place[..], std::slice::from_ref(reason)].concat().join(": "))]
pub struct Invalid {
    /// Keys and labels, from the outside in.
    pub place: Vec<String>,
    /// What is wrong there.
    pub reason: String,
}

impl Invalid {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { place: Vec::new(), reason: reason.into() }
    }

    /// The same, inside `key`.
    pub(crate) fn within(mut self, key: impl Into<String>) -> Self {
        self.place.insert(0, key.into());
        self
    }
}

impl From<SpecError> for Invalid {
    fn from(error: SpecError) -> Self {
        Self::new(error.to_string())
    }
}

/// Returns an [`Invalid`] with this reason unless the condition holds.
macro_rules! require {
    ($holds:expr, $($reason:tt)+) => {
        if !$holds {
            return Err($crate::error::Invalid::new(format!($($reason)+)));
        }
    };
}
pub(crate) use require;

/// Why one run of an experiment failed; others go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The program could not be started, or its output not be read.
    #[error("{command}: {reason}")]
    Start {
        /// What was called.
        command: String,
        /// What the system said.
        reason: io::Error,
    },
    /// The program ended with an error.
    #[error("{command} ended with {status}: {message}")]
    Failed {
        /// What was called.
        command: String,
        /// Its exit code, or the signal that ended it.
        status: String,
        /// What it said.
        message: String,
    },
    /// The program printed something else than a result.
    #[error("{command}: not the JSON expected: {reason}")]
    Output {
        /// What was called.
        command: String,
        /// What the parser said.
        reason: serde_json::Error,
    },
    /// A file that the run needs.
    #[error("{}: {reason}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// The folder of sound files is missing.
    #[error("data: no such folder of sound files: {}", .looked.as_deref().unwrap_or(Path::new(folder)).display())]
    NoData {
        /// Its name.
        folder: String,
        /// Where it was looked for.
        looked: Option<PathBuf>,
    },
}
