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
//! operations, 2⁻¹⁰⁰ relative at most, so those terms by n·2⁻¹⁰⁰; the logarithms by 2⁻⁶¹ of themselves. All of this is
//! added up in [`Logarithm::error`].
//!
//! # The ratio
//! With ρ = p/q, P(X ≥ k)/P(X = k) = Σ_j (n−k)…(n−k−j+1)/((k+1)…(k+j))·ρ^j = ₂F₁(k−n, 1; k+1; −ρ). Gauss' relation
//! F(a, b; c; x) = F(a, b+1; c+1; x) − x·a(c−b)/(c(c+1))·F(a+1, b+1; c+2; x), used in turn for b and a, makes it R₀ of
//!   R_{2m−2} = 1/(1 − c_m·R_{2m−1}),   c_m = ρ·(n−k+1−m)(k+m−1)/((k+2m−2)(k+2m−1)),
//!   R_{2m−1} = 1/(1 + d_m·R_{2m}),     d_m = ρ·m(n+m)/((k+2m−1)(k+2m)),
//! a continued fraction that ends at m = n−k+1, where c_m = 0 (Abramowitz and Stegun 26.5.9). Each R is a quotient of
//! F(m+k−n, ·; ·; −ρ), which have positive terms only, hence positive; so R_{2m} ≥ 1 for m ≤ n−k. R₀ grows with R₁,
//! which falls with R₂, so that putting 1 for R_{2M} gives an upper bound on R₀ for odd M and a lower one for even M.
//! Every rounding on the way is directed, so nothing about convergence has to be believed, and any odd M is as safe as
//! another. The two bounds meet after some 240/z² levels z standard deviations from the mean, whatever n.
//!
//! # Deviations
//! The usual codes run the sister fraction in p (DLMF 8.17.22) by Lentz' method to a relative tolerance, which bounds
//! nothing, and loses digits where p is close to one.

use crate::rounding::{add_up, lowered, power_of_two, raised};
use crate::statistics::double::{Double, RELATIVE};
use crate::statistics::special::{LN_ERROR, STIRLING_ERROR, TWO_PI, ln, stirling};

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

    /// ln x for an x that carries up to eight double-double operations.
    pub(crate) fn of_rounded(x: Double) -> Self {
        let Self { value, error } = Self::of(x);
        Self { value, error: add_up(error, 16.0 * RELATIVE) }
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

/// P(X = k) as a function of p. Counts are whole numbers below 2⁵³, 1 ≤ k ≤ n.
pub(crate) struct Mass {
    n: f64,
    k: f64,
    /// What does not depend on p.
    constant: Logarithm,
}

impl Mass {
    pub(crate) fn new(n: f64, k: f64) -> Self {
        let rest = n - k;
        if rest == 0.0 {
            return Self { n, k, constant: Logarithm { value: 0.0.into(), error: 0.0 } };
        }
        let root = ln(Double::from(n) / (Double::product(k, rest) * TWO_PI)).scaled(0.5);
        let corrections = Double::sum(stirling(n), -stirling(k)) - stirling(rest).into();
        let error = 2.0 * LN_ERROR * root.hi.abs() + 4.0 * STIRLING_ERROR;
        Self { n, k, constant: Logarithm { value: root + corrections, error } }
    }

    /// ln P(X = k).
    pub(crate) fn ln(&self, at: &Probability) -> Logarithm {
        let Self { n, k, constant } = *self;
        let share = |p: Double, count: f64| {
            if count == 0.0 { 0.0.into() } else { ln(p * n / Double::from(count)) * count }
        };
        let (successes, failures) = (share(at.success, k), share(at.failure, n - k));
        // Factors above one cover the rounding of this sum and the double-double operations.
        let size = successes.hi.abs() + failures.hi.abs();
        let error = 1.5 * LN_ERROR * size + constant.error + 8.0 * RELATIVE * n;
        Logarithm { value: successes + failures + constant.value, error: raised(error, 4) }
    }
}

/// P(X ≥ k)/P(X = k) as a function of p, for 1 ≤ k ≤ n.
pub(crate) struct Ratio {
    pub(crate) n: f64,
    pub(crate) k: f64,
}

impl Ratio {
    /// R₀ from `levels` levels: no less than it for odd, no more for even levels, up to the end of the fraction,
    /// where both are right.
    ///
    /// Two steps at once and no division on the way: with R_{2m} = P/Q, a = d_m and c = c_m,
    /// R_{2m−2} = P'/Q' for P' = Q + a·P and Q' = P' − c·Q. The quotient falls as P' grows, so it is bounded from above
    /// by a lower bound on P', hence on P/Q, and by a lower bound on Q' for that P'; from below the other way round.
    /// All numbers are positive. a and c carry five roundings at most, that of ρ among them.
    pub(crate) fn fraction(&self, at: &Probability, levels: u32) -> f64 {
        let (n, k) = (self.n, self.k);
        let odds = (at.success / at.failure).hi;
        let mut m = f64::from(levels).min(n - k); // at n−k+1, R_{2m−2} = 1
        let (mut above, mut below) = (1.0, 1.0);
        // R₀ is wanted from above for odd levels; the direction alternates with m.
        let mut upwards = (levels % 2 == 1) == (m % 2.0 == 1.0);
        while m >= 1.0 {
            let s = k + 2.0 * m;
            let a = m * (n + m) * odds / ((s - 1.0) * s);
            let c = (n - k + 1.0 - m) * (k + m - 1.0) * odds / ((s - 2.0) * (s - 1.0));
            let (sum, product) = (below + a * above, c * below);
            (above, below) = if upwards {
                let sum = lowered(sum, 8);
                let rest = lowered(sum - raised(product, 6), 2);
                // Without a positive rest there is no bound: 1/0.
                if rest > 0.0 { (sum, rest) } else { (1.0, 0.0) }
            } else {
                let sum = raised(sum, 8);
                (sum, raised(sum - lowered(product, 6), 2))
            };
            // Far from the ends of the range the errors are relative, and powers of two change nothing.
            if !(1e-150..1e150).contains(&above) {
                let scale = power_of_two(if above > 1.0 { -490 } else { 490 });
                (above, below) = (above * scale, below * scale);
            }
            upwards = !upwards;
            m -= 1.0;
        }
        if levels % 2 == 1 { raised(above / below, 2) } else { lowered(above / below, 2) }
    }
}
