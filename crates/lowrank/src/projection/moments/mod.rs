//! First and second moments of samples, channel by channel, streamed: what principal components are computed from.
//!
//! **Problem.** For samples x ∈ R^dim of a channel: (1/N) Σ x and (1/N) Σ x·xᵀ, half a matrix product.
//!
//! **Guarantee.** Sums over bytes are exact, as are sums over `i16` up to 2²³ samples of the largest size, and each
//! moment is rounded only when it is divided by N and multiplied by the scale. Other sums run in double precision over
//! blocks of fixed size, in the order of the samples. So the moments depend neither on the number of threads nor on
//! how the samples are split over calls.
//!
//! **How bytes stay exact in single precision.** They are moved by 128 to lie in −128..=127. Then every partial sum
//! of `EXACT_BYTES` products is at most 2²⁴ in size, which `f32` holds exactly: twice as fast as `f64`. Blocks are
//! added up in `f64`, and the sum is moved back at the end, Σxy = Σ(x − c)(y − c) + c·Σ(x − c) + c·Σ(y − c) + c²·N.

mod packed;

use crate::linalg::kernel::Isa;
use crate::memory::MemoryLimit;
use gambeson_checker::kernel::self_product::mirror_lower;
use packed::{EXACT_BYTES, Packed, Stored, TILE};
use rayon::prelude::*;
use thiserror::Error;

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
        "second moments of {channels} channels of {dim} values do not fit into memory; take fewer values per sample"
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
    /// There were no samples.
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

/// Adds up samples as they come. Needs no more memory than the sums and one block of samples.
pub struct MomentsAccumulator {
    channels: usize,
    dim: usize,
    scale: f64,
    count: u64,
    bytes: PartialSums<u8>,
    shorts: PartialSums<i16>,
    reals: PartialSums<f32>,
}

impl MomentsAccumulator {
    /// For samples of `channels` channels of `dim` values, each to be multiplied by `scale`. Sums beyond `memory` are refused.
    pub fn new(channels: usize, dim: usize, scale: f64, memory: MemoryLimit) -> Result<Self, MomentsError> {
        if channels == 0 || dim == 0 {
            return Err(MomentsError::EmptyShape { channels, dim });
        }
        if !(1e-60..=1e60).contains(&scale) {
            return Err(MomentsError::BadScale { scale });
        }
        let sample = channels.checked_mul(dim);
        let entries = sample.and_then(|sample| sample.checked_mul(dim)?.checked_mul(2 * size_of::<f64>()));
        let block = sample.and_then(|sample| sample.checked_mul(EXACT_BYTES));
        if entries.max(block).is_none_or(|bytes| !memory.allows(bytes as u64)) || block.is_none() {
            return Err(MomentsError::TooLarge { channels, dim });
        }
        let (bytes, shorts, reals) = (PartialSums::default(), PartialSums::default(), PartialSums::default());
        Ok(Self { channels, dim, scale, count: 0, bytes, shorts, reals })
    }

