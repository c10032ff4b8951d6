//! Drawing until the answer is settled.
//!
//! **Problem.** Most inputs need few draws to decide whether a radius holds; n draws for all are wasted on them.
//!
//! **Method.** Counts are looked at after every [`EVERY`] draws and after n. Half of α is for a limit that is valid at every
//! moment (a mixture martingale), half for the exact limit at n (`SamplingRule::MixtureAndLast`, whose proof is in
//! `statistics/limit.rs` of the checker). So all limits hold together with probability 1 − α, and it does not matter when, or
//! why, drawing stops; nor whether it goes on later, beyond n, where the mixture stays valid.
//!
//! A target radius is *met* where the limit of the present look proves it. It is *refuted* where n draws would hardly
//! prove it: with k of m draws and p = (k + 1)/(m + 2), the count after n draws is predicted as k + (n − m)p with
//! variance (n − m)·p(1 − p)·n/m (the sampling error of p included), and the count that the last look needs lies more
//! than [`DEVIATIONS`] standard deviations above. That is a conditional-power rule for futility; it only ever ends in
//! claiming less, so it costs no α. With a tolerance T, the answer is settled where the radius now is within T of the one
//! that a count [`DEVIATIONS`] above the prediction would give.
//!
//! **Guarantee.** With probability at least 1 − α every radius claimed at any look is true.
//!
//! **Cost.** A limit takes some 10 µs; at most looks none is computed, since the frequency itself is below what the target
//! needs, or it is already refuted.
//!
//! **Deviation.** Decisions can differ from those of n draws and the whole of α: by the smaller α of a look near a
//! target, and by a refutation that n draws would have contradicted (some 0.1 % of inputs near a target).

use crate::limit::radius_of_counts;
use gambeson_checker::{
    ClassCounts, FailureProbability, LatentRadius, NoiseLevel, ProvenRadius, RadiusQuestion, SamplingRule,
    Sides, StatisticsError,
};
use serde::{Deserialize, Serialize};

/// Draws between two looks.
pub const EVERY: u64 = 64;
/// Standard deviations of the prediction that count as certain.
pub const DEVIATIONS: f64 = 3.0;

/// When an answer counts as settled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// Radii to be met or refuted; settled when all are. Not negative; 0 asks for an answer at all.
    pub targets: Vec<f64>,
    /// Settled when the radius is within this of the best that n draws could give. Not negative.
    pub tolerance: Option<f64>,
    /// What the radii are measured in.
    pub norm: RadiusNorm,
}

/// A norm of changes of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RadiusNorm {
    /// Euclidean.
    #[default]
    L2,
    /// Largest entry.
    Linf,
}

impl RadiusNorm {
    /// `l2` or `linf`.
    pub fn name(self) -> &'static str {
        match self {
            Self::L2 => "l2",
            Self::Linf => "linf",
        }
    }
}

/// When to look at the counts, and a goal, for inputs that are all measured alike.
#[derive(Clone, Debug)]
pub struct Sequential {
    /// The number of draws with the exact limit.
    last: u64,
    n: u64,
    failure: FailureProbability,
    noise: NoiseLevel,
    tolerance: Option<f64>,
    targets: Vec<Target>,
}

/// A radius to be met or refuted.
#[derive(Clone, Copy, Debug)]
struct Target {
    radius: f64,
    /// The least count that the last look needs; none where n draws cannot prove it.
    needed: Option<u64>,
    /// A class of no more than this share of the draws does not prove it: a limit is never above the share.
    floor: f64,
}

/// What the counts say at a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Draw on.
    Open,
    /// Nothing to be gained by more draws.
    Settled,
}

