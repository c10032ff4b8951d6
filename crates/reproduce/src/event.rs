//! What an observer of an experiment sees.

use crate::error::RunError;
use std::path::PathBuf;

/// A step of an experiment.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReproduceEvent<'a> {
    /// A run begins.
    Begins {
        /// What it is.
        run: String,
        /// Runs that were done before, in this call.
        done: usize,
        /// Runs that were missing when the call began.
        missing: usize,
    },
    /// A run has a record.
    Recorded {
        /// What it is.
        run: String,
        /// Whether it reached what was asked of it.
        as_asked: bool,
    },
    /// A run failed; the others go on.
    Failed {
        /// What it is.
        run: String,
        /// Why.
        reason: &'a RunError,
    },
    /// A run was not made: the run whose record it needs failed.
    Skipped {
        /// What it is.
        run: String,
    },
    /// The time that networks would take could not be measured.
    NotTimed {
        /// Their data.
        data: &'a str,
        /// Why.
        reason: &'a gambeson::Error,
    },
    /// The last line of a file of records is incomplete: its writer was stopped.
    Torn {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// Whether it was removed, so that the run is made again.
        removed: bool,
    },
    /// Records of another version or machine are left out.
    OtherSetup {
        /// The file.
        path: PathBuf,
        /// How many.
        records: usize,
        /// The setup that is shown.
        setup: String,
    },
}

/// Sees every step.
pub(crate) type Watch<'a> = dyn Fn(&ReproduceEvent<'_>) + 'a;
