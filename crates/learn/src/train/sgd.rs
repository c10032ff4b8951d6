//! Stochastic gradient descent with momentum, as PyTorch defines it, and running means of weights.
//!
//! g ← ∇ + decay·w; v ← μ·v + g (v ← g in the first step); w ← w − rate·v, or w − rate·(g + μ·v) with Nesterov's step ahead.

use super::spec::OptimiserSpec;
use crate::net::parameters::Weights;

/// One step; `velocity` is that of the last one, zeros before the first.
#[allow(clippy::cast_possible_truncation)] // weights are f32
pub fn descend(
    spec: &OptimiserSpec,
    rate: f64,
    gradient: &[f32],
    velocity: &mut [f32],
    parameters: &mut [f32],
) {
    let (rate, momentum, decay) = (rate as f32, spec.momentum as f32, spec.weight_decay as f32);
    for ((w, v), gradient) in parameters.iter_mut().zip(velocity).zip(gradient) {
        let g = gradient + decay * *w;
        *v = momentum * *v + g;
        *w -= rate * if spec.nesterov { g + momentum * *v } else { *v };
    }
}

/// Moves a running mean towards weights after `step` steps: the share `average` is old, less of it at first, so that the
/// first weights are soon forgotten.
#[allow(clippy::cast_possible_truncation)]
pub fn average(average: f64, step: usize, weights: &Weights, mean: &mut Weights) {
    let old = average.min((1.0 + step as f64) / (10.0 + step as f64)) as f32;
    let all = |mean: &mut [f32], new: &[f32]| {
        mean.iter_mut().zip(new).for_each(|(mean, new)| *mean = old * *mean + (1.0 - old) * new);
    };
    all(&mut mean.parameters, &weights.parameters);
    all(&mut mean.statistics, &weights.statistics);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_steps_by_hand() {
        let mut spec: OptimiserSpec =
            toml::from_str("epochs = 1\nlearning_rate = 0.1\nmomentum = 0.5\nweight_decay = 0.25")
                .expect("a spec");
        for nesterov in [false, true] {
            spec.nesterov = nesterov;
            let (mut w, mut v) = (1.0_f64, 0.0_f64);
            let (mut parameters, mut velocity) = ([1.0], [0.0]);
            for gradient in [1.0, -2.0, 0.5] {
                let g = gradient + 0.25 * w;
                v = 0.5 * v + g;
                w -= 0.1 * if nesterov { g + 0.5 * v } else { v };
                #[allow(clippy::cast_possible_truncation)]
                descend(&spec, 0.1, &[gradient as f32], &mut velocity, &mut parameters);
            }
            assert!((f64::from(parameters[0]) - w).abs() < 1e-6 && (f64::from(velocity[0]) - v).abs() < 1e-6);
        }
    }
}
