//! Normals in double precision, with a written-out error: the second and third stage of the sampler.
//!
//! **Problem.** Single precision leaves open in which cell of the grid s·N + φ lies. Decide it from the same 60 bits in
//! double precision, or from 64 more bits for each of u and θ.
//!
//! **The numbers.** u = (W + e)/2³⁰ with W = ⌊a/4⌋ and e in [0, 1) given by further bits; θ = π/4 + τ·(π/4)/2²⁹ with
//! τ = T + e', T the low thirty bits of b as a signed number, e' in [0, 1) given by further bits. The cell of T is
//! [T, T + 1), since bits are appended. (N₁, N₂) = √(−2 ln u)·(± cos θ, ± sin θ) are two independent normals for uniform real
//! u and θ; here ρ = √(−ln u) and D = √2·cos θ or √2·sin θ. With 64 bits of e and e' the middle of the cell of 94 bits is
//! taken. Only the operations of IEEE 754 are used, fused where they are written so, and no function of a library: this
//! file is the same on every machine, operation by operation, and says which draws are undecided.
//!
//! **Error of a normal**, in units of 2⁻⁵³, for u ≥ 2⁻⁴⁶ (so |N| < 8):
//! * *−ln u, v = 1 − u < 0.29*: v rounded once, 2 − v and the quotient w once each: w is within 3.2 relative (a relative
//!   change of v is one of at most 1.17 times that of w). The series of 2·atanh(w), |w| < 0.1697, with eleven terms leaves
//!   out 10⁻¹⁸ relative; Horner's scheme errs by 1.06 relative, the product by 1: 5.5 relative in all, and with the root
//!   (half of it, and a rounding) ρ by 3.8 relative, where ρ < 0.59: 2.3.
//! * *−ln u elsewhere*: u rounded once, 1 absolute in the logarithm; with u = 2ᵏ·m, √½ ≤ m < √2, m − 1 is exact,
//!   w = (m − 1)/(m + 1) within 2 relative, ln m within 4.1 relative, 1.5 absolute; fl(ln 2) is off by less than ½ a unit, |k|
//!   times; the last sum is rounded once. With |k| ≤ ρ²/ln 2 + ½ that makes (2.5 + ½|k| + ρ²)/(2ρ) + ρ ≤ 1.9ρ + 1.4/ρ for
//!   ρ, which is at most 11 for 0.58 ≤ ρ < 5.66.
//! * *D*: the angle φ = θ − π/4 carries three roundings, 3 relative, 2.4 absolute, and D' ≤ √2 makes 3.4 of it. The sine
//!   errs by 0.9 beyond that (the series leaves out 10⁻¹⁹), the cosine by 1.3, their sum or difference by 1: below 7.
//! * *ρ·D*: √2·11 + 7·5.66 + 8 < 64, the product rounded once.
//! * *The cell*: half a cell of u, 2⁻⁹⁵, moves ρ by at most 2⁻⁹⁵/(2ρu) < 2 for u < 0.71. As u → 1, where ρ ≈ √v, by at
//!   most √2⁻⁹⁵ (in the last cell, v from 0 to 2⁻⁹⁴), and √2 times that is 64; the terms above are then below 10. Half a cell
//!   of θ moves N by less than 10⁻²⁷.
//!
//! So a normal is within 74 units of the number that the infinite string of bits stands for, whatever its later bits:
//! [`ERROR`] is 128.

/// 2⁻⁴⁶, a bound on the error of [`normals`], with room for the roundings of a comparison.
pub(super) const ERROR: f64 = 1.0 / 70_368_744_177_664.0;

/// 64 more bits for the radius and for the angle of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct MoreBits {
    pub(super) radius: u64,
    pub(super) angle: u64,
}

impl MoreBits {
    /// What stands for the middle of the cells of the first 60 bits.
    pub(super) const MIDDLE: Self = Self { radius: 1 << 63, angle: 1 << 63 };

    /// From the first four words of a block.
    pub(super) fn from_words([a, b, c, d]: [u32; 4]) -> Self {
        let join = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        Self { radius: join(a, b), angle: join(c, d) }
    }
}

