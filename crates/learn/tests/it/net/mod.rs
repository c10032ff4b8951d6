//! Networks of the engine.

/// Networks as ONNX files.
mod export;
/// Scores and gradients against formulas in double precision.
mod gradients;
/// Graphs of other programs.
mod graphs;
/// The formulas.
pub(crate) mod reference;
/// The fast path to scores.
mod scores;
/// Gradients against PyTorch's.
mod torch;
/// Files.
mod weights;

use gambeson_learn::net::architecture::Architecture;
use gambeson_learn::net::parameters::{ParameterLayout, Weights};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Standard normal numbers.
#[allow(clippy::cast_possible_truncation)]
fn normal(count: usize, seed: u64) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut one = || -> f64 { StandardNormal.sample(&mut rng) };
    (0..count).map(|_| one() as f32).collect()
}

/// Weights with nothing at its default.
fn network(architecture: &Architecture, seed: u64) -> Weights {
    let places = ParameterLayout::new(architecture).expect("a network");
    let mut weights = Weights::initial(&places, &mut ChaCha8Rng::seed_from_u64(seed));
    for place in &places.layers {
        for (at, range) in [&place.gamma, &place.bias].into_iter().enumerate() {
            let noise = normal(range.len(), seed + 100 + at as u64);
            weights.parameters[range.clone()].iter_mut().zip(noise).for_each(|(w, noise)| *w += 0.3 * noise);
        }
        let noise = normal(place.mean.len(), seed + 200);
        weights.statistics[place.mean.clone()].iter_mut().zip(&noise).for_each(|(w, noise)| *w = 0.2 * noise);
        weights.statistics[place.variance.clone()]
            .iter_mut()
            .zip(&noise)
            .for_each(|(w, noise)| *w = 0.5 + noise * noise);
    }
    weights
}
