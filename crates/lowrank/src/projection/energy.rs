//! Where the energy of data lies: the matrix M of Algorithm 3, and what a basis keeps of it.
//!
//! M = AᵀA / tr(AᵀA) of the samples of one channel (the rows of A), in the coordinates of a representation; centred
//! means that the mean is subtracted first. The reconstruction error of an orthogonal projection Π is ⟨M, I − Π⟩, the
//! part of the energy that it loses.

use crate::linalg::matrix::DenseMatrix;
use crate::linalg::products::rows_times;
use crate::projection::moments::Moments;
use crate::projection::representation::Transform;
use thiserror::Error;

/// The part of the energy that must lie around the mean where the mean is subtracted: with less, errors and limits would
/// not be accurate to nine digits.
const LEAST_ENERGY: f64 = 1e-6;

/// The normalised second moments of one channel.
#[derive(Clone, Debug)]
pub struct Energy {
    /// Coordinates.
    pub dim: usize,
    /// M, dim × dim, row-major, symmetric, of trace one (less what [`Energy::restricted`] has cut off).
    pub entries: Vec<f64>,
    /// tr(AᵀA)/N before the division.
    pub total: f64,
    /// The mean that was subtracted, in coordinates.
    pub mean: Option<Vec<f64>>,
    /// N.
    pub samples: u64,
}

/// Why data have no usable energy.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum EnergyError {
    /// Moments and transform are of different dimensions.
    #[error("the data have {found} values per channel, the transform {expected}")]
    Dimension {
        /// Of the transform.
        expected: usize,
        /// Of the moments.
        found: usize,
    },
    /// Every sample is zero, or, centred, the same.
    #[error("the data are constant: {}", if *centred { "every sample equals their mean to three digits or more; subtract the offset first" } else { "all values are zero" })]
    Constant {
        /// Whether the mean was subtracted.
        centred: bool,
    },
    /// The second moments overflow.
    #[error("the squares of the values are too large for 64-bit numbers")]
    TooLarge,
}

impl Energy {
    /// Of moments in values, turned into coordinates.
    pub fn new(moments: &Moments, transform: &Transform, centred: bool) -> Result<Self, EnergyError> {
        if moments.dim != transform.dim() {
            return Err(EnergyError::Dimension { expected: transform.dim(), found: moments.dim });
        }
        let raw = moments.trace();
        let mut entries = if centred { moments.centred() } else { moments.second.clone() };
        let total: f64 = entries.iter().step_by(moments.dim + 1).sum();
        if !total.is_finite() {
            return Err(EnergyError::TooLarge);
        }
        // The mean is subtracted from sums: of data that barely differ from it, only rounding errors would be left.
        if !(total > LEAST_ENERGY * raw) {
            return Err(EnergyError::Constant { centred });
        }
        transform.rotate_form(&mut entries);
        entries.iter_mut().for_each(|entry| *entry /= total);
        let mean = centred.then(|| {
            let mut mean = moments.mean.clone();
            transform.forward(&mut mean);
            mean
        });
        Ok(Self { dim: moments.dim, entries, total, mean, samples: moments.count })
    }

    /// The same with nothing outside the coordinates that are `allowed`; errors still count what was cut off.
    #[must_use]
    pub fn restricted(&self, allowed: impl Fn(usize) -> bool) -> Self {
        let mut entries = self.entries.clone();
        for (i, row) in entries.chunks_exact_mut(self.dim).enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                if !allowed(i) || !allowed(j) {
                    *entry = 0.0;
                }
            }
        }
        Self { entries, mean: self.mean.clone(), ..*self }
    }

    /// The number of coordinates with any energy: no more can be used.
    pub(crate) fn usable(&self) -> usize {
        self.entries.iter().step_by(self.dim + 1).filter(|&&entry| entry > 0.0).count()
    }

    /// M_ij.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.row(i)[j]
    }

    /// Row i of M.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.dim..][..self.dim]
    }

    /// Energy of each coordinate.
    pub fn diagonal(&self) -> Vec<f64> {
        self.entries.iter().step_by(self.dim + 1).copied().collect()
    }

    /// M·U for a basis of n × r.
    pub(crate) fn times(&self, basis: &DenseMatrix) -> Vec<f64> {
        rows_times(&self.entries, self.dim, &basis.entries, basis.columns)
    }

    /// ⟨M, I − UUᵀ⟩ for a basis with orthonormal columns; at least 0. Panics unless the basis has `dim` rows.
    pub fn error(&self, basis: &DenseMatrix) -> f64 {
        assert_eq!(basis.rows, self.dim, "a basis of these coordinates");
        let kept: f64 = self.times(basis).iter().zip(&basis.entries).map(|(m, u)| m * u).sum();
        (1.0 - kept).max(0.0)
    }
}
