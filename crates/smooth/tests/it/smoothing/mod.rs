//! Smoothing: the engine against what is known in closed form.

/// Certificates that nearly Gaussian noise contradicts, and exactly Gaussian noise does not.
mod contradicted;
/// How often certificates are wrong, and that broken ones are found out.
mod coverage;
/// Draws and counts, the two boxes, bad parameters.
mod engine;
/// Exact coverage of the rules of limits.
mod enumerated;
/// Runs that go on beyond their n.
mod extended;
/// Noise in the coordinates of a projection.
mod projected;
/// Drawing until the answer is settled, on public vote counts.
mod sequential;
/// One caller and large batches.
mod session;
/// Rules of limits on public vote counts.
mod votes;

pub(crate) use projected::example_projection;

use gambeson_checker::{FailureProbability, NoiseLevel};
use gambeson_smooth::smoother::SmoothingParams;

/// n₀ = 10, seed 1, batches of 1024, no goal.
pub(crate) fn params(sigma: f64, n: u64, alpha: f64) -> SmoothingParams {
    SmoothingParams {
        selection: 10,
        estimation: n,
        failure: FailureProbability::new(alpha).expect("a probability"),
        batch: 1024,
        seed: 1,
        ..SmoothingParams::new(NoiseLevel::new(sigma).expect("a level")).expect("parameters")
    }
}

/// P(Bin(n, p) ≥ k), summed from its largest terms down in ordinary arithmetic.
fn upper_tail(n: u64, p: f64, k: u64) -> f64 {
    let ln = |n: u64| (1..=n).map(|i| (i as f64).ln()).sum::<f64>();
    let first = ln(n) - ln(k) - ln(n - k) + k as f64 * p.ln() + (n - k) as f64 * (1.0 - p).ln();
    let (mut term, mut sum) = (first.exp(), 0.0);
    for i in k..=n {
        sum += term;
        term *= (n - i) as f64 / (i + 1) as f64 * p / (1.0 - p);
    }
    sum.min(1.0)
}

/// Φ by the integral of the density: Simpson's rule with steps of 1/1000 from −9.
fn cumulative(x: f64) -> f64 {
    let density = |t: f64| (-0.5 * t * t).exp() / (2.0 * std::f64::consts::PI).sqrt();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // some thousands
    let steps = (((x + 9.0) * 1000.0).ceil().max(2.0) / 2.0).ceil() as usize * 2;
    let width = (x + 9.0) / steps as f64;
    let inner: f64 =
        (1..steps).map(|i| density(-9.0 + i as f64 * width) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
    (density(-9.0) + inner + density(x)) * width / 3.0
}

/// Φ⁻¹ by bisection.
fn quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-8.0, 8.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if cumulative(middle) < p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}
