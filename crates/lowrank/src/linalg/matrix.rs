//! Owned matrices, dense and sparse, as files and generators deliver them.
//!
//! Two storages and nothing more: row-major dense, and compressed sparse rows with sorted, unique
//! columns. Both are what the checker borrows, so nothing is copied on the way to a proof.

use crate::file::hex;
use crate::linalg::exact_sum::ExactSum;
use crate::memory::MemoryLimit;
use gambeson_checker::rounding::add_up;
use sha2::{Digest, Sha256};
use thiserror::Error;

/// Row-major dense matrix: entry (i, j) is `entries[i * columns + j]`.
#[derive(Clone, Debug, PartialEq)]
pub struct DenseMatrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// All entries, row after row.
    pub entries: Vec<f64>,
}

/// Compressed sparse rows. Row i holds `indices[offsets[i]..offsets[i + 1]]`, strictly increasing.
/// A symmetric matrix stores both triangles.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMatrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// `rows + 1` positions into `indices` and `values`.
    pub offsets: Vec<usize>,
    /// Column of each stored entry.
    pub indices: Vec<usize>,
    /// Value of each stored entry.
    pub values: Vec<f64>,
}

/// A real matrix in one of the two storages.
#[derive(Clone, Debug, PartialEq)]
pub enum Matrix {
    /// Every entry stored.
    Dense(DenseMatrix),
    /// Only chosen entries stored; the others are zero.
    Sparse(SparseMatrix),
}

/// Why entries do not make a matrix. Indices are zero-based.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MatrixError {
    /// The matrix has no rows or no columns.
    #[error("the matrix is empty ({rows} x {columns})")]
    Empty {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
    },
    /// The number of entries is not rows times columns.
    #[error("{rows} x {columns} needs {} entries, got {found}", rows.saturating_mul(*columns))]
    WrongCount {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
        /// Number of entries given.
        found: usize,
    },
    /// An entry is NaN or infinite.
    #[error("entry ({row}, {column}) is {value} (counting from 0)")]
    NotFinite {
        /// Zero-based row.
        row: usize,
        /// Zero-based column.
        column: usize,
        /// The offending value.
        value: f64,
    },
    /// More memory than there is.
    #[error("a dense {rows} x {columns} matrix {}", over(8.0 * *rows as f64 * *columns as f64, *memory))]
    TooLarge {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
        /// What one matrix may take.
        memory: MemoryLimit,
    },
    /// More entries than there is memory for.
    #[error("more than {entries} entries, which is more than the memory limit of {:.2} GB allows", memory.gigabytes())]
    TooManyEntries {
        /// How many were read.
        entries: usize,
        /// What one matrix may take.
        memory: MemoryLimit,
    },
    /// Entries at one place whose sum no f64 equals.
    #[error("no f64 equals the sum of what is given for entry ({row}, {column}) (counting from 0)")]
    InexactSum {
        /// Zero-based row.
        row: usize,
        /// Zero-based column.
        column: usize,
    },
    /// A triplet lies outside the matrix.
    #[error("entry ({row}, {column}) lies outside a {rows} x {columns} matrix (counting from 0)")]
    OutOfRange {
        /// Zero-based row.
        row: usize,
        /// Zero-based column.
        column: usize,
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
    },
}

impl DenseMatrix {
    /// Checks the shape and that every entry is finite.
    pub fn new(rows: usize, columns: usize, entries: Vec<f64>) -> Result<Self, MatrixError> {
        if rows == 0 || columns == 0 {
            return Err(MatrixError::Empty { rows, columns });
        }
        if rows.checked_mul(columns) != Some(entries.len()) {
            return Err(MatrixError::WrongCount { rows, columns, found: entries.len() });
        }
        if let Some(at) = entries.iter().position(|value| !value.is_finite()) {
            return Err(MatrixError::NotFinite {
                row: at / columns,
                column: at % columns,
                value: entries[at],
            });
        }
        Ok(Self { rows, columns, entries })
    }

    /// The matrix with these columns, each of `rows` entries.
    pub(crate) fn from_columns(rows: usize, columns: &[Vec<f64>]) -> Self {
        let entries = (0..rows).flat_map(|i| columns.iter().map(move |column| column[i])).collect();
        Self { rows, columns: columns.len(), entries }
    }

