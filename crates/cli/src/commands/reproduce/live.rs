//! What is shown while runs are made.

use crate::hints::hint;
use crate::progress::{live_line, say, show};
use gambeson_reproduce::ReproduceEvent;
use indicatif::ProgressBar;
use std::cell::OnceCell;

/// A line that counts runs, and messages above it.
#[derive(Default)]
pub(super) struct LiveRuns {
    bar: OnceCell<ProgressBar>,
}

impl LiveRuns {
    pub(super) fn see(&self, event: &ReproduceEvent<'_>) {
        match event {
            ReproduceEvent::Begins { run, done, missing } => {
                let template = "{spinner} {elapsed} {pos} of {len} runs done, now {msg}";
                let bar = self.bar.get_or_init(|| live_line(Some(*missing as u64), template));
                bar.set_position(*done as u64);
                show(bar, run);
            }
            ReproduceEvent::Recorded { run, as_asked: false } => {
                say(&format!("{run}: fell short of what was asked"));
            }
            ReproduceEvent::Failed { run, reason } => {
                let hint = hint(*reason).map_or_else(String::new, |hint| format!("; {hint}"));
                say(&format!("{run}: failed: {reason}{hint}"));
            }
            ReproduceEvent::Skipped { run } => {
                say(&format!("{run}: not made: it needs the record of a run that failed"));
            }
            ReproduceEvent::NotTimed { data, reason } => {
                let hint = hint(*reason).map_or_else(String::new, |hint| format!("; {hint}"));
                say(&format!("networks for {data} are not timed: {reason}{hint}"));
            }
            ReproduceEvent::Torn { path, line, removed: true } => {
                say(&format!("{}, line {line}: cut off and removed; that run is made again", path.display()));
            }
            ReproduceEvent::Torn { path, line, removed: false } => {
                say(&format!("{}, line {line}: cut off, ignored", path.display()));
            }
            ReproduceEvent::OtherSetup { path, records, setup } => {
                say(&format!("{}: {records} records are not of {setup} and are ignored", path.display()));
            }
            _ => {}
        }
    }

    pub(super) fn finish(&self) {
        self.bar.get().into_iter().for_each(ProgressBar::finish_and_clear);
    }
}
