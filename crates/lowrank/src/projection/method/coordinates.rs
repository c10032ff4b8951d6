//! Coordinates as a projection: those of largest energy.
//!
//! A projection onto r coordinates has ‖Π‖_{∞→2} = √r, the least that any projection of rank r can have. In a
//! representation in which the data are nearly uncorrelated, such as the cosine transform of images, its error is
//! close to that of PCA.

use crate::linalg::matrix::DenseMatrix;
use crate::projection::energy::Energy;

/// Coordinates by decreasing energy; equal ones by index.
pub fn by_energy(energy: &Energy) -> Vec<usize> {
    let diagonal = energy.diagonal();
    let mut order: Vec<usize> = (0..energy.dim).collect();
    order.sort_by(|&i, &j| diagonal[j].total_cmp(&diagonal[i]).then(i.cmp(&j)));
    order
}

/// Error left after each number 0, 1, …, n of the coordinates of `order`.
pub fn errors(energy: &Energy, order: &[usize]) -> Vec<f64> {
    let diagonal = energy.diagonal();
    let cut_off = 1.0 - diagonal.iter().sum::<f64>();
    let mut left = vec![cut_off.max(0.0)];
    for &i in order.iter().rev() {
        left.push(left[left.len() - 1] + diagonal[i]);
    }
    left.reverse();
    left
}

/// The basis of unit vectors at these coordinates.
pub fn basis(dim: usize, coordinates: &[usize]) -> DenseMatrix {
    let columns: Vec<Vec<(usize, f64)>> = coordinates.iter().map(|&i| vec![(i, 1.0)]).collect();
    DenseMatrix::from_sparse_columns(dim, &columns)
}
