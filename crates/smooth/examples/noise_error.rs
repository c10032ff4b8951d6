//! The errors of single-precision normals, by enumeration: a theorem, not an estimate.
//!
//! For each of the 2³⁰ words of a radius that are not rare, and each of the 2³⁰ of an angle, what `noise/normals.rs` computes
//! is compared with the true value at both ends of the word's cell; the true value is monotone in between. True values are
//! those of `noise/refine.rs`, whose own error, written out there, is below 10⁻¹⁴. Both files are compiled as they are.
//!
//! `cargo run --release -p gambeson-smooth --example noise_error` (one or two minutes); its output is
//! `results/noise-error.txt`. Ends with an error if a bound that the sampler relies on does not hold.

#![allow(unsafe_code, clippy::print_stdout)]

#[allow(dead_code)]
#[path = "../src/noise/normals.rs"]
mod normals;
#[allow(dead_code)]
#[path = "../src/noise/refine.rs"]
mod refine;

use rayon::prelude::*;
use std::time::Instant;

const WORDS: u64 = 1 << 30;
/// Words of one task.
const PART: u64 = 1 << 20;
/// More than the error of the true values.
const SLACK: f64 = 1e-14;
/// The direction, times √2, is within this of the true one.
const DIRECTION: f64 = 2.08e-7;
/// No normal of words that are not rare is off by more.
const NORMAL: f64 = 2.06e-6;
/// What stage 1 has to spare.
const MARGIN: f64 = 1e-8;
/// Bins of ρ, of width ¼.
const BINS: usize = 16;

/// √(−ln(W/2³⁰)), from exact W/2³⁰ and 1 − W/2³⁰.
#[inline(always)]
fn rho(w: u64) -> f64 {
    let unit = 1.0 / WORDS as f64;
    refine::minus_logarithm(w as f64 * unit, (WORDS - w) as f64 * unit).sqrt()
}

/// By bin of ρ, the worst error of the radius over words from `first` that are not rare, and, last, the most that is missing
/// from what stage 1 allows for words that are not wide (negative where all is well).
#[inline(always)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // words of 32 bits; bins below 16
fn radii(first: u64) -> [f64; BINS + 1] {
    let mut worst = [0.0_f64; BINS + 1];
    worst[BINS] = f64::NEG_INFINITY;
    // The least words are rare; 0 itself has no logarithm.
    let mut low = if first == 0 { f64::NAN } else { rho(first) };
    for w in first..first + PART {
        let high = rho(w + 1);
        let word = (w as u32) << 2;
        if !normals::is_rare(word) {
            let radius = normals::radius(word);
            let computed = f64::from(radius);
            let error = worse((computed - low).abs(), (computed - high).abs());
            let bin = &mut worst[(4.0 * low) as usize];
            *bin = worse(*bin, error);
            if !normals::is_wide(word) {
                let missing = needed(error, computed) - allowed(radius);
                // What is no number stays: infinite.
                worst[BINS] = worst[BINS].max(if missing.is_nan() { f64::INFINITY } else { missing });
            }
        }
        low = high;
    }
    worst
}

/// What a normal of radius `r` may be off that errs by `error`, and its product with s, relative to s.
#[inline(always)]
fn needed(error: f64, r: f64) -> f64 {
    let roundings = std::f64::consts::SQRT_2 / 8_388_608.0 * 1.000_001;
    std::f64::consts::SQRT_2 * error + (DIRECTION + roundings) * r + MARGIN + SLACK
}

/// What stage 1 allows for, from the square as it computes it.
#[inline(always)]
fn allowed(radius: f32) -> f64 {
    normals::LEAST + normals::GROWTH * f64::from(radius * radius)
}

/// The larger error; what is no number is the worst there is.
#[inline(always)]
fn worse(a: f64, b: f64) -> f64 {
    // One comparison that fails for NaN, so that the loops stay as fast.
    let larger = if a > b { a } else { b };
    if a + b >= 0.0 { larger } else { f64::INFINITY }
}

