//! Outward rounding: the only file that knows about units in the last place.
//!
//! Rust has no rounding modes, and needs none: IEEE 754 operations round to nearest, so the true result of one
//! operation lies between the neighbours of the computed one, `next_down` and `next_up`. That is one unit wider than
//! directed rounding and much easier to audit.

use crate::Rejected;
use std::hint::black_box;
use std::marker::PhantomData;

/// u = 2⁻⁵³, the relative error of one operation rounded to nearest.
pub(crate) const UNIT: f64 = f64::EPSILON / 2.0;

/// A bound on the absolute error that underflow adds to one operation. Gradual underflow costs at most
/// 2⁻¹⁰⁷⁵; this is 2⁻¹⁰²², which would cover even results flushed to zero.
pub(crate) const UNDERFLOW: f64 = f64::MIN_POSITIVE;

/// The next number above: no less than the true result of one operation that was rounded to x.
pub(crate) fn above(x: f64) -> f64 {
    x.next_up()
}

/// The next number below: no more than the true result of one operation that was rounded to x.
pub(crate) fn below(x: f64) -> f64 {
    x.next_down()
}

/// a + b, rounded up. A sum with zero is exact.
pub fn add_up(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { a + b } else { above(a + b) }
}

/// a − b, rounded down.
pub fn sub_down(a: f64, b: f64) -> f64 {
    below(a - b)
}

/// a · b, rounded up.
pub fn mul_up(a: f64, b: f64) -> f64 {
    above(a * b)
}

/// a · b, rounded down.
pub fn mul_down(a: f64, b: f64) -> f64 {
    below(a * b)
}

/// a / b, rounded up. Zero divided is exact.
pub fn div_up(a: f64, b: f64) -> f64 {
    if a == 0.0 { a / b } else { above(a / b) }
}

/// a / b, rounded down. Zero divided is exact.
pub fn div_down(a: f64, b: f64) -> f64 {
    if a == 0.0 { a / b } else { below(a / b) }
}

/// √a, rounded up. IEEE 754 rounds the square root correctly, as it does the four operations; √0 is exact.
pub fn sqrt_up(a: f64) -> f64 {
    if a == 0.0 { 0.0 } else { above(a.sqrt()) }
}

/// Σ values, rounded up, for values of any sign.
pub(crate) fn sum_up(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, add_up)
}

/// Σ values, rounded down, for values of any sign.
pub(crate) fn sum_down(values: impl IntoIterator<Item = f64>) -> f64 {
    -sum_up(values.into_iter().map(|value| -value))
}

/// The largest number not above a/b, for a ≥ 0 and b > 0; quotients below 2⁻⁹⁷⁰ may be one number lower.
///
/// q = fl(a/b) is one of the two neighbours of a/b, and too large where q·b − a > 0. A fused multiply-add rounds that
/// difference once, which keeps its sign unless it underflows. It is a multiple of ulp(q)·ulp(b) ≥ 2⁻¹⁰⁶·a, hence in
/// range for a ≥ 2⁻⁸⁰⁰; a smaller a is first multiplied by 2²⁰⁰ together with b < 2⁹⁷⁰·a, which is exact.
pub fn quotient_below(a: f64, b: f64) -> f64 {
    let nearest = a / b;
    if nearest < f64::MIN_POSITIVE / f64::EPSILON {
        return below(nearest).max(0.0);
    }
    let lift = if a < power_of_two(-800) { power_of_two(200) } else { 1.0 };
    if nearest.mul_add(b * lift, -a * lift) > 0.0 { below(nearest) } else { nearest }
}

/// The least number not below √n; for n above 2⁵³ it may be one number higher.
pub fn root_above(n: u64) -> f64 {
    let n = if n > 1 << f64::MANTISSA_DIGITS { above(n as f64) } else { n as f64 };
    let root = n.sqrt();
    if root.mul_add(root, -n) < 0.0 { above(root) } else { root }
}

/// The largest number not above √n; for n above 2⁵³ it may be one number lower.
pub fn root_below(n: u64) -> f64 {
    let n = if n > 1 << f64::MANTISSA_DIGITS { below(n as f64) } else { n as f64 };
    let root = n.sqrt();
    if root.mul_add(root, -n) > 0.0 { below(root) } else { root }
}

/// γ_k = k·u / (1 − k·u), rounded up: the relative error of k roundings in any order (Higham, *Accuracy and
/// Stability of Numerical Algorithms*, 2nd ed., Lemma 3.1). Infinite where k·u ≥ 1/2, so that whatever is
/// built on it proves nothing there.
pub(crate) fn gamma(k: usize) -> f64 {
    // k ≤ 2⁵² converts exactly, and k·u is exact: a scaling by a power of two.
    if k >= 1 << 52 {
        return f64::INFINITY;
    }
    let ku = k as f64 * UNIT;
    div_up(ku, sub_down(1.0, ku))
}

