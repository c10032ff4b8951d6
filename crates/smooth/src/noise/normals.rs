//! Normals from random words, in single precision: Box and Muller (1958).
//!
//! A pair of normals is made of two words of 32 bits, a and b: √(−2 ln u)·(cos θ, sin θ).
//! * **u** is the middle of one of 2³⁰ cells of (0, 1): (2⌊a/4⌋ + 1)/2³¹.
//! * **θ**: the two highest bits of b are the signs, the others, as a signed number c, the place π/4 + c·(π/4)/2²⁹ in
//!   a quarter turn.
//! * **Rare words.** Where u < 2⁻¹³ or 1 − u < 2⁻²³ a cell is too wide for single precision: there 64 more random bits
//!   e say where in it, (⌊a/4⌋ + (e + ½)/2⁶⁴)/2³⁰. One pair in 8,000, in double precision.
//!
//! Polynomials of least maximal error (`tests/fixtures/make_polynomials.py`), written without tables or branches so that
//! loops over them run on vectors. Only the operations of IEEE 754 are used, fused multiply-adds where they are written
//! and nowhere else: every machine computes the same bits.
//!
//! **Error.** For words that are not rare, over all real u and θ of their cells ([W, W + 1)/2³⁰ for W = ⌊a/4⌋; [c, c + 1)
//! for the place of the angle), let r be what [`radius`] returns, e the most that it is off √(−ln u), and d the most that
//! the factors which [`turned`] applies are off √2·cos θ and √2·sin θ. A normal is then within √2·e + r·d of every normal of
//! its cells, and a rounding. Theorems by enumeration of all 2³⁰ words of each kind:
//! * d ≤ 2.08·10⁻⁷;
//! * √2·e + r·d + 2⁻²³·√2·r ≤ [`LEAST`] + [`GROWTH`]·r² for words that are not [wide](is_wide), with 10⁻⁸ to spare: what is
//!   decided by it would be decided by `refine.rs` too. The last term is the rounding of the normal, and that of its product
//!   with s, relative to s.
//!
//! `cargo run --release -p gambeson-smooth --example noise_error`, whose output is `results/noise-error.txt`. The true value
//! is monotone across a cell, so that its ends speak for all of it. No normal of words that are not rare is off by more than
//! 2.06·10⁻⁶. Rare ones, in [`super::plain`] only, are within 2.3·10⁻⁶ of the formula above, and none exceeds 11.5.

use std::f32::consts::{FRAC_PI_4, LN_2};

/// What a normal and its product with s may be off, relative to s, where its words are not wide: this, and r² times
/// [`GROWTH`].
pub(super) const LEAST: f64 = 3.3e-7;
/// See [`LEAST`].
pub(super) const GROWTH: f64 = 2.3e-7;

/// 2⁻³¹.
const UNIT: f32 = 1.0 / 2_147_483_648.0;
/// Bits of √½, where the range of mantissas begins.
const ROOT: u32 = 0x3f35_04f3;
const FRACTION: u32 = (1 << 23) - 1;
/// √½·2³¹: from there on u has fewer places than 1 − u.
const UPPER: i32 = 0x5a82_799a;

/// Whether a radius needs [`rare_radius`].
#[inline(always)]
pub(super) fn is_rare(a: u32) -> bool {
    a.wrapping_add(1 << 9) < (1 << 19) + (1 << 9)
}

/// Whether a cell is too wide for [`LEAST`] and [`GROWTH`]: rare words, and all with 1 − u < 2⁻¹⁶.
#[inline(always)]
pub(super) fn is_wide(a: u32) -> bool {
    a.wrapping_add(1 << 16) < (1 << 19) + (1 << 16)
}

/// Two independent standard normals.
#[inline(always)]
pub(super) fn pair(a: u32, b: u32) -> (f32, f32) {
    turned(radius(a), b)
}

