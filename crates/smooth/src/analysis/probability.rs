//! Certified accuracy from below, with high probability over the draws of all inputs together.
//!
//! Problem: of m certificates, each is false with probability at most α. The certified accuracy counted is that of the
//! smoothed classifier on these m inputs only if none is. How much must be taken off to be right with probability
//! 1 − ρ?
//! Reference: Cohen, Rosenfeld and Kolter (2019), appendix on high-probability guarantees, and their `analyze.py`.
//! Guarantee: the draws of different inputs are independent, so the number of false certificates is stochastically at
//! most binomial(m, α). If P(binomial(m, α) ≥ k) ≤ ρ then fewer than k are false, and so for all radii at once.
//! [`false_certificates`] finds the least such k exactly, by the checker: P(binomial(m, p) ≥ k) ≤ ρ for p not above
//! the Clopper–Pearson lower limit of k successes in m at the level ρ.
//! Deviations: [`bernstein_bound`] is Cohen's, by Bernstein's inequality, with the factor 2 under the root that the
//! inequality has and their program leaves out.

use super::error::AnalysisError;
use crate::limit::lower_limit;
use gambeson_checker::{FailureProbability, LimitMethod, SamplingRule, Tally};

/// How many of m certificates may be false: more are with probability at most ρ, each being false with at most α.
pub fn false_certificates(images: u64, alpha: f64, rho: FailureProbability) -> Result<u64, AnalysisError> {
    Tally::new(0, images)?;
    // The least k in 1..=m whose limit reaches α, less one; m if no limit does.
    let reaches = |k: u64| {
        let tally = Tally::new(k, images)?;
        lower_limit(SamplingRule::Fixed, tally, LimitMethod::ClopperPearson, rho)
            .map(|limit| limit.value() >= alpha)
    };
    let (mut below, mut above) = (0, images + 1);
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if reaches(middle)? {
            above = middle;
        } else {
            below = middle;
        }
    }
    Ok(above - 1)
}

/// The certified accuracy a that was counted on m inputs, less what Bernstein's inequality asks for:
/// a − α − √(2α(1 − α)·ln(1/ρ)/m) − ln(1/ρ)/(3m).
pub fn bernstein_bound(accuracy: f64, images: u64, alpha: f64, rho: FailureProbability) -> f64 {
    let (m, log) = (images as f64, -rho.value().ln());
    (accuracy - alpha - (2.0 * alpha * (1.0 - alpha) * log / m).sqrt() - log / (3.0 * m)).max(0.0)
}
