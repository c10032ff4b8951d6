//! The live line of a fit.

use crate::progress::{interrupted, live_line, show};
use gambeson_lowrank::observe::Observer;
use gambeson_lowrank::projection::fit::FitProgress;
use indicatif::ProgressBar;
use std::ops::ControlFlow;
use std::time::Instant;

/// A live line for a fit; Ctrl-C and the time limit stop it.
pub(super) struct LiveFit {
    bar: ProgressBar,
    prefix: String,
    stage: String,
    deadline: Option<Instant>,
    /// Whether anything stopped it.
    pub(super) stopped: bool,
}

impl LiveFit {
    pub(super) fn new(deadline: Option<Instant>) -> Self {
        let bar = live_line(None, "{spinner} {elapsed} {msg}");
        Self { bar, prefix: String::new(), stage: String::new(), deadline, stopped: false }
    }

    pub(super) fn set_prefix(&mut self, prefix: String) {
        self.prefix = prefix;
        self.stage.clear();
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer<FitProgress> for LiveFit {
    fn observe(&mut self, progress: &FitProgress) -> ControlFlow<()> {
        let detail = match progress {
            FitProgress::Channel { channel, total } => {
                self.set_prefix(format!("channel {} of {total}: ", channel + 1));
                String::new()
            }
            FitProgress::Eigen => {
                "principal components".clone_into(&mut self.stage);
                String::new()
            }
            FitProgress::Split { split, done, total } => {
                self.stage = format!("r = {split} ({} of {total})", done + 1);
                String::new()
            }
            FitProgress::Candidate { kind } => {
                (*kind).clone_into(&mut self.stage);
                String::new()
            }
            FitProgress::Solver(progress) => format!(", iteration {}", progress.iteration),
        };
        show(&self.bar, &format!("{}{}{detail}", self.prefix, self.stage));
        if interrupted() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.stopped = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}
