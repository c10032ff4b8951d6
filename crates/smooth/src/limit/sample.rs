//! The draws of one input, and what they prove.

use super::radius::radius_of_counts;
use super::rule::{LimitRule, SelectionCounts, chosen_sides};
use gambeson_checker::{
    ClassCounts, FailureProbability, LimitMethod, NoiseLevel, ProvenRadius, RadiusQuestion, RandomShare,
    SamplingRule, Sides, StatisticsError,
};

/// How limits are put on the probabilities of classes by whoever reads counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitChoice {
    /// As the run that counted has it.
    #[default]
    Natural,
    /// One lower limit, by the method natural to the rule of sampling.
    OneSided,
    /// The same or two limits, as the selection draws of each input say.
    Chosen,
    /// One lower limit, valid at any stopping time, for every rule of sampling.
    Mixture,
    /// By the method natural to the rule of sampling, a lower limit on the class and upper limits on all others, with half
    /// of α each: better where the runner-up is far from having all the rest.
    TwoSided,
}

/// Draws of one kind, by answer.
#[derive(Clone, Copy, Debug)]
pub struct ClassDraws<'a> {
    /// By class.
    pub classes: &'a [u64],
    /// Draws without a class.
    pub none: u64,
    /// Draws that could not be decided.
    pub undecided: u64,
}

impl ClassDraws<'_> {
    /// Draws of a class.
    pub fn of(self, class: u32) -> u64 {
        self.classes.get(class as usize).copied().unwrap_or(0)
    }

    /// All draws.
    pub fn total(self) -> u64 {
        let others = self.none.saturating_add(self.undecided);
        self.classes.iter().fold(others, |sum, &count| sum.saturating_add(count))
    }

    /// The most frequent class, the lowest of equals; none where draws without a class are more frequent, or there are
    /// no draws.
    pub fn most(self) -> Option<u32> {
        let highest = self.classes.iter().copied().max().filter(|&count| count > 0 && count >= self.none)?;
        let class = self.classes.iter().position(|&count| count == highest)?;
        u32::try_from(class).ok()
    }

    /// How many draws may have had one answer other than this class: no answer counts as one, and all undecided draws are
    /// added.
    pub fn runner_up(self, class: u32) -> u64 {
        let others = self.classes.iter().enumerate().filter(|(other, _)| *other != class as usize);
        others.map(|(_, &count)| count).fold(self.none, u64::max).saturating_add(self.undecided)
    }
}

/// The draws of one input, and how they came about.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// Draws that choose the class.
    pub selection: ClassDraws<'a>,
    /// Draws that are counted.
    pub estimation: ClassDraws<'a>,
    /// How it was decided when to stop drawing.
    pub rule: SamplingRule,
    /// n: draws to be counted as planned beforehand, at most.
    pub planned: u64,
    /// The limits of the run.
    pub limits: LimitRule,
    /// u of randomised limits.
    pub share: RandomShare,
    /// σ.
    pub noise: NoiseLevel,
}

impl Sample<'_> {
    /// The class chosen on the selection draws.
    pub fn selected(&self) -> Option<u32> {
        self.selection.most()
    }

    /// What the draws prove of the class chosen, at the failure probability α; none where no class was.
    pub fn prove(
        &self,
        failure: FailureProbability,
        how: LimitChoice,
    ) -> Result<Option<ProvenRadius>, StatisticsError> {
        let Some(class) = self.selected() else { return Ok(None) };
        let (rule, noise, estimation) = (self.rule, self.noise, self.estimation);
        let (method, sides) = self.limits(class, failure, how)?;
        let counts = ClassCounts::new(estimation.of(class), estimation.runner_up(class), estimation.total())?;
        radius_of_counts(&RadiusQuestion { counts, rule, method, sides, failure, noise }).map(Some)
    }

    /// The method and the number of limits.
    fn limits(
        &self,
        class: u32,
        failure: FailureProbability,
        how: LimitChoice,
    ) -> Result<(LimitMethod, Sides), StatisticsError> {
        let natural = self.rule.method();
        let chosen = || {
            let (count, runner_up) = (self.selection.of(class), self.selection.runner_up(class));
            let selection = SelectionCounts { class: count, runner_up, draws: self.selection.total() };
            chosen_sides(selection, self.rule, self.planned, failure)
        };
        Ok(match (how, self.limits) {
            (LimitChoice::Natural, LimitRule::OneSided) | (LimitChoice::OneSided, _) => (natural, Sides::One),
            (LimitChoice::Natural, LimitRule::Chosen) | (LimitChoice::Chosen, _) => (natural, chosen()?),
            (LimitChoice::Natural, LimitRule::Randomised) => (LimitMethod::Randomised(self.share), chosen()?),
            (LimitChoice::Mixture, _) => (LimitMethod::Mixture, Sides::One),
            (LimitChoice::TwoSided, _) => (natural, Sides::Two),
        })
    }
}
