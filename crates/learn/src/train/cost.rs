//! What a run would cost, from a few of its steps.
//!
//! A step of a large network, or one behind many steps of an attack, may itself take minutes. So smaller steps come first:
//! of a few inputs and one step of the attack, then of twice as many, for as long as the next should fit into the time. If that
//! arrives at the steps of the run, these are measured. If not, time is extrapolated along the line through the last two: a
//! part that every step takes, for its weights, and a part for each pass of an input.

use super::setup::TrainSetup;
use super::spec::Objective;
use super::trainer::Trainer;
use crate::net::architecture::ArchitectureError;
use std::time::{Duration, Instant};

/// How many times larger the next step is.
const GROWTH: usize = 2;

/// Inputs of the smallest step: kernels take as many at a time, so that fewer would cost the same.
const FEWEST: usize = 16;

/// Steps of the run whose mean is good enough.
const ENOUGH: u32 = 100;

/// What a run would cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Numbers that are trained.
    pub parameters: usize,
    /// Steps of an epoch.
    pub per_epoch: usize,
    /// Steps of the run.
    pub steps: usize,
    /// Of one step, without measuring progress between epochs.
    pub seconds_step: f64,
    /// What was timed, where that was less than a step of the run.
    pub extrapolated: Option<Timed>,
}

/// What a step consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed {
    /// Inputs.
    pub batch: usize,
    /// Steps of the attack; 0 without one.
    pub attack: usize,
}

impl Timed {
    /// Passes of inputs.
    fn work(self) -> f64 {
        self.batch as f64 * (self.attack as f64 + 1.0)
    }
}

/// Times steps for about as long as it is told, after a first one. A radius that grows over epochs is taken at its full
/// size, since its first steps are the cheapest of a run.
pub fn cost(mut setup: TrainSetup, time: Duration) -> Result<Cost, ArchitectureError> {
    let whole = Timed {
        batch: setup.spec.optimiser.batch,
        attack: setup.spec.objective.inner().map_or(0, |inner| inner.steps),
    };
    let trainer = Trainer::new(&setup)?; // that there is room for steps of the run is found out here
    let (per_epoch, steps) = (trainer.per_epoch(), trainer.steps());
    let parameters = trainer.state().weights.parameters.len();
    let (pass, state) = trainer.into_parts();
    let mut timed = Timed { batch: FEWEST.min(whole.batch), attack: whole.attack.min(1) };
    timed.apply(&mut setup);
    let mut trainer = Trainer::with(&setup, pass, state);
    trainer.step(); // the first one waits for memory
    let (mut pass, mut state) = trainer.into_parts();
    let started = Instant::now();
    let mut before = (0.0, 0.0); // passes, and their seconds
    loop {
        timed.apply(&mut setup);
        let mut trainer = Trainer::with(&setup, pass, state);
        let begun = Instant::now();
        trainer.step();
        let mut count = 1;
        // Steps of the run are repeated for the mean of several; smaller ones only show the way.
        while timed == whole && started.elapsed() < time && count < ENOUGH {
            trainer.step();
            count += 1;
        }
        let seconds = begun.elapsed().as_secs_f64() / f64::from(count);
        // Two measurements may be off by more than they differ.
        let least = 0.1 * seconds / timed.work();
        let each = ((seconds - before.1) / (timed.work() - before.0)).max(least);
        let expected = |other: Timed| seconds + each * (other.work() - timed.work());
        let left = time.saturating_sub(started.elapsed()).as_secs_f64();
        let next = timed.next(whole);
        if timed == whole || expected(next) > left {
            let extrapolated = (timed != whole).then_some(timed);
            return Ok(Cost { parameters, per_epoch, steps, seconds_step: expected(whole), extrapolated });
        }
        before = (timed.work(), seconds);
        (pass, state) = trainer.into_parts();
        timed = next;
    }
}

impl Timed {
    /// The next larger step on the way to those of the run: more inputs first.
    fn next(self, whole: Self) -> Self {
        if self.batch < whole.batch {
            Self { batch: (self.batch * GROWTH).min(whole.batch), ..self }
        } else {
            Self { attack: self.attack.saturating_mul(GROWTH).min(whole.attack), ..self }
        }
    }

    fn apply(self, setup: &mut TrainSetup) {
        setup.spec.optimiser.batch = self.batch;
        match &mut setup.spec.objective {
            Objective::Madry { steps, warm_up, .. } => (*steps, *warm_up) = (self.attack, 0.0),
            Objective::SmoothAdv(own) | Objective::Algorithm1(own) => {
                (own.steps, own.warm_up) = (self.attack, 0.0);
            }
            Objective::Standard | Objective::Gaussian { .. } | Objective::Consistency { .. } => {}
        }
    }
}