/// √(−ln u).
#[inline(always)]
#[allow(clippy::cast_possible_wrap)] // below 2³¹
pub(super) fn radius(a: u32) -> f32 {
    let t = (a >> 1 | 1) as i32;
    // t = 2ᵏ(1 + f); near 2³¹, where that would cost f its places, t = 2³¹(1 + f).
    let bits = (t as f32).to_bits().wrapping_sub(ROOT);
    let k = (bits as i32 >> 23) as f32;
    let near = i32::MIN.wrapping_sub(t) as f32 * -UNIT;
    let f = if t >= UPPER { near } else { f32::from_bits((bits & FRACTION) + ROOT) - 1.0 };
    let series = polynomial(
        f,
        [
            -0.499_999_9,
            0.333_339_5,
            -0.250_017_55,
            0.199_620_72,
            -0.165_705_08,
            0.149_179_73,
            -0.143_075_21,
            0.087_348_43,
        ],
    );
    let logarithm = (f * f).mul_add(series, f);
    (31.0 - k).mul_add(LN_2, -logarithm).sqrt()
}

/// A radius √(−ln u), times √2 and the direction of b.
#[inline(always)]
#[allow(clippy::cast_possible_wrap)] // signed is what is wanted
pub(super) fn turned(radius: f32, b: u32) -> (f32, f32) {
    let phi = (b << 2) as i32 as f32 * (FRAC_PI_4 * UNIT);
    let z = phi * phi;
    let sine = (phi * z).mul_add(polynomial(z, [-0.166_666_55, 0.008_332_178, -0.000_195_172_98]), phi);
    let cosine = polynomial(z, [1.0, -0.499_998_96, 0.041_656_293, -0.001_359_782_2]);
    let signed = |value: f32, sign: u32| f32::from_bits(value.to_bits() ^ sign & 1 << 31);
    // √2·cos(π/4 + φ) and √2·sin(π/4 + φ).
    (signed(radius * (cosine - sine), b), signed(radius * (cosine + sine), b << 1))
}

/// c₀ + x(c₁ + x(c₂ + …)).
#[inline(always)]
fn polynomial<const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let (last, others) = (coefficients[N - 1], &coefficients[..N - 1]);
    others.iter().rev().fold(last, |sum, coefficient| sum.mul_add(x, *coefficient))
}

/// √(−ln u) of a rare word and the bits that say where in its cell.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)] // rounding is what is wanted
pub(super) fn rare_radius(a: u32, place: u64) -> f32 {
    const SCALE: f64 = 1.0 / (1_u128 << 95) as f64;
    let u = (u128::from(a >> 2) << 64 | u128::from(place)) << 1 | 1;
    let minus_logarithm = if a < 1 << 31 {
        -logarithm(u as f64 * SCALE)
    } else {
        let rest = ((1 << 95) - u) as f64 * SCALE;
        // −ln(1 − x), and x < 2⁻²²: the next term is 10⁻¹⁴ of the first, beyond the last place of the result.
        rest * 0.5_f64.mul_add(rest, 1.0)
    };
    minus_logarithm.sqrt() as f32
}

/// ln x for positive normal x below √½: x = 2ᵏ·m, and with s = (m − 1)/(m + 1) the series of ln((1 + s)/(1 − s)) = ln m.
fn logarithm(x: f64) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    const ROOT: u64 = 0x3fe6_a09e_0000_0000;
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    let bits = x.to_bits() + (ONE - ROOT);
    let k = i32::try_from(bits >> 52).unwrap_or(0) - 1023;
    let m = f64::from_bits((bits & FRACTION) + ROOT);
    let s = (m - 1.0) / (m + 1.0);
    // |s| < 0.1716: the term left out is below 3·10⁻¹⁷ of the first.
    let series = (0..10).rev().fold(0.0, |sum: f64, j| sum.mul_add(s * s, 1.0 / f64::from(2 * j + 1)));
    f64::from(k).mul_add(std::f64::consts::LN_2, 2.0 * s * series)
}
