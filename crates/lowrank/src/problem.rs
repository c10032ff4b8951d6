//! What is asked of a matrix: which norm, on which domain, in which storage.

use crate::input::InputKind;
use crate::matrix::{DenseMatrix, Matrix, MatrixError, SparseMatrix};
use gambeson_checker::{Domain, MatrixProblem, Quadratic};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The number that is bounded, for a matrix A as given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Norm {
    /// max xᵀAx over the domain, A symmetric.
    Quadratic,
    /// ‖A‖_{∞→1} = max aᵀAb over signs a and b, by the dilation [0 A; Aᵀ 0].
    InfToOne,
    /// ‖A‖²_{∞→2} = max |Ax|² over the cube, by M = AᵀA.
    InfToTwo,
}

/// How the matrix as given is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// As A itself.
    #[default]
    Plain,
    /// As the n × r factor U of M = UUᵀ; for [`Norm::InfToTwo`] the norm is that of Uᵀ.
    Gram,
}

/// Why a question makes no sense for a matrix.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ProblemError {
    /// A quadratic form needs a square matrix.
    #[error(
        "a quadratic form needs a square matrix, this one is {rows} x {columns} (for its factor use --gram, for a \
         norm --norm inf-to-two or inf-to-one)"
    )]
    NotSquare {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// Norms and Gram forms are asked on the cube.
    #[error("the domain `vertices` goes with quadratic forms only")]
    NotOnVertices,
    /// ∞→1 of a factor is not defined here.
    #[error("a factor (--gram) gives a quadratic form or inf-to-two, not inf-to-one")]
    GramInfToOne,
    /// The matrix itself.
    #[error(transparent)]
    Matrix(#[from] MatrixProblem),
    /// The matrix itself, before any question.
    #[error(transparent)]
    Entries(#[from] MatrixError),
}

/// A matrix with its question, ready for solvers and checker.
#[derive(Debug)]
pub struct Problem {
    storage: Storage,
    /// What is bounded.
    pub norm: Norm,
    /// How the matrix was read.
    pub reading: Reading,
    /// Where x lies.
    pub domain: Domain,
    /// Rows of A, the first block of a dilation.
    rows: usize,
}

#[derive(Debug)]
enum Storage {
    Dense(DenseMatrix),
    Sparse(SparseMatrix),
    /// The n × r factor.
    Gram(DenseMatrix),
}

impl Problem {
    /// Puts the question to the matrix and validates it. Without `domain`, graphs are on the vertices and all else
    /// on the cube.
    pub fn new(
        matrix: Matrix,
        kind: InputKind,
        norm: Norm,
        reading: Reading,
        domain: Option<Domain>,
        threads: usize,
    ) -> Result<Self, ProblemError> {
        let natural = match (kind, norm, reading) {
            (InputKind::MaxCut, Norm::Quadratic, Reading::Plain) => Domain::Vertices,
            _ => Domain::Cube,
        };
        let domain = domain.unwrap_or(natural);
        let (rows, columns) = matrix.shape();
        let storage = match (norm, reading) {
            (Norm::InfToOne, Reading::Gram) => return Err(ProblemError::GramInfToOne),
            (_, Reading::Gram) | (Norm::InfToOne | Norm::InfToTwo, _) if domain == Domain::Vertices => {
                return Err(ProblemError::NotOnVertices);
            }
            (_, Reading::Gram) => Storage::Gram(into_dense(matrix)),
            (Norm::InfToTwo, Reading::Plain) => Storage::Gram(into_dense(matrix).transposed()),
            (Norm::InfToOne, Reading::Plain) => match matrix {
                Matrix::Dense(dense) => Storage::Dense(dilation(&dense)),
                Matrix::Sparse(sparse) => Storage::Sparse(sparse_dilation(&sparse)?),
            },
            (Norm::Quadratic, Reading::Plain) if rows != columns => {
                return Err(ProblemError::NotSquare { rows, columns });
            }
            (Norm::Quadratic, Reading::Plain) => match matrix {
                Matrix::Dense(dense) => Storage::Dense(dense),
                Matrix::Sparse(sparse) => Storage::Sparse(sparse),
            },
        };
        let problem = Self { storage, norm, reading, domain, rows };
        problem.quadratic().validate(domain, threads)?;
        Ok(problem)
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

    /// Rows of A where the quadratic form is the dilation of A.
    pub fn dilated_rows(&self) -> Option<usize> {
        (self.norm == Norm::InfToOne).then_some(self.rows)
    }
}

fn into_dense(matrix: Matrix) -> DenseMatrix {
    match matrix {
        Matrix::Dense(dense) => dense,
        Matrix::Sparse(sparse) => sparse.to_dense(),
    }
}

/// [0 A; Aᵀ 0].
fn dilation(a: &DenseMatrix) -> DenseMatrix {
    let dim = a.rows + a.columns;
    let mut entries = vec![0.0; dim * dim];
    for (i, row) in a.entries.chunks_exact(a.columns).enumerate() {
        entries[i * dim + a.rows..][..a.columns].copy_from_slice(row);
        for (j, &value) in row.iter().enumerate() {
            entries[(a.rows + j) * dim + i] = value;
        }
    }
    DenseMatrix { rows: dim, columns: dim, entries }
}

fn sparse_dilation(a: &SparseMatrix) -> Result<SparseMatrix, MatrixError> {
    let dim = a.rows + a.columns;
    let both =
        a.triplets().flat_map(|(i, j, value)| [(i, a.rows + j, value), (a.rows + j, i, value)]).collect();
    SparseMatrix::from_triplets(dim, dim, both)
}