/// At least the true value of a positive x that was computed with up to `roundings` relative errors of u each.
/// (1 − u)^r·(1 + (r + 2)u)·(1 − u) ≥ 1 for all r that occur, below a hundred; the factor is exact for even r.
pub(crate) fn raised(x: f64, roundings: u32) -> f64 {
    debug_assert!(roundings.is_multiple_of(2) && roundings < 100);
    x * (1.0 + f64::from(roundings + 2) * UNIT)
}

/// At most the true value: see [`raised`].
pub(crate) fn lowered(x: f64, roundings: u32) -> f64 {
    debug_assert!(roundings < 100);
    x * (1.0 - f64::from(roundings + 2) * UNIT)
}

/// 2^exponent for exponents of normal numbers, exactly.
pub(crate) fn power_of_two(exponent: i32) -> f64 {
    debug_assert!((-1022..=1023).contains(&exponent));
    f64::from_bits(u64::from((exponent + 1023).unsigned_abs()) << 52)
}

/// ⌊log₂ x⌋ of a positive finite x, subnormal numbers included.
pub(crate) fn exponent(x: f64) -> i32 {
    let shift = if x < f64::MIN_POSITIVE { 64 } else { 0 };
    let bits = (x * power_of_two(shift)).to_bits();
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // eleven bits
    let biased = ((bits >> 52) & 0x7ff) as i32;
    biased - 1023 - shift
}

/// The exponent of the least positive number, 2⁻¹⁰⁷⁴.
pub(crate) const LEAST_EXPONENT: i32 = -1074;

/// Binary digits of a number.
pub(crate) const DIGITS: i32 = 53;

/// The exponent of the last one among the binary digits of a finite x that is not zero: x is an odd multiple of two to this
/// power.
pub(crate) fn lowest_bit(x: f64) -> i32 {
    let bits = x.to_bits();
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // eleven bits
    let biased = ((bits >> 52) & 0x7ff) as i32;
    // Numbers below the least normal one have its exponent, and no leading digit.
    let leading = if biased == 0 { 0 } else { 1 << 52 };
    let digits = bits & ((1 << 52) - 1) | leading;
    #[allow(clippy::cast_possible_wrap)] // at most 64
    let zeros = digits.trailing_zeros() as i32;
    biased.max(1) - 1 + LEAST_EXPONENT + zeros
}

/// x/2, rounded down: exact but for a last digit lost below the least normal number.
pub(crate) fn halved_down(x: f64) -> f64 {
    let half = x / 2.0;
    if half * 2.0 == x { half } else { below(half) }
}

/// In something prepared that must not leave the thread whose arithmetic was found to be that of IEEE 754. The test
/// takes as long as a few per cent of a limit, so it is made once there.
pub(crate) type CheckedThread = PhantomData<*const ()>;

/// Whether this thread computes as proofs need it to. Asked by every function that proves something about a matrix: what
/// was prepared on one thread may be tried on another.
pub(crate) fn ensure_ieee() -> Result<(), Rejected> {
    if environment_is_ieee() { Ok(()) } else { Err(Rejected::Environment) }
}

