//! Tails of the binomial distribution, bounded from above.
//!
//! # Problem
//! For X ~ Bin(n, p) and 1 ≤ k ≤ n: an upper bound on ln P(X ≥ k) whose error is far below what moves a confidence
//! limit by a unit in the last place, in a time that does not grow with n.
//!
//! # The mass
//! For 1 ≤ k < n, with δ of `special.rs`,
//! ln P(X = k) = k·ln(np/k) + (n−k)·ln(nq/(n−k)) + ½·ln(n/(2π·k·(n−k))) + δ(n) − δ(k) − δ(n−k).
//! p and q = 1 − p are both exact in double-double. The arguments of the first two logarithms are off by three
//! operations, 2⁻¹⁰⁰ relative at most, so those terms by n·2⁻¹⁰⁰; the logarithms by 2⁻⁶⁸ of themselves. All of this is
//! added up in [`Logarithm::error`].
//!
//! # The ratio
//! P(X ≥ k)/P(X = k) = ₂F₁(n+1, 1; k+1; p)·q, and Gauss' relation
//! F(a, b; c) = F(a, b+1; c+1) − p·a(c−b)/(c(c+1))·F(a+1, b+1; c+2), used in turn for a and b, gives
//! P(X ≥ k)/P(X = k) = q·R₀ with
//!   R_{2m−2} = 1/(1 − c_m·R_{2m−1}),   c_m = p·(n+m)(k+m−1)/((k+2m−2)(k+2m−1)),
//!   R_{2m−1} = 1/(1 + d_m·R_{2m}),     d_m = p·m(n−k+1−m)/((k+2m−1)(k+2m)).
//! (the continued fraction 8.17.22 of the DLMF). Each R is a quotient of hypergeometric series with positive terms,
//! hence positive, and so R_{2m} ≥ 1 as long as d_m ≥ 0; d_m = 0 for m = n−k+1 ends the fraction. R₀ grows with R₁,
//! which falls with R₂: putting 1 for R_{2M} gives an upper bound on R₀ for odd M and a lower one for even M. Every
//! rounding on the way is directed, so nothing about convergence has to be believed; M grows until both bounds meet.
//!
//! # Deviations
//! The usual codes run the same fraction by Lentz' method to a relative tolerance, which bounds nothing.

use crate::double::{Double, RELATIVE};
use crate::rounding::{add_up, div_down, div_up, mul_down, mul_up};
use crate::special::{LN_ERROR, STIRLING_ERROR, TWO_PI, ln, stirling};

/// A probability and its complement, both exact, from whichever of them is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probability {
    /// p.
    pub(crate) success: Double,
    /// 1 − p.
    pub(crate) failure: Double,
}

impl Probability {
    pub(crate) fn of_success(p: f64) -> Self {
        Self { success: p.into(), failure: Double::sum(1.0, -p) }
    }

    pub(crate) fn of_failure(q: f64) -> Self {
        Self { success: Double::sum(1.0, -q), failure: q.into() }
    }
}

/// A logarithm in double-double with a bound on its absolute error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Logarithm {
    pub(crate) value: Double,
    pub(crate) error: f64,
}

impl Logarithm {
    /// ln x for an exact x.
    pub(crate) fn of(x: Double) -> Self {
        let value = ln(x);
        Self { value, error: 2.0 * LN_ERROR * value.hi.abs() }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let value = self.value + other.value;
        let rounding = RELATIVE * value.hi.abs();
        Self { value, error: add_up(add_up(self.error, other.error), rounding) }
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        self.plus(Self { value: -other.value, error: other.error })
    }

    /// An `f64` that is no less than the true logarithm.
    pub(crate) fn upper(self) -> f64 {
        add_up(self.value.upper(), self.error)
    }
}

/// ln P(X = k), for 1 ≤ k ≤ n. Counts are whole numbers below 2⁵³.
pub(crate) fn ln_mass(n: f64, k: f64, at: &Probability) -> Logarithm {
    let rest = n - k;
    if rest == 0.0 {
        let value = ln(at.success) * n;
        return Logarithm { value, error: 4.0 * LN_ERROR * value.hi.abs() };
    }
    let share = |p: Double, count: f64| ln(p * n / Double::from(count)) * count;
    let (successes, failures) = (share(at.success, k), share(at.failure, rest));
    let root = ln(Double::from(n) / (Double::product(k, rest) * TWO_PI)).scaled(0.5);
    let corrections = Double::sum(stirling(n), -stirling(k)) - stirling(rest).into();
    let value = (successes + failures) + (root + corrections);
    let size = successes.hi.abs() + failures.hi.abs() + root.hi.abs() + 1.0;
    // Factors of two and four cover the rounding of this sum and the double-double additions.
    let error = 2.0 * LN_ERROR * size + 4.0 * STIRLING_ERROR + 8.0 * RELATIVE * n;
    Logarithm { value, error }
}

