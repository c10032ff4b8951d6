//! The live line of a fit.

use crate::progress::{live_line, show};
use gambeson::{Context, Event};
use gambeson_lowrank::projection::fit::FitProgress;
use indicatif::ProgressBar;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// A live line for fits.
#[derive(Clone)]
pub(super) struct LiveFit {
    bar: ProgressBar,
    words: Arc<Mutex<Words>>,
}

/// What stands on it.
#[derive(Default)]
struct Words {
    prefix: String,
    stage: String,
}

impl LiveFit {
    pub(super) fn new() -> Self {
        Self { bar: live_line(None, "{spinner} {elapsed} {msg}"), words: Arc::default() }
    }

    pub(super) fn set_prefix(&self, prefix: String) {
        *self.words.lock().unwrap_or_else(PoisonError::into_inner) = Words { prefix, stage: String::new() };
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// A context whose fits are seen on the line.
    pub(super) fn observed(&self, context: &Context) -> Context {
        let live = self.clone();
        context.clone().with_observer(move |event| {
            if let Event::Fit(progress) = event {
                live.update(progress);
            }
            ControlFlow::Continue(())
        })
    }

    pub(super) fn update(&self, progress: &FitProgress) {
        if let FitProgress::Channel { channel, total } = progress {
            self.set_prefix(format!("channel {} of {total}: ", channel + 1));
        }
        let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let mut detail = String::new();
        match progress {
            FitProgress::Channel { .. } => {}
            FitProgress::Eigen => "principal components".clone_into(&mut words.stage),
            FitProgress::Split { split, done, total } => {
                words.stage = format!("r = {split} ({} of {total})", done + 1);
            }
            FitProgress::Candidate { kind } => (*kind).clone_into(&mut words.stage),
            FitProgress::Solver(progress) => detail = format!(", iteration {}", progress.iteration),
        }
        show(&self.bar, &format!("{}{}{detail}", words.prefix, words.stage));
    }
}
