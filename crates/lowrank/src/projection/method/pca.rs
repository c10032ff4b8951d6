//! Principal components: the subspaces of least error, and with them the limit of every projection.
//!
//! **Limit.** An orthogonal projection with error e has at least the rank r that PCA needs for e, and ‖Π‖²_{∞→2} is at
//! least the rank (the mean of dᵀΠd over random signs d is tr Π). So κ ≥ √r whatever the method: [`Spectrum::rank_for`].

use crate::linalg::eigen::symmetric_eigen;
use crate::linalg::matrix::DenseMatrix;
use crate::projection::energy::Energy;

/// Rounding errors of moments and eigenvalues are below this; the limit gives way to it.
const SLACK: f64 = 1e-9;

/// Eigenvalues and eigenvectors of M.
#[derive(Clone, Debug)]
pub struct Spectrum {
    /// Decreasing, not negative.
    values: Vec<f64>,
    /// Unit vectors, one for each value.
    vectors: Vec<Vec<f64>>,
}

impl Spectrum {
    /// Of the energy of one channel.
    pub fn new(energy: &Energy) -> Self {
        let (mut values, vectors) = symmetric_eigen(energy.entries.clone(), energy.dim);
        values.iter_mut().for_each(|value| *value = value.max(0.0));
        Self { values, vectors }
    }

    /// Energies of the components, decreasing; their sum is one.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Error of PCA of each rank 0, 1, …, n.
    pub fn errors(&self) -> Vec<f64> {
        let mut left: Vec<f64> = self
            .values
            .iter()
            .rev() // small ones first, so that nothing cancels
            .scan(0.0, |sum, value| {
                *sum += value;
                Some(*sum)
            })
            .collect();
        left.reverse();
        left.push(0.0);
        left
    }

    /// The least rank at which PCA, and so any orthogonal projection, has an error of at most `error`.
    pub fn rank_for(&self, error: f64) -> usize {
        self.errors().iter().position(|&left| left <= error + SLACK).unwrap_or(self.values.len())
    }

    /// The first `rank` components as an n × rank basis. Panics if there are fewer.
    pub fn basis(&self, rank: usize) -> DenseMatrix {
        DenseMatrix::from_columns(self.values.len(), &self.vectors[..rank])
    }

    /// One component.
    pub(crate) fn vector(&self, index: usize) -> &[f64] {
        &self.vectors[index]
    }
}
