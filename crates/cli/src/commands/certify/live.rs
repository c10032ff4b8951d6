//! The progress of a run over inputs: how far, how fast, how long still; and what stops it.

use crate::progress::{interrupted, live_line};
use gambeson_lowrank::observe::Observer;
use gambeson_smooth::runs::RunProgress;
use indicatif::ProgressBar;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

pub(super) struct Live {
    bar: ProgressBar,
    limit: Option<Duration>,
    /// When drawing began.
    started: Instant,
    draws: u64,
    /// Inputs done in this run, and still to do.
    done: usize,
    left: usize,
}

impl Live {
    pub(super) fn new(inputs: usize, limit: Option<Duration>) -> Self {
        let bar = live_line(Some(inputs as u64), "{spinner} {elapsed} [{bar:30}] {pos}/{len} inputs{msg}");
        Self { bar, limit, started: Instant::now(), draws: 0, done: 0, left: inputs }
    }

    fn input(&mut self) {
        self.bar.inc(1);
        self.left -= 1;
    }

    fn show(&self) {
        let elapsed = self.started.elapsed().as_secs_f64();
        let rate = self.draws as f64 / elapsed.max(1e-9);
        let left = if self.done == 0 {
            String::new()
        } else {
            let seconds = elapsed / self.done as f64 * self.left as f64;
            format!(", {} left", indicatif::HumanDuration(Duration::from_secs_f64(seconds.min(1e9))))
        };
        self.bar.set_message(format!(", {rate:.0} draws/s{left}"));
    }

    /// Clears the line.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer<RunProgress> for Live {
    fn observe(&mut self, progress: &RunProgress) -> ControlFlow<()> {
        match progress {
            RunProgress::Resumed { .. } => {
                self.input();
                self.started = Instant::now();
            }
            RunProgress::Drawn(drawn) => {
                self.draws += drawn.draws;
                self.show();
            }
            RunProgress::Recorded { .. } => {
                self.input();
                self.done += 1;
            }
        }
        let late = self.limit.is_some_and(|limit| self.started.elapsed() >= limit);
        if interrupted() || (late && self.draws > 0) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
