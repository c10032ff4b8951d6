//! The search for confidence limits.
//!
//! **Problem.** Of all p that the checker proves to be a lower limit for k of n draws, find one close to the largest.
//!
//! **Method.** A first guess from the normal approximation of an F quantile (Abramowitz and Stegun 26.5.22), then
//! Halley's method on the logarithm of the inequality to be proven, which is concave in ln p and in ln(1 − p), so that
//! its steps close in from the safe side. Of p and 1 − p the smaller is sought, which has more digits to give. The number
//! found is put to the checker; while that is refused, it moves outward, by 1, 2, 4, … units in the last place.
//!
//! **Guarantee.** What is returned was proven by [`LimitTrial`]. The same bits on every machine: logarithms and
//! exponentials are those of the checker.

use crate::limit::quantile::first_guess;
use gambeson_checker::{
    FailureProbability, LimitAttempt, LimitCandidate, LimitMethod, LimitTrial, LowerLimit, SamplingRule,
    StatisticsError, Tally, UpperLimit, exponential, logarithm,
};
use std::f64::consts::TAU;

/// Most levels of the continued fraction tried: where p is k/n itself, about three standard deviations √(npq) of them are
/// needed.
const MOST_LEVELS: u32 = 1 << 22;

/// A lower limit on the probability of success. The method must be valid for the rule: see [`SamplingRule::method`].
pub fn lower_limit(
    rule: SamplingRule,
    tally: Tally,
    method: LimitMethod,
    failure: FailureProbability,
) -> Result<LowerLimit, StatisticsError> {
    let trial = LimitTrial::new(rule, tally, method, failure)?;
    Ok(trial.and_then(|trial| search(&trial, tally)).map_or(LowerLimit::TRIVIAL, |found| found.proven))
}

/// An upper limit on the probability of success: one minus the lower limit on failure.
pub fn upper_limit(
    rule: SamplingRule,
    tally: Tally,
    method: LimitMethod,
    failure: FailureProbability,
) -> Result<UpperLimit, StatisticsError> {
    lower_limit(rule, tally.opposite(), method, failure).map(LowerLimit::of_opposite)
}

/// A candidate that was proven, and what it took.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundLimit {
    pub(super) candidate: LimitCandidate,
    pub(super) levels: u32,
    pub(super) proven: LowerLimit,
}

/// The largest limit found for the counts of a trial.
pub(super) fn search(trial: &LimitTrial, tally: Tally) -> Option<FoundLimit> {
    let (n, k) = (tally.trials() as f64, tally.successes() as f64);
    Search { mixture: trial.is_mixture(), trial, n, k }.run()
}

struct Search<'a> {
    trial: &'a LimitTrial,
    n: f64,
    k: f64,
    mixture: bool,
}