    /// The matrix whose columns have these entries, as (row, value), and zeros elsewhere.
    pub(crate) fn from_sparse_columns(rows: usize, columns: &[Vec<(usize, f64)>]) -> Self {
        let mut entries = vec![0.0; rows * columns.len()];
        for (j, column) in columns.iter().enumerate() {
            column.iter().for_each(|&(i, value)| entries[i * columns.len() + j] = value);
        }
        Self { rows, columns: columns.len(), entries }
    }

    /// Entry (i, j).
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.row(i)[j]
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.columns..][..self.columns]
    }

    /// All rows in order.
    pub fn iter_rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.entries.chunks_exact(self.columns)
    }

    /// Column `j` from top to bottom.
    pub fn column(&self, j: usize) -> impl Iterator<Item = f64> + '_ {
        self.entries.iter().skip(j).step_by(self.columns).copied()
    }

    /// The transposed matrix.
    #[must_use]
    pub fn transposed(&self) -> Self {
        const BLOCK: usize = 64;
        let mut entries = vec![0.0; self.entries.len()];
        for row_block in (0..self.rows).step_by(BLOCK) {
            for column_block in (0..self.columns).step_by(BLOCK) {
                for i in row_block..(row_block + BLOCK).min(self.rows) {
                    for j in column_block..(column_block + BLOCK).min(self.columns) {
                        entries[j * self.rows + i] = self.at(i, j);
                    }
                }
            }
        }
        Self { rows: self.columns, columns: self.rows, entries }
    }
}

impl SparseMatrix {
    /// Builds the matrix from (row, column, value) triplets in any order; entries at one place add up, exactly: a sum
    /// that no f64 equals is an error.
    pub fn from_triplets(
        rows: usize,
        columns: usize,
        triplets: Vec<(usize, usize, f64)>,
    ) -> Result<Self, MatrixError> {
        let sums = Sums::new(rows, columns, triplets, Vec::new())?;
        match sums.inexact {
            Some((row, column)) => Err(MatrixError::InexactSum { row, column }),
            None => Ok(sums.matrix),
        }
    }

    /// The stored entries of row `i` as (column, value), columns increasing.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.offsets[i]..self.offsets[i + 1];
        self.indices[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// All stored entries as (row, column, value), sorted by row, then column.
    pub fn triplets(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (0..self.rows).flat_map(move |i| self.row(i).map(move |(j, value)| (i, j, value)))
    }

    /// The same matrix with every entry stored; refused beyond `memory`.
    pub fn to_dense(&self, memory: MemoryLimit) -> Result<DenseMatrix, MatrixError> {
        let mut entries = zeros(self.rows, self.columns, memory)?;
        for (i, j, value) in self.triplets() {
            entries[i * self.columns + j] = value;
        }
        Ok(DenseMatrix { rows: self.rows, columns: self.columns, entries })
    }
}

/// What is wrong with a number of bytes.
fn over(bytes: f64, memory: MemoryLimit) -> String {
    if bytes > memory.limit() as f64 {
        format!("takes {:.1} GB, more than the memory limit of {:.1} GB", bytes / 1e9, memory.gigabytes())
    } else {
        "does not fit into memory".to_owned()
    }
}

/// A matrix from triplets, each entry the f64 nearest to the exact sum of what is given for its place.
pub(crate) struct Sums {
    pub(crate) matrix: SparseMatrix,
    /// A bound on Σ |entry − sum| over all entries.
    pub(crate) error: f64,
    /// The first place where that is not zero.
    inexact: Option<(usize, usize)>,
}

impl Sums {
    /// `rests` are further summands.
    pub(crate) fn new(
        rows: usize,
        columns: usize,
        mut triplets: Vec<(usize, usize, f64)>,
        mut rests: Vec<(usize, usize, f64)>,
    ) -> Result<Self, MatrixError> {
        if rows == 0 || columns == 0 {
            return Err(MatrixError::Empty { rows, columns });
        }
        for &(row, column, value) in triplets.iter().chain(&rests) {
            if row >= rows || column >= columns {
                return Err(MatrixError::OutOfRange { row, column, rows, columns });
            }
            if !value.is_finite() {
                return Err(MatrixError::NotFinite { row, column, value });
            }
        }
        triplets.sort_by_key(|&(row, column, _)| (row, column));
        rests.sort_by_key(|&(row, column, _)| (row, column));
        let mut offsets = vec![0; rows + 1];
        let mut indices = Vec::with_capacity(triplets.len());
        let mut values: Vec<f64> = Vec::with_capacity(triplets.len());
        let (mut error, mut inexact) = (0.0, None);
        let mut rests = rests.iter().peekable();
        for group in triplets.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (row, column, first) = group[0];
            let mut value = first;
            let rest_is_here = rests.peek().is_some_and(|&&(i, j, _)| (i, j) == (row, column));
            if group.len() > 1 || rest_is_here {
                let mut sum = ExactSum::of(group.iter().map(|&(_, _, value)| value));
                while let Some(&(_, _, rest)) = rests.next_if(|&&(i, j, _)| (i, j) == (row, column)) {
                    sum.add(rest);
                }
                let (nearest, distance) = sum.rounded();
                if !nearest.is_finite() {
                    return Err(MatrixError::NotFinite { row, column, value: nearest });
                }
                if distance > 0.0 {
                    error = add_up(error, distance);
                    inexact = inexact.or(Some((row, column)));
                }
                value = nearest;
            }
            indices.push(column);
            values.push(value);
            offsets[row + 1] = indices.len();
        }
        for i in 1..=rows {
            offsets[i] = offsets[i].max(offsets[i - 1]);
        }
        Ok(Self { matrix: SparseMatrix { rows, columns, offsets, indices, values }, error, inexact })
    }
}

