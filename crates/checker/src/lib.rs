//! The trusted kernel of gambeson: it turns certificates and counts into proven numbers. No other crate does.
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
//! # From counts to radii
//! A smoothed classifier answers with the class that its base takes most often under Gaussian noise. A [`Tally`] of such
//! draws proves a limit on the probability of that class which is wrong with probability α at most
//! ([`FailureProbability`]), exactly: Clopper and Pearson's for a number of draws set beforehand, others for counts that
//! were looked at in between ([`SamplingRule`]). A [`RadiusTrial`] asks for a [`LatentRadius`] with everything that it depends
//! on, and is the only way to one: around the coordinates z = Uᵀu, the answer is constant within it. κ and σ_max of U turn
//! that into radii around u.
//!
//! # Candidates
//! The kernel searches for nothing. Others propose, and it verifies what they propose:
//! * a [`Certificate`] with a shift t says that d = y + t dominates: [`verify`] tries that in one call. Without a shift it
//!   says that some multiple of y does; a [`PreparedForm`] or [`PreparedFactor`] tries one multiple after the other;
//! * an [`EliminationOrder`] for a sparse matrix, and [`DroppedEntries`], paid for on the diagonal instead of being factorised;
//! * σ_max of a basis: [`PreparedBasis`];
//! * a confidence limit: [`LimitTrial`]; a quantile of the normal distribution: [`QuantileTrial`]; both, for a radius:
//!   [`RadiusTrial`].
//!
//! What is prepared is prepared once, however many candidates are tried on it. The searches are in `lowrank` (scales) and
//! `smooth` (limits and quantiles); a faulty one proves less, never anything false.
//!
//! # A map
//! To be read in this order; each file states its theorem and proves it.
//! * `rounding`: directed rounding, the only file that knows about units in the last place; `error`; `threads`;
//! * `quadratic/`: `form` (the matrix), `prepared` and `gram` (what candidates are tried on), `definite` (the proof of
//!   Diag(d) ⪰ M by a factorisation), `cholesky` and `sparse` (the factorisations), `lower` (lower ends), `check` (the
//!   proven numbers);
//! * `statistics/`: `sampling`, `limit` and `tail`, `quantile`, `radius`, `counted`, and below them `special` and `double`;
//! * `encoding/`: z = Uᵀu (`product`) and the cosine transform (`cosine`), with their errors, those of storing z (`grid`),
//!   and all of them for every input that a radius is about (`perturbed`);
//! * [`kernel`]: the hot loops under the factorisations. Nothing there needs trust beyond its order of operations.
//!
//! # What is trusted
//! * IEEE 754 binary64 with rounding to nearest and gradual underflow; a first test of the environment refuses
//!   to work otherwise. Summation order, fused multiply-adds and underflow are covered: see `definite.rs`.
//! * This crate, which depends on `std` alone, does no input or output and draws no random numbers. `unsafe` is
//!   confined to [`kernel`], where it calls code compiled for instructions detected at run time.
//! * Not trusted: certificates, candidates, orders of elimination, the logarithms of `std`. They can make a proof fail or
//!   a bound loose, never wrong.
//! * Taken on trust, because counts cannot show it: draws are independent, what is classified is an exact function of z
//!   plus Gaussian noise (the sampler of `gambeson_smooth` proves that of itself, from random words), the class counted was
//!   chosen without them, and the sampling rule is the one that was followed.
//!
//! # Proven numbers
//! [`QuadraticBound`], [`InfToTwoBound`], [`InfToOneBound`], [`SpectralBound`] are upper bounds;
//! [`VertexValue`] and [`RelaxationValue`] are lower ends. [`LowerLimit`] and [`UpperLimit`] hold but for the failure
//! probability; [`LatentRadius`], [`L2Radius`] and [`LinfRadius`] follow from them, rounded down; a [`NormalQuantile`] is
//! a bound from the side asked for. The fields of all are private: only this crate makes them.
//!
//! ```
//! use gambeson_checker::{Certificate, Domain, PreparedForm, Quadratic, verify};
//! let entries = [2.0, 1.0, 1.0, 2.0]; // the largest value on the cube is 6, at (1, 1)
//! let matrix = Quadratic::Dense { entries: &entries, dim: 2 };
//! let certificate = Certificate { domain: Domain::Cube, weights: vec![3.0, 3.0], shift: Some(1e-9) };
//! assert!((6.0..6.000001).contains(&verify(matrix, &certificate, 1).unwrap().value()));
//! // Several candidates for one matrix:
//! let form = PreparedForm::new(matrix, Domain::Cube, 1).unwrap();
//! assert!(form.bound(&[2.9, 2.9]).is_err() && form.bound(&[3.1, 3.1]).is_ok());
//! ```
//!
//! ```
//! use gambeson_checker::{
//!     ClassCounts, FailureProbability, LimitCandidate, LimitMethod, NoiseLevel, ProposedLimit, RadiusCandidates,
//!     RadiusQuestion, RadiusTrial, SamplingRule, Sides,
//! };
//! # fn main() -> Result<(), gambeson_checker::StatisticsError> {
//! let question = RadiusQuestion {
//!     counts: ClassCounts::new(99_000, 1000, 100_000)?,
//!     rule: SamplingRule::Fixed,
//!     method: LimitMethod::ClopperPearson,
//!     sides: Sides::One,
//!     failure: FailureProbability::new(0.001)?,
//!     noise: NoiseLevel::new(0.25)?,
//! };
//! let trial = RadiusTrial::new(&question)?;
//! // 1 − p is at most 1.103 %: proven, with 101 levels of a continued fraction. Φ⁻¹(0.98897) is at least 2.289.
//! let limit = LimitCandidate::Failure(0.01103);
//! let class = ProposedLimit { limit, levels: 101, quantile: Some(2.289) };
//! let proven = trial.prove(&RadiusCandidates { class: Some(class), runner_up: None });
//! assert!((0.5722..0.5726).contains(&proven.radius().unwrap().value()));
//! // At most 1.1 %: not proven.
//! let class = ProposedLimit { limit: LimitCandidate::Failure(0.011), ..class };
//! assert_eq!(trial.prove(&RadiusCandidates { class: Some(class), runner_up: None }).radius(), None);
//! // Counts that were looked at in between prove less, and their rule says that they were.
//! assert!(RadiusTrial::new(&RadiusQuestion { rule: SamplingRule::Anytime, ..question }).is_err());
//! # Ok(())
//! # }
//! ```

