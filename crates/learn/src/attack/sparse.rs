//! Random perturbations of few cosine coefficients: the study of imperceptibility of section 4 of the paper.
//!
//! **Method.** k coordinates of the cosine transform are chosen at random, over all channels, and each is moved by
//! ±c/√k, signs at random; c = c_k is chosen for every input such that the largest change of a value is ε.
//!
//! **Deviation.** The paper says c_k ≈ ε√n, chosen such that images are at most ε away; here it is ε to the last bit that
//! single precision shows, so that all k are compared at the same distance.

use gambeson_data::dataset::Shape;
use gambeson_lowrank::projection::representation::{EmptyGrid, Representation, Transform};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A change of values.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseChange {
    /// What is added, channel by channel.
    pub change: Vec<f64>,
    /// The amplitude of each chosen coefficient: c_k/√k.
    pub amplitude: f64,
}

/// A perturbation of `k` coefficients of inputs of some shape, at most as many as there are, whose largest change of a value
/// is `epsilon`.
pub fn sparse_change(
    shape: Shape,
    k: usize,
    epsilon: f64,
    seed: u64,
    index: u64,
) -> Result<SparseChange, EmptyGrid> {
    let representation = if shape.height == 1 { Representation::Dct1 } else { Representation::Dct2 };
    let transform = Transform::new(representation, shape.height, shape.width)?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(index);
    // The first k of a random order.
    let mut order: Vec<usize> = (0..shape.len()).collect();
    let k = k.clamp(1, order.len());
    let mut change = vec![0.0; order.len()];
    for at in 0..k {
        let other = rng.random_range(at..order.len());
        order.swap(at, other);
        change[order[at]] = if rng.random::<bool>() { 1.0 } else { -1.0 };
    }
    change.chunks_exact_mut(transform.dim()).for_each(|channel| transform.inverse(channel));
    let largest = change.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let amplitude = epsilon / largest;
    change.iter_mut().for_each(|x| *x *= amplitude);
    Ok(SparseChange { change, amplitude })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_coefficients_as_asked_for_at_the_distance_asked_for() {
        let shape = Shape { channels: 3, height: 8, width: 8 };
        let transform = Transform::new(Representation::Dct2, 8, 8).expect("a transform");
        for k in [1, 5, 192, 1000] {
            let SparseChange { mut change, amplitude } =
                sparse_change(shape, k, 0.09, 3, 7).expect("a change");
            let largest = change.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            assert!((largest - 0.09).abs() < 1e-12);
            change.chunks_exact_mut(64).for_each(|channel| transform.forward(channel));
            let moved: Vec<f64> = change.iter().map(|x| x.abs()).filter(|x| *x > 1e-9).collect();
            assert_eq!(moved.len(), k.min(192));
            assert!(moved.iter().all(|x| (x - amplitude).abs() < 1e-9));
        }
        let other = sparse_change(shape, 5, 0.09, 3, 8).expect("a change");
        assert_ne!(other, sparse_change(shape, 5, 0.09, 3, 7).expect("a change"));
    }
}