impl Sequential {
    /// For at most n draws, with the exact limit at `last` of them: n, or where an earlier run of fewer draws is extended,
    /// the n of that. `measure` is the radius that a radius in z means, in the norm of the goal.
    pub fn new(
        n: u64,
        last: u64,
        goal: &Goal,
        failure: FailureProbability,
        noise: NoiseLevel,
        measure: impl Fn(LatentRadius) -> f64,
    ) -> Result<Self, StatisticsError> {
        let mut plan = Self { last, n, failure, noise, tolerance: goal.tolerance, targets: Vec::new() };
        for &target in &goal.targets {
            let proves = |count: u64| {
                Ok::<bool, StatisticsError>(
                    plan.radius(count, n)?.is_some_and(|radius| measure(radius) >= target),
                )
            };
            let (mut fails, mut least) = (0, n);
            let needed = if proves(n)? {
                while least - fails > 1 {
                    let middle = fails + (least - fails) / 2;
                    if proves(middle)? {
                        least = middle;
                    } else {
                        fails = middle;
                    }
                }
                Some(least)
            } else {
                None
            };
            // What a count too few proves is less than the target needs.
            let floor = plan.limit(fails, n)?.lower().value();
            plan.targets.push(Target { radius: target, needed, floor });
        }
        Ok(plan)
    }

    /// The next number of draws at which to look, after `done` < n.
    pub fn next_look(&self, done: u64) -> u64 {
        let next = (done / EVERY + 1) * EVERY;
        let special = if done < self.last { self.last } else { self.n };
        next.min(special).min(self.n)
    }

    /// n.
    pub fn most(&self) -> u64 {
        self.n
    }

    /// The rule of the counts.
    pub fn rule(&self) -> SamplingRule {
        SamplingRule::MixtureAndLast { last: self.last }
    }

    /// The radius in z that a count proves at a look.
    pub fn radius(&self, count: u64, trials: u64) -> Result<Option<LatentRadius>, StatisticsError> {
        self.limit(count, trials).map(ProvenRadius::radius)
    }

    fn limit(&self, count: u64, trials: u64) -> Result<ProvenRadius, StatisticsError> {
        let rule = self.rule();
        radius_of_counts(&RadiusQuestion {
            counts: ClassCounts::new(count, trials.saturating_sub(count), trials)?,
            rule,
            method: rule.method(),
            sides: Sides::One,
            failure: self.failure,
            noise: self.noise,
        })
    }

    /// Whether the answer is settled, with `count` of `trials` draws for the class chosen.
    ///
    /// `measure` is the radius a radius in z means for this input, in the norm of the goal.
    pub fn verdict(
        &self,
        count: u64,
        trials: u64,
        measure: impl Fn(LatentRadius) -> f64,
    ) -> Result<Decision, StatisticsError> {
        let n = self.n;
        if trials >= n {
            return Ok(Decision::Settled);
        }
        let (k, m, all) = (count as f64, trials as f64, n as f64);
        let p = (k + 1.0) / (m + 2.0);
        let expected = k + (all - m) * p;
        let deviation = ((all - m) * p * (1.0 - p) * all / m).sqrt();
        let highest = (expected + DEVIATIONS * deviation).min(k + (all - m));
        let open: Vec<&Target> = self
            .targets
            .iter()
            .filter(|target| target.needed.is_some_and(|needed| needed as f64 <= highest))
            .collect();
        let met = || -> Result<bool, StatisticsError> {
            if open.iter().any(|target| k <= target.floor * m) {
                return Ok(false);
            }
            let farthest = open
                .iter()
                .map(|target| target.radius)
                .fold(None, |most: Option<f64>, radius| Some(most.map_or(radius, |most| most.max(radius))));
            let Some(farthest) = farthest else { return Ok(true) };
            Ok(self.radius(count, trials)?.is_some_and(|radius| measure(radius) >= farthest))
        };
        if !self.targets.is_empty() && met()? {
            return Ok(Decision::Settled);
        }
        if let Some(tolerance) = self.tolerance {
            let now = self.radius(count, trials)?.map_or(0.0, &measure);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and n
            let best = self.radius(highest.ceil() as u64, n)?.map_or(0.0, measure);
            if best - now <= tolerance {
                return Ok(Decision::Settled);
            }
        }
        Ok(Decision::Open)
    }
}
