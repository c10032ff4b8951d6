//! What a run decides about limits before it counts, and the choice of one or two limits for each input.
//!
//! **Problem.** One lower limit at α, with p_B = 1 − p_A, is best where the runner-up has nearly all that the class leaves.
//! Two limits at α/2 each are better where other classes share it, and the only ones that prove anything for a class
//! without a majority. Which of them to use must not depend on the draws that are counted.
//!
//! **Method.** The selection draws have chosen the class A; they choose the number of limits too. If A has k₀ of n₀
//! selection draws and its runner-up m₀, then k₀·n/n₀ and m₀·n/n₀ of n draws are predicted, rounded to whole numbers. Two
//! limits are used where they would prove the larger radius of such counts, or where neither would prove any; one where
//! that is as good, and wherever the two answers have all selection draws. On public votes the average radius so chosen is
//! within a thousandth of that of the better of both (`results/votes2023.md`).
//!
//! **Guarantee.** *Theorem.* If for every class A and either number of limits the radius of `counted.rs` (of the checker) is
//! wrong with probability α at most, then so is the radius of the class and the number of limits that the selection draws
//! chose. *Proof.* The selection draws S are independent of the estimation draws, and of the share u of randomised limits:
//! they come from other streams. Given S = s, class and number of limits are fixed, and the others have the law that they
//! have without s. So the radius is wrong with probability α at most given s, whatever s is, and hence on the average over
//! s. ∎ The choice is a function of k₀, m₀, n₀, n, α and the rule, computed by the checker's bit-stable limits, so that every
//! reader of a record makes it again.
//!
//! **Randomised limits** (`limit.rs` of the checker) count only a part u of the probability of the very count: they are wrong
//! exactly as often as α allows, where others are wrong less often. u is a function of seed and input, from a stream
//! that no draw uses. Both limits of a radius may use one u, for their failures add up however they depend on each other.
//!
//! **Deviations.** Sequential runs use one limit: their last number of draws is not known beforehand.

use super::radius::radius_of_counts;
use gambeson_checker::{
    ClassCounts, FailureProbability, LatentRadius, NoiseLevel, RadiusQuestion, SamplingRule, Sides,
    StatisticsError,
};
use serde::{Deserialize, Serialize};

/// How the limits of a run are put on the probabilities of classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitRule {
    /// One lower limit: all other answers may be of one class.
    #[default]
    OneSided,
    /// One or two limits, as the selection draws of each input say.
    Chosen,
    /// The same with randomised limits.
    Randomised,
}

impl LimitRule {
    /// `one-sided`, `chosen` or `randomised`.
    pub fn name(self) -> &'static str {
        match self {
            Self::OneSided => "one-sided",
            Self::Chosen => "chosen",
            Self::Randomised => "randomised",
        }
    }
}

/// What the selection draws of an input say: how many were of the class, of its runner-up at most, and how many there were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectionCounts {
    /// k₀.
    pub class: u64,
    /// m₀: no answer counts as a class, and undecided draws as the runner-up's.
    pub runner_up: u64,
    /// n₀.
    pub draws: u64,
}

/// The number of limits for n estimation draws that are sampled by a rule.
pub fn chosen_sides(
    selection: SelectionCounts,
    rule: SamplingRule,
    n: u64,
    failure: FailureProbability,
) -> Result<Sides, StatisticsError> {
    let SelectionCounts { class, runner_up, draws } = selection;
    if class.saturating_add(runner_up) >= draws {
        return Ok(Sides::One); // two limits would be the same limit at half of alpha
    }
    let predicted = |count: u64| {
        let (count, n, draws) = (u128::from(count), u128::from(n), u128::from(draws));
        u64::try_from((count * n + draws / 2) / draws).unwrap_or(u64::MAX)
    };
    let count = predicted(class).min(n);
    let rest = n - count;
    let counts = ClassCounts::new(count, predicted(runner_up).clamp(rest.min(1), rest), n)?;
    let (method, noise) = (rule.method(), NoiseLevel::new(1.0)?);
    let radius = |sides| -> Result<f64, StatisticsError> {
        let question = RadiusQuestion { counts, rule, method, sides, failure, noise };
        Ok(radius_of_counts(&question)?.radius().map_or(0.0, LatentRadius::value))
    };
    let (one, two) = (radius(Sides::One)?, radius(Sides::Two)?);
    Ok(if two > one || two == 0.0 && one == 0.0 { Sides::Two } else { Sides::One })
}
