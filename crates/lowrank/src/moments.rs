//! First and second moments of samples, channel by channel, streamed: what principal components are computed from.
//!
//! **Problem.** For samples x ∈ R^dim of a channel: (1/N) Σ x and (1/N) Σ x·xᵀ, half a matrix product.
//!
//! **Guarantee.** Sums over integer samples are exact, and each moment is rounded only when it is divided by N and
//! multiplied by the scale. Sums over `f32` samples run in double precision over blocks of fixed size. So the
//! moments do not depend on the number of threads, nor on how the samples are split over calls, nor (for integers)
//! on their order.
//!
//! **How integers stay exact in floating point.** Bytes are moved by 128 to lie in −128..=127. Then every partial sum
//! of [`EXACT_BYTES`] products is at most 2²⁴ in size, which `f32` holds exactly: twice as fast as `f64`. The sum of
//! a block is moved back, Σxy = Σ(x − c)(y − c) + c·Σ(x − c) + c·Σ(y − c) + c²·n, and added up in `i64`. Products of
//! `i16` are at most 2³⁰ in size and are summed a block at a time in `f64`.

use gambeson_checker::kernel::{Isa, ROWS, Real, add_rows_times};
use gambeson_checker::product::mirror_lower;
use rayon::prelude::*;
use thiserror::Error;

/// Samples of bytes in a block: 2⁷·2⁷·2¹⁰ = 2²⁴, the last integer up to which `f32` has all.
const EXACT_BYTES: usize = 1024;
/// Samples in a block of wider numbers. Sums over `f32` samples are grouped by it, so it is fixed.
const BLOCK: usize = 512;
/// Rows and columns of a tile of the result, and values a strip of samples holds.
const TILE: usize = 64;
/// Bytes of a strip that are multiplied at once: they stay in the innermost cache.
const INNERMOST: usize = 1 << 15;
/// Most samples there may be: beyond it sums of products of `i16` might leave `i64`.
const MOST: u64 = 1 << 32;
/// What is taken off a byte.
const MIDDLE: i16 = 128;

/// Samples as stored: sample after sample, in each its channels, in each its `dim` values.
#[derive(Clone, Copy, Debug)]
pub enum Samples<'a> {
    /// Pixels as image files have them.
    U8(&'a [u8]),
    /// Sound as audio files have it.
    I16(&'a [i16]),
    /// Anything else, such as transformed pixels.
    F32(&'a [f32]),
}

impl Samples<'_> {
    fn len(&self) -> usize {
        match self {
            Samples::U8(values) => values.len(),
            Samples::I16(values) => values.len(),
            Samples::F32(values) => values.len(),
        }
    }
}

/// Why there are no moments. Indices are zero-based.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MomentsError {
    /// Samples without a channel or without a value.
    #[error("samples of {channels} channels of {dim} values are empty")]
    EmptyShape {
        /// Channels of a sample.
        channels: usize,
        /// Values of a channel.
        dim: usize,
    },
    /// The scale is zero, negative, or so far from one that moments might leave the range of numbers.
    #[error("the scale of the values is {scale}; give one between 1e-60 and 1e60, such as 1/255")]
    BadScale {
        /// The scale given.
        scale: f64,
    },
    /// The matrices of second moments are larger than memory.
    #[error(
        "second moments of {channels} channels of {dim} values do not fit into memory; take fewer values a sample"
    )]
    TooLarge {
        /// Channels of a sample.
        channels: usize,
        /// Values of a channel.
        dim: usize,
    },
    /// The values end within a sample.
    #[error("{found} values are not a whole number of samples of {channels} x {dim} values")]
    PartialSample {
        /// Values given.
        found: usize,
        /// Channels of a sample.
        channels: usize,
        /// Values of a channel.
        dim: usize,
    },
    /// A value is NaN or infinite.
    #[error("value {index} of channel {channel} of sample {sample} is {value} (counting from 0)")]
    NotFinite {
        /// Zero-based sample, over all calls.
        sample: u64,
        /// Zero-based channel.
        channel: usize,
        /// Zero-based value within the channel.
        index: usize,
        /// The offending value.
        value: f32,
    },
    /// So many samples that sums of products might leave the range of integers.
    #[error("{found} samples are more than {most}; take a part of them")]
    TooManySamples {
        /// Samples given so far.
        found: u64,
        /// Samples allowed.
        most: u64,
    },
    /// There was no sample at all.
    #[error("there are no samples to take moments of")]
    NoSamples,
}

