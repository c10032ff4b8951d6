//! Confidence limits for a probability from counts, proven and rounded to the safe side.
//!
//! # Problem
//! k of n independent draws were successes. Bound the probability p of success from below (or above) by a function of
//! the counts that is wrong with probability α at most, whatever p is.
//!
//! # Fixed n: Clopper and Pearson (1934)
//! The lower limit is the p at which P(X ≥ k) = α for X ~ Bin(n, p). The tail grows with p, so every number at
//! which the tail is at most α is a valid limit: `tail.rs` proves that for the number returned. The upper limit is one
//! minus the lower limit for the n − k failures.
//!
//! # Fixed n, randomised (Stevens, *Fiducial limits of the parameter of a discontinuous distribution*, 1950)
//! Let u be drawn uniformly from (0, 1], apart from the draws, and T_p(k, u) = P(X > k) + u·P(X = k) for X ~ Bin(n, p).
//! Where p is true, T_p(X, u) is uniform on (0, 1], so it is at most α with probability α. T_p(k, u) =
//! (1 − u)·P(X ≥ k + 1) + u·P(X ≥ k) grows with p, so every number at which it is at most α is a valid limit, and the
//! largest such number is wrong with probability α exactly, where Clopper and Pearson's, the case u = 1, is wrong less often.
//! A larger u only makes T larger: so may u be rounded up to a multiple of 2⁻³², to 0.05 as Voracek does (*Treatment of
//! statistical estimation problems in randomized smoothing for adversarial robustness*, 2024), and to 2α, without which
//! a count of n would prove every p where u ≤ α.
//!
//! # Any time: a mixture (Robbins 1970; Ville 1939)
//! For a hypothesis p, let M_n(p) be the mean of the likelihood ratio Π f_θ/f_p over θ uniform on (p, 1). If p is
//! true this is a martingale of mean one, so it ever reaches 1/α with probability at most α (Ville's inequality).
//! All p at which it has are rejected, and the lower limit is a number below which every p is. In closed form
//! M_n(p) = P(X' ≤ k)/((n+1)·(1 − p)·P(X = k)) with X' ~ Bin(n + 1, p), because ∫_p^1 θ^k(1−θ)^{n−k} dθ is a
//! binomial tail. Its denominator rises and its numerator falls in p up to k/(n+1), so p ≤ k/(n+1) with
//! M_n(p) ≥ 1/α proves all smaller ones rejected. Mixing over θ > p alone is what makes it one-sided: against the
//! uniform mixture on (0, 1) it gains the factor 1/(1 − p), much where p is close to one.
//!
//! # Any time, and a last look
//! The mixture pays for every moment at which it might be asked. Where most inputs are decided early and the rest goes to a
//! number n of draws set beforehand, [`LimitMethod::MixtureAndLast`] splits α. *Theorem.* Let A be the event that the mixture
//! limit at α/2 is wrong at some number of draws, and B that the limit of Clopper and Pearson at α/2 is wrong after n. Then
//! P(A) ≤ α/2 by Ville's inequality and P(B) ≤ α/2, so but for a probability of α none of these limits is ever wrong. *Proof*:
//! the union bound; A and B are events of one infinite sequence of draws, whichever part of it is looked at. Hence a limit
//! claimed at any stopping time (a rule that looks at the draws so far, at the goal, at the clock), by the mixture at other
//! numbers of draws and by B's at n, is wrong with probability α at most; and a run that ended at n, or before, may be
//! continued to any number of draws, by the mixture. At n itself B's limit is the better one: the draws at which the mixture
//! rejects a p are an upper set of counts of probability at most α/2 by Markov's inequality, and Clopper and Pearson reject
//! on the largest such set. A run for a fixed number of draws has spent all of α there and has nothing left to go on with.
//!
//! # Guarantee
//! A [`LimitTrial`] is asked about candidates, which come from a search elsewhere. One becomes a limit only where the
//! inequality has been proven for it in floating point, with all errors counted. The inequality is sharp enough for
//! limits within a few units in the last place of p or of 1 − p, whichever is smaller, for n ≤ 10⁹ and α ≥ 10⁻¹² (and
//! no less safe beyond). The same bits on every machine: only the four operations and roots are used. α above one half
//! counts as one half, which keeps lower ≤ k/n ≤ upper.
//!
//! # Deviations
//! Limits keep p and 1 − p apart, so that those close to one lose nothing on the way to a radius.

