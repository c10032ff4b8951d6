//! What several test files need.

use gambeson_checker::{
    ClassCounts, FailureProbability, LatentRadius, NoiseLevel, RadiusQuestion, SamplingRule, Sides,
};
use gambeson_smooth::limit::radius_of_counts;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Standard normal numbers.
pub(crate) fn normal(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| StandardNormal.sample(&mut rng)).collect()
}

/// The radius that `count` of `trials` draws prove by one lower limit for a fixed number of draws.
pub(crate) fn one_sided_radius(count: u64, trials: u64, alpha: f64, sigma: f64) -> Option<LatentRadius> {
    let rule = SamplingRule::Fixed;
    let question = RadiusQuestion {
        counts: ClassCounts::new(count, trials - count, trials).expect("counts"),
        rule,
        method: rule.method(),
        sides: Sides::One,
        failure: FailureProbability::new(alpha).expect("a probability"),
        noise: NoiseLevel::new(sigma).expect("a level"),
    };
    radius_of_counts(&question).expect("a limit").radius()
}
