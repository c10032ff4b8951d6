//! The share at which a randomised radius is the true one, in ordinary arithmetic: to find where to look.

use super::N;
use gambeson_checker::Sides;
use gambeson_smooth::limit::normal_quantile_below;
use rayon::prelude::*;

/// Steps between the least share and 1.
const STEPS: usize = 64;

/// Φ⁻¹ of lower limits at some α by count, as a function of the logarithm of the share.
struct Limits {
    /// The logarithm of the least share.
    least: f64,
    /// At shares from the least to 1, equally far apart in their logarithms.
    by_count: Vec<Vec<f64>>,
}

/// P(X > k) + u·P(X = k) for X ~ Bin(N, p).
fn tail(k: usize, u: f64, p: f64, ln_choose: f64) -> f64 {
    let mut term = (ln_choose + k as f64 * p.ln() + (N - k) as f64 * (-p).ln_1p()).exp();
    let (odds, mut sum) = (p / (1.0 - p), u * term);
    for i in k..N {
        term *= (N - i) as f64 / (i + 1) as f64 * odds;
        sum += term;
        if term < 1e-18 * sum {
            break;
        }
    }
    sum
}

impl Limits {
    fn new(alpha: f64) -> Self {
        // Shares below 2α count as 2α: `limit.rs` of the checker.
        let least = f64::max(0.05, 2.0 * alpha).ln();
        let ln_factorial = |n: usize| (1..=n).map(|i| (i as f64).ln()).sum::<f64>();
        let of_count = |k: usize| -> Vec<f64> {
            let ln_choose = ln_factorial(N) - ln_factorial(k) - ln_factorial(N - k);
            let limit = |step: usize| {
                let u = (least * (STEPS - step) as f64 / STEPS as f64).exp();
                let (mut low, mut high) = (0.0, k as f64 / N as f64);
                for _ in 0..50 {
                    let p = 0.5 * (low + high);
                    if tail(k, u, p, ln_choose) < alpha { low = p } else { high = p }
                }
                normal_quantile_below(low)
            };
            (0..=STEPS).map(limit).collect()
        };
        // No success proves nothing.
        let by_count = (0..=N).into_par_iter().map(|k| if k == 0 { Vec::new() } else { of_count(k) });
        Self { least, by_count: by_count.collect() }
    }

    /// By the cubic through four neighbours.
    fn at(&self, k: usize, ln_share: f64) -> f64 {
        let x = (1.0 - ln_share / self.least) * STEPS as f64;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // from 0 to STEPS
        let first = (x as usize).saturating_sub(1).min(STEPS - 3);
        let four = &self.by_count[k][first..first + 4];
        let t = x - first as f64;
        four[0] * (t - 1.0) * (t - 2.0) * (t - 3.0) / -6.0
            + four[1] * t * (t - 2.0) * (t - 3.0) / 2.0
            + four[2] * t * (t - 1.0) * (t - 3.0) / -2.0
            + four[3] * t * (t - 1.0) * (t - 2.0) / 6.0
    }
}

/// Limits at α and at half of it.
pub(super) struct Shares {
    one: Limits,
    two: Limits,
}

impl Shares {
    pub(super) fn new(alpha: f64) -> Self {
        Self { one: Limits::new(alpha), two: Limits::new(alpha / 2.0) }
    }

    /// The share up to which the radius of k draws, and m of the runner-up, exceeds a true one. σ = 1.
    pub(super) fn last_false(&self, sides: Sides, (k, m): (usize, usize), most: f64) -> f64 {
        let limits = if sides == Sides::One { &self.one } else { &self.two };
        let radius = |ln_share: f64| {
            let a = limits.at(k, ln_share);
            // An upper limit on m of N is a lower one on the others; or p_B is 1 − p_A.
            if sides == Sides::One { a } else { a.max(0.5 * (a + limits.at(N - m, ln_share))) }
        };
        let (mut low, mut high) = (limits.least, 0.0);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if radius(middle) > most { low = middle } else { high = middle }
        }
        low.exp()
    }
}
