//! The matrix of the quadratic form, borrowed as it is stored, and what makes it admissible.

use crate::threads::{share, worthwhile};
use crate::{Domain, MatrixProblem};
use std::sync::Mutex;

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

    /// The first entry in row order that is not zero among the places asked for, of a validated matrix.
    /// Gram forms store no entries and answer with the first place.
    pub(crate) fn first_nonzero(&self, asked: impl Fn(usize, usize) -> bool) -> Option<(usize, usize)> {
        match *self {
            Quadratic::Dense { entries, dim } => {
                let places = (0..dim).flat_map(|i| (0..dim).map(move |j| (i, j)));
                places
                    .zip(entries)
                    .find(|&((i, j), &value)| value != 0.0 && asked(i, j))
                    .map(|(place, _)| place)
            }
            Quadratic::Sparse { dim, offsets, indices, values } => (0..dim)
                .flat_map(|i| (offsets[i]..offsets[i + 1]).map(move |at| (i, at)))
                .find(|&(i, at)| values[at] != 0.0 && asked(i, indices[at]))
                .map(|(i, at)| (i, indices[at])),
            Quadratic::Gram { .. } => Some((0, 0)),
        }
    }

    /// True where no entry of row i counts: on the vertices the diagonal of a stored matrix does not.
    pub(crate) fn is_zero_row(&self, i: usize, domain: Domain) -> bool {
        let counts = |j: usize, value: f64| value != 0.0 && (domain == Domain::Cube || j != i);
        match *self {
            Quadratic::Dense { entries, dim } => {
                !entries[i * dim..][..dim].iter().enumerate().any(|(j, &value)| counts(j, value))
            }
            Quadratic::Sparse { offsets, indices, values, .. } => {
                !(offsets[i]..offsets[i + 1]).any(|at| counts(indices[at], values[at]))
            }
            Quadratic::Gram { factor, rank, .. } => factor[i * rank..][..rank].iter().all(|&u| u == 0.0),
        }
    }

    /// tr M as an iterator of its terms; nothing for Gram forms, which treat both domains alike.
    pub(crate) fn trace_terms(&self) -> impl Iterator<Item = f64> + use<'a> {
        let this = *self;
        let count = if matches!(this, Quadratic::Gram { .. }) { 0 } else { this.dim() };
        (0..count).map(move |i| this.stored_diagonal(i))
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
    // Each task stops at its first problem, and of those the first in row order is reported: the same one whatever
    // the number of threads.
    let first = Mutex::new(None::<(usize, MatrixProblem)>);
    share(worthwhile(threads, dim * dim), (0..dim).step_by(BLOCK), |start| {
        let rows = start..(start + BLOCK).min(dim);
        for columns in (0..=start).step_by(BLOCK) {
            for i in rows.clone() {
                for j in columns..(columns + BLOCK).min(i + 1) {
                    let (below, above) = (entries[i * dim + j], entries[j * dim + i]);
                    let problem = if !below.is_finite() {
                        MatrixProblem::NotFinite { row: i, column: j }
                    } else if !above.is_finite() {
                        MatrixProblem::NotFinite { row: j, column: i }
                    } else if below == above {
                        continue;
                    } else {
                        MatrixProblem::NotSymmetric { row: i, column: j }
                    };
                    let mut first = first.lock().expect("no thread panics while it holds this");
                    if first.as_ref().is_none_or(|(at, _)| i * dim + j < *at) {
                        *first = Some((i * dim + j, problem));
                    }
                    return;
                }
            }
        }
    });
    let first = first.into_inner().expect("no thread panics while it holds this");
    first.map_or(Ok(()), |(_, problem)| Err(problem))
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
    if offsets.is_sorted() {
        for row in 0..dim {
            let columns = &indices[offsets[row]..offsets[row + 1]];
            if columns.windows(2).any(|pair| pair[0] >= pair[1]) || columns.last().is_some_and(|&j| j >= dim)
            {
                return Err(MatrixProblem::BadColumns { row });
            }
        }
    } else {
        return Err(MatrixProblem::BadOffsets);
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
