//! From counts to a class and radii, by the checker alone.
//!
//! Problem: what do the counts of one input prove about the smoothed classifier?
//! Reference: CERTIFY of Cohen, Rosenfeld and Kolter (2019), with p_B for `TwoSided`.
//! Guarantee: with probability 1 − α over the draws, the smoothed classifier has class `class` within the radii, if
//! the draws were made as the rule says and κ and s are what they were proven to be. Every number is rounded down.
//! Deviations: the limit fits the rule by which sampling ended; the encoding error is taken off the radius.

use super::certified::{Derived, Record};
use super::error::RecordProblem;
use super::run::Rule;
use gambeson_checker::{
    FailureProbability, LatentRadius, Look, LowerLimit, Method, NoiseLevel, SamplingRule, StatisticsError,
    Tally, lower_limit, smoothing_radius, two_sided_radius, upper_limit,
};

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

/// What counts prove.
#[derive(Clone, Copy, Debug)]
pub struct Proven {
    /// Class and radii; all none where nothing is proven.
    pub derived: Derived,
    /// The lower limit on the probability of the class selected; none where no class was.
    pub lower_limit: Option<LowerLimit>,
}

/// The counts of one input, and how they came about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample<'a> {
    /// The class chosen on the selection draws.
    pub(crate) selected: Option<u32>,
    /// Estimation draws by class.
    pub(crate) estimation: &'a [u64],
    /// Estimation draws without a class.
    pub(crate) none: u64,
    pub(crate) rule: &'a SamplingRule,
    pub(crate) sigma: f64,
}

/// The radius in z before any encoding error, and the limit it comes from.
pub(crate) fn latent_radius(
    counts: &Sample,
    alpha: FailureProbability,
    how: LimitChoice,
) -> Result<(Option<LowerLimit>, Option<LatentRadius>), StatisticsError> {
    let Some(class) = counts.selected else { return Ok((None, None)) };
    let sigma = NoiseLevel::new(counts.sigma)?;
    let trials = counts.estimation.iter().fold(counts.none, |sum, &count| sum.saturating_add(count));
    let successes = counts.estimation.get(class as usize).copied().unwrap_or(0);
    let method = match how {
        LimitChoice::Natural | LimitChoice::TwoSided => counts.rule.method(),
        LimitChoice::Mixture => Method::Mixture,
    };
    let side = match how {
        LimitChoice::TwoSided => alpha.half(),
        LimitChoice::Natural | LimitChoice::Mixture => alpha,
    };
    let lower = lower_limit(counts.rule, Tally::new(successes, trials)?, method, side)?;
    let radius = match how {
        LimitChoice::Natural | LimitChoice::Mixture => smoothing_radius(lower, sigma),
        LimitChoice::TwoSided => {
            let others = counts.estimation.iter().enumerate().filter(|(other, _)| *other != class as usize);
            // The limit rises with the count, so the largest count has the largest limit.
            let most = others.map(|(_, &count)| count).fold(counts.none, u64::max);
            let upper = upper_limit(counts.rule, Tally::new(most, trials)?, method, side)?;
            two_sided_radius(lower, upper, sigma)
        }
    };
    Ok((Some(lower), radius))
}

impl Rule {
    /// As the checker takes it.
    pub fn to_sampling_rule(&self) -> SamplingRule {
        match self {
            Self::Fixed => SamplingRule::Fixed,
            Self::Staged { looks } => {
                let look = |&(trials, share): &(u64, f64)| Look { trials, share };
                SamplingRule::Staged { looks: looks.iter().map(look).collect() }
            }
            Self::Anytime => SamplingRule::Anytime,
        }
    }
}

impl Record {
    /// What the counts prove at the failure probability α, whatever the record says.
    pub fn derive(&self, alpha: FailureProbability, how: LimitChoice) -> Result<Proven, StatisticsError> {
        let run = &self.run;
        let rule = run.rule.to_sampling_rule();
        let selected = self.selected();
        let counts = Sample {
            selected,
            estimation: &self.estimation,
            none: self.estimation_none,
            rule: &rule,
            sigma: run.sigma,
        };
        let (lower_limit, radius) = latent_radius(&counts, alpha, how)?;
        let derived = match radius.and_then(|radius| radius.less(self.encoding_error)) {
            None => Derived::default(),
            Some(radius) => {
                let latent = radius.value();
                let l2 = run.spectral.map_or(latent, |spectral| quotient_below(latent, spectral));
                let linf = match run.kappa {
                    Some(kappa) => quotient_below(latent, kappa),
                    None => quotient_below(l2, root_above(run.dimension)),
                };
                Derived { class: selected, latent: Some(latent), l2: Some(l2), linf: Some(linf) }
            }
        };
        Ok(Proven { derived, lower_limit })
    }