    /// Adds whole samples, any number of them. After an error nothing has been added.
    pub fn add(&mut self, samples: Samples<'_>) -> Result<(), MomentsError> {
        let (channels, dim) = (self.channels, self.dim);
        let found = samples.len();
        if !found.is_multiple_of(channels * dim) {
            return Err(MomentsError::PartialSample { found, channels, dim });
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
        self.count += (found / (channels * dim)) as u64;
        Ok(())
    }

    /// The moments, one per channel.
    pub fn finish(mut self) -> Result<Vec<Moments>, MomentsError> {
        if self.count == 0 {
            return Err(MomentsError::NoSamples);
        }
        let (channels, dim) = (self.channels, self.dim);
        self.bytes.flush(channels, dim);
        self.shorts.flush(channels, dim);
        self.reals.flush(channels, dim);
        let kinds = [self.bytes.into_sums(), self.shorts.into_sums(), self.reals.into_sums()];
        let mut kinds = kinds.map(Vec::into_iter);
        let divisor = self.count as f64;
        let moments = (0..channels).map(|_| {
            let sums = kinds.iter_mut().filter_map(Iterator::next).reduce(|sums, other| sums.join(&other));
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

/// Zeros, or None where memory does not suffice.
fn zeros(length: usize) -> Option<Vec<f64>> {
    let mut values = Vec::new();
    values.try_reserve_exact(length).ok()?;
    values.resize(length, 0.0);
    Some(values)
}

/// Sums of one channel: of the values, padded to whole strips, and of their products, tile by tile.
struct Sums {
    first: Vec<f64>,
    tiles: Vec<f64>,
}

impl Sums {
    fn join(mut self, other: &Self) -> Self {
        self.first.iter_mut().zip(&other.first).for_each(|(sum, x)| *sum += x);
        self.tiles.iter_mut().zip(&other.tiles).for_each(|(sum, x)| *sum += x);
        self
    }

    /// From sums over x − c to sums over x, of n values x.
    fn moved_back(mut self, c: f64, n: u64) -> Self {
        let n = n as f64;
        let places = tile_places(self.first.len());
        for ((a, b), tile) in places.zip(self.tiles.chunks_exact_mut(TILE * TILE)) {
            for (row, x) in tile.chunks_exact_mut(TILE).zip(&self.first[a * TILE..]) {
                for (sum, y) in row.iter_mut().zip(&self.first[b * TILE..]) {
                    *sum += c * (x + y) + c * c * n;
                }
            }
        }
        self.first.iter_mut().for_each(|sum| *sum += c * n);
        self
    }
}

/// The samples of one type of values so far: whole blocks added up, and the samples of the block begun.
struct PartialSums<V: Stored> {
    /// Sums of the values less their middle, one per channel; empty before the first sample.
    sums: Vec<Sums>,
    count: u64,
    begun: Vec<V>,
    packed: Packed<V::Factor>,
}

impl<V: Stored> Default for PartialSums<V> {
    fn default() -> Self {
        Self { sums: Vec::new(), count: 0, begun: Vec::new(), packed: Packed::default() }
    }
}

impl<V: Stored> PartialSums<V> {
    fn add(&mut self, mut values: &[V], channels: usize, dim: usize) -> Result<(), MomentsError> {
        let strips = dim.div_ceil(TILE);
        while self.sums.len() < channels {
            let first = zeros(strips * TILE);
            let tiles = zeros(strips * (strips + 1) / 2 * TILE * TILE);
            let sums = first.zip(tiles).map(|(first, tiles)| Sums { first, tiles });
            self.sums.push(sums.ok_or(MomentsError::TooLarge { channels, dim })?);
        }
        let block = V::BLOCK * channels * dim;
        if !self.begun.is_empty() {
            let (first, rest) = values.split_at(values.len().min(block - self.begun.len()));
            self.begun.extend_from_slice(first);
            values = rest;
            if self.begun.len() == block {
                self.flush(channels, dim);
            }
        }
        let (blocks, rest) = values.split_at(values.len() / block * block);
        blocks.chunks_exact(block).for_each(|block| self.add_block(block, channels, dim));
        self.begun.extend_from_slice(rest);
        Ok(())
    }

    /// Adds the block begun, however many samples it has.
    fn flush(&mut self, channels: usize, dim: usize) {
        let mut begun = std::mem::take(&mut self.begun);
        if !begun.is_empty() {
            self.add_block(&begun, channels, dim);
        }
        begun.clear();
        self.begun = begun;
    }

    /// Adds at most [`Stored::BLOCK`] samples.
    fn add_block(&mut self, values: &[V], channels: usize, dim: usize) {
        let n = values.len() / (channels * dim);
        self.count += n as u64;
        let isa = Isa::detect();
        for (channel, sums) in self.sums.iter_mut().enumerate() {
            let packed = &mut self.packed;
            packed.pack(n, dim, |sample| &values[(sample * channels + channel) * dim..][..dim]);
            for part in packed.sums.chunks_exact(sums.first.len()) {
                sums.first.iter_mut().zip(part).for_each(|(sum, &x)| *sum += x.into());
            }
            let places: Vec<(usize, usize)> = tile_places(dim).collect();
            let tiles = sums.tiles.par_chunks_exact_mut(TILE * TILE).zip(places);
            tiles.for_each(|(tile, place)| packed.add_tile(isa, place, n, tile));
        }
    }

    fn into_sums(self) -> Vec<Sums> {
        let (middle, count) = (V::MIDDLE, self.count);
        self.sums.into_iter().map(|sums| sums.moved_back(middle, count)).collect()
    }
}