/// First and second moments of one channel; values are what was stored times the scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    /// Values of a sample in this channel.
    pub dim: usize,
    /// Samples N.
    pub count: u64,
    /// (1/N) Σ x, `dim` entries.
    pub mean: Vec<f64>,
    /// (1/N) Σ x·xᵀ, dim × dim, row major, symmetric to the bit.
    pub second: Vec<f64>,
}

impl Moments {
    /// The sum of the diagonal of `second`: the mean of |x|₂².
    pub fn trace(&self) -> f64 {
        self.second.iter().step_by(self.dim + 1).sum()
    }

    /// The covariance `second` − mean·meanᵀ (of N samples: divided by N, not N − 1), row major.
    pub fn centred(&self) -> Vec<f64> {
        let mut centred = self.second.clone();
        for (row, a) in centred.chunks_exact_mut(self.dim).zip(&self.mean) {
            row.iter_mut().zip(&self.mean).for_each(|(entry, b)| *entry -= a * b);
        }
        centred
    }
}

/// Adds samples up as they come. Needs no more memory than the sums and a block of samples.
pub struct MomentsAccumulator {
    channels: usize,
    dim: usize,
    scale: f64,
    count: u64,
    bytes: Kind<u8>,
    shorts: Kind<i16>,
    reals: Kind<f32>,
}

impl MomentsAccumulator {
    /// For samples of `channels` channels of `dim` values, each to be multiplied by `scale`.
    pub fn new(channels: usize, dim: usize, scale: f64) -> Result<Self, MomentsError> {
        if channels == 0 || dim == 0 {
            return Err(MomentsError::EmptyShape { channels, dim });
        }
        if !(1e-60..=1e60).contains(&scale) {
            return Err(MomentsError::BadScale { scale });
        }
        let sample = channels.checked_mul(dim);
        let entries = sample.and_then(|sample| sample.checked_mul(dim)?.checked_mul(2 * size_of::<f64>()));
        let block = sample.and_then(|sample| sample.checked_mul(EXACT_BYTES));
        if entries.max(block).is_none_or(|bytes| bytes > isize::MAX.unsigned_abs()) || block.is_none() {
            return Err(MomentsError::TooLarge { channels, dim });
        }
        let (bytes, shorts, reals) = (Kind::default(), Kind::default(), Kind::default());
        Ok(Self { channels, dim, scale, count: 0, bytes, shorts, reals })
    }

