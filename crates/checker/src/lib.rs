//! The trusted kernel of gambeson: it turns certificates and tallies into proven numbers, and nothing else does.
//!
//! # The problem
//! For a symmetric matrix M, bound max { xᵀMx : ‖x‖∞ ≤ 1 } ([`Domain::Cube`]) or max { xᵀMx : x ∈ {−1, 1}ⁿ }
//! ([`Domain::Vertices`], max-cut) from above. This is the certificate problem of Awasthi, Jain, Rawat and
//! Vijayaraghavan, *Adversarial robustness via robust low rank representations* (NeurIPS 2020), section 3 and
//! appendix C: its square root bounds ‖A‖_{∞→2} for M = AᵀA, and half of it bounds ‖A‖_{∞→1} for the dilation of A.
//!
//! # The theorem
//! If d ≥ 0 and Diag(d) ⪰ M, then xᵀMx ≤ Σ d_i·x_i² ≤ Σ d_i on the cube (weak duality; Proposition C.1 of the
//! paper is the case d = λα). On the vertices the diagonal contributes tr M whatever x is, so d is asked to
//! dominate M without its diagonal, and the bound is tr M + Σ d_i; d ≥ 0 follows by itself.
//!
//! A [`Certificate`] carries weights y, not a value. With `shift` t, d = y + t is tried as it stands. Without,
//! d = s·y for the least scale s at which the proof was found to go through, so any positive weights prove some
//! bound. Nothing in a certificate is believed: Diag(d) ⪰ M is established for the floating-point d and the
//! stored M by `definite.rs`, by the r × r form in `gram.rs` where M = UUᵀ, and Σ d_i is rounded up.
//!
//! # From counts to radii
//! A smoothed classifier answers with the class that its base takes most often under Gaussian noise. [`lower_limit`]
//! turns a [`Tally`] of such draws into a limit on the probability of that class which is wrong with probability α at
//! most ([`FailureProbability`]), exactly: Clopper and Pearson's for a number of draws set beforehand, others for
//! counts that were looked at on the way ([`SamplingRule`]). [`smoothing_radius`] turns the limit into a radius around
//! the coordinates z = Uᵀu within which the answer is constant, and κ and σ_max of U turn that into radii around u.
//! `binomial.rs`, `normal.rs` and `radius.rs` state the theorems.
//!
//! # What is trusted
//! * IEEE 754 binary64 with rounding to nearest and gradual underflow; a first test of the environment refuses
//!   to work otherwise. Summation order, fused multiply-adds and underflow are covered: see `definite.rs`.
//! * This crate, which depends on `std` alone, does no input or output and draws no random numbers. `unsafe` is
//!   confined to [`kernel`], where it calls code compiled for instructions the machine was found to have.
//! * Not trusted: weights, shifts, eigenvalue estimates (`estimate.rs`), orders of elimination, the searches for
//!   limits and quantiles, the logarithms of `std`. They can make a proof fail or a bound loose, never wrong.
//! * Taken on trust, because nobody can check it from counts: draws are independent and Gaussian, the class counted was
//!   chosen without them, and the sampling rule is the one that was followed.
//!
//! # Proven numbers
//! [`QuadraticBound`], [`InfToTwoBound`], [`InfToOneBound`], [`SpectralBound`] are upper bounds;
//! [`VertexValue`] and [`RelaxationValue`] are lower ends. [`LowerLimit`] and [`UpperLimit`] hold but for the failure
//! probability; [`LatentRadius`], [`L2Radius`] and [`LinfRadius`] follow from them, rounded down. The fields of all are
//! private: only this crate makes them.
//!
//! ```
//! use gambeson_checker::{Certificate, Domain, Quadratic, check};
//! let entries = [2.0, 1.0, 1.0, 2.0]; // the largest value on the cube is 6, at (1, 1)
//! let matrix = Quadratic::Dense { entries: &entries, dim: 2 };
//! let certificate = Certificate { domain: Domain::Cube, weights: vec![1.0, 1.0], shift: None };
//! let bound = check(matrix, &certificate, 1).unwrap().value();
//! assert!((6.0..6.000001).contains(&bound));
//! ```
//!
//! ```
//! use gambeson_checker::{FailureProbability, Method, NoiseLevel, SamplingRule, Tally, lower_limit, smoothing_radius};
//! # fn main() -> Result<(), gambeson_checker::StatisticsError> {
//! let (tally, failure) = (Tally::new(99_000, 100_000)?, FailureProbability::new(0.001)?);
//! let limit = lower_limit(&SamplingRule::Fixed, tally, Method::ClopperPearson, failure)?;
//! let radius = smoothing_radius(limit, NoiseLevel::new(0.25)?).expect("a majority");
//! assert!((0.5724..0.5726).contains(&radius.value()));
//! // Counts that were looked at on the way prove less, and must say so.
//! assert!(lower_limit(&SamplingRule::Anytime, tally, Method::ClopperPearson, failure).is_err());
//! assert!(lower_limit(&SamplingRule::Anytime, tally, Method::Mixture, failure)?.value() < limit.value());
//! # Ok(())
//! # }
//! ```

mod encoding;
mod error;
pub mod kernel;
mod quadratic;
pub mod rounding;
mod statistics;
mod threads;

pub use encoding::cosine::CosineTransform;
pub use encoding::product::{
    Coordinates, encode, encoding_error_of_blocks, encoding_error_of_both, encoding_error_of_moved,
    storage_error,
};
pub use error::{CheckError, MatrixProblem, Rejected};
pub use quadratic::check::{
    InfToOneBound, InfToTwoBound, QuadraticBound, RelaxationValue, SpectralBound, VertexValue,
    relaxation_value, verify, vertex_value,
};
pub use quadratic::form::Quadratic;
pub use quadratic::gram::{PreparedBasis, PreparedFactor, WeightedGram};
pub use quadratic::prepared::PreparedForm;
pub use statistics::limit::{LimitAttempt, LimitCandidate, LimitTrial, LowerLimit, UpperLimit};
pub use statistics::quantile::{NormalQuantile, QuantileTrial, Side};
pub use statistics::radius::{L2Radius, LatentRadius, LinfRadius};
pub use statistics::sampling::{
    FailureProbability, LimitMethod, Look, MOST_TRIALS, NoiseLevel, SamplingRule, StatisticsError, Tally,
};
pub use statistics::special::{exponential, logarithm};

/// Where x may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// ‖x‖∞ ≤ 1; the relaxation has X_ii ≤ 1. Needs M_ii ≥ 0.
    Cube,
    /// x ∈ {−1, 1}ⁿ; the relaxation has X_ii = 1. The diagonal of M only adds its trace.
    Vertices,
}

/// Untrusted evidence for an upper bound. Anybody may build one; [`check`] finds out what it proves.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// Which problem the evidence is for. Evidence for one domain is not used for the other.
    pub domain: Domain,
    /// y, one a row of M; positive wherever the row is not zero.
    pub weights: Vec<f64>,
    /// t: try d = y + t as it stands. Without it, d = s·y with the least provable s.
    pub shift: Option<f64>,
}