/// rows · columns zeros, or an error where memory does not suffice.
pub(crate) fn zeros(rows: usize, columns: usize, memory: MemoryLimit) -> Result<Vec<f64>, MatrixError> {
    let too_large = MatrixError::TooLarge { rows, columns, memory };
    let Some(length) = rows.checked_mul(columns) else { return Err(too_large) };
    if length as u64 > memory.limit() / 8 {
        return Err(too_large);
    }
    let mut entries = Vec::new();
    if entries.try_reserve_exact(length).is_err() {
        return Err(too_large);
    }
    entries.resize(length, 0.0);
    Ok(entries)
}

impl Matrix {
    /// (rows, columns).
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Matrix::Dense(dense) => (dense.rows, dense.columns),
            Matrix::Sparse(sparse) => (sparse.rows, sparse.columns),
        }
    }

    /// SHA-256 of the canonical content, in lower-case hexadecimal: a tag byte for the storage (`d`, `s`),
    /// rows and columns as little-endian u64, then dense entries row by row as little-endian f64, or
    /// sparse entries in sorted order as (row u64, column u64, value f64). Negative zero counts as zero
    /// and stored zeros of a sparse matrix are left out, so a matrix has one hash wherever it comes from.
    pub fn sha256(&self) -> String {
        let mut hasher = Sha256::new();
        let (rows, columns) = self.shape();
        let header = |tag: u8, hasher: &mut Sha256| {
            hasher.update([tag]);
            hasher.update((rows as u64).to_le_bytes());
            hasher.update((columns as u64).to_le_bytes());
        };
        match self {
            Matrix::Dense(dense) => {
                header(b'd', &mut hasher);
                let mut buffer = Vec::with_capacity(8 * 4096);
                for chunk in dense.entries.chunks(4096) {
                    buffer.clear();
                    buffer.extend(chunk.iter().flat_map(|value| (value + 0.0).to_le_bytes()));
                    hasher.update(&buffer);
                }
            }
            Matrix::Sparse(sparse) => {
                header(b's', &mut hasher);
                for (i, j, value) in sparse.triplets().filter(|&(_, _, value)| value != 0.0) {
                    hasher.update((i as u64).to_le_bytes());
                    hasher.update((j as u64).to_le_bytes());
                    hasher.update(value.to_le_bytes());
                }
            }
        }
        hex(&hasher.finalize())
    }
}
