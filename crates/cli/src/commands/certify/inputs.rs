//! One input after the other, for `certify` and `predict` alike: what was recorded before, what stops the run, what is
//! kept.

use super::live::{Draws, Live};
use super::setup::Setup;
use crate::args::SmoothArguments;
use crate::ended::Ended;
use crate::progress::{catch_interrupts, say};
use anyhow::Context;
use gambeson_data::error::DataError;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Instant;

/// How a run over inputs ended.
pub(super) struct Finished<R> {
    /// By index, those of earlier runs among them.
    pub(super) records: BTreeMap<u64, R>,
    pub(super) resumed: usize,
    /// Draws of this run.
    pub(super) draws: u64,
    pub(super) seconds: f64,
    /// Whether Ctrl-C or the time limit cut it short.
    pub(super) stopped: bool,
}

impl<R> Finished<R> {
    /// Forward passes per second.
    pub(super) fn rate(&self) -> f64 {
        self.draws as f64 / self.seconds.max(1e-9)
    }

    pub(super) fn outcome(&self) -> Ended {
        if self.stopped {
            say("stopped early; with --out, the same command continues where it stopped");
            return Ended::FellShort;
        }
        Ended::AsAsked
    }
}

/// Makes a record of every input asked for that has none `there`, and keeps it before the next begins.
///
/// `make` gets the index and a function to call after each batch with its number of draws; it returns None if that ended
/// the run. `keep` also gets the seconds it took.
pub(super) fn each_input<F, R>(
    setup: &Setup,
    arguments: &SmoothArguments,
    draws: Draws,
    mut there: BTreeMap<u64, R>,
    mut make: impl FnMut(usize, &(dyn Fn(u64) -> ControlFlow<()> + Sync)) -> anyhow::Result<Option<F>>,
    mut keep: impl FnMut(usize, F, f64) -> anyhow::Result<R>,
) -> anyhow::Result<Finished<R>> {
    let asked = setup.indices.iter().map(|&index| index as u64);
    let mut records: BTreeMap<u64, R> = asked.filter_map(|index| there.remove_entry(&index)).collect();
    let resumed = records.len();
    let left = setup.indices.len() - resumed;
    let (started, mut live) = (Instant::now(), Live::new(left, resumed, draws, arguments.time_limit));
    let mut stopped = false;
    for &index in &setup.indices {
        if records.contains_key(&(index as u64)) {
            continue;
        }
        let begun = Instant::now();
        let found = make(index, &|draws| live.draws(draws)).with_context(|| format!("input {index}"))?;
        let Some(found) = found else {
            stopped = true;
            break;
        };
        records.insert(index as u64, keep(index, found, begun.elapsed().as_secs_f64())?);
        live.done();
    }
    let draws = live.finish();
    Ok(Finished { records, resumed, draws, seconds: started.elapsed().as_secs_f64(), stopped })
}

/// Work that Ctrl-C may end while data are still being read.
pub(super) fn interruptible(work: impl FnOnce() -> anyhow::Result<Ended>) -> anyhow::Result<Ended> {
    catch_interrupts("stopping; finished inputs are kept (press Ctrl-C again to quit)");
    match work() {
        Err(error) if matches!(error.downcast_ref(), Some(DataError::Stopped)) => {
            say("stopped before the first draw");
            Ok(Ended::FellShort)
        }
        other => other,
    }
}
