//! The live line of training, and a row per epoch.

use crate::progress::{above, duration, interrupted, live_line, say, show};
use gambeson::{Context, Event};
use gambeson_learn::train::TrainProgress;
use gambeson_learn::train::run::Metrics;
use gambeson_learn::train::setup::TrainSetup;
use gambeson_lowrank::observe::Observer;
use indicatif::ProgressBar;
use std::io::Write;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// How much older steps count for the figures on the line.
const SMOOTHED: f64 = 0.98;

pub(crate) struct LiveTraining {
    bar: ProgressBar,
    started: Instant,
    batch: usize,
    per_epoch: usize,
    /// Whether rows are printed.
    rows: bool,
    /// Where this call began.
    first: Option<usize>,
    loss: f64,
    accuracy: f64,
}

impl LiveTraining {
    pub(crate) fn new(setup: &TrainSetup, rows: bool) -> Self {
        let batch = setup.spec.optimiser.batch;
        let per_epoch = (setup.train.len() / batch).max(1);
        let steps = per_epoch * setup.spec.optimiser.epochs;
        let bar = live_line(Some(steps as u64), "{spinner} {elapsed} [{bar:12}] {msg}");
        let (loss, accuracy) = (f64::NAN, f64::NAN);
        Self { bar, started: Instant::now(), batch, per_epoch, rows, first: None, loss, accuracy }
    }

    /// Trains in a context that is seen on the line.
    pub(crate) fn observed<T>(self, context: &Context, work: impl FnOnce(&Context) -> T) -> T {
        let bar = self.bar.clone();
        let live = Mutex::new(self);
        let trained = work(&context.clone().with_observer(move |event| match event {
            Event::Train(step) => live.lock().unwrap_or_else(PoisonError::into_inner).observe(step),
            _ => ControlFlow::Continue(()),
        }));
        bar.finish_and_clear();
        trained
    }

    fn step(&mut self, step: usize, steps: usize, loss: f64, accuracy: f64) {
        let first = *self.first.get_or_insert(step - 1);
        let mix =
            |old: f64, new: f64| if old.is_nan() { new } else { SMOOTHED * old + (1.0 - SMOOTHED) * new };
        (self.loss, self.accuracy) = (mix(self.loss, loss), mix(self.accuracy, accuracy));
        let rate = (step - first) as f64 / self.started.elapsed().as_secs_f64();
        self.bar.set_position(step as u64);
        let message = format!(
            "epoch {}  loss {:.3}  right {:.1} %  {:.0} img/s  {} left",
            step.div_ceil(self.per_epoch),
            self.loss,
            100.0 * self.accuracy,
            rate * self.batch as f64,
            duration((steps - step) as f64 / rate.max(1e-9)),
        );
        show(&self.bar, &message);
    }
}

/// A row of the table of epochs.
fn row(metrics: &Metrics) -> String {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    format!(
        "epoch {:>4}  loss {:>7.4}  right {:>7}  test {:>7}  rate {:.4}  {:>7.0} s",
        metrics.epoch,
        metrics.loss,
        percent(metrics.accuracy),
        metrics.test_accuracy.map_or("-".to_owned(), percent),
        metrics.learning_rate,
        metrics.spent.seconds,
    )
}

impl Observer<TrainProgress> for LiveTraining {
    fn observe(&mut self, progress: &TrainProgress) -> ControlFlow<()> {
        match progress {
            TrainProgress::Resumed { step } => say(&format!("going on after step {step}")),
            TrainProgress::CheckpointLost { reason } => {
                say(&format!("the last checkpoint cannot be read ({reason}); going on from the one before"));
            }
            TrainProgress::Step { step, steps, report } => {
                let inputs = report.inputs as f64;
                self.step(*step, *steps, report.loss / inputs, report.correct as f64 / inputs);
            }
            TrainProgress::Epoch(metrics) if self.rows => above(|| {
                let mut stdout = std::io::stdout().lock();
                // A reader that has left does not end a training.
                let _ = writeln!(stdout, "{}", row(metrics)).and_then(|()| stdout.flush());
            }),
            TrainProgress::Epoch(_) => {}
        }
        if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
