//! What a confidence limit is asked about: counts, how they were sampled, and how often the limit may be wrong.
//!
//! The rule is part of the evidence. A limit for a number of draws set beforehand does not hold for counts that were
//! looked at in between: stopping at a lucky moment makes it wrong more often than it says. So a [`SamplingRule`]
//! travels with every tally, and a method that does not fit it is refused.

use std::fmt;

/// Most draws of a [`Tally`]: 2⁴⁰, about 10¹².
pub const MOST_TRIALS: u64 = 1 << 40;

/// α: how often, at most, a limit may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct FailureProbability(f64);

impl FailureProbability {
    /// The least α that can be asked for. Half of it, and half of that, are normal numbers, so that α is split exactly.
    pub const LEAST: f64 = 1e-300;

    /// Refuses what is not at least [`Self::LEAST`] and below 1.
    pub fn new(value: f64) -> Result<Self, StatisticsError> {
        let valid = (Self::LEAST..1.0).contains(&value);
        valid.then_some(Self(value)).ok_or(StatisticsError::FailureProbability { value })
    }

    /// The number.
    pub fn value(self) -> f64 {
        self.0
    }

    /// α/2, for two limits that must hold together. Never more than that: exact for normal numbers, and rounded down
    /// among the subnormal ones, to 0 in the end, at which no limit is proven.
    #[must_use]
    pub fn half(self) -> Self {
        let normal = self.0 >= 2.0 * f64::MIN_POSITIVE;
        Self(if normal { self.0 / 2.0 } else { f64::from_bits(self.0.to_bits() / 2) })
    }
}

/// σ: the standard deviation of the noise in every coordinate. Finite and positive.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct NoiseLevel(f64);

impl NoiseLevel {
    /// Refuses what is not positive and finite.
    pub fn new(value: f64) -> Result<Self, StatisticsError> {
        let valid = value > 0.0 && value.is_finite();
        valid.then_some(Self(value)).ok_or(StatisticsError::NoiseLevel { value })
    }

    /// The number.
    pub fn value(self) -> f64 {
        self.0
    }
}

/// How often something happened in independent draws.
///
/// Counts cannot be checked from themselves: that the draws were independent, and the class counted was chosen
/// without them, is the responsibility of whoever drew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    successes: u64,
    trials: u64,
}

impl Tally {
    /// Needs 1 ≤ `trials` ≤ [`MOST_TRIALS`] and `successes` ≤ `trials`.
    pub fn new(successes: u64, trials: u64) -> Result<Self, StatisticsError> {
        if trials == 0 || trials > MOST_TRIALS || successes > trials {
            return Err(StatisticsError::Tally { successes, trials });
        }
        Ok(Self { successes, trials })
    }

    /// k, how often it happened.
    pub fn successes(self) -> u64 {
        self.successes
    }

    /// n, how often it might have.
    pub fn trials(self) -> u64 {
        self.trials
    }

    /// The same draws, counting the opposite.
    #[must_use]
    pub fn opposite(self) -> Self {
        Self { successes: self.trials - self.successes, ..self }
    }
}

/// How it was decided when to stop drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamplingRule {
    /// The number of draws was set beforehand.
    Fixed,
    /// Counts were looked at whenever anyone liked.
    Anytime,
    /// Counts were looked at whenever anyone liked, and one number of draws was set beforehand. Half of α is for the limit
    /// that is valid at every moment, half for that of Clopper and Pearson at this one: by the union bound all of them hold
    /// together with probability 1 − α, so drawing may stop whenever, for any reason, and go on beyond that number too.
    MixtureAndLast {
        /// The number of draws set beforehand.
        last: u64,
    },
}

impl SamplingRule {
    /// The sharpest method that is valid for this rule.
    pub fn method(self) -> LimitMethod {
        match self {
            SamplingRule::Fixed => LimitMethod::ClopperPearson,
            SamplingRule::Anytime => LimitMethod::Mixture,
            SamplingRule::MixtureAndLast { .. } => LimitMethod::MixtureAndLast,
        }
    }

