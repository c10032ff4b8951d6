//! Gaussian noise that is a function of (seed, input, draw, coordinate), and of nothing else.
//!
//! **Problem.** Draw d of input i must be the same vector whatever the number of threads, the size of a batch, the order
//! of inputs, and whether the run was resumed; and it must cost less than the smallest network it is given to.
//!
//! **Streams.** ChaCha8 with a 64-bit block counter and a 64-bit nonce. The key is the seed, the index of the input and
//! sixteen fixed bytes, so different pairs have different keys; the nonce is the draw, its highest bit set for selection
//! draws, so that no selection draw is an estimation draw. A pair of normals takes two words of 32 bits (`normals.rs`):
//! a fixed number, so every position is known without drawing what comes before. The 64 extra bits of a rare pair j are
//! the first two words of block 2⁶³ + j, which no other pair uses.
//!
//! **Order.** Sixteen blocks make a group of 256 coordinates, or 128 pairs. Pair p of a group takes word ⌊p/16⌋ of block
//! p mod 16 and, of the same block, the word eight further. Its cosine is coordinate p of the group, its sine
//! coordinate 128 + p. Where noise is added to the input of the classifier, coordinates are counted in the order in
//! which the classifier takes them; otherwise in that of the projection.
//!
//! **Rounding.** The centre is kept as high + low, two numbers of single precision; what that loses is bounded by the
//! checker and taken off the radius ([`Centre::error`]). The level σ is rounded up, which can only make a radius for σ
//! truer. The noise is fl(level·normal + low); its sum with high is rounded once, a function of the sum and so part of the
//! classifier, like everything after it.
//!
//! **Deviation from Gaussian.** The noise of a draw of r coordinates can be coupled to an exactly Gaussian one with
//! ‖difference‖_∞ < 3·10⁻⁶ levels, except with a probability of r·2⁻⁷²: 2.3·10⁻⁶ for the normals (`normals.rs`), and at
//! most 2⁻²⁴·11.5 for the rounding of the noise. Another 2⁻⁴⁸ of the number it is added to is less than 10⁻⁸ levels for
//! numbers up to 10⁶ levels. Certificates assume exact normals and independent words; this is how close they come.
//!
//! A normal takes about 0.9 ns on AVX-512, 1.4 ns on AVX2; 25 ns where there are no fused multiply-adds (x86-64 before
//! 2013), which are then computed in software. The tests compare with `rand_chacha` and with the formula in double
//! precision.

mod chacha;
mod normals;

use crate::input_map::{Affine, InputMap};
use chacha::{Key, Words};
use gambeson_checker::rounding::mul_up;
use gambeson_checker::{encoding_error_of_blocks, storage_error};
use normals::{is_rare, pair, rare_radius, turned};

/// Which draw of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// To choose the class, from 0.
    Selection(u64),
    /// To count it, from 0.
    Estimation(u64),
}

impl Draw {
    /// Nonce of the stream. Indices are below 2⁶³ as counts are.
    fn stream(self) -> u64 {
        match self {
            Self::Selection(index) => index | 1 << 63,
            Self::Estimation(index) => index & !(1 << 63),
        }
    }
}

/// What noise is added to: a row of numbers, and the level of the noise in each.
#[derive(Clone, Debug, PartialEq)]
pub struct Centre {
    /// The numbers, rounded.
    high: Vec<f32>,
    /// What rounding left.
    low: Vec<f32>,
    level: Vec<f32>,
    error: f64,
}

impl Centre {
    /// Noise of level σ around `values`, in the order and on the scale in which a classifier takes them.
    ///
    /// Panics unless the map takes as many values.
    pub fn new(values: &[f64], sigma: f64, map: Option<&InputMap>) -> Self {
        assert!(map.is_none_or(|map| map.dim() == values.len()), "one number per coordinate");
        let mut centre = Self {
            high: vec![0.0; values.len()],
            low: vec![0.0; values.len()],
            level: vec![0.0; values.len()],
            error: 0.0,
        };
        let mut errors = Vec::with_capacity(values.len());
        for (index, value) in values.iter().enumerate() {
            let plain = (index, Affine::IDENTITY);
            let (place, Affine { scale, shift }) = map.map_or(plain, |map| map.place(index));
            let (high, low) = split(scale * value + shift);
            (centre.high[place], centre.low[place]) = (high, low);
            centre.level[place] = level(sigma, scale);
            errors.push(storage_error(*value, scale, shift, high, low));
        }
        centre.error = encoding_error_of_blocks(errors);
        centre
    }

    /// Proven: what is stored is no further from the values than this, in ℓ2 and on their own scale; infinite where
    /// single precision cannot hold them.
    pub fn error(&self) -> f64 {
        self.error
    }
}

/// A number as the sum of two in single precision; infinite where it is too large.
#[allow(clippy::cast_possible_truncation)] // rounding is what is asked for
fn split(value: f64) -> (f32, f32) {
    let high = value as f32;
    (high, if high.is_finite() { (value - f64::from(high)) as f32 } else { 0.0 })
}

/// σ·scale, rounded up; infinite beyond the range of single precision.
#[allow(clippy::cast_possible_truncation)]
pub(crate) fn level(sigma: f64, scale: f64) -> f32 {
    let exact = mul_up(sigma, scale);
    let near = exact as f32;
    if f64::from(near) < exact { near.next_up() } else { near }
}