/// True where this thread computes as IEEE 754 says by default: rounding to nearest, subnormal numbers
/// neither read nor written as zero. A foreign library built for speed may have changed either.
pub(crate) fn environment_is_ieee() -> bool {
    let one = black_box(1.0_f64);
    let nearest = one + black_box(UNIT) == 1.0
        && one + black_box(1.5 * UNIT) > 1.0
        && -one - black_box(UNIT) == -1.0
        && -one - black_box(1.5 * UNIT) < -1.0;
    let tiny = black_box(f64::MIN_POSITIVE) * black_box(0.5);
    nearest && tiny > 0.0 && black_box(tiny) * black_box(2.0) == f64::MIN_POSITIVE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directed_operations_enclose() {
        for (a, b) in
            [(0.1, 0.2), (1e308, 1e308), (5e-324, 5e-324), (1.0, 3.0), (-0.1, 0.7), (1e-200, 1e-200)]
        {
            assert!(add_up(a, b) > a + b || (a + b).is_infinite());
            assert!(sub_down(a, b) < a - b);
            assert!(mul_down(a, b) < mul_up(a, b));
            assert!(div_down(a, b) < div_up(a, b));
        }
        assert!(sum_up([0.1; 10]) > 1.0 && sum_down([0.1; 10]) < 1.0);
        assert!(mul_up(1e-200, 1e-200) > 0.0, "a product lost to underflow still counts upwards");
    }

    /// Whether q·b ≤ a, in whole numbers: for q from 2⁻⁵⁰ to 2, and a and b below 2⁵⁰.
    fn fits(q: f64, a: u64, b: u64) -> bool {
        let exponent = (q.to_bits() >> 52) as i32 - 1075;
        let mantissa = u128::from(q.to_bits() & ((1 << 52) - 1) | 1 << 52);
        // q = mantissa·2^exponent, and exponents are negative here.
        mantissa * u128::from(b) <= u128::from(a) << exponent.unsigned_abs()
    }

    #[test]
    fn quotients_are_the_largest_not_above() {
        for b in 1..200_u64 {
            for a in 1..b {
                let q = quotient_below(a as f64, b as f64);
                assert!(fits(q, a, b) && !fits(q.next_up(), a, b), "{a}/{b}");
                // The same quotients of the least floats there are, and of large ones.
                for unit in [f64::from_bits(1), power_of_two(-1000), power_of_two(-801), power_of_two(900)] {
                    assert_eq!(quotient_below(a as f64 * unit, b as f64 * unit), q, "{a}/{b} times {unit}");
                }
                // A subnormal radius over an ordinary, small bound.
                let small = quotient_below(a as f64 * f64::from_bits(1), b as f64 * power_of_two(-300));
                assert_eq!(small, q * power_of_two(-774), "{a}/{b}");
            }
        }
        assert_eq!((quotient_below(0.0, 3.0), quotient_below(1.5, 3.0)), (0.0, 0.5));
        assert!(quotient_below(5e-324, 3.0) >= 0.0);
        assert_eq!(quotient_below(5e-324, f64::MAX), 0.0);
        assert_eq!(quotient_below(1.0, 5e-324), f64::MAX, "finite although the quotient overflows");
    }

    #[test]
    fn roots_are_the_nearest_on_their_side() {
        for n in (1..5000_u64).chain([3072, 150_528, 1 << 52]) {
            // (q − √n) has the sign of q² − n, which one rounding keeps.
            let sign = |root: f64| root.mul_add(root, -(n as f64));
            let (upper, lower) = (root_above(n), root_below(n));
            assert!(sign(upper) >= 0.0 && sign(upper.next_down()) < 0.0, "{n}");
            assert!(sign(lower) <= 0.0 && sign(lower.next_up()) > 0.0, "{n}");
        }
        assert!(root_below(u64::MAX) < 4_294_967_296.0 && root_above(u64::MAX) >= 4_294_967_296.0);
    }

    #[test]
    fn exponents_are_exact() {
        for (x, expected) in
            [(1.0, 0), (0.75, -1), (4.0, 2), (5e-324, -1074), (f64::MAX, 1023), (3e-310, -1029)]
        {
            assert_eq!(exponent(x), expected, "{x}");
        }
        assert_eq!(power_of_two(-1022), f64::MIN_POSITIVE);
        assert_eq!(power_of_two(1023), 2f64.powi(1023));
    }

    #[test]
    fn lowest_bits_are_exact() {
        for (x, expected) in [(1.0, 0), (-6.0, 1), (0.75, -2), (5e-324, -1074), (f64::MIN_POSITIVE, -1022)] {
            assert_eq!(lowest_bit(x), expected, "{x}");
        }
        for x in [0.1, f64::MAX, 3e-310, -123.456, f64::MIN_POSITIVE.next_down()] {
            // Two factors: the power itself may be out of range.
            let exponent = lowest_bit(x);
            let multiple = x * power_of_two(-(exponent / 2)) * power_of_two(-(exponent - exponent / 2));
            assert!(
                multiple.abs() < power_of_two(DIGITS) && (multiple % 2.0).abs() == 1.0,
                "{x}: {multiple}"
            );
        }
    }

    #[test]
    fn halves_are_exact_or_below() {
        for (x, half) in [(3.0, 1.5), (-3.0, -1.5), (0.0, 0.0), (1e-323, 5e-324), (1.5e-323, 5e-324)] {
            assert_eq!(halved_down(x), half, "{x}");
        }
        assert!(halved_down(-5e-324) <= -5e-324 && halved_down(5e-324) <= 0.0);
    }

    #[test]
    fn gamma_is_an_upper_bound() {
        assert!(gamma(1) > UNIT);
        assert!(gamma(1000) > 1000.0 * UNIT && gamma(1000) < 1001.0 * UNIT);
        assert!(gamma(usize::MAX).is_infinite());
    }

    #[test]
    fn several_roundings_are_undone() {
        // As far off as r relative errors of u can bring a number, where a unit in the last place is u or 2u.
        for roundings in [2_u32, 4, 6, 20] {
            for truth in [1.0, 1.3, 1.999, 0.7e-200] {
                let (mut low, mut high): (f64, f64) = (truth, truth);
                let most = truth * f64::from(roundings) * UNIT;
                while truth - low.next_down() <= most {
                    low = low.next_down();
                }
                while high.next_up() - truth <= most {
                    high = high.next_up();
                }
                assert!(low < truth && raised(low, roundings) >= truth, "{truth}, {roundings}");
                assert!(high > truth && lowered(high, roundings) <= truth, "{truth}, {roundings}");
            }
        }
    }

    #[test]
    fn this_thread_is_ieee() {
        assert!(environment_is_ieee());
    }
}
