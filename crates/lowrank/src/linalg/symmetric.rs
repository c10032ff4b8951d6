//! Whether a matrix can be that of a quadratic form.

use crate::linalg::matrix::{DenseMatrix, Matrix, SparseMatrix};
use rayon::prelude::*;

impl Matrix {
    /// Whether the matrix is square and exactly symmetric. Stored zeros count as absent.
    pub fn is_symmetric(&self) -> bool {
        let (rows, columns) = self.shape();
        rows == columns
            && match self {
                Self::Dense(dense) => dense_symmetric(dense),
                Self::Sparse(sparse) => sparse_symmetric(sparse),
            }
    }
}

/// In blocks, so that the column side stays in cache.
fn dense_symmetric(matrix: &DenseMatrix) -> bool {
    const BLOCK: usize = 64;
    let (n, entries) = (matrix.rows, &matrix.entries);
    let blocks = n.div_ceil(BLOCK);
    let of_block = |block: usize| block * BLOCK..((block + 1) * BLOCK).min(n);
    (0..blocks).into_par_iter().all(|rows| {
        (0..=rows).all(|columns| {
            of_block(rows).all(|i| of_block(columns).all(|j| entries[i * n + j] == entries[j * n + i]))
        })
    })
}

fn sparse_symmetric(matrix: &SparseMatrix) -> bool {
    let entry = |i: usize, j: usize| {
        let range = matrix.offsets[i]..matrix.offsets[i + 1];
        let found = matrix.indices[range.clone()].binary_search(&j);
        found.map_or(0.0, |at| matrix.values[range.start + at])
    };
    matrix.triplets().all(|(i, j, value)| entry(j, i) == value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same entries in both storages.
    fn both(rows: usize, columns: usize, entries: &[f64]) -> [bool; 2] {
        let dense = DenseMatrix::new(rows, columns, entries.to_vec()).expect("a matrix");
        let places = entries.iter().enumerate().filter(|(_, value)| **value != 0.0);
        let triplets = places.map(|(at, &value)| (at / columns, at % columns, value)).collect();
        let sparse = SparseMatrix::from_triplets(rows, columns, triplets).expect("a matrix");
        [Matrix::Dense(dense).is_symmetric(), Matrix::Sparse(sparse).is_symmetric()]
    }

    #[test]
    fn symmetry_is_exact_and_of_square_matrices() {
        assert_eq!(both(2, 2, &[1.0, 0.5, 0.5, -2.0]), [true, true]);
        assert_eq!(both(2, 2, &[1.0, 0.5, 0.5_f64.next_up(), 1.0]), [false, false]);
        assert_eq!(both(2, 2, &[0.0, 1.0, 0.0, 0.0]), [false, false]);
        assert_eq!(both(2, 2, &[0.0, 0.0, 1.0, 0.0]), [false, false]);
        assert_eq!(both(1, 2, &[1.0, 1.0]), [false, false]);
        // Across blocks, one entry off in each corner.
        let n = 150;
        let mut entries: Vec<f64> = (0..n * n).map(|at| ((at / n) * (at % n) % 7) as f64).collect();
        assert_eq!(both(n, n, &entries), [true, true]);
        for at in [n - 1, n * (n - 1), 70 * n + 3, 148 * n + 149] {
            entries[at] += 1.0;
            assert_eq!(both(n, n, &entries), [false, false], "entry {at}");
            entries[at] -= 1.0;
        }
    }

    #[test]
    fn stored_zeros_are_zeros() {
        let stored = SparseMatrix::from_triplets(2, 2, vec![(0, 1, 0.0), (0, 0, 1.0)]).expect("a matrix");
        assert!(Matrix::Sparse(stored).is_symmetric());
    }
}
