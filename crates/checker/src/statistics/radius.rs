//! From confidence limits to radii within which a smoothed classifier does not change its answer.
//!
//! # The theorem
//! Cohen, Rosenfeld, Kolter, *Certified adversarial robustness via randomized smoothing* (ICML 2019), Theorem 1. Let
//! g(z) be the class that f(z + η), η ~ N(0, σ²I), takes most often. If class A has probability at least p_A at z and
//! every other class at most p_B ≤ p_A, then g(z') = A for all |z' − z|₂ < σ/2·(Φ⁻¹(p_A) − Φ⁻¹(p_B)). With
//! p_B = 1 − p_A that is σ·Φ⁻¹(p_A), positive for p_A > ½.
//!
//! `counted.rs` makes radii from counts, and nothing else does: a radius is not made of limits, which do not say at which α
//! they hold.
//!
//! # Coordinates
//! z = Uᵀu for a projection with basis U (n × r), or the input itself. The radius is in z: a [`LatentRadius`].
//! |Uᵀd|₂ ≤ s·|d|₂ and |Uᵀd|₂ ≤ κ·|d|_∞ for the stored U with s ([`SpectralBound`]) and κ ([`InfToTwoBound`]) proven,
//! so the input may move by r_z/s in ℓ2 and by r_z/κ in ℓ∞. Without a projection s = 1 and κ = √n.
//!
//! Noise with a level s_i of its own in each coordinate is the same theorem in the coordinates z_i/s_i: the caller
//! divides the columns of U by s_i, proves s and κ for that basis, and uses the noise level 1.
//!
//! # Guarantee
//! Every step is rounded down. What the theorem needs and no count can show: the draws were independent, the noise
//! Gaussian, and A was chosen without the draws that are counted. Of f it asks nothing but that it is a function: rounding
//! z + η to a grid first is part of f and costs no radius.
//!
use crate::rounding::{mul_down, quotient_below, root_above, sub_down};
use crate::statistics::limit::{LowerLimit, UpperLimit};
use crate::statistics::quantile::{NormalQuantile, QuantileTrial, Side};
use crate::{InfToTwoBound, NoiseLevel, SpectralBound};

/// Proven: the answer is constant within this ℓ2 distance in the coordinates z. Positive.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct LatentRadius(f64);

/// Proven: the answer is constant within this ℓ2 distance in input space. Not negative.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct L2Radius(f64);

/// Proven: the answer is constant within this ℓ∞ distance in input space. Not negative.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct LinfRadius(f64);

proven_numbers!(LatentRadius, L2Radius, LinfRadius);

impl LowerLimit {
    /// The question whose answer bounds Φ⁻¹(p) from below, or Φ⁻¹(1 − p) from above where 1 − p has more digits.
    pub fn quantile(self) -> QuantileTrial {
        let (p, side) = self.asked();
        QuantileTrial::new(p, side)
    }

    fn asked(self) -> (f64, Side) {
        if self.value() < 0.5 { (self.value(), Side::Below) } else { (self.complement(), Side::Above) }
    }

    /// The lower bound on Φ⁻¹(p) that an answer means, Φ⁻¹(1 − p) being −Φ⁻¹(p); none where it answers something else.
    fn answered(self, quantile: NormalQuantile) -> Option<f64> {
        let (p, side) = self.asked();
        quantile.of(p, side).map(|x| if side == Side::Below { x } else { -x })
    }
}

impl UpperLimit {
    /// The question whose answer bounds Φ⁻¹ from above: that of the lower limit on the opposite event.
    pub fn quantile(self) -> QuantileTrial {
        self.0.quantile()
    }
}

/// Radii are at most this many σ: more than any limit proves (1 − p is never below 10⁻²⁷⁰, 35.2 σ),
/// and a bound on how far an input may be that a radius is about ([`crate::farthest_input`]).
pub const MOST_DEVIATIONS: f64 = 40.0;

fn positive(radius: f64) -> Option<LatentRadius> {
    (radius > 0.0 && radius.is_finite()).then_some(LatentRadius(radius))
}

impl LatentRadius {
    /// σ·Φ⁻¹(p_A) with p_A the limit; `None`, abstain, where the limit is not above one half, or the quantile answers
    /// another question than [`LowerLimit::quantile`] of this limit.
    pub(crate) fn one_sided(lower: LowerLimit, quantile: NormalQuantile, noise: NoiseLevel) -> Option<Self> {
        let quantile = lower.answered(quantile).filter(|_| lower.value() > 0.5)?;
        positive(mul_down(noise.value(), quantile.min(MOST_DEVIATIONS)))
    }

    /// σ/2·(Φ⁻¹(p_A) − Φ⁻¹(p_B)); `None`, abstain, where that is not positive. Both limits must hold together, and each
    /// comes with the answer to its own question for a quantile. Where both hold, p_B ≤ 1 − p_A too, and the smaller of the
    /// two is used.
    pub(crate) fn two_sided(
        (lower, a): (LowerLimit, NormalQuantile),
        (upper, b): (UpperLimit, NormalQuantile),
        noise: NoiseLevel,
    ) -> Option<Self> {
        // Φ⁻¹(1 − p) = −Φ⁻¹(p), for p_B and for p_A.
        let a = lower.answered(a)?;
        let b = (-upper.0.answered(b)?).min(-a);
        positive(mul_down(noise.value(), (sub_down(a, b) / 2.0).min(MOST_DEVIATIONS)))
    }

    /// The radius around the true z where only one within `encoding_error` of it is known
    /// ([`crate::encode`]): less by that much. `None` where nothing is left, or the error is not a number from 0 on.
    #[must_use]
    pub fn less(self, encoding_error: f64) -> Option<Self> {
        if encoding_error == 0.0 {
            return Some(self);
        }
        if !(encoding_error > 0.0) {
            return None;
        }
        positive(sub_down(self.0, encoding_error))
    }

    /// The ℓ2 radius in input space: r_z/s, or r_z itself without a projection.
    pub fn to_l2(self, spectral: Option<SpectralBound>) -> L2Radius {
        L2Radius(spectral.map_or(self.0, |bound| self.over(bound.value())))
    }

    /// The ℓ∞ radius in input space: r_z/κ.
    pub fn to_linf(self, kappa: InfToTwoBound) -> LinfRadius {
        LinfRadius(self.over(kappa.value()))
    }

    /// r_z/`bound`, rounded down, for a bound taken on trust, for example from a log, and not from a proof: so the
    /// result is a plain number. 0 where the bound is not a number from 0 on.
    pub fn over(self, bound: f64) -> f64 {
        quotient(self.0, bound)
    }
}

impl L2Radius {
    /// The ℓ∞ radius for inputs of n coordinates: |d|₂ ≤ √n·|d|_∞.
    pub fn to_linf_by_dimension(self, n: usize) -> LinfRadius {
        LinfRadius(quotient(self.0, root_above(n.max(1) as u64)))
    }
}

fn quotient(radius: f64, bound: f64) -> f64 {
    match bound {
        0.0 => f64::MAX, // no change reaches z
        bound if bound > 0.0 => quotient_below(radius, bound),
        _ => 0.0,
    }
}