/// Reading access to numbers that only their own file can make.
macro_rules! proven_numbers {
    ($($name:ident),*) => {$(
        impl $name {
            /// The number, already rounded towards safety.
            pub fn value(self) -> f64 {
                self.0
            }
        }
    )*};
}

mod encoding;
mod error;
pub mod kernel;
mod quadratic;
pub mod rounding;
mod statistics;
mod threads;

pub use encoding::cosine::CosineTransform;
pub use encoding::grid::{MOST_STEPS, grid_error, grid_error_everywhere};
pub use encoding::perturbed::{encoding_error_within, farthest_input, quotient_error};
pub use encoding::product::{
    Coordinates, encode, encoding_error_of_blocks, encoding_error_of_both, encoding_error_of_moved,
};
pub use encoding::unit::in_units;
pub use error::{CheckError, MatrixProblem, Rejected};
pub use quadratic::check::{
    InfToOneBound, InfToTwoBound, QuadraticBound, RelaxationValue, SpectralBound, VertexValue,
    relaxation_value, triangle_bound, verify, vertex_value,
};
pub use quadratic::form::Quadratic;
pub use quadratic::gram::{PreparedBasis, PreparedFactor, WeightedGram};
pub use quadratic::prepared::{DroppedEntries, PreparedForm};
pub use quadratic::sparse::{EliminationOrder, FactorisationCost};
pub use statistics::counted::{
    ClassCounts, ProposedLimit, ProvenRadius, RadiusCandidates, RadiusQuestion, RadiusTrial, Sides,
};
pub use statistics::limit::{LimitAttempt, LimitCandidate, LimitTrial, LowerLimit, UpperLimit};
pub use statistics::quantile::{NormalQuantile, QuantileTrial, Side};
pub use statistics::radius::{L2Radius, LatentRadius, LinfRadius, MOST_DEVIATIONS};
pub use statistics::sampling::{
    FailureProbability, LimitMethod, MOST_TRIALS, NoiseLevel, RandomShare, SamplingRule, StatisticsError,
    Tally,
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

/// Untrusted evidence for an upper bound. Anybody may build one; [`verify`] finds out what it proves as it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// Which problem the evidence is for. Evidence for one domain is not used for the other.
    pub domain: Domain,
    /// y, one per row of M; positive wherever the row is not zero.
    pub weights: Vec<f64>,
    /// t: d = y + t is to be tried as it stands. Without it, d = s·y for some s that is yet to be found.
    pub shift: Option<f64>,
}