impl Search<'_> {
    /// The largest p found that is proven.
    fn run(&self) -> Option<FoundLimit> {
        let Self { trial, n, k, .. } = self;
        let z = self.deviations();
        let mut levels = self.first_levels(z);
        let (success, failure) = guess(*n, *k, z);
        let of = if success < 0.5 { LimitCandidate::Success } else { LimitCandidate::Failure };
        let nearest = |x: f64| match trial.nearest(of(x)) {
            LimitCandidate::Success(x) | LimitCandidate::Failure(x) => x,
        };
        let mut x = nearest(if success < 0.5 { success } else { failure });
        for round in 0..60 {
            let at = of(x);
            if round % 4 == 0 {
                levels = self.settled(levels, at);
            }
            let attempt = trial.attempt(at, levels);
            let (slope, curvature) = self.derivatives(&attempt, at);
            let newton = -attempt.excess / slope;
            let step = newton / (1.0 + 0.5 * newton * curvature / slope).clamp(0.5, 2.0);
            let outward = if success < 0.5 { -0.5 } else { 0.5 };
            let step = if step.is_finite() { step.clamp(-30.0, 30.0) } else { outward };
            // x·e^step, without losing a small step.
            let small = step * (1.0 + step * (0.5 + step / 6.0));
            let next = nearest(if step.abs() < 1e-4 { x + x * small } else { x * exponential(step) });
            // The steps square the error at least: after this one it is below what can be told apart.
            let settled = attempt.excess.abs() <= 1e-8 || next == x;
            x = next;
            if settled {
                break;
            }
        }
        let units = std::iter::once(0).chain((0..60).map(|doubling| 1_u64 << doubling));
        let mut candidates = units.map(|units| {
            let bits = x.to_bits();
            f64::from_bits(if success < 0.5 { bits.saturating_sub(units) } else { bits + units })
        });
        candidates.find_map(|x| {
            let candidate = of(x);
            trial.prove(candidate, levels).map(|proven| FoundLimit { candidate, levels, proven })
        })
    }

    /// How many standard deviations below k/n the limit is, about.
    fn deviations(&self) -> f64 {
        let (n, k, alpha) = (self.n, self.k, self.trial.alpha());
        if !self.mixture {
            return first_guess(alpha);
        }
        // Where the mass is about normal, the mixture reaches 1/α there.
        let middle = (k + 0.5) / (n + 1.0);
        let square = logarithm((n + 1.0) * (1.0 - middle) / (TAU * middle * alpha * alpha));
        square.max(0.25).sqrt()
    }

    /// The first and second derivative of the excess, about, by the logarithm of the number in the candidate.
    fn derivatives(&self, attempt: &LimitAttempt, at: LimitCandidate) -> (f64, f64) {
        let (n, k) = (self.n, self.k);
        let (p, q) = match at {
            LimitCandidate::Success(p) => (p, 1.0 - p),
            LimitCandidate::Failure(q) => (1.0 - q, q),
        };
        let &LimitAttempt { excess, ratio, beyond, within } = attempt;
        let (slope, curvature) = if excess == f64::INFINITY {
            (1.0, 0.0)
        } else if self.mixture {
            let tilt = (n - k + 1.0) * p / q;
            (k - tilt + (k + 1.0) * beyond / (ratio * within), -tilt / q)
        } else {
            // With t = 1 − u and T = P(X ≥ k) − t·P(X = k) = P(X = k)·(r − t): dT/d ln p = P(X = k)·g for
            // g = (1 − t)·k + t·(n − k)·p/q. Without a discount, g is k to the last bit.
            let t = self.trial.discount();
            let rest = t * (n - k) * p / q;
            let g = (1.0 - t) * k + rest;
            let slope = g / (ratio - t);
            (slope, slope * ((k - n * p) / q + rest / (q * g) - slope))
        };
        match at {
            LimitCandidate::Success(_) => (slope, curvature),
            LimitCandidate::Failure(_) => {
                let odds = q / p;
                (-slope * odds, odds * (odds * curvature - slope / p))
            }
        }
    }

    /// Levels of the continued fraction for p about z standard deviations below k/n: an odd number.
    fn first_levels(&self, z: f64) -> u32 {
        let more = if self.mixture { 1.0 } else { 0.0 };
        let (n, k) = (self.n + more, self.k + more);
        let deviation = (k * (n - k) / n).sqrt();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // below 2²³
        let levels = (8.0 + 240.0 / (z * z)).min(15.0 + 3.0 * deviation).min(4e6) as u32;
        levels | 1
    }

    /// More levels, until the fraction has converged at this p. It has no more of them than there are failures.
    fn settled(&self, mut levels: u32, at: LimitCandidate) -> u32 {
        let mut before = f64::INFINITY;
        while levels < MOST_LEVELS && f64::from(levels) <= self.n - self.k {
            let (above, below) = (self.trial.ratio(at, levels), self.trial.ratio(at, levels + 1));
            let gap = (above - below) / above;
            // What rounding leaves apart stays apart; the larger the fraction, the more digits its difference from
            // infinity has lost.
            if gap <= f64::EPSILON * above * (64.0 + f64::from(levels)) || gap > 0.7 * before {
                break;
            }
            before = gap;
            levels = 2 * levels + 1;
        }
        levels
    }
}

/// A first guess at p and 1 − p, z standard deviations below k/n: Abramowitz and Stegun 26.5.22.
fn guess(n: f64, k: f64, z: f64) -> (f64, f64) {
    let (a, b) = (k, n - k + 1.0);
    let (left, right) = (1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0));
    let h = 2.0 / (left + right);
    let lambda = (z * z - 3.0) / 6.0;
    let w = z * (h + lambda).max(0.0).sqrt() / h - (right - left) * (lambda + 5.0 / 6.0 - 2.0 / (3.0 * h));
    let odds = b / a * exponential((2.0 * w).min(600.0));
    (1.0 / (1.0 + odds), odds / (1.0 + odds))
}
