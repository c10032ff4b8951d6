//! What several test files need.

use gambeson_checker::Domain;
use gambeson_lowrank::linalg::matrix::{DenseMatrix, Matrix};
use gambeson_lowrank::sdp::problem::{MatrixRole, OperatorNorm, Problem};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Standard normal numbers.
pub(crate) fn normal(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| StandardNormal.sample(&mut rng)).collect()
}

/// A dense matrix with standard normal entries.
pub(crate) fn normal_matrix(rows: usize, columns: usize, seed: u64) -> DenseMatrix {
    DenseMatrix { rows, columns, entries: normal(rows * columns, seed) }
}

/// The quadratic problem of a dense symmetric matrix on the cube.
pub(crate) fn quadratic(matrix: &DenseMatrix) -> Problem {
    Problem::new(Matrix::Dense(matrix.clone()), OperatorNorm::Quadratic, MatrixRole::Plain, Domain::Cube, 1)
        .expect("a valid matrix")
}

/// All sign vectors of length n, one of each pair ±x.
pub(crate) fn signs(n: usize) -> impl Iterator<Item = Vec<f64>> {
    (0..1_u32 << (n - 1))
        .map(move |bits| (0..n).map(|i| if bits >> i & 1 == 1 { -1.0 } else { 1.0 }).collect())
}

/// xᵀMx.
pub(crate) fn form(matrix: &DenseMatrix, x: &[f64]) -> f64 {
    (0..matrix.rows).map(|i| x[i] * matrix.row(i).iter().zip(x).map(|(m, x)| m * x).sum::<f64>()).sum()
}

/// max xᵀMx over the vertices, by trying all: n ≤ 20.
pub(crate) fn brute_force(matrix: &DenseMatrix) -> f64 {
    signs(matrix.rows).map(|x| form(matrix, &x)).fold(f64::NEG_INFINITY, f64::max)
}

/// UUᵀ, dense.
pub(crate) fn square(basis: &DenseMatrix) -> DenseMatrix {
    let n = basis.rows;
    let product = |i: usize, j: usize| basis.row(i).iter().zip(basis.row(j)).map(|(a, b)| a * b).sum::<f64>();
    let entries = (0..n * n).map(|at| product(at / n, at % n)).collect();
    DenseMatrix { rows: n, columns: n, entries }
}
