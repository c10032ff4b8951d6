//! The matrix of the quadratic form, borrowed as it is stored, and what makes it admissible.

use crate::threads::{share, worthwhile};
use crate::{Domain, MatrixProblem};
use std::sync::atomic::{AtomicBool, Ordering};

/// A symmetric matrix M of dimension `dim`. What is bounded is xᵀMx for exactly these stored numbers.
#[derive(Clone, Copy, Debug)]
pub enum Quadratic<'a> {
    /// Every entry, row-major; must be exactly symmetric.
    Dense {
        /// `dim²` entries.
        entries: &'a [f64],
        /// Dimension n.
        dim: usize,
    },
    /// Compressed sparse rows, both triangles stored; columns strictly increase within a row.
    Sparse {
        /// Dimension n.
        dim: usize,
        /// `dim + 1` positions into `indices` and `values`.
        offsets: &'a [usize],
        /// Columns.
        indices: &'a [usize],
        /// Values.
        values: &'a [f64],
    },
    /// M = U·Uᵀ through its n × r factor U, row-major.
    Gram {
        /// `dim · rank` entries.
        factor: &'a [f64],
        /// Dimension n, the number of rows of U.
        dim: usize,
        /// Number of columns of U.
        rank: usize,
    },
}

impl<'a> Quadratic<'a> {
    /// Dimension n of x.
    pub fn dim(&self) -> usize {
        match *self {
            Quadratic::Dense { dim, .. } | Quadratic::Sparse { dim, .. } | Quadratic::Gram { dim, .. } => dim,
        }
    }

    /// Shape, finiteness, symmetry, and on the cube a diagonal without negative entries.
    pub fn validate(&self, domain: Domain, threads: usize) -> Result<(), MatrixProblem> {
        if self.dim() == 0 {
            return Err(MatrixProblem::Empty);
        }
        match *self {
            Quadratic::Dense { entries, dim } => validate_dense(entries, dim, threads)?,
            Quadratic::Sparse { dim, offsets, indices, values } => {
                validate_sparse(dim, offsets, indices, values)?;
            }
            Quadratic::Gram { factor, dim, rank } => {
                check_length(factor.len(), dim, rank)?;
                if rank == 0 {
                    return Err(MatrixProblem::Empty);
                }
                if let Some(at) = factor.iter().position(|value| !value.is_finite()) {
                    return Err(MatrixProblem::NotFinite { row: at / rank, column: at % rank });
                }
            }
        }
        if domain == Domain::Cube && !matches!(self, Quadratic::Gram { .. }) {
            for index in 0..self.dim() {
                let value = self.stored_diagonal(index);
                if value < 0.0 {
                    return Err(MatrixProblem::NegativeDiagonal { index, value });
                }
            }
        }
        Ok(())
    }

    /// M_ii of a dense or sparse matrix.
    pub(crate) fn stored_diagonal(&self, i: usize) -> f64 {
        match *self {
            Quadratic::Dense { entries, dim } => entries[i * dim + i],
            Quadratic::Sparse { offsets, indices, values, .. } => {
                let row = offsets[i]..offsets[i + 1];
                indices[row.clone()].binary_search(&i).map_or(0.0, |at| values[row.start + at])
            }
            Quadratic::Gram { .. } => unreachable!("a Gram form stores no diagonal"),
        }
    }

    /// What is stored of row i, as columns and values; of a Gram form row i of the factor.
    pub(crate) fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let (columns, values) = match *self {
            Quadratic::Dense { entries: rows, dim: length }
            | Quadratic::Gram { factor: rows, rank: length, .. } => (None, &rows[i * length..][..length]),
            Quadratic::Sparse { offsets, indices, values, .. } => {
                let range = offsets[i]..offsets[i + 1];
                (Some(&indices[range.clone()]), &values[range])
            }
        };
        values.iter().enumerate().map(move |(at, &value)| (columns.map_or(at, |columns| columns[at]), value))
    }

    /// True where no entry of row i counts: on the vertices the diagonal of a stored matrix does not.
    pub(crate) fn is_zero_row(&self, i: usize, domain: Domain) -> bool {
        let all = domain == Domain::Cube || matches!(self, Quadratic::Gram { .. });
        self.row(i).all(|(j, value)| value == 0.0 || (!all && j == i))
    }

    /// tr M as an iterator of its terms; nothing for Gram forms, which treat both domains alike.
    pub(crate) fn trace_terms(&self) -> impl Iterator<Item = f64> + use<'a> {
        let this = *self;
        let count = if matches!(this, Quadratic::Gram { .. }) { 0 } else { this.dim() };
        (0..count).map(move |i| this.stored_diagonal(i))
    }
}

