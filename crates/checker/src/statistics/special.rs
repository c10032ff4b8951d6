//! Elementary functions with proven errors: ln, exp, and the remainder of Stirling's formula. The logarithms of the
//! standard library are accurate on most machines and guaranteed on none, so nothing proven rests on them.
//!
//! # Logarithm
//! x = 2^e·m with m in [0.707, 1.415], s = (m − 1)/(m + 1), w = s² ≤ 0.02948 < 2^−5.08, and
//! ln m = 2s·(1 + w/3 + w²·Q), Q = 1/5 + w/7 + …, in double-double ([`Double`], relative error 2⁻¹⁰² per operation)
//! except for w²·Q. Relative errors, against a sum of at least 1:
//! * the double-double operations, fewer than 16 of them: below 2⁻⁹⁸ together;
//! * w²·Q in `f64`, cut after w¹¹/27: Q is off by at most 8u = 2⁻⁵⁰ (each level is damped by w), the products by two
//!   roundings more: below 2^(−10.1 − 2.2 − 49.5) = 2^−61.8;
//! * the series is cut before w¹⁴/29: below 2⁻⁷⁵.
//!
//! With e = 0 that is a relative error below 2^−61.7 of ln x. With e ≠ 0, |ln x| ≥ 0.34 ≥ 0.98·|ln m|, and e·ln 2 is
//! good to 2⁻¹⁰⁰: below 2^−61.6. The claim, with room to spare: **[`LN_ERROR`] = 2⁻⁶¹, relative.**
//!
//! # Exponential
//! exp(t) = 2^j·e^r with |r| ≤ 0.35. r is computed in double-double and rounded once (2⁻⁵⁴ absolute), the Taylor
//! polynomial of degree 14 by Horner's rule: cut 2⁻⁶², coefficients and rounding below 4u. The claim:
//! **[`EXP_ERROR`] = 2⁻⁴⁹, relative,** for −700 ≤ t ≤ 700.
//!
//! # Stirling's formula
//! δ(m) = ln m! − (m + ½)·ln m + m − ½·ln 2π. Its asymptotic series envelops: the error of a partial sum is less
//! than the first term left out, and has its sign (Whittaker and Watson, section 12.33). From m = 16 on the seven terms
//! to m⁻¹³ leave less than 0.03·m⁻¹⁵ ≤ 2⁻⁶⁵; their Horner evaluation in `f64` loses less than 8u of at most 2^−7.5.
//! Below 16 it comes from a table of rounded values, at most 0.0811. The claim: **[`STIRLING_ERROR`] = 2⁻⁵⁶, absolute.**

use crate::rounding::{exponent, power_of_two};
use crate::statistics::double::Double;
use std::f64::consts::{LN_2, SQRT_2, TAU};

/// Relative error of [`ln`]: 2⁻⁶¹.
pub(crate) const LN_ERROR: f64 = f64::EPSILON / 512.0;
/// Relative error of [`exponential`]: 2⁻⁴⁹.
const EXP_ERROR: f64 = f64::EPSILON * 8.0;
/// Absolute error of [`stirling`]: 2⁻⁵⁶.
pub(crate) const STIRLING_ERROR: f64 = f64::EPSILON / 16.0;

const LN_TWO: Double = Double::new(LN_2, 2.319_046_813_846_299_6e-17);
/// ½·ln 2π.
pub(crate) const HALF_LN_TWO_PI: Double = Double::new(0.918_938_533_204_672_8, -3.878_294_158_067_241_4e-17);
/// 2π.
pub(crate) const TWO_PI: Double = Double::new(TAU, 2.449_293_598_294_706_4e-16);

const THIRD: Double = Double::new(0.333_333_333_333_333_3, 1.850_371_707_708_594e-17);

/// 1/5, 1/7, …, 1/27.
const LATER: [f64; 12] = {
    let (mut terms, mut j) = ([0.0; 12], 0);
    while j < 12 {
        terms[j] = 1.0 / (2 * j + 5) as f64;
        j += 1;
    }
    terms
};

/// ln x for positive, finite x. Relative error at most [`LN_ERROR`].
pub(crate) fn ln(x: Double) -> Double {
    let floor = exponent(x.hi);
    // In two steps: the exponent of a subnormal number has no power of two of its own.
    let half = -floor / 2;
    let unit = x.scaled(power_of_two(half)).scaled(power_of_two(-floor - half));
    let (m, e) = if unit.hi > SQRT_2 { (unit.scaled(0.5), floor + 1) } else { (unit, floor) };
    let one = Double::from(1.0);
    let s = (m - one) / (m + one);
    let w = s * s;
    let rest = LATER.iter().rev().fold(0.0, |sum, term| sum * w.hi + term);
    let series = w * THIRD + Double::from(w.hi * w.hi * rest);
    let mantissa = (s + s * series).scaled(2.0);
    if e == 0 { mantissa } else { LN_TWO * f64::from(e) + mantissa }
}

/// ln x of a positive, finite x, to the nearest `f64` or the next: the same bits on every machine.
pub fn logarithm(x: f64) -> f64 {
    ln(x.into()).hi
}

