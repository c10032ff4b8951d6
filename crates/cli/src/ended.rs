//! How a command ended that did not fail.

use std::process::ExitCode;

/// Becomes the exit code; an error is 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Done and as asked: 0.
    AsAsked,
    /// Ran, but fell short (a certificate rejected, a gap not reached, stopped early): 1.
    FellShort,
}

impl From<Ended> for ExitCode {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::AsAsked => ExitCode::SUCCESS,
            Ended::FellShort => ExitCode::from(1),
        }
    }
}
