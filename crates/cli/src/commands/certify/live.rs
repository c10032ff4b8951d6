//! The progress of a run over inputs: how far, how fast, how much longer; and what stops it.

use crate::progress::{duration, interrupted, live_line, say};
use gambeson_lowrank::observe::Observer;
use gambeson_smooth::runs::RunProgress;
use indicatif::ProgressBar;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Seconds of drawing after which the rate is known well enough to say how long all of it will take.
const WARM: f64 = 0.3;

/// Seconds of a run that needs no estimate.
const SHORT: f64 = 3.0;

/// How many draws an input takes.
#[derive(Clone, Copy)]
pub(crate) struct Draws {
    pub(crate) count: u64,
    /// Whether it may take fewer.
    pub(crate) at_most: bool,
}

pub(crate) struct Live {
    bar: ProgressBar,
    limit: Option<Duration>,
    /// When drawing began.
    started: Instant,
    per_input: Draws,
    draws: u64,
    /// Whether the estimate was printed.
    estimated: bool,
    /// Inputs done in this run, and still to do.
    done: usize,
    left: usize,
}

impl Live {
    pub(crate) fn new(inputs: usize, per_input: Draws, limit: Option<Duration>) -> Self {
        let template = "{spinner} {elapsed} [{bar:20}] {pos} of {len} inputs{msg}";
        let bar = live_line(Some(inputs as u64), template);
        let started = Instant::now();
        Self { bar, limit, started, per_input, draws: 0, estimated: false, done: 0, left: inputs }
    }

    /// The same without a word on how long it will take.
    pub(crate) fn quiet(inputs: usize, per_input: Draws) -> Self {
        Self { estimated: true, ..Self::new(inputs, per_input, None) }
    }

    fn input(&mut self) {
        self.bar.inc(1);
        self.left -= 1;
    }

    fn show(&mut self) {
        let elapsed = self.started.elapsed().as_secs_f64();
        let rate = self.draws as f64 / elapsed.max(1e-9);
        let whole = self.per_input.count as f64 * (self.done + self.left) as f64;
        if elapsed >= WARM && !self.estimated {
            self.estimated = true;
            // A short run is over before anybody has read how long it takes.
            if whole / rate >= SHORT {
                let most = if self.per_input.at_most { "at most " } else { "about " };
                say(&format!(
                    "{most}{} for {} inputs of {} draws each, at {rate:.0} draws per second",
                    duration(whole / rate),
                    self.done + self.left,
                    self.per_input.count
                ));
            }
        }
        let left = if self.done == 0 {
            (whole / rate - elapsed).max(0.0)
        } else {
            elapsed / self.done as f64 * self.left as f64
        };
        self.bar.set_message(format!(", {rate:.0} draws/s, {} left", duration(left)));
    }

    /// Clears the line.
    pub(crate) fn finish(&self) {
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
