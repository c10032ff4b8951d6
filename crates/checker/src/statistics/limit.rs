//! Confidence limits for a probability from counts, proven and rounded to the safe side.
//!
//! # Problem
//! k of n independent draws were successes. Bound the probability p of success from below (or above) by a function of
//! the counts that is wrong with probability α at most, whatever p is.
//!
//! # Fixed n: Clopper and Pearson (1934)
//! The lower limit is the p at which P(X ≥ k) = α for X ~ Bin(n, p). The tail grows with p, so every number at
//! which the tail is at most α is a valid limit: `tail.rs` proves that for the number returned. The upper limit is one
//! minus the lower limit for the n − k failures. [`Method::Spending`] is the same at share·α, rounded down.
//!
//! # Any time: a mixture (Robbins 1970; Ville 1939)
//! For a hypothesis p, let M_n(p) be the mean of the likelihood ratio Π f_θ/f_p over θ uniform on (p, 1). If p is
//! true this is a martingale of mean one, so it ever reaches 1/α with probability at most α (Ville's inequality).
//! All p at which it has are rejected, and the lower limit is a number below which every p is. In closed form
//! M_n(p) = P(X' ≤ k)/((n+1)·(1 − p)·P(X = k)) with X' ~ Bin(n + 1, p), because ∫_p^1 θ^k(1−θ)^{n−k} dθ is a
//! binomial tail. Its denominator rises and its numerator falls in p up to k/(n+1), so p ≤ k/(n+1) with
//! M_n(p) ≥ 1/α proves all smaller ones rejected. Mixing over θ > p alone is what makes it one-sided: against the
//! uniform mixture on (0, 1) it gains the factor 1/(1 − p), much where p is close to one.
//!
//! # Guarantee
//! Halley's method finds a number; it is returned only where the inequality has been proven in floating point with
//! all errors counted, else it moves outward. Looseness: a few units in the last place of p or of 1 − p, whichever
//! is smaller, for n ≤ 10⁹ and α ≥ 10⁻¹² (and no less safe beyond). The same bits on every machine: only the four
//! operations and roots are used. α above one half counts as one half, which keeps lower ≤ k/n ≤ upper.
//!
//! # Deviations
//! Limits keep p and 1 − p apart, so that those close to one lose nothing on the way to a radius.

use crate::rounding::{environment_is_ieee, mul_down, raised};
use crate::statistics::double::Double;
use crate::statistics::quantile::rough;
use crate::statistics::sampling::{FailureProbability, Method, SamplingRule, StatisticsError, Tally};
use crate::statistics::special::{exp, exp_up, ln};
use crate::statistics::tail::{Logarithm, Mass, Probability, Ratio};
use std::f64::consts::TAU;

/// The least p and 1 − p considered, so that nothing underflows on the way.
const LEAST: f64 = 1e-270;

/// Proven: the probability is at least this, but for a failure probability stated beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LowerLimit {
    value: f64,
    complement: f64,
}

/// Proven: the probability is at most this, but for a failure probability stated beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UpperLimit {
    value: f64,
    complement: f64,
}

impl LowerLimit {
    /// p is at least this, rounded down.
    pub fn value(self) -> f64 {
        self.value
    }

    /// 1 − p is at most this, rounded up. Sharper than 1 − `value` where p is close to one.
    pub fn complement(self) -> f64 {
        self.complement
    }
}

impl UpperLimit {
    /// p is at most this, rounded up.
    pub fn value(self) -> f64 {
        self.value
    }

    /// A limit on the larger of two probabilities: the larger of their limits.
    #[must_use]
    pub fn larger(self, other: Self) -> Self {
        Self { value: self.value.max(other.value), complement: self.complement.min(other.complement) }
    }

    /// 1 − p is at least this, rounded down. Sharper than 1 − `value` where p is close to one.
    pub fn complement(self) -> f64 {
        self.complement
    }
}

