//! The progress of a run over inputs: how far, how fast, how much longer; and what stops it.

use crate::progress::{duration, interrupted, live_line, say};
use indicatif::ProgressBar;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Seconds of drawing after which the rate is known well enough to say how long all of it will take.
const WARM: f64 = 0.3;

/// Seconds of a run that needs no estimate.
const SHORT: f64 = 3.0;

/// How many draws an input takes.
#[derive(Clone, Copy)]
pub(super) struct Draws {
    pub(super) count: u64,
    /// Whether it may take fewer.
    pub(super) at_most: bool,
}

pub(super) struct Live {
    bar: ProgressBar,
    started: Instant,
    deadline: Option<Instant>,
    per_input: Draws,
    draws: AtomicU64,
    estimated: AtomicBool,
    /// Inputs done in this run, and still to do.
    done: usize,
    left: usize,
}

impl Live {
    /// For `inputs` still to do, after `skipped` that were recorded before.
    pub(super) fn new(inputs: usize, skipped: usize, per_input: Draws, limit: Option<Duration>) -> Self {
        let template = "{spinner} {elapsed} [{bar:20}] {pos} of {len} inputs{msg}";
        let bar = live_line(Some((inputs + skipped) as u64), template);
        bar.set_position(skipped as u64);
        let started = Instant::now();
        let deadline = limit.and_then(|limit| started.checked_add(limit));
        let (draws, estimated) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { bar, started, deadline, per_input, draws, estimated, done: 0, left: inputs }
    }

    /// An input is finished.
    pub(super) fn done(&mut self) {
        self.bar.inc(1);
        self.left -= 1;
        self.done += 1;
    }

    /// After a batch, from any thread.
    pub(super) fn draws(&self, count: u64) -> ControlFlow<()> {
        let draws = self.draws.fetch_add(count, Ordering::Relaxed) + count;
        let elapsed = self.started.elapsed().as_secs_f64();
        let rate = draws as f64 / elapsed.max(1e-9);
        let whole = self.per_input.count as f64 * (self.done + self.left) as f64;
        // A short run is over before anybody has read how long it takes.
        let short = whole / rate < SHORT;
        if elapsed >= WARM && !self.estimated.swap(true, Ordering::Relaxed) && !short {
            let most = if self.per_input.at_most { "at most " } else { "about " };
            say(&format!(
                "{most}{} for {} inputs of {} draws each, at {rate:.0} draws per second",
                duration(whole / rate),
                self.done + self.left,
                self.per_input.count
            ));
        }
        let left = if self.done == 0 {
            (whole / rate - elapsed).max(0.0)
        } else {
            elapsed / self.done as f64 * self.left as f64
        };
        self.bar.set_message(format!(", {rate:.0} draws/s, {} left", duration(left)));
        if interrupted() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Clears the line; the draws made.
    pub(super) fn finish(&self) -> u64 {
        self.bar.finish_and_clear();
        self.draws.load(Ordering::Relaxed)
    }
}
