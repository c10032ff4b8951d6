//! Sums of f64 without rounding: a fixed-point number wide enough for every one of them.
//!
//! **Problem.** Entries at one place of a matrix add up, and so do the weights at a vertex. Plain sums depend on their
//! order and may lose everything (10¹⁶ + 1 − 10¹⁶). **Method.** All f64 are multiples of 2⁻¹⁰⁷⁴ below 2¹⁰²⁴, so 2200 bits
//! hold any sum of them (Kulisch's accumulator). **Guarantee.** The sum is exact; [`ExactSum::rounded`] gives the nearest
//! f64 and a bound on its distance, rounded up.

/// Bits of a limb that hold the number; the others take up carries.
const BITS: usize = 32;
/// 2098 bits of the largest number, and two limbs for carries.
const LIMBS: usize = 68;
/// Additions before carries must be passed on: each adds less than 2³² to a limb of 63 bits.
const MOST_PENDING: u32 = 1 << 30;

/// A sum of finite numbers.
#[derive(Clone)]
pub(crate) struct ExactSum {
    /// The number is Σ limb_k·2^(32k − 1074).
    limbs: [i64; LIMBS],
    pending: u32,
}

impl ExactSum {
    pub(crate) const ZERO: Self = Self { limbs: [0; LIMBS], pending: 0 };

    /// The sum of these numbers, all finite.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sum = Self::ZERO;
        values.into_iter().for_each(|value| sum.add(value));
        sum
    }

    /// Adds a finite number.
    pub(crate) fn add(&mut self, value: f64) {
        debug_assert!(value.is_finite());
        let (mantissa, place) = mantissa_and_place(value);
        let wide = u128::from(mantissa) << (place % BITS);
        for k in 0..3 {
            #[allow(clippy::cast_possible_truncation)] // 32 bits at a time
            let part = i64::from((wide >> (BITS * k)) as u32);
            self.limbs[place / BITS + k] += if value < 0.0 { -part } else { part };
        }
        self.pending += 1;
        if self.pending == MOST_PENDING {
            self.carry();
        }
    }

    /// Passes carries on, so that all limbs but the last are below 2³² and not negative.
    fn carry(&mut self) {
        for k in 0..LIMBS - 1 {
            self.limbs[k + 1] += self.limbs[k] >> BITS;
            self.limbs[k] &= (1 << BITS) - 1;
        }
        self.pending = 0;
    }

    /// Whether the sum is negative, and its magnitude in limbs below 2³².
    fn magnitude(&self) -> (bool, [i64; LIMBS]) {
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.limbs[LIMBS - 1] < 0;
        if negative {
            sum.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            sum.carry();
        }
        (negative, sum.limbs)
    }

    /// The nearest f64, infinite beyond the range, and a bound on its distance from the sum: zero where there is none.
    pub(crate) fn rounded(&self) -> (f64, f64) {
        let (negative, limbs) = self.magnitude();
        let (cut, more) = cut_off(&limbs);
        if more == Rest::Nothing {
            return (if negative { -cut } else { cut }, 0.0);
        }
        let near = if more == Rest::AtLeastHalf { cut.next_up() } else { cut };
        let signed = if negative { -near } else { near };
        if !near.is_finite() {
            return (signed, f64::INFINITY);
        }
        let mut rest = self.clone();
        rest.add(-signed);
        let (distance, more) = cut_off(&rest.magnitude().1);
        (signed, if more == Rest::Nothing { distance } else { distance.next_up() })
    }
}

/// value = ± mantissa · 2^(place − 1074).
fn mantissa_and_place(value: f64) -> (u64, usize) {
    let bits = value.to_bits();
    #[allow(clippy::cast_possible_truncation)] // eleven bits
    let biased = (bits >> 52) as usize & 0x7ff;
    let fraction = bits & ((1 << 52) - 1);
    if biased == 0 { (fraction, 0) } else { (fraction | 1 << 52, biased - 1) }
}

/// What is left of a magnitude after its first 53 bits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Nothing,
    BelowHalf,
    AtLeastHalf,
}