    /// Adds whole samples, any number of them. Nothing is added where there is an error.
    pub fn add(&mut self, samples: Samples<'_>) -> Result<(), MomentsError> {
        let (channels, dim) = (self.channels, self.dim);
        let found = samples.len();
        if !found.is_multiple_of(channels * dim) {
            return Err(MomentsError::PartialSample { found, channels, dim });
        }
        let count = self.count.saturating_add((found / (channels * dim)) as u64);
        if count > MOST {
            return Err(MomentsError::TooManySamples { found: count, most: MOST });
        }
        match samples {
            Samples::U8(values) => self.bytes.add(values, channels, dim)?,
            Samples::I16(values) => self.shorts.add(values, channels, dim)?,
            Samples::F32(values) => {
                if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                    let sample = self.count + (at / (channels * dim)) as u64;
                    let (channel, index) = (at / dim % channels, at % dim);
                    return Err(MomentsError::NotFinite { sample, channel, index, value: values[at] });
                }
                self.reals.add(values, channels, dim)?;
            }
        }
        self.count = count;
        Ok(())
    }

    /// The moments, one of each channel.
    pub fn finish(mut self) -> Result<Vec<Moments>, MomentsError> {
        if self.count == 0 {
            return Err(MomentsError::NoSamples);
        }
        let (channels, dim) = (self.channels, self.dim);
        self.bytes.flush(channels, dim)?;
        self.shorts.flush(channels, dim)?;
        self.reals.flush(channels, dim)?;
        let (bytes, shorts) = (self.bytes.sums.into_iter(), self.shorts.sums.into_iter());
        let mut bytes = bytes.map(Sums::into_f64).fuse();
        let mut shorts = shorts.map(Sums::into_f64).fuse();
        let mut reals = self.reals.sums.into_iter();
        let divisor = self.count as f64;
        let moments = (0..channels).map(|_| {
            // Integer sums below 2⁵³ are still exact here, added or not.
            let parts = [bytes.next(), shorts.next(), reals.next()];
            let sums = parts.into_iter().flatten().reduce(Sums::join);
            let Sums { mut first, tiles } = sums.ok_or(MomentsError::NoSamples)?;
            first.truncate(dim);
            first.iter_mut().for_each(|sum| *sum = *sum * self.scale / divisor);
            let mut second = zeros(dim * dim).ok_or(MomentsError::TooLarge { channels, dim })?;
            for ((a, b), tile) in tile_places(dim).zip(tiles.chunks_exact(TILE * TILE)) {
                let height = TILE.min(dim - a * TILE);
                for (r, sums) in tile.chunks_exact(TILE).take(height).enumerate() {
                    let row = &mut second[(a * TILE + r) * dim..][..dim];
                    for (entry, sum) in row[b * TILE..].iter_mut().zip(sums) {
                        *entry = *sum * self.scale * self.scale / divisor;
                    }
                }
            }
            mirror_lower(&mut second, dim);
            Ok(Moments { dim, count: self.count, mean: first, second })
        });
        moments.collect()
    }
}

/// The tiles on and below the diagonal of a dim × dim matrix, row by row.
fn tile_places(dim: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..dim.div_ceil(TILE)).flat_map(|a| (0..=a).map(move |b| (a, b)))
}

/// Zeros, or None where memory ends.
fn zeros<T: Default + Clone>(length: usize) -> Option<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(length).ok()?;
    values.resize(length, T::default());
    Some(values)
}

/// How stored values are multiplied and added up.
trait Stored: Copy + Default + Send + Sync {
    /// Numbers to multiply with.
    type Factor: Real;
    /// Numbers to add blocks up with.
    type Sum: Copy + Default + Send + Sync;
    /// Samples in a block.
    const BLOCK: usize;

    /// The value as a factor, moved to the middle of its range where that makes products smaller.
    fn factor(self) -> Self::Factor;

    /// `sum` + Σ(x + c) over a block of n, from Σx.
    fn add_first(sum: Self::Sum, moved: Self::Factor, n: usize) -> Self::Sum;

    /// `sum` + Σ(x + c)(y + c) over a block of n, from Σxy, Σx and Σy.
    fn add_second(
        sum: Self::Sum,
        moved: Self::Factor,
        x: Self::Factor,
        y: Self::Factor,
        n: usize,
    ) -> Self::Sum;
}

impl Stored for u8 {
    type Factor = f32;
    type Sum = i64;
    const BLOCK: usize = EXACT_BYTES;