/// The worst errors of √2·cos θ and √2·sin θ over places from `first` − 2²⁹.
#[inline(always)]
#[allow(clippy::cast_possible_wrap, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // thirty bits
fn directions(first: u64) -> [f64; 2] {
    let half = WORDS as i64 / 2;
    let truth = |place: i64| refine::direction(place as f64 * (std::f64::consts::FRAC_PI_4 / half as f64));
    let mut worst = [0.0_f64; 2];
    let mut low = truth(first as i64 - half);
    for c in first as i64 - half..first as i64 - half + PART as i64 {
        let high = truth(c + 1);
        let (cosine, sine) = normals::turned(1.0, c as u32 & 0x3fff_ffff);
        let (cosine, sine) = (f64::from(cosine), f64::from(sine));
        worst[0] = worse(worst[0], worse((cosine - low.0).abs(), (cosine - high.0).abs()));
        worst[1] = worse(worst[1], worse((sine - low.1).abs(), (sine - high.1).abs()));
        low = high;
    }
    worst
}

/// The same loops with fused multiply-adds in hardware: the bits are the same, a hundred times sooner.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn radii_fma(first: u64) -> [f64; BINS + 1] {
    radii(first)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn directions_fma(first: u64) -> [f64; 2] {
    directions(first)
}

fn worst<const N: usize>(part: impl Fn(u64) -> [f64; N] + Sync) -> [f64; N] {
    let join = |a: [f64; N], b: [f64; N]| std::array::from_fn(|i| a[i].max(b[i]));
    (0..WORDS / PART).into_par_iter().map(|at| part(at * PART)).reduce(|| [f64::NEG_INFINITY; N], join)
}

fn main() {
    #[cfg(target_arch = "x86_64")]
    let fma = std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma");
    let started = Instant::now();
    let radius = worst(|first| {
        #[cfg(target_arch = "x86_64")]
        if fma {
            // SAFETY: AVX2 and FMA were found.
            return unsafe { radii_fma(first) };
        }
        radii(first)
    });
    println!("Worst errors of single-precision normals over all words, by enumeration.\n");
    println!(
        "radius sqrt(-ln u), all 2^30 words but the rare ones (u < 2^-13, 1 - u < 2^-23), both ends of each cell:"
    );
    let (by_bin, missing) = (&radius[..BINS], radius[BINS]);
    for (bin, error) in by_bin.iter().enumerate().filter(|(_, error)| **error > 0.0) {
        println!("  rho in [{:.2}, {:.2})  {error:.4e}", bin as f64 / 4.0, (bin + 1) as f64 / 4.0);
    }
    let seconds = started.elapsed().as_secs_f64();
    let radius = by_bin.iter().copied().fold(0.0, f64::max);
    println!("  all                 {radius:.6e}; {seconds:.0} s");
    let started = Instant::now();
    let [cosine, sine] = worst(|first| {
        #[cfg(target_arch = "x86_64")]
        if fma {
            // SAFETY: AVX2 and FMA were found.
            return unsafe { directions_fma(first) };
        }
        directions(first)
    });
    let direction = cosine.max(sine);
    println!("direction sqrt(2) cos, sqrt(2) sin, all 2^30 words, both ends of each cell:");
    println!(
        "  cosine {cosine:.6e}, sine {sine:.6e}, bound {DIRECTION:e}; {:.0} s",
        started.elapsed().as_secs_f64()
    );
    println!(
        "normal, all radii but the wide ones (u < 2^-13, 1 - u < 2^-16): sqrt(2) * error + ({DIRECTION:e} + 2^-23 * sqrt(2)) * r + {MARGIN:e}"
    );
    println!("  is below {:e} + {:e} * r^2 by {:.4e} or more", normals::LEAST, normals::GROWTH, -missing);
    assert!(missing <= 0.0, "the bound on normals does not hold");
    assert!(direction + SLACK <= DIRECTION, "the bound on the direction does not hold");
    // r < 3.003 and |n| < 4.25, but for rare words.
    let all = 4.25 / 16_777_216.0 + 3.003 * DIRECTION + std::f64::consts::SQRT_2 * (radius + SLACK);
    println!(
        "  all but the rare ones: 2^-24 * 4.25 + 3.003 * {DIRECTION:e} + sqrt(2) * radius = {all:.4e}, bound {NORMAL:e}"
    );
    assert!(all <= NORMAL, "the bound on all normals does not hold");
    println!("All bounds hold.");
}
