//! Double-double arithmetic: a number as the unevaluated sum of two `f64`, about 106 bits.
//!
//! # Reference
//! Joldes, Muller, Popescu, *Tight and rigorous error bounds for basic building blocks of double-word arithmetic*
//! (ACM TOMS 44, 2017). The algorithms used and their proven relative errors, with u = 2⁻⁵³:
//! AccurateDWPlusDW (Algorithm 6) 3u²/(1 − 4u), DWTimesDW1 (Algorithm 10) 7u², DWTimesFP1 (Algorithm 7) 1.5u² + 4u³,
//! DWDivDW2 (Algorithm 17) 15u² + 56u³.
//!
//! # Guarantee
//! Every operator here has a relative error of at most [`RELATIVE`] = 2⁻¹⁰², absent overflow and underflow.
//! [`Double::sum`] and [`Double::product`] are exact. Callers keep operands of products between 2⁻⁴⁵⁰ and 2⁴⁵⁰, or
//! account for the loss.
//!
//! # Deviations
//! Products are split by Veltkamp and Dekker instead of by fused multiply-add, so that results are the same, and fast,
//! on machines without one.

use crate::rounding::{above, below};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A bound on the relative error of one operation: 16u² = 2⁻¹⁰².
pub(crate) const RELATIVE: f64 = f64::EPSILON * f64::EPSILON * 4.0;

/// hi + lo with |lo| ≤ ulp(hi)/2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Double {
    pub(crate) hi: f64,
    pub(crate) lo: f64,
}

/// a + b where |a| ≥ |b| or a = 0, exactly.
fn quick_sum(a: f64, b: f64) -> Double {
    let hi = a + b;
    Double { hi, lo: b - (hi - a) }
}

/// A number as two of at most 26 bits.
fn split(a: f64) -> (f64, f64) {
    let scaled = 134_217_729.0 * a; // 2²⁷ + 1
    let high = scaled - (scaled - a);
    (high, a - high)
}

impl Double {
    /// A literal: the two parts must be normalised.
    pub(crate) const fn new(hi: f64, lo: f64) -> Self {
        Self { hi, lo }
    }

    /// a + b, exactly.
    pub(crate) fn sum(a: f64, b: f64) -> Self {
        let hi = a + b;
        let other = hi - a;
        Self { hi, lo: (a - (hi - other)) + (b - other) }
    }

    /// a · b, exactly.
    pub(crate) fn product(a: f64, b: f64) -> Self {
        let hi = a * b;
        let ((ah, al), (bh, bl)) = (split(a), split(b));
        Self { hi, lo: al * bl - (((hi - ah * bh) - al * bh) - ah * bl) }
    }

    /// This number times a power of two, exactly.
    pub(crate) fn scaled(self, power: f64) -> Self {
        Self { hi: self.hi * power, lo: self.lo * power }
    }

    /// The least `f64` known to be no less.
    pub(crate) fn upper(self) -> f64 {
        if self.lo > 0.0 { above(self.hi) } else { self.hi }
    }

    /// The largest `f64` known to be no greater.
    pub(crate) fn lower(self) -> f64 {
        if self.lo < 0.0 { below(self.hi) } else { self.hi }
    }
}

impl From<f64> for Double {
    fn from(value: f64) -> Self {
        Self { hi: value, lo: 0.0 }
    }
}

impl Neg for Double {
    type Output = Self;
    fn neg(self) -> Self {
        Self { hi: -self.hi, lo: -self.lo }
    }
}

impl Add for Double {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let high = Self::sum(self.hi, other.hi);
        let low = Self::sum(self.lo, other.lo);
        let carried = quick_sum(high.hi, high.lo + low.hi);
        quick_sum(carried.hi, low.lo + carried.lo)
    }
}

impl Sub for Double {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Double {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let high = Self::product(self.hi, other.hi);
        let cross = self.hi * other.lo + self.lo * other.hi;
        quick_sum(high.hi, high.lo + cross)
    }
}

impl Mul<f64> for Double {
    type Output = Self;
    fn mul(self, other: f64) -> Self {
        let high = Self::product(self.hi, other);
        let carried = quick_sum(high.hi, self.lo * other);
        quick_sum(carried.hi, carried.lo + high.lo)
    }
}

impl Div for Double {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = self.hi / other.hi;
        let product = other * first;
        let rest = (self.hi - product.hi) + (self.lo - product.lo);
        quick_sum(first, rest / other.hi)
    }
}
