//! Binomial probabilities enclosed between whole numbers of a few hundred bits: the judge of the confidence limits.
//! Nothing here is rounded to nearest and nothing converges; every quantity is an interval of big integers.

use gambeson_checker::LowerLimit;
use num_bigint::BigUint;
use std::cmp::Ordering;

/// Bits kept of a bound.
const BITS: u64 = 320;

/// Between low·2^exponent and high·2^exponent.
#[derive(Clone, Debug)]
pub(crate) struct Enclosure {
    low: BigUint,
    high: BigUint,
    exponent: i64,
}

impl Enclosure {
    pub(crate) fn exact(integer: impl Into<BigUint>) -> Self {
        let low: BigUint = integer.into();
        Self { high: low.clone(), low, exponent: 0 }
    }

    /// A positive finite number.
    pub(crate) fn number(value: f64) -> Self {
        let (integer, exponent) = dyadic(value);
        Self { exponent, ..Self::exact(integer) }
    }

    fn shortened(mut self) -> Self {
        let excess = self.high.bits().saturating_sub(BITS);
        if excess > 0 {
            self.low >>= excess;
            self.high = (self.high >> excess) + 1_u32;
            self.exponent += i64::try_from(excess).expect("short");
        }
        self
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        let exponent = self.exponent + other.exponent;
        Self { low: &self.low * &other.low, high: &self.high * &other.high, exponent }.shortened()
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let at = |of: &Self, x: &BigUint| x << u64::try_from(of.exponent - exponent).expect("the least");
        let low = at(self, &self.low) + at(other, &other.low);
        let high = at(self, &self.high) + at(other, &other.high);
        Self { low, high, exponent }.shortened()
    }

    pub(crate) fn over(&self, other: &Self) -> Self {
        let shift = 2 * BITS;
        let low = (&self.low << shift) / &other.high;
        let high = (&self.high << shift) / &other.low + 1_u32;
        let exponent = self.exponent - other.exponent - i64::try_from(shift).expect("short");
        Self { low, high, exponent }.shortened()
    }

    fn power(&self, mut exponent: u64) -> Self {
        let (mut result, mut square) = (Self::exact(1_u32), self.clone());
        while exponent > 0 {
            if exponent % 2 == 1 {
                result = result.times(&square);
            }
            square = square.times(&square);
            exponent /= 2;
        }
        result
    }

    /// 1 − this, for numbers in (0, 1).
    pub(crate) fn complement(&self) -> Self {
        let places = u64::try_from(-self.exponent).expect("below one");
        let one = BigUint::from(1_u32) << places;
        Self { low: &one - &self.high, high: &one - &self.low, exponent: self.exponent }.shortened()
    }

    /// Less or greater where that is certain.
    pub(crate) fn compared(&self, other: &Self) -> Option<Ordering> {
        let least = self.exponent.min(other.exponent);
        let at = |x: &BigUint, exponent: i64| x << u64::try_from(exponent - least).expect("the least");
        if at(&self.high, self.exponent) < at(&other.low, other.exponent) {
            Some(Ordering::Less)
        } else if at(&self.low, self.exponent) > at(&other.high, other.exponent) {
            Some(Ordering::Greater)
        } else if (&self.low, at(&self.low, self.exponent)) == (&self.high, at(&other.low, other.exponent))
            && other.low == other.high
        {
            Some(Ordering::Equal)
        } else {
            None
        }
    }

    pub(crate) fn at_most(&self, other: &Self) -> bool {
        matches!(self.compared(other), Some(Ordering::Less | Ordering::Equal))
    }
}

/// integer·2^exponent for a positive finite number.
fn dyadic(value: f64) -> (u64, i64) {
    assert!(value > 0.0 && value.is_finite(), "{value}");
    let bits = value.to_bits();
    let biased = i64::try_from(bits >> 52).expect("eleven bits");
    let fraction = bits & ((1 << 52) - 1);
    if biased == 0 { (fraction, -1074) } else { (fraction | (1 << 52), biased - 1075) }
}

/// p and 1 − p as whole numbers over one power of two.
pub(crate) struct Chance {
    success: BigUint,
    failure: BigUint,
    places: u64,
}

