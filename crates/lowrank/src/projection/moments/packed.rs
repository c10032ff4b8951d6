//! Blocks of samples as factors of a product, and their products tile by tile.

use crate::linalg::aligned::Aligned;
use crate::linalg::kernel::{Isa, ROWS, Real, add_rows_times};
use rayon::prelude::*;

/// Samples of bytes in a block: 2⁷·2⁷·2¹⁰ = 2²⁴, up to which `f32` holds every integer.
pub(super) const EXACT_BYTES: usize = 1024;
/// Samples in a block of wider numbers. Sums over `f32` samples are grouped by it, so it is fixed.
const BLOCK: usize = 512;
/// Rows and columns of a tile of the result, and values per strip of samples.
pub(super) const TILE: usize = 64;
/// Bytes of a strip that are multiplied at once: they stay in the innermost cache.
const INNERMOST: usize = 1 << 15;

/// How stored values are multiplied.
pub(super) trait Stored: Copy + Default + Send + Sync {
    /// Numbers to multiply with, in which sums over a block of integers are exact.
    type Factor: Real + Into<f64>;
    /// Samples in a block.
    const BLOCK: usize;
    /// What is subtracted from a value to make products smaller.
    const MIDDLE: f64;

    /// The value less [`Stored::MIDDLE`].
    fn factor(self) -> Self::Factor;
}

impl Stored for u8 {
    type Factor = f32;
    const BLOCK: usize = EXACT_BYTES;
    const MIDDLE: f64 = 128.0;

    fn factor(self) -> f32 {
        f32::from(i16::from(self) - 128)
    }
}

impl Stored for i16 {
    type Factor = f64;
    const BLOCK: usize = BLOCK;
    const MIDDLE: f64 = 0.0;

    fn factor(self) -> f64 {
        self.into()
    }
}

impl Stored for f32 {
    type Factor = f64;
    const BLOCK: usize = BLOCK;
    const MIDDLE: f64 = 0.0;

    fn factor(self) -> f64 {
        self.into()
    }
}

/// A block of samples of one channel as factors, [`depth`] samples at a time, each part cut into strips of [`TILE`]
/// values. What pads the last strip is never read out.
#[derive(Default)]
pub(super) struct Packed<T> {
    /// Part after part, in each strip after strip, in each sample after sample.
    strips: Aligned<T>,
    /// The same, but in each strip value after value.
    transposed: Aligned<T>,
    /// Part after part, Σx of each value.
    pub(super) sums: Vec<T>,
}

/// Samples of a part: a strip of them stays in the innermost cache.
const fn depth<T>() -> usize {
    INNERMOST / (TILE * size_of::<T>())
}

impl<T: Real + Into<f64>> Packed<T> {
    /// Packs n samples.
    pub(super) fn pack<'a, V: Stored<Factor = T> + 'a>(
        &mut self,
        n: usize,
        dim: usize,
        sample: impl Fn(usize) -> &'a [V] + Sync,
    ) {
        let width = dim.next_multiple_of(TILE);
        let part = depth::<T>() * width;
        self.sums.resize(n.div_ceil(depth::<T>()) * width, T::default());
        let strips = self.strips.resized(n * width).par_chunks_mut(part);
        let transposed = self.transposed.resized(n * width).par_chunks_mut(part);
        let parts = strips.zip(transposed).zip(self.sums.par_chunks_exact_mut(width)).enumerate();
        parts.for_each(|(p, ((strips, transposed), sums))| {
            let count = strips.len() / width;
            sums.fill(T::default());
            for s in 0..count {
                let values = sample(p * depth::<T>() + s);
                let places = strips.chunks_exact_mut(count * TILE).zip(sums.as_chunks_mut::<TILE>().0);
                for ((strip, sums), values) in places.zip(values.chunks(TILE)) {
                    let row: &mut [T] = &mut strip[s * TILE..][..TILE];
                    row.iter_mut().zip(values).for_each(|(out, value)| *out = value.factor());
                    sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += *x);
                }
            }
            let strips = strips.chunks_exact(count * TILE);
            strips.zip(transposed.chunks_exact_mut(count * TILE)).for_each(|(from, to)| transpose(from, to));
        });
    }

    /// `sums` ← `sums` + Σ x·y over the n samples, for x in strip a and y in strip b.
    pub(super) fn add_tile(&self, isa: Isa, (a, b): (usize, usize), n: usize, sums: &mut [f64]) {
        let part = self.strips.values().len() / n * depth::<T>();
        let mut tile = [T::default(); TILE * TILE];
        for (left, right) in self.transposed.values().chunks(part).zip(self.strips.values().chunks(part)) {
            let depth = left.len() * depth::<T>() / part;
            let left = &left[a * depth * TILE..][..depth * TILE];
            let right = &right[b * depth * TILE..][..depth * TILE];
            for (out, left) in tile.chunks_exact_mut(ROWS * TILE).zip(left.chunks_exact(ROWS * depth)) {
                let rows: [&[T]; ROWS] = std::array::from_fn(|r| &left[r * depth..][..depth]);
                add_rows_times(isa, &rows, right, TILE, out);
            }
        }
        sums.iter_mut().zip(&tile).for_each(|(sum, &x)| *sum += x.into());
    }
}

/// `transposed` ← `strip`ᵀ, n × [`TILE`] to [`TILE`] × n, in squares that stay in the innermost cache.
fn transpose<T: Real>(strip: &[T], transposed: &mut [T]) {
    const SQUARE: usize = 16;
    let n = strip.len() / TILE;
    for (square, rows) in strip.chunks(SQUARE * TILE).enumerate() {
        let rows = rows.as_chunks::<TILE>().0;
        for (c, column) in transposed.chunks_exact_mut(n).enumerate() {
            let out = &mut column[square * SQUARE..][..rows.len()];
            if let (Ok(out), Ok(rows)) =
                (<&mut [T; SQUARE]>::try_from(&mut *out), <&[[T; TILE]; SQUARE]>::try_from(rows))
            {
                *out = std::array::from_fn(|s| rows[s][c]); // the same with a known length, and much faster
            } else {
                out.iter_mut().zip(rows).for_each(|(out, row)| *out = row[c]);
            }
        }
    }
}