/// e^t within 2⁻⁴⁹ of itself for |t| ≤ 700, beyond it that of the nearest end; the same bits on every machine.
pub fn exponential(t: f64) -> f64 {
    let t = t.clamp(-700.0, 700.0);
    let whole = (t / LN_TWO.hi).round();
    let r = (Double::from(t) - LN_TWO * whole).hi;
    let series = (1..15).rev().fold(1.0, |sum, j| 1.0 + sum * r / f64::from(j));
    #[allow(clippy::cast_possible_truncation)] // at most 1011
    let power = power_of_two(whole as i32);
    series * power
}

/// e^t, rounded up, for t ≤ 700.
pub(crate) fn exp_up(t: f64) -> f64 {
    exponential(t) * (1.0 + 2.0 * EXP_ERROR)
}

/// δ(m), see the head of this file, for m ≥ 1. Absolute error at most [`STIRLING_ERROR`].
pub(crate) fn stirling(m: f64) -> f64 {
    const TERMS: [f64; 7] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    /// δ(1) to δ(15), rounded; a test derives them again from the factorials.
    const SMALL: [f64; 15] = [
        0.081_061_466_795_327_26,
        0.041_340_695_955_409_3,
        0.027_677_925_684_998_34,
        0.020_790_672_103_765_093,
        0.016_644_691_189_821_193,
        0.013_876_128_823_070_748,
        0.011_896_709_945_891_77,
        0.010_411_265_261_972_096,
        0.009_255_462_182_712_733,
        0.008_330_563_433_362_87,
        0.007_573_675_487_951_841,
        0.006_942_840_107_209_53,
        0.006_408_994_188_004_207,
        0.005_951_370_112_758_847_5,
        0.005_554_733_551_962_801,
    ];
    if m >= 16.0 {
        let inverse = 1.0 / m;
        let square = inverse * inverse;
        return inverse * TERMS.iter().rev().fold(0.0, |sum, term| sum * square + term);
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a whole number from 1 to 15
    SMALL[m as usize - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Log of a rational power: consistency of ln with exact identities, far below `f64`.
    #[test]
    fn logarithms_of_products_add_up() {
        let mut x = 1.0_f64;
        for i in 1..2000_u32 {
            x = (x * 1.618_033_988_749_895 + f64::from(i)) % 1e6 + 1e-3;
            let y = 1.0 / f64::from(i) + 1e-9 * x;
            let product = Double::product(x, y); // exact
            let (a, b, c) = (ln(x.into()), ln(y.into()), ln(product));
            let slack = 2.0 * LN_ERROR * (a.hi.abs() + b.hi.abs() + c.hi.abs());
            let gap = a + b - c;
            assert!(gap.hi.abs() <= slack, "ln {x} + ln {y}: off by {gap:?}, allowed {slack}");
        }
    }

    #[test]
    fn logarithms_agree_with_the_standard_library() {
        for x in
            [5e-324, 1e-310, 1e-300, 1e-12, 0.1, 0.7, 0.708, 1.0, 1.0 + 1e-15, 1.4141, 1.4143, 3.0, 1e300]
        {
            let (own, std) = (ln(x.into()).hi, x.ln());
            assert!((own - std).abs() <= 4e-16 * std.abs(), "{x}: {own} {std}");
        }
    }

    #[test]
    fn exponential_and_logarithm_are_inverse() {
        for i in -6900..=6900 {
            let t = f64::from(i) / 10.0 + 0.012_345;
            let x = exponential(t);
            let back = ln(x.into()) - Double::from(t);
            assert!(back.hi.abs() <= 1.001 * EXP_ERROR, "{t}: {x} is off by {}", back.hi);
            assert!((ln(exp_up(t).into()) - Double::from(t)).hi > 0.0);
        }
        assert!(exp_up(-1e6) > 0.0 && exponential(0.0) == 1.0);
    }

    #[test]
    fn stirling_is_the_logarithm_of_the_factorial() {
        let mut factorial = 1.0;
        for m in 1..=18 {
            let m = f64::from(m);
            factorial *= m; // exact up to 18!
            let main = ln(m.into()) * (m + 0.5) + HALF_LN_TWO_PI - Double::from(m);
            let exact = ln(factorial.into()) - main;
            // The logarithms themselves are good to 2⁻⁶¹ of up to 100.
            assert!((stirling(m) - exact.hi).abs() <= 1.5 * STIRLING_ERROR, "{m}: {} {exact:?}", stirling(m));
        }
        // δ(m) − δ(m + 1) = (m + ½)·ln((m + 1)/m) − 1 ties the table and the series together.
        for m in 1..200 {
            let m = f64::from(m);
            let ratio = Double::from(m + 1.0) / Double::from(m);
            let step = ln(ratio) * (m + 0.5) - Double::from(1.0);
            let own = stirling(m) - stirling(m + 1.0);
            assert!((own - step.hi).abs() <= 2.1 * STIRLING_ERROR, "{m}: {own} {}", step.hi);
        }
    }
}