/// Of which numbers of rows a matrix is a dilation [0 A; Aᵀ 0], A with so many rows.
///
/// It is one of k rows if no entry (i, j) that is not zero has both or neither of i and j below k: if min(i, j) < k ≤
/// max(i, j) for all of them. So two entries say it all: those with the largest minimum and with the least maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DilationRows(Option<[(usize, usize); 2]>);

impl DilationRows {
    /// Of no number of rows: the bound is not, or no longer, one on a form that is known.
    pub(crate) const NONE: Self = Self(Some([(0, 0); 2]));

    /// Of a validated matrix. A factor is none, whatever it multiplies out to.
    pub(crate) fn of(matrix: &Quadratic<'_>) -> Self {
        if matches!(matrix, Quadratic::Gram { .. }) {
            return Self::NONE;
        }
        let mut ends: Option<[(usize, usize); 2]> = None;
        for i in 0..matrix.dim() {
            // Symmetric, so the lower triangle will do.
            for (j, _) in matrix.row(i).filter(|&(j, value)| j <= i && value != 0.0) {
                let [innermost, outermost] = ends.get_or_insert([(i, j); 2]);
                if j > innermost.1 {
                    *innermost = (i, j);
                }
                if i < outermost.0 {
                    *outermost = (i, j);
                }
            }
        }
        Self(ends)
    }

    /// Refuses another number of rows, with an entry in one of the blocks that must be zero.
    pub(crate) fn check(self, rows: usize) -> Result<(), MatrixProblem> {
        let refused = self.0.and_then(|[innermost, outermost]| {
            let below = (innermost.1 >= rows).then_some(innermost);
            below.or((outermost.0 < rows).then_some(outermost))
        });
        refused.map_or(Ok(()), |(row, column)| Err(MatrixProblem::NotDilation { row, column }))
    }
}

fn check_length(found: usize, rows: usize, columns: usize) -> Result<(), MatrixProblem> {
    if rows.checked_mul(columns) == Some(found) {
        Ok(())
    } else {
        Err(MatrixProblem::WrongLength { rows, columns, found })
    }
}

fn validate_dense(entries: &[f64], dim: usize, threads: usize) -> Result<(), MatrixProblem> {
    const BLOCK: usize = 64;
    check_length(entries.len(), dim, dim)?;
    let problem = |i: usize, j: usize| {
        let (below, above) = (entries[i * dim + j], entries[j * dim + i]);
        if !below.is_finite() {
            Some(MatrixProblem::NotFinite { row: i, column: j })
        } else if !above.is_finite() {
            Some(MatrixProblem::NotFinite { row: j, column: i })
        } else {
            (below != above).then_some(MatrixProblem::NotSymmetric { row: i, column: j })
        }
    };
    let sound = AtomicBool::new(true);
    share(worthwhile(threads, dim * dim), (0..dim).step_by(BLOCK), |start| {
        let rows = start..(start + BLOCK).min(dim);
        for columns in (0..=start).step_by(BLOCK) {
            let block = |i: usize| (columns..(columns + BLOCK).min(i + 1)).all(|j| problem(i, j).is_none());
            if !rows.clone().all(block) {
                return sound.store(false, Ordering::Relaxed);
            }
        }
    });
    if sound.into_inner() {
        return Ok(());
    }
    // The first in row order, whatever the number of threads.
    let first = (0..dim).find_map(|i| (0..=i).find_map(|j| problem(i, j)));
    first.map_or(Ok(()), Err)
}

fn validate_sparse(
    dim: usize,
    offsets: &[usize],
    indices: &[usize],
    values: &[f64],
) -> Result<(), MatrixProblem> {
    let stored = indices.len();
    if dim.checked_add(1) != Some(offsets.len())
        || values.len() != stored
        || offsets[0] != 0
        || offsets[dim] != stored
    {
        return Err(MatrixProblem::BadOffsets);
    }
    if !offsets.is_sorted() {
        return Err(MatrixProblem::BadOffsets);
    }
    for row in 0..dim {
        let columns = &indices[offsets[row]..offsets[row + 1]];
        if columns.windows(2).any(|pair| pair[0] >= pair[1]) || columns.last().is_some_and(|&j| j >= dim) {
            return Err(MatrixProblem::BadColumns { row });
        }
    }
    for row in 0..dim {
        for at in offsets[row]..offsets[row + 1] {
            let column = indices[at];
            if !values[at].is_finite() {
                return Err(MatrixProblem::NotFinite { row, column });
            }
            let mirrored = offsets[column]..offsets[column + 1];
            let twin = indices[mirrored.clone()].binary_search(&row).map(|k| values[mirrored.start + k]);
            if twin != Ok(values[at]) && (values[at] != 0.0 || twin.is_ok()) {
                return Err(MatrixProblem::NotSymmetric { row, column });
            }
        }
    }
    Ok(())
}
