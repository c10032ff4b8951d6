//! From counts to a radius in one question: the only way to a [`LatentRadius`].
//!
//! # Problem
//! In n draws a class A was counted k times and no other answer more than m times. Within which radius is A the answer of
//! the smoothed classifier, but for a probability of α?
//!
//! # One limit
//! With the lower limit p_A at α, and p_B = 1 − p_A, the theorem of `radius.rs` gives σ·Φ⁻¹(p_A).
//!
//! # Two limits
//! p_A and p_B come from the same draws and must hold together, so they share α: α/2 for each
//! ([`FailureProbability::half`]), by the union bound. The largest upper limit over all other classes needs no
//! further correction for their number: the true runner-up is one class, not chosen by these draws. Its own upper
//! limit fails with probability at most α/2, and where it holds, the largest of all limits is no smaller; limits rise with
//! the count, so the largest is that of m. Every outcome that is not A counts as a class, a classifier's refusal to answer
//! included.
//!
//! # Draws that could not be made
//! A sampler may fail to decide a draw, at random and independently of the other draws. Had it been decided, it would have
//! been of some class; so the true count of A is at least the count known, and that of any other class at most the count
//! known plus all undecided ones. Lower limits rise with the count and upper limits too, so limits from those two numbers
//! are on the safe side of the limits that the true counts would have given: nothing is taken from α.
//!
//! # Guarantee
//! A [`RadiusTrial`] holds everything that must belong together: both counts of the same draws, the rule by which these
//! were sampled, the method, α, σ, and whether one or two limits are used. Candidates come from a search elsewhere, and
//! [`RadiusTrial::prove`] proves each of them again, limits at α or α/2 as they must be. A candidate that is refused leaves
//! the trivial limit, or no radius.
//!
//! What no count can show is taken on trust: A, the method (a random share included) and one or two limits were chosen
//! without these draws, and the runner-up is at most m.

use crate::NoiseLevel;
use crate::statistics::limit::{LimitCandidate, LimitTrial, LowerLimit, UpperLimit};
use crate::statistics::quantile::{NormalQuantile, QuantileTrial};
use crate::statistics::radius::LatentRadius;
use crate::statistics::sampling::{FailureProbability, LimitMethod, SamplingRule, StatisticsError, Tally};

/// Draws of a class and of its runner-up, of the same draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassCounts {
    class: Tally,
    runner_up: Tally,
}

impl ClassCounts {
    /// `count` of `trials` draws were of the class, and at most `runner_up` of any other answer: no answer at all included,
    /// and all undecided draws added. Refuses numbers that no draws can have: more than all of them, or no runner-up
    /// although some draws were not of the class.
    pub fn new(count: u64, runner_up: u64, trials: u64) -> Result<Self, StatisticsError> {
        let (class, other) = (Tally::new(count, trials)?, Tally::new(runner_up, trials)?);
        let rest = trials - count;
        if runner_up > rest || (runner_up == 0) != (rest == 0) {
            return Err(StatisticsError::RunnerUp { count, runner_up, trials });
        }
        Ok(Self { class, runner_up: other })
    }

    /// Draws of the class.
    pub fn class(self) -> Tally {
        self.class
    }

    /// Draws of its runner-up, at most.
    pub fn runner_up(self) -> Tally {
        self.runner_up
    }
}

/// How many limits a radius rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides {
    /// A lower limit on the class at α; all other answers together may have the rest.
    One,
    /// A lower limit on the class and an upper limit on its runner-up, at α/2 each.
    Two,
}

/// Which radius do these counts prove?
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadiusQuestion {
    /// What was counted.
    pub counts: ClassCounts,
    /// How it was decided when to stop drawing.
    pub rule: SamplingRule,
    /// How limits are derived; must be valid for the rule.
    pub method: LimitMethod,
    /// One limit or two.
    pub sides: Sides,
    /// α: how often, at most, the radius may be wrong.
    pub failure: FailureProbability,
    /// σ.
    pub noise: NoiseLevel,
}

