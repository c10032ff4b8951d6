//! What goes into sparse PCA and what comes out: parameters, result, errors.

use crate::linalg::matrix::MatrixError;
use crate::parameter::ParameterError;
use crate::sdp::progress::StopReason;
use thiserror::Error;

/// Atoms are stored in multiples of this, the width of a vector register; the last ones are zero.
pub(super) const WIDTH_STEP: usize = 8;

/// Where atoms begin for which no start is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// Along features, chosen one by one so that codes with one entry each do best.
    Features,
    /// The leading singular vectors, as in scikit-learn. The descent from there is long where components are sparse.
    SingularVectors,
}

/// Parameters of [`sparse_pca`](super::sparse_pca).
#[derive(Clone, Debug, PartialEq)]
pub struct SparsePcaParams {
    /// Number of components; at most the number of features.
    pub atoms: usize,
    /// α, the price of a unit of code, in the unit of the matrix. Features no longer than it get no code.
    pub alpha: f64,
    /// The most rounds, each one pass over the codes and some over the dictionary.
    pub max_iterations: usize,
    /// Relative decrease of the objective in one round at which to stop.
    pub tolerance: f64,
    /// Whether to subtract its mean over the samples from every feature first, as scikit-learn does.
    pub centre: bool,
    /// Where to begin where no start is given.
    pub beginning: Beginning,
}

impl Default for SparsePcaParams {
    fn default() -> Self {
        let beginning = Beginning::Features;
        Self { atoms: 1, alpha: 1.0, max_iterations: 1000, tolerance: 1e-6, centre: true, beginning }
    }
}

impl SparsePcaParams {
    /// Checks every parameter once, for a matrix with this number of features.
    pub fn validate(&self, features: usize) -> Result<(), ParameterError> {
        let checks = [
            ("atoms", self.atoms as f64, self.atoms > 0, "positive"),
            ("atoms", self.atoms as f64, self.atoms <= features, "at most the number of features"),
            ("alpha", self.alpha, self.alpha > 0.0 && self.alpha.is_finite(), "positive and finite"),
            ("max_iterations", self.max_iterations as f64, self.max_iterations > 0, "positive"),
            ("tolerance", self.tolerance, self.tolerance >= 0.0, "zero or positive"),
        ];
        match checks.into_iter().find(|(_, _, good, _)| !good) {
            Some((name, value, _, range)) => Err(ParameterError { name, value, range }),
            None => Ok(()),
        }
    }
}

/// What [`sparse_pca`](super::sparse_pca) found.
#[derive(Clone, Debug, PartialEq)]
pub struct SparsePca {
    /// Cᵀ, atoms × features, row-major: the components, sparse.
    pub components: Vec<f64>,
    /// D, atoms × samples, row-major: rows of length at most one.
    pub dictionary: Vec<f64>,
    /// ½‖Xᵀ − C·D‖² + α·Σ|c|.
    pub objective: f64,
    /// Rounds done.
    pub iterations: usize,
    /// Why it ended.
    pub stop: StopReason,
}

/// Why there are no sparse components.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SparsePcaError {
    /// A parameter is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The matrix is empty, has the wrong number of entries or one that is not finite, or does not fit into memory.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// The start belongs to another matrix.
    #[error(
        "the start has {components} numbers in its components and {dictionary} in its dictionary, which are not \
         atoms x {features} and atoms x {samples}; start from a result for a matrix of this shape"
    )]
    StartShape {
        /// Numbers in its components.
        components: usize,
        /// Numbers in its dictionary.
        dictionary: usize,
        /// Features of the matrix.
        features: usize,
        /// Samples of the matrix.
        samples: usize,
    },
    /// The start has an entry that is not finite.
    #[error("atom {atom} of the start has an entry that is not finite (counting from 0)")]
    StartNotFinite {
        /// Zero-based atom.
        atom: usize,
    },
}
