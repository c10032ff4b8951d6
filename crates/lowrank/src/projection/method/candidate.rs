//! A projection of one channel with its proof, as the methods hand it on.

use crate::linalg::matrix::DenseMatrix;
use crate::observe::Observer;
use crate::projection::energy::Energy;
use crate::projection::kappa::CertifiedBasis;
use crate::projection::method::construction::BasisConstruction;
use crate::projection::method::error::FitError;
use crate::projection::method::progress::{FitProgress, relay};
use crate::sdp::bracket::BoundParams;

/// What a method found, and how.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The basis with its proof.
    pub certified: CertifiedBasis,
    /// ⟨M, I − Π⟩.
    pub error: f64,
    /// How it was found.
    pub how: BasisConstruction,
}

impl Candidate {
    /// Proves κ of a basis whose error is known.
    pub(crate) fn new(
        basis: DenseMatrix,
        error: f64,
        how: BasisConstruction,
        bound: &BoundParams,
        observer: &mut (dyn Observer<FitProgress> + Send),
    ) -> Result<Self, FitError> {
        Ok(Self { certified: CertifiedBasis::new(basis, bound, &mut relay(observer))?, error, how })
    }

    /// The same for a basis whose error is not.
    pub(crate) fn measured(
        basis: DenseMatrix,
        energy: &Energy,
        how: BasisConstruction,
        bound: &BoundParams,
        observer: &mut (dyn Observer<FitProgress> + Send),
    ) -> Result<Self, FitError> {
        let error = energy.error(&basis);
        Self::new(basis, error, how, bound, observer)
    }

    /// κ, proven.
    pub(crate) fn kappa(&self) -> f64 {
        self.certified.kappa().value()
    }

    /// κ², proven.
    pub(crate) fn square(&self) -> f64 {
        self.certified.square.value()
    }
}
