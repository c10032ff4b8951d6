//! Coordinates as a projection: those of largest energy.
//!
//! A projection onto r coordinates has ‖Π‖_{∞→2} = √r, the least that any projection of rank r can have. In a
//! representation in which the data are nearly uncorrelated, such as the cosine transform of images, its error is
//! close to that of PCA.

use crate::linalg::matrix::DenseMatrix;
use crate::projection::energy::Energy;
use crate::projection::method::error::FitError;

/// Coordinates with what is lost by those left out.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedCoordinates {
    /// By decreasing energy; equal ones by index.
    pub order: Vec<usize>,
    /// Error left after each number 0, 1, …, n of them.
    pub errors: Vec<f64>,
}

impl RankedCoordinates {
    /// All coordinates.
    pub fn of(energy: &Energy) -> Self {
        let diagonal = energy.diagonal();
        let mut order: Vec<usize> = (0..energy.dim).collect();
        order.sort_by(|&i, &j| diagonal[j].total_cmp(&diagonal[i]).then(i.cmp(&j)));
        let cut_off = 1.0 - diagonal.iter().sum::<f64>();
        let mut errors = vec![cut_off.max(0.0)];
        for &i in order.iter().rev() {
            errors.push(errors[errors.len() - 1] + diagonal[i]);
        }
        errors.reverse();
        Self { order, errors }
    }

    /// The least number of them with at most this error.
    pub(crate) fn rank_for(&self, error: f64) -> Option<usize> {
        self.errors.iter().position(|&left| left <= error)
    }

    /// Why there is no such number.
    pub(crate) fn out_of_reach(&self, error: f64) -> FitError {
        FitError::ErrorOutOfReach { error, least: self.errors.last().copied().unwrap_or(1.0) }
    }
}

/// The basis of unit vectors at these coordinates.
pub fn basis(dim: usize, coordinates: &[usize]) -> DenseMatrix {
    let columns: Vec<Vec<(usize, f64)>> = coordinates.iter().map(|&i| vec![(i, 1.0)]).collect();
    DenseMatrix::from_sparse_columns(dim, &columns)
}