/// The upper tail at k, as a function of p.
pub(crate) struct Tail {
    n: f64,
    k: f64,
    /// M, odd.
    levels: u32,
}

/// What is known about a tail at one p.
pub(crate) struct TailBound {
    /// ln P(X ≥ k), no more than this.
    pub(crate) ln: Logarithm,
    /// P(X ≥ k)/P(X = k), no more than this; infinite where nothing was proven.
    pub(crate) ratio: f64,
}

impl Tail {
    /// Most levels tried. Half a million are needed where p is k/n itself and n = 10¹².
    const MOST_LEVELS: u32 = 1 << 22;

    /// 1 ≤ k ≤ n.
    pub(crate) fn new(n: f64, k: f64) -> Self {
        Self { n, k, levels: 15 }
    }

    /// Raises the number of levels until the fraction has converged at this p.
    pub(crate) fn settle(&mut self, at: &Probability) {
        let mut before = f64::INFINITY;
        while self.levels < Self::MOST_LEVELS && f64::from(self.levels) <= self.n - self.k {
            let (above, below) = (self.fraction(at, self.levels), self.fraction(at, self.levels + 1));
            let gap = (above - below) / above;
            // What rounding leaves apart stays apart; the larger the fraction, the more digits its difference from
            // infinity has lost.
            if gap <= 4.0 * f64::EPSILON * above || gap > 0.7 * before {
                break;
            }
            before = gap;
            self.levels = 2 * self.levels + 1;
        }
    }

    pub(crate) fn bound(&self, at: &Probability) -> TailBound {
        let mass = ln_mass(self.n, self.k, at);
        let ratio = mul_up(self.fraction(at, self.levels), at.failure.upper());
        // The ratio is at least one; its bound may be rounded, never below.
        let ratio = if self.n == self.k { 1.0 } else { ratio };
        if !ratio.is_finite() {
            return TailBound { ln: Logarithm { value: ratio.into(), error: 0.0 }, ratio };
        }
        TailBound { ln: mass.plus(Logarithm::of(ratio.into())), ratio }
    }

    /// R₀ from `levels` levels: no less than it for odd, no more for even levels, up to the end of the fraction,
    /// where both are right.
    ///
    /// Two steps at once: with A = p·m(n−k+1−m), A' = p·(n+m)(k+m−1) and s = k+2m,
    /// R_{2m−2} = X/(X − A'·s) for X = (s−2)·((s−1)·s + A·R_{2m}). The quotient falls as X grows, so it is bounded
    /// from above by a lower bound on X, hence on R_{2m}, and from below the other way round.
    fn fraction(&self, at: &Probability, levels: u32) -> f64 {
        let (n, k) = (self.n, self.k);
        let (p_up, p_down) = (at.success.upper(), at.success.lower());
        let mut m = f64::from(levels).min(n - k + 1.0);
        let mut even = 1.0;
        // R₀ is wanted from above for odd levels; the direction alternates with m.
        let mut upwards = (levels % 2 == 1) == (m % 2.0 == 1.0);
        while m >= 1.0 {
            let (s, left) = (k + 2.0 * m, n - k + 1.0 - m);
            even = if upwards {
                let a = mul_down(mul_down(m, left), p_down).max(0.0);
                let x = mul_down(s - 2.0, (mul_down(s - 1.0, s) + mul_down(a, even)).next_down());
                let c = mul_up(mul_up(n + m, k + m - 1.0), mul_up(p_up, s));
                let rest = (x - c).next_down();
                if rest > 0.0 { div_up(x, rest) } else { f64::INFINITY }
            } else {
                let a = mul_up(mul_up(m, left), p_up);
                let x = mul_up(s - 2.0, (mul_up(s - 1.0, s) + mul_up(a, even)).next_up());
                let c = mul_down(mul_down(n + m, k + m - 1.0), mul_down(p_down, s));
                // An infinite x says nothing: the least value of R is one.
                if x.is_finite() { div_down(x, (x - c).next_up()).max(1.0) } else { 1.0 }
            };
            upwards = !upwards;
            m -= 1.0;
        }
        even
    }
}
