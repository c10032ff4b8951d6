//! Eigenpairs of dense symmetric matrices, from the few rows of a Ritz problem to some thousand.
//!
//! Small ones: `small.rs` (reflections and QL iterations). From `BLOCKED` rows on: `reduce.rs` to tridiagonal form by
//! blocks, `divide.rs` with `secular.rs` by divide and conquer, and back, nearly all of it products of matrices
//! (`strips.rs`) on all threads.
//!
//! **Guarantee.** Backward stable: the pairs are those of a matrix within a small multiple of k·ε·‖A‖, and the vectors
//! orthonormal to as much. The same bits on any number of threads. Nothing proven depends on it.

mod divide;
mod reduce;
mod secular;
mod small;
mod strips;
#[cfg(test)]
mod tests;
mod values;

/// Dimension from which the blocked reduction is faster.
const BLOCKED: usize = 96;

/// All eigenvalues, decreasing, and their unit vectors. `matrix` is row-major k × k; its lower triangle is read.
///
/// Panics if `matrix` does not have k² entries. Entries that are not finite give values without meaning.
pub fn symmetric_eigen(matrix: Vec<f64>, k: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
    leading_eigenpairs(matrix, k, k)
}

/// The r largest eigenvalues (all, where r > k), decreasing, and their unit vectors, otherwise as
/// [`symmetric_eigen`]; up to a half cheaper for small r.
///
/// Panics if `matrix` does not have k² entries.
pub fn leading_eigenpairs(mut matrix: Vec<f64>, k: usize, r: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
    assert!(k.checked_mul(k) == Some(matrix.len()), "the matrix must be k × k");
    let scale = normalise(&mut matrix, k);
    if k < BLOCKED {
        let (mut values, mut vectors) = small::eigenpairs(matrix, k);
        values.iter_mut().for_each(|value| *value *= scale);
        values.truncate(r);
        vectors.truncate(r);
        return (values, vectors);
    }
    // On a thread of the pool, each of the many short parallel steps needs to wake one thread less.
    rayon::scope(|_| {
        let reduced = reduce::reduce(&matrix, k);
        drop(matrix);
        let pairs = divide::eigenpairs(&reduced.diagonal, &reduced.beside, r);
        let mut order: Vec<usize> = (0..pairs.values.len()).collect();
        order.sort_by(|&a, &b| pairs.values[b].total_cmp(&pairs.values[a]));
        order.truncate(r);
        let values = order.iter().map(|&a| pairs.values[a] * scale).collect();
        let rows: Vec<&[f64]> = order.iter().map(|&a| &pairs.vectors[a * k..][..k]).collect();
        (values, reduced.transform_back(&rows))
    })
}

/// All eigenvalues, decreasing, without vectors: about half the time of [`symmetric_eigen`].
///
/// Panics if `matrix` does not have k² entries.
pub fn symmetric_eigenvalues(mut matrix: Vec<f64>, k: usize) -> Vec<f64> {
    assert!(k.checked_mul(k) == Some(matrix.len()), "the matrix must be k × k");
    let scale = normalise(&mut matrix, k);
    let mut values = if k < BLOCKED {
        small::eigenpairs(matrix, k).0
    } else {
        let reduced = rayon::scope(|_| reduce::reduce(&matrix, k));
        values::eigenvalues(reduced.diagonal, &reduced.beside)
    };
    values.iter_mut().for_each(|value| *value *= scale);
    values
}

/// Divides by a power of two so that squares neither overflow nor vanish; returns it.
fn normalise(matrix: &mut [f64], k: usize) -> f64 {
    let lower = matrix.chunks_exact(k.max(1)).enumerate().flat_map(|(a, row)| &row[..=a]);
    let largest = lower.fold(0.0_f64, |m, x| m.max(x.abs()));
    if !largest.is_normal() {
        return 1.0;
    }
    // The exponent alone, as a number; products of many entries of size two would still be far from overflow.
    let scale = f64::from_bits(largest.to_bits() & 0x7FF0_0000_0000_0000);
    matrix.iter_mut().for_each(|entry| *entry /= scale);
    scale
}