use crate::rounding::{CheckedThread, above, add_up, below, environment_is_ieee, raised, sub_down};
use crate::statistics::double::Double;
use crate::statistics::sampling::{FailureProbability, LimitMethod, SamplingRule, StatisticsError, Tally};
use crate::statistics::special::exp_up;
use crate::statistics::tail::{Logarithm, Mass, Probability, Ratio};

/// The least p and 1 − p considered, so that nothing underflows on the way.
const LEAST: f64 = 1e-270;

/// Proven: the probability is at least this, but for a failure probability stated beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LowerLimit {
    value: f64,
    complement: f64,
}

/// Proven: the probability is at most this, but for a failure probability stated beforehand. It is one minus the lower
/// limit on the opposite event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UpperLimit(pub(crate) LowerLimit);

impl LowerLimit {
    /// What holds without any draws: p ≥ 0.
    pub const TRIVIAL: Self = Self { value: 0.0, complement: 1.0 };

    /// The same said of the opposite event: its probability is at most 1 − p.
    #[must_use]
    pub fn of_opposite(self) -> UpperLimit {
        UpperLimit(self)
    }

    /// p is at least this, rounded down.
    pub fn value(self) -> f64 {
        self.value
    }

    /// 1 − p is at most this, rounded up. Sharper than 1 − `value` where p is close to one.
    pub fn complement(self) -> f64 {
        self.complement
    }
}

impl UpperLimit {
    /// p is at most this, rounded up.
    pub fn value(self) -> f64 {
        self.0.complement()
    }

    /// 1 − p is at least this, rounded down. Sharper than 1 − `value` where p is close to one.
    pub fn complement(self) -> f64 {
        self.0.value()
    }
}

/// A candidate for a lower limit: p, or 1 − p where that is smaller and has more digits to give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LimitCandidate {
    /// p.
    Success(f64),
    /// 1 − p.
    Failure(f64),
}

/// Everything about counts that a candidate for their lower limit is tried against.
pub struct LimitTrial {
    n: f64,
    k: f64,
    alpha: f64,
    mixture: bool,
    /// 1 − u, rounded down: the share of P(X = k) that is taken off P(X ≥ k); 0 unless the limit is randomised.
    discount: f64,
    target: Logarithm,
    mass: Mass,
    ratio: Ratio,
    thread: CheckedThread,
}

/// How a candidate fared.
#[derive(Clone, Copy, Debug)]
pub struct LimitAttempt {
    /// The logarithm of what must not exceed one, rounded up: proven where it is not positive. Infinite where nothing
    /// can be said.
    pub excess: f64,
    /// A bound on P(X ≥ k)/P(X = k); for the mixture the same of X' and k + 1.
    pub ratio: f64,
    /// For the mixture: a bound on P(X' ≥ k + 1).
    pub beyond: f64,
    /// For the mixture: 1 − `beyond`, rounded down.
    pub within: f64,
}

impl LimitTrial {
    /// The method must be valid for the rule: see [`SamplingRule::method`]. None where these counts prove no more than
    /// [`LowerLimit::TRIVIAL`].
    pub fn new(
        rule: SamplingRule,
        tally: Tally,
        method: LimitMethod,
        failure: FailureProbability,
    ) -> Result<Option<Self>, StatisticsError> {
        if !environment_is_ieee() {
            return Err(StatisticsError::Environment);
        }
        let (alpha, mixture) = match (method, rule) {
            (LimitMethod::ClopperPearson | LimitMethod::Randomised(_), SamplingRule::Fixed) => {
                (failure, false)
            }
            (LimitMethod::Mixture, _) => (failure, true),
            (LimitMethod::MixtureAndLast, SamplingRule::MixtureAndLast { last }) => {
                (failure.half(), tally.trials() != last)
            }
            _ => return Err(StatisticsError::WrongLimit { method, rule: rule.name() }),
        };
        let alpha = alpha.value();
        let (k, n) = (tally.successes() as f64, tally.trials() as f64); // below 2⁵³: exact
        if k == 0.0 || !(alpha > 0.0) {
            return Ok(None);
        }
        let alpha = alpha.min(0.5);
        let discount = match method {
            // 1 − u is exact.
            LimitMethod::Randomised(share) => (1.0 - share.value()).min(sub_down(1.0, 2.0 * alpha)).max(0.0),
            _ => 0.0,
        };
        let (target, mass) = (Logarithm::of(alpha.into()), Mass::new(n, k));
        let ratio = if mixture { Ratio { n: n + 1.0, k: k + 1.0 } } else { Ratio { n, k } };
        Ok(Some(Self {
            n,
            k,
            alpha,
            mixture,
            discount,
            target,
            mass,
            ratio,
            thread: CheckedThread::default(),
        }))
    }