/// The noise of one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noise {
    key: Key,
}

/// Pairs of a group.
const PAIRS: usize = 128;
/// Name of these streams, and the sixteen bytes of their keys besides seed and input. Another way to make noise must
/// have another name.
pub const GENERATOR: &str = "gambeson noise 2";

impl Noise {
    /// For input `input` of a run with seed `seed`.
    pub fn new(seed: u64, input: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&input.to_le_bytes());
        bytes[16..].copy_from_slice(GENERATOR.as_bytes());
        let mut key = [0; 8];
        for (word, bytes) in key.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        Self { key }
    }

    /// Independent standard normals, one per coordinate.
    pub fn standard(&self, draw: Draw, out: &mut [f32]) {
        dispatch(&self.key, draw.stream(), &mut Standard { out });
    }

    /// `out` ← centre + level·g, g standard normal.
    ///
    /// Panics unless `centre` and `out` have the same length.
    pub fn perturb(&self, draw: Draw, centre: &Centre, out: &mut [f32]) {
        assert_eq!(centre.high.len(), out.len(), "one number per coordinate");
        dispatch(&self.key, draw.stream(), &mut Perturbed { centre, out });
    }
}

/// What is done with the normals.
trait Sink {
    fn len(&self) -> usize;
    /// Takes the normals of coordinates `first`, `first` + 1, …; those beyond the last mean nothing.
    fn take(&mut self, first: usize, normals: &[f32; PAIRS]);
}

struct Standard<'a> {
    out: &'a mut [f32],
}

impl Sink for Standard<'_> {
    fn len(&self) -> usize {
        self.out.len()
    }

    #[inline(always)]
    fn take(&mut self, first: usize, normals: &[f32; PAIRS]) {
        self.out[first..].iter_mut().zip(normals).for_each(|(out, normal)| *out = *normal);
    }
}

struct Perturbed<'a> {
    centre: &'a Centre,
    out: &'a mut [f32],
}

impl Sink for Perturbed<'_> {
    fn len(&self) -> usize {
        self.out.len()
    }

    #[inline(always)]
    fn take(&mut self, first: usize, normals: &[f32; PAIRS]) {
        let Centre { high, low, level, .. } = self.centre;
        let out = &mut self.out[first..];
        let all = out.iter_mut().zip(&high[first..]).zip(&low[first..]).zip(&level[first..]).zip(normals);
        all.for_each(|((((out, high), low), level), normal)| *out = level.mul_add(*normal, *low) + high);
    }
}

/// The same loop, compiled for the instructions the machine has.
#[allow(unsafe_code)]
fn dispatch(key: &Key, stream: u64, sink: &mut impl Sink) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512vl") && has!("avx512dq") && has!("fma") {
            // SAFETY: these features were just found, and AVX-512F includes AVX2.
            return unsafe { fill_avx512(key, stream, sink) };
        }
        if has!("avx2") && has!("fma") {
            // SAFETY: AVX2 and FMA were just found.
            return unsafe { fill_avx2(key, stream, sink) };
        }
    }
    fill(key, stream, sink, |counter, words| chacha::portable(key, counter, stream, words));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,fma")]
fn fill_avx512(key: &Key, stream: u64, sink: &mut impl Sink) {
    fill(key, stream, sink, |counter, words| chacha::avx512(key, counter, stream, words));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fill_avx2(key: &Key, stream: u64, sink: &mut impl Sink) {
    fill(key, stream, sink, |counter, words| chacha::avx2(key, counter, stream, words));
}

/// Memory for one group, aligned so that no register is loaded from two cache lines.
#[repr(align(64))]
struct Group {
    random: Words,
    cosines: [f32; PAIRS],
    sines: [f32; PAIRS],
}

#[inline(always)]
fn fill(key: &Key, stream: u64, sink: &mut impl Sink, words: impl Fn(u64, &mut Words)) {
    let Group { random, cosines, sines } =
        &mut Group { random: [0; 2 * PAIRS], cosines: [0.0; PAIRS], sines: [0.0; PAIRS] };
    for (group, first) in (0..sink.len()).step_by(2 * PAIRS).enumerate() {
        words((group * chacha::BLOCKS) as u64, random);
        let (a, b) = random.split_at(PAIRS);
        // The last group may need fewer pairs, or no sines.
        let wanted = PAIRS.min(sink.len() - first);
        // Index loops that do one thing each: compilers vectorise these.
        for p in 0..wanted {
            (cosines[p], sines[p]) = pair(a[p], b[p]);
        }
        let rare = a[..wanted].iter().fold(false, |rare, &a| rare | is_rare(a));
        if rare {
            for p in (0..wanted).filter(|&p| is_rare(a[p])) {
                let counter = 1 << 63 | (group * PAIRS + p) as u64;
                let [high, low, ..] = chacha::block(key, counter, stream);
                let radius = rare_radius(a[p], u64::from(high) << 32 | u64::from(low));
                (cosines[p], sines[p]) = turned(radius, b[p]);
            }
        }
        sink.take(first, cosines);
        if first + PAIRS < sink.len() {
            sink.take(first + PAIRS, sines);
        }
    }
}

#[cfg(test)]
mod tests;