    /// The first stored number that says more than what the counts prove: its name, itself, and what is proven (0 for
    /// nothing, −1 for no class).
    pub(crate) fn false_claim(&self, proven: &Derived) -> Option<(&'static str, f64, f64)> {
        let claimed = &self.derived;
        if let Some(class) = claimed.class.filter(|_| claimed.class != proven.class) {
            return Some(("class", f64::from(class), proven.class.map_or(-1.0, f64::from)));
        }
        let radii = [
            ("latent", claimed.latent, proven.latent),
            ("l2", claimed.l2, proven.l2),
            ("linf", claimed.linf, proven.linf),
        ];
        radii.into_iter().find_map(|(field, claimed, proven)| {
            let proven = proven.unwrap_or(0.0);
            claimed.filter(|claimed| !(*claimed <= proven)).map(|claimed| (field, claimed, proven))
        })
    }

    /// Whether the counts prove what is stored beside them.
    pub(crate) fn check_claim(&self) -> Result<(), RecordProblem> {
        let alpha = FailureProbability::new(self.run.alpha)?;
        let proven = self.derive(alpha, LimitChoice::Natural)?;
        match self.false_claim(&proven.derived) {
            Some((field, claimed, proven)) => Err(RecordProblem::Claim { field, claimed, proven }),
            None => Ok(()),
        }
    }

    /// Fills in what the counts prove by the method natural to the rule, as a record to be written has it.
    pub fn with_derived(mut self) -> Result<Self, StatisticsError> {
        let alpha = FailureProbability::new(self.run.alpha)?;
        self.derived = self.derive(alpha, LimitChoice::Natural)?.derived;
        Ok(self)
    }
}

/// The largest f64 not above a/b, for a ≥ 0 and b > 0.
pub(crate) fn quotient_below(a: f64, b: f64) -> f64 {
    let nearest = a / b;
    // One rounding: the sign of q·b − a is exact, but for underflow, where the quotient is let down as well.
    let above = nearest.mul_add(b, -a);
    if above > 0.0 || (nearest > 0.0 && nearest < f64::MIN_POSITIVE / f64::EPSILON) {
        nearest.next_down().max(0.0)
    } else {
        nearest
    }
}

/// The least f64 not below √n.
pub(crate) fn root_above(n: u64) -> f64 {
    let exact = n as f64;
    let n = if n > 1 << f64::MANTISSA_DIGITS { exact.next_up() } else { exact };
    let root = n.sqrt();
    if root.mul_add(root, -n) < 0.0 { root.next_up() } else { root }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether q·b ≤ a, in whole numbers: for q from 2⁻⁵⁰ to 2, and a and b below 2⁵⁰.
    fn fits(q: f64, a: u64, b: u64) -> bool {
        let exponent = (q.to_bits() >> 52) as i32 - 1075;
        let mantissa = u128::from(q.to_bits() & ((1 << 52) - 1) | 1 << 52);
        // q = mantissa·2^exponent, and exponents are negative here.
        mantissa * u128::from(b) <= u128::from(a) << exponent.unsigned_abs()
    }

    #[test]
    fn quotients_are_the_largest_not_above() {
        for b in 1..200_u64 {
            for a in 1..b {
                let q = quotient_below(a as f64, b as f64);
                assert!(fits(q, a, b) && !fits(q.next_up(), a, b), "{a}/{b}");
            }
        }
        assert_eq!((quotient_below(0.0, 3.0), quotient_below(1.5, 3.0)), (0.0, 0.5));
        assert!(quotient_below(5e-324, 3.0) >= 0.0);
    }

    #[test]
    fn roots_are_the_least_not_below() {
        for n in (1..5000_u64).chain([3072, 150_528, 1 << 52]) {
            let root = root_above(n);
            // (q − √n) has the sign of q² − n, which one rounding keeps.
            assert!(root.mul_add(root, -(n as f64)) >= 0.0, "{n}");
            let below = root.next_down();
            assert!(below.mul_add(below, -(n as f64)) < 0.0, "{n}");
        }
    }
}