    fn factor(self) -> f32 {
        f32::from(i16::from(self) - MIDDLE)
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // integers of at most 2²⁴
    fn add_first(sum: i64, moved: f32, n: usize) -> i64 {
        sum + i64::from(moved as i32) + i64::from(MIDDLE) * n as i64
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // integers of at most 2²⁴
    fn add_second(sum: i64, moved: f32, x: f32, y: f32, n: usize) -> i64 {
        // All of it is at most 255²·2¹⁰ < 2³¹ in size.
        let middle = i32::from(MIDDLE);
        sum + i64::from(moved as i32 + middle * (x as i32 + y as i32) + middle * middle * n as i32)
    }
}

impl Stored for i16 {
    type Factor = f64;
    type Sum = i64;
    const BLOCK: usize = BLOCK;

    fn factor(self) -> f64 {
        f64::from(self)
    }

    #[allow(clippy::cast_possible_truncation)] // an integer of at most 2²⁴
    fn add_first(sum: i64, moved: f64, _: usize) -> i64 {
        sum + moved as i64
    }

    #[allow(clippy::cast_possible_truncation)] // an integer of at most 2³⁹
    fn add_second(sum: i64, moved: f64, _: f64, _: f64, _: usize) -> i64 {
        sum + moved as i64
    }
}

impl Stored for f32 {
    type Factor = f64;
    type Sum = f64;
    const BLOCK: usize = BLOCK;

    fn factor(self) -> f64 {
        f64::from(self)
    }

    fn add_first(sum: f64, moved: f64, _: usize) -> f64 {
        sum + moved
    }

    fn add_second(sum: f64, moved: f64, _: f64, _: f64, _: usize) -> f64 {
        sum + moved
    }
}

/// Sums of one channel: of the values, padded to whole strips, and of their products, tile by tile.
struct Sums<S> {
    first: Vec<S>,
    tiles: Vec<S>,
}

impl Sums<i64> {
    /// Exact up to 2⁵³.
    fn into_f64(self) -> Sums<f64> {
        let convert = |sums: Vec<i64>| sums.into_iter().map(|sum| sum as f64).collect();
        Sums { first: convert(self.first), tiles: convert(self.tiles) }
    }
}

impl Sums<f64> {
    fn join(mut self, other: Self) -> Self {
        self.first.iter_mut().zip(&other.first).for_each(|(sum, x)| *sum += x);
        self.tiles.iter_mut().zip(&other.tiles).for_each(|(sum, x)| *sum += x);
        self
    }
}

/// What has come of one type of values: blocks added up, and the samples of a block begun.
struct Kind<V: Stored> {
    /// One of each channel; none before the first block.
    sums: Vec<Sums<V::Sum>>,
    begun: Vec<V>,
    packed: Packed<V::Factor>,
}

impl<V: Stored> Default for Kind<V> {
    fn default() -> Self {
        let packed = Packed { strips: Vec::new(), transposed: Vec::new(), sums: Vec::new() };
        Self { sums: Vec::new(), begun: Vec::new(), packed }
    }
}

impl<V: Stored> Kind<V> {
    fn add(&mut self, mut values: &[V], channels: usize, dim: usize) -> Result<(), MomentsError> {
        self.prepare(channels, dim)?;
        let block = V::BLOCK * channels * dim;
        if !self.begun.is_empty() {
            let (first, rest) = values.split_at(values.len().min(block - self.begun.len()));
            self.begun.extend_from_slice(first);
            values = rest;
            if self.begun.len() == block {
                self.flush(channels, dim)?;
            }
        }
        let (blocks, rest) = values.split_at(values.len() / block * block);
        blocks.chunks_exact(block).for_each(|block| self.add_block(block, channels, dim));
        self.begun.extend_from_slice(rest);
        Ok(())
    }

    fn prepare(&mut self, channels: usize, dim: usize) -> Result<(), MomentsError> {
        let strips = dim.div_ceil(TILE);
        while self.sums.len() < channels {
            let first = zeros(strips * TILE);
            let tiles = zeros(strips * (strips + 1) / 2 * TILE * TILE);
            let sums = first.zip(tiles).map(|(first, tiles)| Sums { first, tiles });
            self.sums.push(sums.ok_or(MomentsError::TooLarge { channels, dim })?);
        }
        Ok(())
    }

    /// Adds the block begun, however many samples it has.
    fn flush(&mut self, channels: usize, dim: usize) -> Result<(), MomentsError> {
        let mut begun = std::mem::take(&mut self.begun);
        if !begun.is_empty() {
            self.prepare(channels, dim)?;
            self.add_block(&begun, channels, dim);
        }
        begun.clear();
        self.begun = begun;
        Ok(())
    }

    /// Adds at most [`Stored::BLOCK`] samples.
    fn add_block(&mut self, values: &[V], channels: usize, dim: usize) {
        let n = values.len() / (channels * dim);
        let isa = Isa::detect();
        for (channel, sums) in self.sums.iter_mut().enumerate() {
            let packed = &mut self.packed;
            packed.pack(n, dim, |sample| &values[(sample * channels + channel) * dim..][..dim]);
            for (sum, moved) in sums.first.iter_mut().zip(&packed.sums) {
                *sum = V::add_first(*sum, *moved, n);
            }
            let places: Vec<(usize, usize)> = tile_places(dim).collect();
            let tiles = sums.tiles.par_chunks_exact_mut(TILE * TILE).zip(places);
            tiles.for_each(|(tile, (a, b))| {
                let block = packed.tile(isa, a, b, n);
                let (xs, ys) = (&packed.sums[a * TILE..][..TILE], &packed.sums[b * TILE..][..TILE]);
                for ((row, block), x) in tile.chunks_exact_mut(TILE).zip(block.chunks_exact(TILE)).zip(xs) {
                    for ((sum, moved), y) in row.iter_mut().zip(block).zip(ys) {
                        *sum = V::add_second(*sum, *moved, *x, *y, n);
                    }
                }
            });
        }
    }
}

/// A block of samples of one channel as factors: strips of [`TILE`] values. What pads the last strip is never read out.
struct Packed<T> {
    /// Strip after strip, in each sample after sample.
    strips: Vec<T>,
    /// Strip after strip, in each value after value.
    transposed: Vec<T>,
    /// Σx of each value.
    sums: Vec<T>,
}

impl<T: Real> Packed<T> {
    /// Packs n samples.
    fn pack<'a, V: Stored<Factor = T> + 'a>(
        &mut self,
        n: usize,
        dim: usize,
        sample: impl Fn(usize) -> &'a [V] + Sync,
    ) {
        let strips = dim.div_ceil(TILE);
        self.strips.resize(strips * n * TILE, T::default());
        self.transposed.resize(strips * n * TILE, T::default());
        self.sums.resize(strips * TILE, T::default());
        let places = self.strips.par_chunks_exact_mut(n * TILE);
        let places = places.zip(self.transposed.par_chunks_exact_mut(n * TILE));
        places.zip(self.sums.par_chunks_exact_mut(TILE)).enumerate().for_each(
            |(p, ((strip, transposed), sums))| {
                let range = p * TILE..dim.min((p + 1) * TILE);
                let mut total = [T::default(); TILE];
                for (s, row) in strip.as_chunks_mut::<TILE>().0.iter_mut().enumerate() {
                    let values = &sample(s)[range.clone()];
                    if let Ok(values) = <&[V; TILE]>::try_from(values) {
                        *row = values.map(V::factor);
                    } else {
                        row.iter_mut().zip(values).for_each(|(out, value)| *out = value.factor());
                    }
                    for i in 0..TILE {
                        total[i] += row[i];
                    }
                }
                sums.copy_from_slice(&total);
                transpose(strip, transposed, n);
            },
        );
    }

    /// Σ x·y over the block, for x in strip a and y in strip b.
    fn tile(&self, isa: Isa, a: usize, b: usize, n: usize) -> [T; TILE * TILE] {
        let depth = INNERMOST / (TILE * size_of::<T>());
        let left = &self.transposed[a * n * TILE..][..n * TILE];
        let right = &self.strips[b * n * TILE..][..n * TILE];
        let mut tile = [T::default(); TILE * TILE];
        for (part, right) in right.chunks(depth * TILE).enumerate() {
            let range = part * depth..part * depth + right.len() / TILE;
            for (out, left) in tile.chunks_exact_mut(ROWS * TILE).zip(left.chunks_exact(ROWS * n)) {
                let rows: [&[T]; ROWS] = std::array::from_fn(|r| &left[r * n..][range.clone()]);
                add_rows_times(isa, &rows, right, TILE, out);
            }
        }
        tile
    }
}

/// `transposed` ← `strip`ᵀ, n × [`TILE`] to [`TILE`] × n, in squares that stay in the innermost cache.
fn transpose<T: Real>(strip: &[T], transposed: &mut [T], n: usize) {
    const SQUARE: usize = 16;
    for start in (0..n).step_by(SQUARE) {
        let rows = strip[start * TILE..].chunks_exact(TILE).take(SQUARE);
        for (s, row) in rows.enumerate() {
            for (column, value) in transposed.chunks_exact_mut(n).zip(row) {
                column[start + s] = *value;
            }
        }
    }
}
