//! How the step size and the radius of attacks change in the course of a run.

use super::spec::{Inner, OptimiserSpec, Schedule};

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPosition {
    /// Steps done.
    pub step: usize,
    /// Steps of an epoch.
    pub per_epoch: usize,
}

/// What a cycle begins with, of its peak.
const FIRST: f64 = 0.05;

/// The step size of the next step.
pub fn learning_rate(spec: &OptimiserSpec, place: RunPosition) -> f64 {
    let RunPosition { step, per_epoch } = place;
    match spec.schedule {
        Schedule::Step { every, factor } => {
            let times = i32::try_from(step / per_epoch / every).unwrap_or(i32::MAX);
            spec.learning_rate * factor.powi(times)
        }
        Schedule::OneCycle { warm_up } => {
            let all = spec.epochs as f64 * per_epoch as f64;
            // The middle of the step: neither the first nor the last has a rate of 0.
            let at = (step as f64 + 0.5) / all;
            let share = if at < warm_up {
                FIRST + (1.0 - FIRST) * at / warm_up
            } else {
                0.5 * (1.0 + (std::f64::consts::PI * (at - warm_up) / (1.0 - warm_up)).cos())
            };
            spec.learning_rate * share
        }
    }
}

/// The radius of the attack before the next step.
pub fn epsilon(inner: &Inner, place: RunPosition) -> f64 {
    let epochs = place.step as f64 / place.per_epoch as f64;
    if epochs < inner.warm_up { inner.epsilon * epochs / inner.warm_up } else { inner.epsilon }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::ball::BallNorm;

    fn spec(schedule: Schedule, epochs: usize) -> OptimiserSpec {
        let text = format!("epochs = {epochs}\nlearning_rate = 0.1");
        OptimiserSpec { schedule, ..toml::from_str(&text).expect("a spec") }
    }

    #[test]
    fn the_papers_steps_and_a_cycle() {
        let paper = spec(Schedule::Step { every: 50, factor: 0.1 }, 150);
        for (epoch, rate) in [(0, 0.1), (49, 0.1), (50, 0.01), (99, 0.01), (100, 0.001), (149, 0.001)] {
            let found = learning_rate(&paper, RunPosition { step: epoch * 390, per_epoch: 390 });
            assert!((found - rate).abs() < 1e-15, "{epoch}: {found}");
        }
        let cycle = spec(Schedule::OneCycle { warm_up: 0.2 }, 10);
        let rates: Vec<f64> =
            (0..1000).map(|step| learning_rate(&cycle, RunPosition { step, per_epoch: 100 })).collect();
        assert!(rates[0] < 0.006 && rates[999] < 1e-6 && rates.iter().all(|&rate| rate > 0.0));
        assert!((rates[200] - 0.1).abs() < 1e-5);
        assert!(rates[..200].is_sorted() && rates[200..].iter().rev().is_sorted());
    }

    #[test]
    fn a_radius_grows_with_the_epochs() {
        let inner = Inner { norm: BallNorm::L2, epsilon: 1.0, steps: 2, warm_up: 4.0 };
        let at = |step| epsilon(&inner, RunPosition { step, per_epoch: 10 });
        assert_eq!((at(0), at(10), at(39), at(40), at(400)), (0.0, 0.25, 0.975, 1.0, 1.0));
        assert_eq!(epsilon(&Inner { warm_up: 0.0, ..inner }, RunPosition { step: 0, per_epoch: 10 }), 1.0);
    }
}