/// The largest f64 that is no larger than a magnitude, and what is left in units of its last place.
fn cut_off(limbs: &[i64; LIMBS]) -> (f64, Rest) {
    let bit = |place: usize| limbs[place / BITS] >> (place % BITS) & 1 == 1;
    let Some(last) = limbs.iter().rposition(|&limb| limb != 0) else { return (0.0, Rest::Nothing) };
    let Some(top) = (last * BITS..(last + 1) * BITS).rev().find(|&place| bit(place)) else {
        return (f64::INFINITY, Rest::BelowHalf); // bits beyond those of a limb: not from so few numbers
    };
    let first = top.saturating_sub(52);
    let mantissa = (first..=top).rev().fold(0_u64, |mantissa, place| mantissa << 1 | u64::from(bit(place)));
    if first == 0 {
        // Up to 53 bits in units of 2⁻¹⁰⁷⁴ are the number's own encoding.
        return (f64::from_bits(mantissa), Rest::Nothing);
    }
    let biased = first as u64 + 1;
    if biased >= 0x7ff {
        return (f64::INFINITY, Rest::BelowHalf);
    }
    let value = f64::from_bits(biased << 52 | mantissa & ((1 << 52) - 1));
    let whole = limbs[..(first - 1) / BITS].iter().all(|&limb| limb == 0)
        && ((first - 1) / BITS * BITS..first - 1).all(|place| !bit(place));
    match (bit(first - 1), whole) {
        (true, _) => (value, Rest::AtLeastHalf),
        (false, true) => (value, Rest::Nothing),
        (false, false) => (value, Rest::BelowHalf),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;
    use rand::{Rng, RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// value · 2¹⁰⁷⁴.
    fn integer(value: f64) -> BigInt {
        let (mantissa, place) = mantissa_and_place(value);
        let magnitude = BigInt::from(mantissa) << place;
        if value < 0.0 { -magnitude } else { magnitude }
    }

    #[test]
    fn what_plain_sums_lose_is_kept() {
        let rounded = |values: &[f64]| ExactSum::of(values.iter().copied()).rounded();
        assert_eq!(rounded(&[1e16, 1.0, -1e16]), (1.0, 0.0));
        assert_eq!(rounded(&[f64::MAX, f64::MAX, -f64::MAX, -f64::MAX, 5e-324]), (5e-324, 0.0));
        assert_eq!(rounded(&[9_007_199_254_740_992.0, 1.0]).1, 1.0);
        assert_eq!(rounded(&[-1.0, -1e-300]).0, -1.0);
        assert!(rounded(&[-1.0, -1e-300]).1 >= 1e-300);
        assert!(rounded(&[f64::MAX, f64::MAX]).0.is_infinite());
        assert_eq!(rounded(&[]), (0.0, 0.0));
    }

    #[test]
    fn sums_are_those_of_integers() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut inexact = 0;
        for _ in 0..3000 {
            let scale = rng.random_range(0..2000_u64);
            let values: Vec<f64> = (0..rng.random_range(1..20))
                .map(|_| {
                    let exponent = (scale + rng.random_range(0..120)).min(2040);
                    f64::from_bits(rng.next_u64() & !(0x7ff << 52) | exponent << 52)
                })
                .collect();
            let exact: BigInt = values.iter().map(|&value| integer(value)).sum();
            let (near, error) = ExactSum::of(values.iter().copied()).rounded();
            let distance = (exact - integer(near)).magnitude().clone();
            // At least the distance, at most one unit in the last place more, and at most half a unit of the sum.
            assert!(*integer(error).magnitude() >= distance, "{values:?}");
            assert!(*integer(error.next_down().max(0.0)).magnitude() <= distance, "{values:?}");
            let unit = integer(near.abs().next_up()) - integer(near.abs());
            assert!(BigInt::from(distance) * 2 <= unit, "{values:?}");
            inexact += usize::from(error > 0.0);
        }
        assert!(inexact > 1000, "{inexact} of them had to be rounded");
    }
}