    /// α, or the half of it that these counts may use; at most one half.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Whether the inequality is that of the mixture.
    pub fn is_mixture(&self) -> bool {
        self.mixture
    }

    /// 1 − u, the part of P(X = k) that a randomised limit leaves out; 0 for all others.
    pub fn discount(&self) -> f64 {
        self.discount
    }

    /// The nearest candidate that may be proven: p at most k/n, or k/(n + 1) for the mixture, below which its inequality
    /// at p speaks for all smaller ones; and neither p nor 1 − p so small that anything underflows.
    #[must_use]
    pub fn nearest(&self, candidate: LimitCandidate) -> LimitCandidate {
        let n = if self.mixture { self.n + 1.0 } else { self.n };
        match candidate {
            LimitCandidate::Success(p) => LimitCandidate::Success(p.clamp(LEAST, below(self.k / n))),
            LimitCandidate::Failure(q) => {
                LimitCandidate::Failure(q.clamp(above((n - self.k) / n).max(LEAST), below(1.0)))
            }
        }
    }

    /// The ratio of [`LimitAttempt`] from `levels` levels of its continued fraction: no less than it for odd, no more for
    /// even levels.
    pub fn ratio(&self, candidate: LimitCandidate, levels: u32) -> f64 {
        self.ratio.fraction(&candidate.probability(), levels)
    }

    /// Tries a candidate with an odd number of levels: an even one is raised by one.
    pub fn attempt(&self, candidate: LimitCandidate, levels: u32) -> LimitAttempt {
        let (n, k, at) = (self.n, self.k, candidate.probability());
        let ratio = self.ratio.fraction(&at, levels | 1);
        let unknown = LimitAttempt { excess: f64::INFINITY, ratio, beyond: 1.0, within: 0.0 };
        if !ratio.is_finite() {
            return unknown;
        }
        let mass = self.mass.ln(&at);
        if !self.mixture {
            // P(X ≥ k) − (1 − u)·P(X = k) ≤ α. Without a discount nothing is rounded.
            let counted = add_up(ratio, -self.discount);
            let excess = mass.plus(Logarithm::of(counted.into())).minus(self.target).upper();
            return LimitAttempt { excess, ..unknown };
        }
        // (n + 1)·(1 − p)·P(X = k) ≤ α·(1 − P(X' ≥ k + 1)), and P(X' = k + 1) = P(X = k)·p·(n + 1)/(k + 1).
        let factor = raised(at.success.upper() * (n + 1.0) / (k + 1.0) * ratio, 4);
        let beyond = raised(exp_up(mass.upper()) * factor, 2);
        let within = sub_down(1.0, beyond);
        if !(within > 0.0) {
            return unknown;
        }
        let weight = Logarithm::of_rounded(at.failure * (n + 1.0) / within.into());
        let excess = mass.plus(weight).minus(self.target).upper();
        LimitAttempt { excess, ratio, beyond, within }
    }

    /// The candidate as a limit, where it is proven.
    pub fn prove(&self, candidate: LimitCandidate, levels: u32) -> Option<LowerLimit> {
        if self.nearest(candidate) != candidate || !(self.attempt(candidate, levels).excess <= 0.0) {
            return None;
        }
        Some(match candidate {
            LimitCandidate::Success(p) => LowerLimit { value: p, complement: Double::sum(1.0, -p).upper() },
            LimitCandidate::Failure(q) => LowerLimit { value: Double::sum(1.0, -q).lower(), complement: q },
        })
    }
}

impl LimitCandidate {
    fn probability(self) -> Probability {
        match self {
            Self::Success(p) => Probability::of_success(p),
            Self::Failure(q) => Probability::of_failure(q),
        }
    }
}
