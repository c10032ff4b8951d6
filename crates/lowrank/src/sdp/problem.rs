//! What is asked of a matrix: which norm, on which domain, in which storage.

use crate::linalg::matrix::{DenseMatrix, Matrix, MatrixError, SparseMatrix, zeros};
use crate::memory::MemoryLimit;
use gambeson_checker::rounding::add_up;
use gambeson_checker::{Domain, MatrixProblem, Quadratic};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use thiserror::Error;

/// The number that is bounded, for a matrix A as given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperatorNorm {
    /// max xᵀAx over the domain, A symmetric.
    Quadratic,
    /// ‖A‖_{∞→1} = max aᵀAb over signs a and b, by the dilation [0 A; Aᵀ 0].
    InfToOne,
    /// ‖A‖²_{∞→2} = max |Ax|² over the cube, by M = AᵀA.
    InfToTwo,
}

/// How the matrix as given is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatrixRole {
    /// As A itself.
    #[default]
    Plain,
    /// As the n × r factor U of M = UUᵀ; for [`OperatorNorm::InfToTwo`] the norm is that of Uᵀ.
    Gram,
}

/// Why a question makes no sense for a matrix.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ProblemError {
    /// A quadratic form needs a square matrix.
    #[error("a quadratic form needs a square matrix, this one is {rows} x {columns}")]
    NotSquare {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// Norms and Gram forms are bounded on the cube only.
    #[error("the domain `vertices` goes with quadratic forms only")]
    NotOnVertices,
    /// ∞→1 of a factor is not defined here.
    #[error("a factor gives a quadratic form or inf-to-two, not inf-to-one")]
    GramInfToOne,
    /// The matrix is not one to ask about.
    #[error(transparent)]
    Matrix(#[from] MatrixProblem),
    /// The matrix cannot be stored as the question needs it.
    #[error(transparent)]
    Entries(#[from] MatrixError),
}

/// A power of two between the numbers of a rescaled problem and those of the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PowerOfTwoScale(i32);

impl PowerOfTwoScale {
    pub(crate) const ONE: PowerOfTwoScale = PowerOfTwoScale(0);

    /// A value of the rescaled problem in the original's numbers.
    pub(crate) fn of(self, value: f64) -> f64 {
        // In two halves: 2^power itself may be out of range where the product is not.
        value * 2f64.powi(self.0 / 2) * 2f64.powi(self.0 - self.0 / 2)
    }

    /// A value of the original in the rescaled problem's numbers.
    pub(crate) fn inverse(self, value: f64) -> f64 {
        PowerOfTwoScale(-self.0).of(value)
    }
}

/// A matrix with its question, ready for solvers and checker.
#[derive(Debug)]
pub struct Problem {
    storage: Storage,
    /// What is bounded.
    pub norm: OperatorNorm,
    /// How the matrix was read.
    pub reading: MatrixRole,
    /// Where x lies.
    pub domain: Domain,
    /// Rows of A, the first block of a dilation.
    rows: usize,
    /// A bound on Σ |entry − what is meant| over the entries of the matrix as given.
    error: f64,
}

#[derive(Debug)]
enum Storage {
    Dense(DenseMatrix),
    Sparse(SparseMatrix),
    /// The n × r factor.
    Gram(DenseMatrix),
}

impl Problem {
    /// Puts the question to the matrix and validates it, whatever memory it takes.
    pub fn new(
        matrix: Matrix,
        norm: OperatorNorm,
        reading: MatrixRole,
        domain: Domain,
        threads: usize,
    ) -> Result<Self, ProblemError> {
        Self::enclosing(matrix, 0.0, norm, reading, domain, MemoryLimit::NONE, threads)
    }

    /// The same question about every matrix whose entries are off those given by `error` at most, all together: what is
    /// proven holds for each of them.
    ///
    /// Rounding may have made a matrix a little unsymmetric, or a diagonal entry negative, that was not so before. Where
    /// the error explains that, it is taken back, and what that changes is added to the error.
    ///
    /// A question that needs the matrix stored in another way is refused where that takes more than `memory`.
    pub fn enclosing(
        matrix: Matrix,
        error: f64,
        norm: OperatorNorm,
        reading: MatrixRole,
        domain: Domain,
        memory: MemoryLimit,
        threads: usize,
    ) -> Result<Self, ProblemError> {
        let (rows, columns) = matrix.shape();
        let storage = match (norm, reading) {
            (OperatorNorm::InfToOne, MatrixRole::Gram) => return Err(ProblemError::GramInfToOne),
            (_, MatrixRole::Gram) | (OperatorNorm::InfToOne | OperatorNorm::InfToTwo, _)
                if domain == Domain::Vertices =>
            {
                return Err(ProblemError::NotOnVertices);
            }
            (_, MatrixRole::Gram) => Storage::Gram(into_dense(matrix, memory)?),
            (OperatorNorm::InfToTwo, MatrixRole::Plain) => {
                Storage::Gram(into_dense(matrix, memory)?.transposed())
            }
            (OperatorNorm::InfToOne, MatrixRole::Plain) => match matrix {
                Matrix::Dense(dense) => Storage::Dense(dilation(&dense, memory)?),
                Matrix::Sparse(sparse) => Storage::Sparse(sparse_dilation(&sparse)?),
            },
            (OperatorNorm::Quadratic, MatrixRole::Plain) if rows != columns => {
                return Err(ProblemError::NotSquare { rows, columns });
            }
            (OperatorNorm::Quadratic, MatrixRole::Plain) => match matrix {
                Matrix::Dense(dense) => Storage::Dense(dense),
                Matrix::Sparse(sparse) => Storage::Sparse(sparse),
            },
        };
        let mut problem = Self { storage, norm, reading, domain, rows, error };
        if error > 0.0 && norm == OperatorNorm::Quadratic {
            problem.take_back_rounding();
        }
        problem.quadratic().validate(domain, threads)?;
        Ok(problem)
    }

    /// Makes entries equal that differ by no more than the error, and negative ones on the diagonal of the cube zero. Every
    /// change is added to the error, so what is proven holds for all that was meant before.
    fn take_back_rounding(&mut self) {
        let (error, is_cube) = (self.error, self.domain == Domain::Cube);
        let mut more = 0.0;
        // The entry above the diagonal counts; one without a twin has a zero there.
        let mut mend = |i: usize, j: usize, value: f64, twin: Option<f64>| {
            let mended = match (i.cmp(&j), twin) {
                (Ordering::Equal, _) if is_cube => value.max(0.0),
                (Ordering::Greater, Some(twin)) => twin,
                (Ordering::Less | Ordering::Greater, None) => 0.0,
                _ => value,
            };
            let off = add_up(mended.max(value), -mended.min(value));
            if mended == value || off > error {
                return value;
            }
            more = add_up(more, off);
            mended
        };
        match &mut self.storage {
            Storage::Dense(DenseMatrix { rows: n, entries, .. }) => {
                for (i, j) in (0..*n).flat_map(|i| (0..=i).map(move |j| (i, j))) {
                    entries[i * *n + j] = mend(i, j, entries[i * *n + j], Some(entries[j * *n + i]));
                }
            }
            Storage::Sparse(SparseMatrix { rows, offsets, indices, values, .. }) => {
                for i in 0..*rows {
                    for at in offsets[i]..offsets[i + 1] {
                        let j = indices[at];
                        let mirrored = offsets[j]..offsets[j + 1];
                        let twin = indices[mirrored.clone()].binary_search(&i).ok();
                        let twin = twin.map(|place| values[mirrored.start + place]);
                        values[at] = mend(i, j, values[at], twin);
                    }
                }
            }
            Storage::Gram(_) => {}
        }
        self.error = add_up(error, more);
    }

    /// The problem without the rows of a sparse matrix in which nothing is stored but zeros, and the numbers of the others;
    /// none where there are no such rows, or no others.
    pub(crate) fn without_zero_rows(&self) -> Option<(Self, Vec<usize>)> {
        let Storage::Sparse(matrix) = &self.storage else { return None };
        let kept: Vec<usize> =
            (0..matrix.rows).filter(|&i| matrix.row(i).any(|(_, value)| value != 0.0)).collect();
        if kept.is_empty() || kept.len() == matrix.rows {
            return None;
        }
        let mut place = vec![usize::MAX; matrix.rows];
        kept.iter().enumerate().for_each(|(k, &i)| place[i] = k);
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for &i in &kept {
            // Rows of zeros are columns of zeros.
            for (j, value) in matrix.row(i).filter(|&(_, value)| value != 0.0) {
                indices.push(place[j]);
                values.push(value);
            }
            offsets.push(indices.len());
        }
        let n = kept.len();
        Some((self.with_entries(SparseMatrix { rows: n, columns: n, offsets, indices, values }), kept))
    }

    /// How far all entries together may be off.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// The same question about another sparse matrix.
    pub(crate) fn with_entries(&self, matrix: SparseMatrix) -> Self {
        Self { storage: Storage::Sparse(matrix), ..*self }
    }

    /// Whether the quadratic form is |Uᵀx|², U a factor.
    pub fn is_factor(&self) -> bool {
        matches!(self.storage, Storage::Gram(_))
    }

    /// The quadratic form as the checker takes it.
    pub fn quadratic(&self) -> Quadratic<'_> {
        match &self.storage {
            Storage::Dense(dense) => Quadratic::Dense { entries: &dense.entries, dim: dense.rows },
            Storage::Sparse(sparse) => Quadratic::Sparse {
                dim: sparse.rows,
                offsets: &sparse.offsets,
                indices: &sparse.indices,
                values: &sparse.values,
            },
            Storage::Gram(factor) => {
                Quadratic::Gram { factor: &factor.entries, dim: factor.rows, rank: factor.columns }
            }
        }
    }

    /// A copy whose largest entry is about one, and the unit of its values; None unless the original's is extreme.
    pub(crate) fn rescaled(&self) -> Option<(Problem, PowerOfTwoScale)> {
        let (Storage::Dense(DenseMatrix { entries, .. })
        | Storage::Gram(DenseMatrix { entries, .. })
        | Storage::Sparse(SparseMatrix { values: entries, .. })) = &self.storage;
        let largest = entries.iter().fold(0.0_f64, |most, entry| most.max(entry.abs()));
        if largest == 0.0 || (1e-60..1e60).contains(&largest) {
            return None;
        }
        #[allow(clippy::cast_possible_truncation)] // between −1074 and 1023
        let exponent = largest.log2().floor() as i32;
        let scaled = |entries: &[f64]| {
            entries.iter().map(|&entry| PowerOfTwoScale(-exponent).of(entry)).collect::<Vec<f64>>()
        };
        let dense = |of: &DenseMatrix| DenseMatrix { entries: scaled(&of.entries), ..*of };
        let (storage, unit) = match &self.storage {
            Storage::Dense(matrix) => (Storage::Dense(dense(matrix)), PowerOfTwoScale(exponent)),
            Storage::Gram(factor) => (Storage::Gram(dense(factor)), PowerOfTwoScale(2 * exponent)), // M is quadratic in U
            Storage::Sparse(matrix) => {
                let values = scaled(&matrix.values);
                (Storage::Sparse(SparseMatrix { values, ..matrix.clone() }), PowerOfTwoScale(exponent))
            }
        };
        Some((Problem { storage, ..*self }, unit))
    }

    /// Absolute row sums, slightly enlarged: weights that dominate M by Gershgorin's circles. On the vertices the diagonal
    /// does not count. Of a factor the lengths of its rows: they prove (Σ|u_i|)² or less, since tr Uᵀ·Diag(1/|u_i|)·U is
    /// Σ|u_i| too.
    pub(crate) fn row_sums(&self) -> Vec<f64> {
        let counts = |i: usize, j: usize| i != j || self.domain == Domain::Cube;
        let enlarged = |sum: f64| (sum * (1.0 + 1e-6)).max(f64::MIN_POSITIVE);
        match &self.storage {
            Storage::Dense(matrix) => {
                let row = |(i, row): (usize, &[f64])| {
                    enlarged(
                        row.iter().enumerate().filter(|&(j, _)| counts(i, j)).map(|(_, m)| m.abs()).sum(),
                    )
                };
                matrix.entries.par_chunks_exact(matrix.columns).enumerate().map(row).collect()
            }
            Storage::Sparse(matrix) => {
                let row = |i: usize| {
                    enlarged(matrix.row(i).filter(|&(j, _)| counts(i, j)).map(|(_, m)| m.abs()).sum())
                };
                (0..matrix.rows).map(row).collect()
            }
            Storage::Gram(factor) => {
                let length = |row: &[f64]| row.iter().map(|u| u * u).sum::<f64>().sqrt();
                factor.iter_rows().map(|row| length(row).max(f64::MIN_POSITIVE)).collect()
            }
        }
    }

    /// What the stored numbers take in memory.
    pub fn bytes(&self) -> u64 {
        let numbers = match &self.storage {
            Storage::Dense(matrix) | Storage::Gram(matrix) => matrix.entries.len(),
            Storage::Sparse(matrix) => 2 * matrix.values.len() + matrix.offsets.len(),
        };
        8 * numbers as u64
    }

    /// Rows of A where the quadratic form is the dilation of A.
    pub fn dilated_rows(&self) -> Option<usize> {
        (self.norm == OperatorNorm::InfToOne).then_some(self.rows)
    }
}

fn into_dense(matrix: Matrix, memory: MemoryLimit) -> Result<DenseMatrix, MatrixError> {
    match matrix {
        Matrix::Dense(dense) => Ok(dense),
        Matrix::Sparse(sparse) => sparse.to_dense(memory),
    }
}

/// [0 A; Aᵀ 0].
fn dilation(a: &DenseMatrix, memory: MemoryLimit) -> Result<DenseMatrix, MatrixError> {
    let dim = a.rows + a.columns;
    let mut entries = zeros(dim, dim, memory)?;
    for (i, row) in a.iter_rows().enumerate() {
        entries[i * dim + a.rows..][..a.columns].copy_from_slice(row);
        for (j, &value) in row.iter().enumerate() {
            entries[(a.rows + j) * dim + i] = value;
        }
    }
    Ok(DenseMatrix { rows: dim, columns: dim, entries })
}

fn sparse_dilation(a: &SparseMatrix) -> Result<SparseMatrix, MatrixError> {
    let dim = a.rows + a.columns;
    let both =
        a.triplets().flat_map(|(i, j, value)| [(i, a.rows + j, value), (a.rows + j, i, value)]).collect();
    SparseMatrix::from_triplets(dim, dim, both)
}
