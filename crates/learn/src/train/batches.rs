//! Which samples make a batch, and how they are varied.
//!
//! In every epoch the samples come in a new random order; those that do not fill a batch at its end are left out. Images are
//! shifted by up to `crop` pixels in each direction, with zeros coming in, and half of them mirrored. Order, shifts and
//! mirrors are functions of the seed, the epoch and the place in it.

use super::spec::DataSpec;
use gambeson_data::dataset::{Dataset, Shape};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Streams of one seed that are not those of single images.
const ORDERS: u64 = 1 << 63;

/// The order of the samples in an epoch: all numbers below `samples`.
pub fn order(seed: u64, epoch: usize, samples: usize) -> Vec<u32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(ORDERS | epoch as u64);
    let mut order: Vec<u32> = (0..u32::try_from(samples).unwrap_or(u32::MAX)).collect();
    // Fisher and Yates.
    for at in (1..order.len()).rev() {
        order.swap(at, rng.random_range(0..=at));
    }
    order
}

/// Writes the values of samples, varied: sample `samples[i]` as image number `first + i` of the run.
///
/// Panics unless `out` has room for exactly these.
pub fn images(data: &Dataset, spec: &DataSpec, seed: u64, samples: &[u32], first: u64, out: &mut [f32]) {
    let shape = data.shape();
    assert_eq!(out.len(), samples.len() * shape.len(), "an image per sample");
    out.par_chunks_mut(shape.len()).zip(samples).enumerate().for_each(|(at, (out, &sample))| {
        data.sample_f32(sample as usize, out);
        if spec.crop == 0 && !spec.flip {
            return;
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream((first + at as u64) & !ORDERS);
        let mut shift = |most: usize| rng.random_range(0..=2 * most).cast_signed() - most.cast_signed();
        // Frames of one row have nothing above or below.
        let (down, right) = (shift(if shape.height == 1 { 0 } else { spec.crop }), shift(spec.crop));
        let mirrored = spec.flip && rng.random::<bool>();
        vary(shape, down, right, mirrored, out);
    });
}

/// Moves an image down and to the right, then mirrors it.
fn vary(shape: Shape, down: isize, right: isize, mirrored: bool, image: &mut [f32]) {
    let Shape { height, width, .. } = shape;
    let from = image.to_vec();
    for (to, from) in image.chunks_exact_mut(height * width).zip(from.chunks_exact(height * width)) {
        for (r, to) in to.chunks_exact_mut(width).enumerate() {
            let row = r.checked_add_signed(-down).filter(|&row| row < height);
            for (c, to) in to.iter_mut().enumerate() {
                let column = if mirrored { width - 1 - c } else { c };
                let column = column.checked_add_signed(-right).filter(|&column| column < width);
                *to = row.zip(column).map_or(0.0, |(row, column)| from[row * width + column]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gambeson_data::dataset::{DatasetParts, Values};

    #[test]
    fn an_order_has_every_sample_once_and_changes_with_epoch_and_seed() {
        let first = order(1, 0, 100);
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..100));
        assert_eq!(order(1, 0, 100), first);
        assert!(order(1, 1, 100) != first && order(2, 0, 100) != first);
    }

    #[test]
    fn an_image_is_moved_and_mirrored() {
        let shape = Shape { channels: 1, height: 2, width: 3 };
        let moved = |down, right, mirrored| {
            let mut image = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
            vary(shape, down, right, mirrored, &mut image);
            image
        };
        assert_eq!(moved(0, 0, false), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(moved(1, 0, false), [0.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
        assert_eq!(moved(0, -1, false), [2.0, 3.0, 0.0, 5.0, 6.0, 0.0]);
        assert_eq!(moved(0, 0, true), [3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
        assert_eq!(moved(-1, 1, true), [5.0, 4.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn variations_are_those_of_the_place_in_the_run() {
        let shape = Shape { channels: 1, height: 8, width: 8 };
        let values = Values::U8((0..255).cycle().take(64 * 40).collect());
        let parts =
            DatasetParts { name: "x".into(), shape, values, labels: None, classes: vec![], sources: vec![] };
        let data = Dataset::new(parts).expect("data");
        let spec = DataSpec { name: "x".into(), samples: None, crop: 2, flip: true, evaluate: 0 };
        let samples: Vec<u32> = (0..40).collect();
        let (mut all, mut part) = (vec![0.0; 40 * 64], vec![0.0; 10 * 64]);
        images(&data, &spec, 3, &samples, 100, &mut all);
        images(&data, &spec, 3, &samples[5..15], 105, &mut part);
        assert_eq!(part, all[5 * 64..15 * 64]);
        images(&data, &spec, 3, &samples[5..15], 106, &mut part);
        assert_ne!(part, all[5 * 64..15 * 64]);
        images(&data, &DataSpec { crop: 0, flip: false, ..spec }, 3, &samples[..1], 0, &mut part[..64]);
        assert!(part[..64].iter().enumerate().all(|(at, &x)| (x - at as f32 / 255.0).abs() < 1e-7));
    }
}
