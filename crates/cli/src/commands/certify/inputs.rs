//! How a run over inputs ended, for `certify` and `predict` alike.

use crate::ended::Ended;
use crate::progress::{catch_interrupts, say};
use gambeson_data::error::DataError;
use gambeson_smooth::runs::Finished;

pub(super) fn ended<R>(finished: &Finished<R>) -> Ended {
    if finished.stopped {
        say("stopped early; with --out, the same command continues where it stopped");
        return Ended::FellShort;
    }
    Ended::AsAsked
}

/// Work that Ctrl-C may end while data are still being read.
pub(crate) fn interruptible(work: impl FnOnce() -> anyhow::Result<Ended>) -> anyhow::Result<Ended> {
    catch_interrupts("stopping; finished inputs are kept (press Ctrl-C again to quit)");
    match work() {
        Err(error) if matches!(error.downcast_ref(), Some(DataError::Stopped)) => {
            say("stopped before the first draw");
            Ok(Ended::FellShort)
        }
        other => other,
    }
}