/// A lower limit on the probability of success. The method must be valid for the rule: see [`SamplingRule::method`].
pub fn lower_limit(
    rule: &SamplingRule,
    tally: Tally,
    method: Method,
    failure: FailureProbability,
) -> Result<LowerLimit, StatisticsError> {
    if !environment_is_ieee() {
        return Err(StatisticsError::Environment);
    }
    let wrong = StatisticsError::WrongLimit { method, rule: rule.name() };
    let share = match (method, rule) {
        (Method::ClopperPearson, SamplingRule::Fixed) => 1.0,
        (Method::Spending, SamplingRule::Staged { .. }) => rule.share(tally.trials())?,
        (Method::Mixture, _) => rule.validate().map(|()| 1.0)?,
        _ => return Err(wrong),
    };
    let alpha = if share == 1.0 { failure.value() } else { mul_down(share, failure.value()) };
    let (k, n) = (tally.successes() as f64, tally.trials() as f64); // below 2⁵³: exact
    if k == 0.0 || !(alpha > 0.0) {
        return Ok(LowerLimit { value: 0.0, complement: 1.0 });
    }
    let alpha = alpha.min(0.5);
    Ok(if method == Method::Mixture { mixture(n, k, alpha) } else { clopper_pearson(n, k, alpha) })
}

/// An upper limit on the probability of success: one minus the lower limit on failure.
pub fn upper_limit(
    rule: &SamplingRule,
    tally: Tally,
    method: Method,
    failure: FailureProbability,
) -> Result<UpperLimit, StatisticsError> {
    let LowerLimit { value, complement } = lower_limit(rule, tally.opposite(), method, failure)?;
    Ok(UpperLimit { value: complement, complement: value })
}

/// How far a candidate is from being proven.
struct Attempt {
    /// The logarithm of what must not exceed one, rounded up: proven where it is not positive.
    excess: f64,
    /// Its first and second derivative by ln p, about.
    slope: f64,
    curvature: f64,
}

impl Attempt {
    const UNKNOWN: Self = Self { excess: f64::INFINITY, slope: 1.0, curvature: 0.0 };
}

/// Proven where P(X ≥ k) ≤ α.
fn clopper_pearson(n: f64, k: f64, alpha: f64) -> LowerLimit {
    let target = Logarithm::of(alpha.into());
    let z = rough(alpha);
    let mass = Mass::new(n, k);
    let mut ratio = Ratio::new(n, k, z);
    search(n, k, guess(n, k, z), |at, settle| {
        if settle {
            ratio.settle(at);
        }
        let ratio = ratio.upper(at);
        if !ratio.is_finite() {
            return Attempt::UNKNOWN;
        }
        let excess = mass.ln(at).plus(Logarithm::of(ratio.into())).minus(target).upper();
        // With T = P(X ≥ k) = P(X = k)·r: dT/d ln p = k·P(X = k).
        let slope = k / ratio;
        let mean = n * at.success.hi;
        Attempt { excess, slope, curvature: slope * ((k - mean) / at.failure.hi - slope) }
    })
}

/// Proven where (n + 1)·(1 − p)·P(X = k) ≤ α·(1 − T), T = P(X' ≥ k + 1) for X' ~ Bin(n + 1, p).
fn mixture(n: f64, k: f64, alpha: f64) -> LowerLimit {
    let target = Logarithm::of(alpha.into());
    // Where the mass is about normal, M = 1/α at z standard deviations.
    let middle = (k + 0.5) / (n + 1.0);
    let square = ln(((n + 1.0) * (1.0 - middle) / (TAU * middle * alpha * alpha)).into()).hi;
    let z = square.max(0.25).sqrt();
    let mass = Mass::new(n, k);
    let mut ratio = Ratio::new(n + 1.0, k + 1.0, z);
    search(n + 1.0, k, guess(n, k, z), |at, settle| {
        if settle {
            ratio.settle(at);
        }
        let mass = mass.ln(at);
        // P(X' = k + 1) = P(X = k)·p·(n + 1)/(k + 1).
        let factor = raised(at.success.upper() * (n + 1.0) / (k + 1.0) * ratio.upper(at), 4);
        let beyond = raised(exp_up(mass.upper()) * factor, 2);
        let within = (1.0 - beyond).next_down();
        if !(within > 0.0) {
            return Attempt::UNKNOWN;
        }
        let weight = Logarithm::of_rounded(at.failure * (n + 1.0) / within.into());
        let excess = mass.plus(weight).minus(target).upper();
        let (p, q) = (at.success.hi, at.failure.hi);
        let tilt = (n - k + 1.0) * p / q;
        let slope = k - tilt + (k + 1.0) * beyond / (ratio.upper(at) * within);
        Attempt { excess, slope, curvature: -tilt / q }
    })
}

