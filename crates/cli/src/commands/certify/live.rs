//! The progress of a run over inputs: how far, how fast, how much longer.

use crate::progress::{duration, live_line, note, say};
use gambeson::{Context, Event};
use gambeson_smooth::runs::RunProgress;
use indicatif::ProgressBar;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

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

/// A live line for a run over inputs; it begins with the first of them.
#[derive(Clone)]
pub(crate) struct LiveInputs {
    draws: Draws,
    /// Whether a word is said on how long it will take.
    estimates: bool,
    live: Arc<Mutex<Option<Live>>>,
}

impl LiveInputs {
    pub(crate) fn new(draws: Draws) -> Self {
        Self { draws, estimates: true, live: Arc::default() }
    }

    /// Without a word on how long it will take.
    pub(crate) fn quiet(draws: Draws) -> Self {
        Self { estimates: false, ..Self::new(draws) }
    }

    /// A context whose runs are seen on the line.
    pub(crate) fn observed(&self, context: &Context) -> Context {
        let this = self.clone();
        context.clone().with_observer(move |event| {
            if let Event::Inputs { inputs, progress } = event {
                let mut live = this.live.lock().unwrap_or_else(PoisonError::into_inner);
                live.get_or_insert_with(|| Live::new(*inputs, this.draws, this.estimates)).observe(progress);
            }
            note(event);
            ControlFlow::Continue(())
        })
    }

    /// Clears the line.
    pub(crate) fn finish(&self) {
        if let Some(live) = &*self.live.lock().unwrap_or_else(PoisonError::into_inner) {
            live.bar.finish_and_clear();
        }
    }
}

struct Live {
    bar: ProgressBar,
    /// When drawing began.
    started: Instant,
    per_input: Draws,
    draws: u64,
    /// Whether the estimate is still to be printed.
    to_estimate: bool,
    /// Inputs done in this run, and still to do.
    done: usize,
    left: usize,
}

impl Live {
    fn new(inputs: usize, per_input: Draws, to_estimate: bool) -> Self {
        let template = "{spinner} {elapsed} [{bar:20}] {pos} of {len} inputs{msg}";
        let bar = live_line(Some(inputs as u64), template);
        Self { bar, started: Instant::now(), per_input, draws: 0, to_estimate, done: 0, left: inputs }
    }

    fn observe(&mut self, progress: &RunProgress) {
        match progress {
            RunProgress::CutOff { .. } => {}
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
    }

    fn input(&mut self) {
        self.bar.inc(1);
        self.left -= 1;
    }

    fn show(&mut self) {
        let elapsed = self.started.elapsed().as_secs_f64();
        let rate = self.draws as f64 / elapsed.max(1e-9);
        let inputs = self.done + self.left;
        let whole = self.per_input.count as f64 * inputs as f64;
        if elapsed >= WARM && self.to_estimate {
            self.to_estimate = false;
            // A short run is over before anybody has read how long it takes.
            if whole / rate >= SHORT {
                let most = if self.per_input.at_most { "at most" } else { "about" };
                let (time, each) = (duration(whole / rate), self.per_input.count);
                say(&format!(
                    "{most} {time} for {inputs} inputs of {each} draws each, at {rate:.0} draws per second"
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
}
