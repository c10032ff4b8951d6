//! A start like that of scikit-learn: leading singular vectors, by a randomised block iteration.
//!
//! **Reference.** Halko, Martinsson and Tropp, *Finding structure with randomness*, SIAM Review 53 (2011), algorithm
//! 4.4. Accuracy does not matter here; a few rounds put the vectors in order.

use super::reduced::{Point, Reduced};
use crate::linalg::eigen::symmetric_eigen;
use crate::linalg::operator::dot;
use crate::linalg::orthonormal::take_out;
use crate::linalg::products::{rows_times, rows_times_blocked, transpose};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// Extra vectors, at least; the number is rounded up to whole registers.
const SPARE: usize = 8;
/// Rounds of the iteration.
const ROUNDS: usize = 3;
/// Singular values this much smaller than the largest are taken for zero.
const NEGLIGIBLE: f64 = 1e-10;

/// Makes the first `atoms` atoms singular vectors of Xᵀ, in order, still without codes.
pub(super) fn singular_vectors(reduced: &Reduced, point: &mut Point, atoms: usize, rng: &mut impl Rng) {
    let vectors = leading_vectors(&reduced.rows, reduced.samples, atoms, rng);
    point.dictionary[..vectors.len()].copy_from_slice(&vectors);
}

/// Up to `count` right singular vectors of a row-major matrix, as rows, the largest singular value first.
fn leading_vectors(matrix: &[f64], columns: usize, count: usize, rng: &mut impl Rng) -> Vec<f64> {
    let rows = matrix.len() / columns;
    let block = (count + SPARE).next_multiple_of(8).min(rows).min(columns);
    let mut left: Vec<f64> = (0..block * rows).map(|_| StandardNormal.sample(rng)).collect();
    let mut basis = vec![];
    for round in 0..ROUNDS {
        basis = rows_times(&left, rows, matrix, columns);
        orthonormalise(&mut basis, columns);
        if round + 1 < ROUNDS {
            let images = rows_times(matrix, columns, &transpose(&basis, block, columns), block);
            left = transpose(&images, rows, block);
            orthonormalise(&mut left, rows);
        }
    }
    let images = rows_times(matrix, columns, &transpose(&basis, block, columns), block);
    let gram = rows_times_blocked(&transpose(&images, rows, block), rows, &images, block);
    let (values, vectors) = symmetric_eigen(gram, block);
    let least = NEGLIGIBLE * NEGLIGIBLE * values.first().copied().unwrap_or(0.0);
    let order = values.iter().zip(vectors).take(count);
    let chosen: Vec<f64> =
        order.filter(|(value, _)| **value > least).flat_map(|(_, vector)| vector).collect();
    let mut found = rows_times(&chosen, block, &basis, columns);
    for vector in found.chunks_exact_mut(columns) {
        let length = dot(vector, vector).sqrt().max(1.0);
        vector.iter_mut().for_each(|x| *x /= length); // one, but for rounding errors
    }
    found
}

/// Makes the rows orthonormal, in two passes each; a row that depends on those before it becomes zero.
fn orthonormalise(rows: &mut [f64], columns: usize) {
    for k in 0..rows.len() / columns {
        let (before, own) = rows.split_at_mut(k * columns);
        let own = &mut own[..columns];
        let first = dot(own, own).sqrt();
        for _ in 0..2 {
            take_out(own, before.chunks_exact(columns), dot, |_, _| ());
        }
        let length = dot(own, own).sqrt();
        let scale = if length > 1e-12 * first { 1.0 / length } else { 0.0 };
        own.iter_mut().for_each(|x| *x *= scale);
    }
}
