//! What `certify` and `predict` say about how a run over inputs ended.

use crate::Outcome;
use crate::progress::{catch_interrupts, say};
use gambeson_data::error::DataError;
use gambeson_smooth::runs::Finished;

pub(super) fn outcome<R>(finished: &Finished<R>) -> Outcome {
    if finished.stopped {
        say("stopped early: the same command goes on where it was, if it has --out");
        return Outcome::FellShort;
    }
    Outcome::Success
}

/// Work that Ctrl-C may end while data are still being read.
pub(super) fn interruptible(work: impl FnOnce() -> anyhow::Result<Outcome>) -> anyhow::Result<Outcome> {
    catch_interrupts("stopping; finished inputs are kept (press again to quit)");
    match work() {
        Err(error) if matches!(error.downcast_ref(), Some(DataError::Stopped)) => {
            say("stopped; nothing was drawn");
            Ok(Outcome::FellShort)
        }
        other => other,
    }
}