    /// `fixed`, `anytime` or `mixture-and-last`.
    pub fn name(self) -> &'static str {
        match self {
            SamplingRule::Fixed => "fixed",
            SamplingRule::Anytime => "anytime",
            SamplingRule::MixtureAndLast { .. } => "mixture-and-last",
        }
    }
}

/// u: which share of P(X = k) a randomised limit counts. The theorem asks that it was drawn uniformly from (0, 1], without
/// knowing the counts; larger shares are safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomShare(u32);

impl RandomShare {
    /// The least share, as a number of 2⁻³²: smaller ones count as 0.05, rounded up, so that one lucky share is not worth
    /// much.
    const LEAST: u32 = 214_748_365;
    /// u = 1: a limit that is not randomised at all.
    pub const WHOLE: Self = Self(u32::MAX);

    /// (word + 1)/2³², at least 0.05. Of a uniform word this is uniform on the multiples of 2⁻³², rounded up where small.
    pub fn of_word(word: u32) -> Self {
        Self(word.max(Self::LEAST - 1))
    }

    /// The number, exactly.
    pub fn value(self) -> f64 {
        (f64::from(self.0) + 1.0) / 4_294_967_296.0
    }
}

/// How a limit is derived from counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitMethod {
    /// The exact limit of Clopper and Pearson (1934). For [`SamplingRule::Fixed`] only.
    ClopperPearson,
    /// The same, randomised (Stevens 1950): wrong exactly as often as α allows. For [`SamplingRule::Fixed`] only.
    Randomised(RandomShare),
    /// A mixture martingale: valid at every moment, so for every rule.
    Mixture,
    /// At half of α, Clopper and Pearson's limit at the number of draws set beforehand, the mixture's at every other. For
    /// [`SamplingRule::MixtureAndLast`] only.
    MixtureAndLast,
}

impl LimitMethod {
    /// `clopper-pearson`, `randomised`, `mixture` or `mixture-and-last`.
    pub fn name(self) -> &'static str {
        match self {
            LimitMethod::ClopperPearson => "clopper-pearson",
            LimitMethod::Randomised(_) => "randomised",
            LimitMethod::Mixture => "mixture",
            LimitMethod::MixtureAndLast => "mixture-and-last",
        }
    }
}

/// Why there is no limit or radius.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StatisticsError {
    /// α that is not below 1 and at least [`FailureProbability::LEAST`].
    FailureProbability {
        /// What was given.
        value: f64,
    },
    /// σ that is not positive and finite.
    NoiseLevel {
        /// What was given.
        value: f64,
    },
    /// No draws, too many, or more successes than draws.
    Tally {
        /// Successes given.
        successes: u64,
        /// Trials given.
        trials: u64,
    },
    /// A class and its runner-up that cannot have been counted in the same draws.
    RunnerUp {
        /// Draws of the class.
        count: u64,
        /// Draws of the runner-up.
        runner_up: u64,
        /// All draws.
        trials: u64,
    },
    /// The method is not valid for counts sampled by this rule.
    WrongLimit {
        /// The method asked for.
        method: LimitMethod,
        /// The name of the rule.
        rule: &'static str,
    },
    /// This thread does not compute by IEEE 754 defaults (rounding mode or subnormal numbers).
    Environment,
}

impl fmt::Display for StatisticsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            StatisticsError::FailureProbability { value } => {
                let least = FailureProbability::LEAST;
                write!(f, "the failure probability is {value:?}: it must be at least {least:e} and below 1")
            }
            StatisticsError::NoiseLevel { value } => {
                write!(f, "the noise level is {value}: it must be positive and finite")
            }
            StatisticsError::Tally { successes, trials } => {
                write!(f, "{successes} of {trials} is not a count: there must be 1 to {MOST_TRIALS} draws")
            }
            StatisticsError::RunnerUp { count, runner_up, trials } => {
                write!(f, "a class with {count} of {trials} draws has no runner-up with {runner_up} of them")
            }
            StatisticsError::WrongLimit { method, rule } => write!(
                f,
                "the {} limit does not hold for counts sampled by the {rule} rule; use mixture",
                method.name()
            ),
            StatisticsError::Environment => {
                write!(
                    f,
                    "this thread does not round to nearest with gradual underflow; nothing can be proven"
                )
            }
        }
    }
}

impl std::error::Error for StatisticsError {}
