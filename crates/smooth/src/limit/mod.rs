//! From counts to radii: searches for confidence limits and normal quantiles, and the one place where counts become a
//! radius.
//!
//! The checker proves what is found here. [`confidence`] proposes limits and [`quantile`] quantiles until one is proven;
//! [`radius_of_counts`] joins them.

pub mod confidence;
pub mod quantile;

pub use confidence::{lower_limit, upper_limit};
use gambeson_checker::{
    FailureProbability, LatentRadius, LimitMethod, LowerLimit, NoiseLevel, SamplingRule, StatisticsError,
    Tally, UpperLimit,
};
pub use quantile::{normal_quantile_above, normal_quantile_below};

/// How limits are put on the probabilities of classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitChoice {
    /// One lower limit, by the method natural to the rule.
    #[default]
    Natural,
    /// One lower limit, valid at any stopping time, for every rule.
    Mixture,
    /// By the method natural to the rule, a lower limit on the class and upper limits on all others, with half of α
    /// each: better where the runner-up is far from having all the rest.
    TwoSided,
}

/// How often a class was counted, and how the counting was planned.
#[derive(Clone, Copy, Debug)]
pub struct CountedClass {
    /// How it was decided when to stop drawing.
    pub rule: SamplingRule,
    /// Draws in which the class was answered.
    pub count: u64,
    /// The most draws in which any other answer may have been given: no answer at all included, and all undecided draws
    /// added. Only [`LimitChoice::TwoSided`] asks for it.
    pub runner_up: u64,
    /// All draws, undecided ones included.
    pub trials: u64,
    /// σ.
    pub noise: NoiseLevel,
}

/// What counts prove at the failure probability α: the lower limit on the probability of the class, and the radius in z
/// within which the smoothed classifier answers with it, before any encoding error; none where it abstains.
pub fn radius_of_counts(
    counts: CountedClass,
    alpha: FailureProbability,
    how: LimitChoice,
) -> Result<(LowerLimit, Option<LatentRadius>), StatisticsError> {
    let CountedClass { rule, count, runner_up, trials, noise } = counts;
    let (method, side) = match how {
        LimitChoice::Natural => (rule.method(), alpha),
        LimitChoice::Mixture => (LimitMethod::Mixture, alpha),
        LimitChoice::TwoSided => (rule.method(), alpha.half()),
    };
    let lower = lower_limit(rule, Tally::new(count, trials)?, method, side)?;
    let radius = match how {
        LimitChoice::Natural | LimitChoice::Mixture => smoothing_radius(lower, noise),
        LimitChoice::TwoSided => {
            // The limit rises with the count, so the largest count has the largest limit.
            let upper = upper_limit(rule, Tally::new(runner_up, trials)?, method, side)?;
            two_sided_radius(lower, upper, noise)
        }
    };
    Ok((lower, radius))
}

/// σ·Φ⁻¹(p_A) with p_A the limit; none, abstain, where the limit is not above one half.
pub fn smoothing_radius(lower: LowerLimit, noise: NoiseLevel) -> Option<LatentRadius> {
    if !(lower.value() > 0.5) {
        return None;
    }
    LatentRadius::one_sided(lower, quantile::search(&lower.quantile()), noise)
}

/// σ/2·(Φ⁻¹(p_A) − Φ⁻¹(p_B)); none, abstain, where that is not positive. `upper` is the largest upper limit over all
/// classes but A, and each limit was derived at half of α: see [`LatentRadius::two_sided`].
pub fn two_sided_radius(lower: LowerLimit, upper: UpperLimit, noise: NoiseLevel) -> Option<LatentRadius> {
    let (a, b) = (quantile::search(&lower.quantile()), quantile::search(&upper.quantile()));
    LatentRadius::two_sided((lower, a), (upper, b), noise)
}
