//! The live line of a fit.

use crate::progress::{interrupted, live_line, show};
use gambeson_lowrank::projection::fit::{FitObserver, FitStep};
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

impl FitObserver for LiveFit {
    fn step(&mut self, step: &FitStep) -> ControlFlow<()> {
        let detail = match step {
            FitStep::Eigen => {
                "principal components".clone_into(&mut self.stage);
                String::new()
            }
            FitStep::Split { split, done, total } => {
                self.stage = format!("r = {split} ({} of {total})", done + 1);
                String::new()
            }
            FitStep::Candidate { kind } => {
                (*kind).clone_into(&mut self.stage);
                String::new()
            }
            FitStep::Solver(progress) => format!(", iteration {}", progress.iteration),
        };
        show(&self.bar, &format!("{}{}{detail}", self.prefix, self.stage));
        if interrupted() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.stopped = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}
