//! A stream of single-precision normals, for training: fast, reproducible, nearly Gaussian, and no part of any proof.
//!
//! Normals are those of `normals.rs`; where a cell is too wide for single precision (rare words, one pair in 8,000) 64 more bits say where in it.
//! The normals of a draw of r coordinates can be coupled to exactly Gaussian ones with ‖difference‖_∞ < 2.3·10⁻⁶, except
//! with a probability of r·2⁻⁷². Streams and order are those of [`noise`](super), under a name of their own.
//!
//! A normal takes about 0.8 ns on AVX-512, 1.4 ns on AVX2; 25 ns where there are no fused multiply-adds (x86-64 before
//! 2013), which are then computed in software.

use super::chacha::{self, Key, Words};
use super::normals::{is_rare, pair, rare_radius, turned};
use super::stream::{Draw, PAIRS, key};

/// The sixteen bytes of the keys besides seed and input.
const NAME: &str = "gambeson noise 2";

/// The noise of one input in training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noise {
    key: Key,
}

impl Noise {
    /// For input `input` of a run with seed `seed`.
    pub fn new(seed: u64, input: u64) -> Self {
        Self { key: key(seed, input, NAME) }
    }

    /// Independent standard normals, one per coordinate.
    pub fn standard(&self, draw: Draw, out: &mut [f32]) {
        dispatch(&self.key, draw.stream(), out);
    }
}

/// The same loop, compiled for the instructions the machine has.
#[allow(unsafe_code)]
pub(super) fn dispatch(key: &Key, stream: u64, out: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512vl") && has!("avx512dq") && has!("fma") {
            // SAFETY: these features were just found, and AVX-512F includes AVX2.
            return unsafe { fill_avx512(key, stream, out) };
        }
        if has!("avx2") && has!("fma") {
            // SAFETY: AVX2 and FMA were just found.
            return unsafe { fill_avx2(key, stream, out) };
        }
    }
    fill(key, stream, out, |counter, words| chacha::portable(key, counter, stream, words));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,fma")]
fn fill_avx512(key: &Key, stream: u64, out: &mut [f32]) {
    fill(key, stream, out, |counter, words| chacha::avx512(key, counter, stream, words));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
pub(super) fn fill_avx2(key: &Key, stream: u64, out: &mut [f32]) {
    fill(key, stream, out, |counter, words| chacha::avx2(key, counter, stream, words));
}

/// Memory for one group, aligned so that no register is loaded from two cache lines.
#[repr(align(64))]
struct Group {
    random: Words,
    cosines: [f32; PAIRS],
    sines: [f32; PAIRS],
}

#[inline(always)]
pub(super) fn fill(key: &Key, stream: u64, out: &mut [f32], words: impl Fn(u64, &mut Words)) {
    let Group { random, cosines, sines } =
        &mut Group { random: [0; 2 * PAIRS], cosines: [0.0; PAIRS], sines: [0.0; PAIRS] };
    for (group, out) in out.chunks_mut(2 * PAIRS).enumerate() {
        words((group * chacha::BLOCKS) as u64, random);
        let (a, b) = random.split_at(PAIRS);
        // The last group may need fewer pairs, or no sines.
        let wanted = PAIRS.min(out.len());
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
        let (first, second) = out.split_at_mut(wanted);
        first.copy_from_slice(&cosines[..wanted]);
        second.copy_from_slice(&sines[..second.len()]);
    }
}
