//! The progress of a run over inputs: how far, how fast, how long still; and what stops it.

use crate::progress::{interrupted, live_line};
use indicatif::ProgressBar;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub(super) struct Live {
    bar: ProgressBar,
    started: Instant,
    deadline: Option<Instant>,
    draws: AtomicU64,
    /// Inputs done in this run, and still to do.
    done: usize,
    left: usize,
}

impl Live {
    pub(super) fn new(inputs: usize, limit: Option<Duration>) -> Self {
        let bar = live_line(Some(inputs as u64), "{spinner} {elapsed} [{bar:30}] {pos}/{len} inputs{msg}");
        let started = Instant::now();
        let deadline = limit.and_then(|limit| started.checked_add(limit));
        Self { bar, started, deadline, draws: AtomicU64::new(0), done: 0, left: inputs }
    }

    /// An input that was there before.
    pub(super) fn skip(&mut self) {
        self.bar.inc(1);
        self.left -= 1;
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
        let left = if self.done == 0 {
            String::new()
        } else {
            let seconds = elapsed / self.done as f64 * self.left as f64;
            format!(", {} left", indicatif::HumanDuration(Duration::from_secs_f64(seconds.min(1e9))))
        };
        self.bar.set_message(format!(", {rate:.0} draws/s{left}"));
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