/// A pair of normals and its ρ; none where u < 2⁻⁴⁶.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_wrap)] // rounding once is what is wanted; signed is
#[inline(always)]
pub(super) fn normals(a: u32, b: u32, more: MoreBits) -> Option<(f64, f64, f64)> {
    const UNIT: f64 = 1.0 / (1_u128 << 95) as f64;
    let u = u128::from(a >> 2) << 64 | u128::from(more.radius);
    if u >> 48 == 0 {
        return None;
    }
    // The middle of the cell, in units of 2⁻⁹⁵.
    let middle = u << 1 | 1;
    let rho = minus_logarithm(middle as f64 * UNIT, ((1 << 95) - middle) as f64 * UNIT).sqrt();
    let place = i128::from((b << 2) as i32 >> 2) << 64 | i128::from(more.angle);
    let (cosine, sine) = direction((2 * place + 1) as f64 * (std::f64::consts::FRAC_PI_4 * 2.0 * UNIT));
    let signed = |value: f64, negative: bool| if negative { -value } else { value };
    Some((signed(rho * cosine, b >> 31 == 1), signed(rho * sine, b >> 30 & 1 == 1), rho))
}

/// −ln u from u and 1 − u, each rounded once: u ≥ 2⁻¹⁰⁰.
#[inline(always)]
pub(super) fn minus_logarithm(u: f64, rest: f64) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    const ROOT: u64 = 0x3fe6_a09e_0000_0000;
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    if rest < 0.29 {
        return twice_artanh(rest / (2.0 - rest));
    }
    let bits = u.to_bits() + (ONE - ROOT);
    let k = i32::try_from(bits >> 52).unwrap_or(0) - 1023;
    let m = f64::from_bits((bits & FRACTION) + ROOT);
    -f64::from(k).mul_add(std::f64::consts::LN_2, twice_artanh((m - 1.0) / (m + 1.0)))
}

/// 2·artanh(w) = ln((1 + w)/(1 − w)) for |w| < 0.172.
#[inline(always)]
fn twice_artanh(w: f64) -> f64 {
    let z = w * w;
    let series = (0..11).rev().fold(0.0, |sum: f64, j| sum.mul_add(z, 1.0 / f64::from(2 * j + 1)));
    2.0 * w * series
}

/// √2·cos(π/4 + φ) and √2·sin(π/4 + φ), which are cos φ ∓ sin φ, for |φ| ≤ π/4.
#[inline(always)]
pub(super) fn direction(phi: f64) -> (f64, f64) {
    const SINE: [f64; 8] = [
        -1.0 / 6.0,
        1.0 / 120.0,
        -1.0 / 5_040.0,
        1.0 / 362_880.0,
        -1.0 / 39_916_800.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 1_307_674_368_000.0,
        1.0 / 355_687_428_096_000.0,
    ];
    const COSINE: [f64; 9] = [
        1.0,
        -0.5,
        1.0 / 24.0,
        -1.0 / 720.0,
        1.0 / 40_320.0,
        -1.0 / 3_628_800.0,
        1.0 / 479_001_600.0,
        -1.0 / 87_178_291_200.0,
        1.0 / 20_922_789_888_000.0,
    ];
    let z = phi * phi;
    let horner = |all: &[f64]| all.iter().rev().fold(0.0, |sum: f64, c| sum.mul_add(z, *c));
    let sine = (phi * z).mul_add(horner(&SINE), phi);
    let cosine = horner(&COSINE);
    (cosine - sine, cosine + sine)
}

/// The whole number nearest to s·N + φ, where `normal` is within `error` of N; none where that leaves it open. The error
/// covers the rounding of the tolerance itself.
#[inline(always)]
pub(super) fn cell(normal: f64, cells: f64, fraction: f64, error: f64) -> Option<f32> {
    let t = cells.mul_add(normal, fraction);
    let k = t.round_ties_even();
    // t − k is exact. t is rounded once.
    let tolerance = cells * error + t.abs() * (f64::EPSILON / 2.0);
    #[allow(clippy::cast_possible_truncation)] // below 2²⁰
    (((t - k).abs()) <= 0.5 - tolerance).then_some(k as f32)
}

/// How far N may be from the normal in the middle of a cell of 60 bits that is not rare (`normals.rs`), beyond
/// [`ERROR`]. Half a cell moves ρ by at most ¼/(ρ·(W + ½)), to within 0.3 % as its slope changes across the cell, and θ by
/// (π/8)/2²⁹, hence N by √2 times the first and √2·ρ times the second, 1.035·10⁻⁹.
#[inline(always)]
pub(super) fn width_of_cell(a: u32, rho: f64) -> f64 {
    1.02 * std::f64::consts::SQRT_2 * 0.25 / (rho * (f64::from(a >> 2) + 0.5)) + 1.1e-9 * rho
}
