//! From counts to radii: searches for confidence limits and normal quantiles, what runs decide beforehand about limits, and
//! the one place where counts become a radius.
//!
//! The checker proves what is found here. [`confidence`] proposes limits and [`quantile`] quantiles until one is proven;
//! [`radius_of_counts`] joins them. [`rule`] has the rules of runs, [`sample`] what follows by them from the counts of an
//! input.

pub mod confidence;
pub mod quantile;
pub mod rule;
pub mod sample;

use confidence::{FoundLimit, search};
pub use confidence::{lower_limit, upper_limit};
use gambeson_checker::{
    ProposedLimit, ProvenRadius, RadiusCandidates, RadiusQuestion, RadiusTrial, Sides, StatisticsError,
};
pub use quantile::{normal_quantile_above, normal_quantile_below};
pub use rule::{LimitRule, SelectionCounts, chosen_sides};
pub use sample::{ClassDraws, LimitChoice, Sample};

/// What counts prove: limits, and the radius in z within which the smoothed classifier answers with the class, before any
/// encoding error; none where it abstains.
pub fn radius_of_counts(question: &RadiusQuestion) -> Result<ProvenRadius, StatisticsError> {
    let trial = RadiusTrial::new(question)?;
    let counts = question.counts;
    let class = trial.class().and_then(|trial| search(trial, counts.class()));
    let others = trial.runner_up().and_then(|trial| search(trial, counts.runner_up().opposite()));
    // One limit says nothing below one half.
    let majority = class.is_some_and(|found| found.proven.value() > 0.5);
    let quantiles = question.sides == Sides::Two || majority;
    let candidates = RadiusCandidates {
        class: class.map(|found| proposed(found, quantiles)),
        runner_up: others.map(|found| proposed(found, quantiles)),
    };
    Ok(trial.prove(&candidates))
}

fn proposed(found: FoundLimit, with_quantile: bool) -> ProposedLimit {
    let FoundLimit { candidate, levels, proven } = found;
    let quantile = with_quantile.then(|| quantile::search(&proven.quantile()).value().abs());
    ProposedLimit { limit: candidate, levels, quantile }
}
