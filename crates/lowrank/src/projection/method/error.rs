//! Why a fit finds no projection.

use crate::parameter::ParameterError;
use crate::projection::energy::EnergyError;
use crate::projection::kappa::KappaError;
use crate::projection::method::sparse_pca::SparsePcaError;
use crate::sdp::bracket::BoundError;
use thiserror::Error;

/// Why there is no projection.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FitError {
    /// A rank that no projection can have.
    #[error("rank {rank}: must be between 1 and {dim}, the number of coordinates")]
    Rank {
        /// Asked for.
        rank: usize,
        /// Coordinates.
        dim: usize,
    },
    /// Too few samples to say anything about this many directions.
    #[error("rank {rank} from {samples} samples: there must be at least as many samples as the rank")]
    FewSamples {
        /// Asked for.
        rank: usize,
        /// Available.
        samples: u64,
    },
    /// An error out of range.
    #[error("an error of {error}: must be above 0 and below 1, the part of the energy that may be lost")]
    Error {
        /// Asked for.
        error: f64,
    },
    /// Too much energy lies outside the coordinates allowed.
    #[error("an error of {error} cannot be reached: all coordinates allowed together leave {least}")]
    ErrorOutOfReach {
        /// Asked for.
        error: f64,
        /// The least possible.
        least: f64,
    },
    /// κ is at least 1 for every projection but zero.
    #[error("a kappa of {kappa}: must be finite and at least 1, the least that any projection has")]
    KappaTooSmall {
        /// Asked for.
        kappa: f64,
    },
    /// Not even the smallest projection of this kind has such a κ.
    #[error("a kappa of {kappa} cannot be reached by this method: the least proven is {least}")]
    KappaOutOfReach {
        /// Asked for.
        kappa: f64,
        /// The least found.
        least: f64,
    },
    /// Algorithm 3 was given values of r that it cannot try.
    #[error("r = {split}: the principal components are part of the rank, {rank}")]
    Split {
        /// r.
        split: usize,
        /// k.
        rank: usize,
    },
    /// Algorithm 3 found nothing within its budget.
    #[error(
        "no projection of rank {rank} tried has an error of at most {error}; the least is {least}: allow more, or a larger rank"
    )]
    NoneWithinError {
        /// k.
        rank: usize,
        /// δ.
        error: f64,
        /// The least error among those tried.
        least: f64,
    },
    /// Algorithm 3 needs a rank and an error, not a κ.
    #[error("Algorithm 3 takes a rank and an error, not a kappa")]
    NoKappaTarget,
    /// Stopped before anything was found.
    #[error("stopped before a first projection was found")]
    Interrupted,
    /// The data.
    #[error(transparent)]
    Energy(#[from] EnergyError),
    /// Parameters of sparse PCA.
    #[error(transparent)]
    SparsePca(#[from] SparsePcaError),
    /// The proof of κ.
    #[error(transparent)]
    Kappa(#[from] KappaError),
}

impl From<ParameterError> for FitError {
    fn from(error: ParameterError) -> Self {
        FitError::Kappa(KappaError::Bound(BoundError::Parameter(error)))
    }
}