/// What candidates for the limits of a radius are tried against.
pub struct RadiusTrial {
    sides: Sides,
    lower: Option<LimitTrial>,
    /// On the draws that are not of the runner-up, where two limits are used.
    others: Option<LimitTrial>,
    noise: NoiseLevel,
}

/// A candidate for a limit with one for its quantile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProposedLimit {
    /// The limit: for the runner-up, on the draws that are not of it.
    pub limit: LimitCandidate,
    /// Levels of its continued fraction.
    pub levels: u32,
    /// y of [`QuantileTrial::prove`], for the question of the limit ([`LowerLimit::quantile`]). `None` proposes nothing, and
    /// proves a radius at most where the other limit does.
    pub quantile: Option<f64>,
}

/// Candidates for all that a radius follows from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RadiusCandidates {
    /// For the class; none for [`LowerLimit::TRIVIAL`].
    pub class: Option<ProposedLimit>,
    /// For the runner-up, with two limits; none where the lower limit on the other draws is trivial.
    pub runner_up: Option<ProposedLimit>,
}

/// What counts prove, but for the probability α of their question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProvenRadius {
    lower: LowerLimit,
    upper: Option<UpperLimit>,
    radius: Option<LatentRadius>,
}

impl ProvenRadius {
    /// The lower limit on the probability of the class.
    pub fn lower(self) -> LowerLimit {
        self.lower
    }

    /// The upper limit on the probability of every other class, where two limits are used.
    pub fn upper(self) -> Option<UpperLimit> {
        self.upper
    }

    /// The radius in z; none, abstain, where the class is not proven to lead.
    pub fn radius(self) -> Option<LatentRadius> {
        self.radius
    }
}

impl RadiusTrial {
    /// The method must be valid for the rule: see [`SamplingRule::method`].
    pub fn new(question: &RadiusQuestion) -> Result<Self, StatisticsError> {
        let RadiusQuestion { counts, rule, method, sides, failure, noise } = *question;
        let failure = match sides {
            Sides::One => failure,
            Sides::Two => failure.half(),
        };
        let trial = |tally| LimitTrial::new(rule, tally, method, failure);
        let others = match sides {
            Sides::One => None,
            Sides::Two => trial(counts.runner_up.opposite())?,
        };
        Ok(Self { sides, lower: trial(counts.class)?, others, noise })
    }

    /// What a candidate for the class is tried against; none where only the trivial limit is proven.
    pub fn class(&self) -> Option<&LimitTrial> {
        self.lower.as_ref()
    }

    /// What a candidate for the runner-up is tried against: the draws that are not of it. None with one limit, or where
    /// only the trivial limit is proven.
    pub fn runner_up(&self) -> Option<&LimitTrial> {
        self.others.as_ref()
    }

    /// What the candidates prove.
    pub fn prove(&self, candidates: &RadiusCandidates) -> ProvenRadius {
        let lower = limit(self.class(), candidates.class);
        let a = answered(candidates.class, lower.quantile());
        if self.sides == Sides::One {
            let radius = a.and_then(|a| LatentRadius::one_sided(lower, a, self.noise));
            return ProvenRadius { lower, upper: None, radius };
        }
        let upper = limit(self.runner_up(), candidates.runner_up).of_opposite();
        let b = answered(candidates.runner_up, upper.quantile());
        let radius = a.zip(b).and_then(|(a, b)| LatentRadius::two_sided((lower, a), (upper, b), self.noise));
        ProvenRadius { lower, upper: Some(upper), radius }
    }
}

/// The limit proposed, where it is proven, else the trivial one.
fn limit(trial: Option<&LimitTrial>, proposed: Option<ProposedLimit>) -> LowerLimit {
    let proven = trial.zip(proposed).and_then(|(trial, found)| trial.prove(found.limit, found.levels));
    proven.unwrap_or(LowerLimit::TRIVIAL)
}

/// The quantile proposed, where it is proven; without one what is true of a limit below one half: −∞.
fn answered(proposed: Option<ProposedLimit>, question: QuantileTrial) -> Option<NormalQuantile> {
    question.prove(proposed.and_then(|found| found.quantile).unwrap_or(f64::INFINITY))
}