/// An untrusted first guess at p and 1 − p, z standard deviations below k/n: Abramowitz and Stegun 26.5.22.
fn guess(n: f64, k: f64, z: f64) -> (f64, f64) {
    let (a, b) = (k, n - k + 1.0);
    let (left, right) = (1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0));
    let h = 2.0 / (left + right);
    let lambda = (z * z - 3.0) / 6.0;
    let w = z * (h + lambda).max(0.0).sqrt() / h - (right - left) * (lambda + 5.0 / 6.0 - 2.0 / (3.0 * h));
    let odds = b / a * exp((2.0 * w).min(600.0));
    (1.0 / (1.0 + odds), odds / (1.0 + odds))
}

/// Which of p and 1 − p is looked for: the smaller, which has more digits to give.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stored {
    Success,
    Failure,
}

/// The largest p found at which the excess is proven not to be positive. It grows with p for p ≤ k/n, `n` being the
/// caller's; p never goes beyond. Nothing but the last evaluation is believed.
fn search(
    n: f64,
    k: f64,
    start: (f64, f64),
    mut excess: impl FnMut(&Probability, bool) -> Attempt,
) -> LowerLimit {
    let stored = if start.0 < 0.5 { Stored::Success } else { Stored::Failure };
    let probability = |x: f64| match stored {
        Stored::Success => Probability::of_success(x),
        Stored::Failure => Probability::of_failure(x),
    };
    // The end of the range, rounded into it.
    let within = |x: f64| match stored {
        Stored::Success => x.clamp(LEAST, (k / n).next_down()),
        Stored::Failure => x.clamp(((n - k) / n).next_up().max(LEAST), 1f64.next_down()),
    };
    let mut x = within(if stored == Stored::Success { start.0 } else { start.1 });
    // The excess is concave in ln p and in ln(1 − p), so that Newton's steps, and Halley's, close in from the safe side.
    for round in 0..60 {
        let at = probability(x);
        let Attempt { excess, slope, curvature } = excess(&at, round % 4 == 0);
        let (slope, curvature) = match stored {
            Stored::Success => (slope, curvature),
            Stored::Failure => {
                let odds = at.failure.hi / at.success.hi;
                (-slope * odds, odds * (odds * curvature - slope / at.success.hi))
            }
        };
        let newton = -excess / slope;
        let step = newton / (1.0 + 0.5 * newton * curvature / slope).clamp(0.5, 2.0);
        let outward = if stored == Stored::Success { -0.5 } else { 0.5 };
        let step = if step.is_finite() { step.clamp(-30.0, 30.0) } else { outward };
        // x·e^step, without losing a small step.
        let small = step * (1.0 + step * (0.5 + step / 6.0));
        let next = within(if step.abs() < 1e-4 { x + x * small } else { x * exp(step) });
        // The steps square the error at least: after this one it is below what can be told apart.
        let settled = excess.abs() <= 1e-8 || next == x;
        x = next;
        if settled {
            break;
        }
    }
    for moved in std::iter::once(0).chain((0..60).map(|doubling| 1_u64 << doubling)) {
        let candidate = match stored {
            Stored::Success => f64::from_bits(x.to_bits().saturating_sub(moved)),
            Stored::Failure => f64::from_bits(x.to_bits() + moved),
        };
        if !(LEAST..1.0).contains(&candidate) {
            break;
        }
        if excess(&probability(candidate), false).excess <= 0.0 {
            let rest = Double::sum(1.0, -candidate);
            return match stored {
                Stored::Success => LowerLimit { value: candidate, complement: rest.upper() },
                Stored::Failure => LowerLimit { value: rest.lower(), complement: candidate },
            };
        }
    }
    LowerLimit { value: 0.0, complement: 1.0 }
}