impl Chance {
    pub(crate) fn of_success(p: f64) -> Self {
        let (integer, exponent) = dyadic(p);
        let places = u64::try_from(-exponent).expect("a number below one");
        let success = BigUint::from(integer);
        Self { failure: (BigUint::from(1_u32) << places) - &success, success, places }
    }

    pub(crate) fn of_failure(q: f64) -> Self {
        let Self { success, failure, places } = Self::of_success(q);
        Self { success: failure, failure: success, places }
    }

    fn enclosed(&self, part: &BigUint) -> Enclosure {
        let exponent = -i64::try_from(self.places).expect("short");
        Enclosure { exponent, ..Enclosure::exact(part.clone()) }.shortened()
    }

    pub(crate) fn failure(&self) -> Enclosure {
        self.enclosed(&self.failure)
    }

    /// P(X = k).
    pub(crate) fn mass(&self, n: u64, k: u64) -> Enclosure {
        let mut choose = Enclosure::exact(1_u32);
        for j in 1..=k.min(n - k) {
            choose = Enclosure { low: choose.low * (n - j + 1), high: choose.high * (n - j + 1), ..choose };
            // C(n, j) is whole, and stays exact as long as it is short.
            choose =
                Enclosure { low: choose.low / j, high: (choose.high + (j - 1)) / j, ..choose }.shortened();
        }
        let powers = self.enclosed(&self.success).power(k).times(&self.enclosed(&self.failure).power(n - k));
        choose.times(&powers)
    }

    /// P(X ≥ k), for k above the mean: terms one by one.
    pub(crate) fn tail(&self, n: u64, k: u64) -> Enclosure {
        let one = BigUint::from(1_u32) << BITS;
        let (mut low, mut high) = (one.clone(), one.clone());
        let (mut sum_low, mut sum_high) = (one.clone(), one);
        let mut j = k;
        while j < n && high > BigUint::from(1_u32) {
            let (up, down) = (&self.success * (n - j), &self.failure * (j + 1));
            assert!(up <= down, "k = {k} is not above the mean");
            low = low * &up / &down;
            high = high * &up / &down + 1_u32;
            sum_low += &low;
            sum_high += &high;
            j += 1;
        }
        // Terms fall, so the rest has no more than the last one each.
        sum_high += high * (n - j);
        let exponent = -i64::try_from(BITS).expect("short");
        self.mass(n, k).times(&Enclosure { low: sum_low, high: sum_high, exponent })
    }
}

/// Both forms of a limit, p and 1 − p, as chances; the second only where it says more.
pub(crate) fn chances(limit: LowerLimit) -> Vec<Chance> {
    chances_of(limit.value(), limit.complement())
}

/// The same for p and 1 − p as numbers.
pub(crate) fn chances_of(value: f64, complement: f64) -> Vec<Chance> {
    let mut chances = Vec::new();
    if value > 0.0 {
        chances.push(Chance::of_success(value));
    }
    if complement < 1.0 {
        chances.push(Chance::of_failure(complement));
    }
    chances
}

#[test]
fn enclosures_are_right_where_floats_are_exact() {
    // P(X = 2) = 3/8 and P(X ≥ 2) = ½ for three fair coins.
    let fair = Chance::of_success(0.5);
    assert_eq!(fair.mass(3, 2).compared(&Enclosure::number(0.375)), Some(Ordering::Equal));
    let half = fair.tail(3, 2);
    assert!(half.compared(&Enclosure::number(0.5 + 1e-15)) == Some(Ordering::Less));
    assert!(half.compared(&Enclosure::number(0.5 - 1e-15)) == Some(Ordering::Greater));
    let quarter = Chance::of_success(0.25);
    // 1 − (3/4)^5 − 5/4·(3/4)^4 = 0.3671875
    assert_eq!(
        quarter.tail(5, 2).compared(&Enclosure::number(0.367_187_5_f64.next_up())),
        Some(Ordering::Less)
    );
    assert!(Enclosure::number(0.75).complement().at_most(&Enclosure::number(0.25)));
    let third = Enclosure::exact(1_u32).over(&Enclosure::exact(3_u32));
    assert!(third.at_most(&Enclosure::number((1.0_f64 / 3.0).next_up())));
    assert!(Enclosure::number(1.0 / 3.0).at_most(&third));
}
