//! The one place where counts become a radius: candidates for limits and quantiles, which the checker proves together.

use super::confidence::{self, FoundLimit};
use super::quantile;
use gambeson_checker::{
    ProposedLimit, ProvenRadius, RadiusCandidates, RadiusQuestion, RadiusTrial, Sides, StatisticsError,
};

/// What counts prove: limits, and the radius in z within which the smoothed classifier answers with the class, before any
/// encoding error; none where it abstains.
pub fn radius_of_counts(question: &RadiusQuestion) -> Result<ProvenRadius, StatisticsError> {
    let trial = RadiusTrial::new(question)?;
    let counts = question.counts;
    let class = trial.class().and_then(|trial| confidence::search(trial, counts.class()));
    let others = trial.runner_up().and_then(|trial| confidence::search(trial, counts.runner_up().opposite()));
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
