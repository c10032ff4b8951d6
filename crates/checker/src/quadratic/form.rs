//! The matrix of the quadratic form, borrowed as it is stored, and what makes it admissible.

use crate::kernel::self_product::self_product;
use crate::kernel::{Isa, dot};
use crate::rounding::{add_up, gamma, mul_up, sum_up};
use crate::threads::{share, worthwhile};
use crate::{Domain, MatrixProblem};
use std::borrow::Cow;
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

/// A validated matrix without the rows that are zero throughout: x_i is then free and costs nothing.
/// On [`Domain::Vertices`] the diagonal is zero here too; its sum is added as a constant elsewhere.
pub(crate) struct Reduced<'a> {
    storage: Storage<'a>,
    /// Rows kept, increasing.
    pub(crate) kept: Vec<usize>,
    zero_diagonal: bool,
    /// Where the stored numbers were computed: e_i such that |M − stored|_ij ≤ √(e_i·e_j) for kept rows.
    pub(crate) error: Option<Vec<f64>>,
}

enum Storage<'a> {
    Dense { entries: Cow<'a, [f64]>, dim: usize },
    Sparse { offsets: &'a [usize], indices: &'a [usize], values: &'a [f64] },
}

impl<'a> Reduced<'a> {
    /// Gram forms are multiplied out, with a bound on the rounding errors.
    pub(crate) fn new(matrix: &Quadratic<'a>, domain: Domain, threads: usize) -> Self {
        let zero_diagonal = domain == Domain::Vertices;
        match *matrix {
            Quadratic::Dense { entries, dim } => {
                let nonzero = |i: usize| {
                    let row = &entries[i * dim..(i + 1) * dim];
                    let off_diagonal = row[..i].iter().chain(&row[i + 1..]);
                    (!zero_diagonal && row[i] != 0.0) || off_diagonal.copied().any(|value| value != 0.0)
                };
                let kept = (0..dim).filter(|&i| nonzero(i)).collect();
                let storage = Storage::Dense { entries: Cow::Borrowed(entries), dim };
                Self { storage, kept, zero_diagonal, error: None }
            }
            Quadratic::Sparse { dim, offsets, indices, values } => {
                let nonzero = |&i: &usize| {
                    (offsets[i]..offsets[i + 1])
                        .any(|at| values[at] != 0.0 && !(zero_diagonal && indices[at] == i))
                };
                let kept = (0..dim).filter(nonzero).collect();
                let storage = Storage::Sparse { offsets, indices, values };
                Self { storage, kept, zero_diagonal, error: None }
            }
            Quadratic::Gram { factor, dim, rank } => {
                let row = |i: usize| &factor[i * rank..(i + 1) * rank];
                let product =
                    self_product(dim, rank, threads, |i, range, out| out.copy_from_slice(&row(i)[range]));
                let kept: Vec<usize> = (0..dim).filter(|&i| row(i).iter().any(|&u| u != 0.0)).collect();
                // An entry is a sum of `rank` products in some order: |error| ≤ γ·|u_i|·|u_j| + underflow.
                let scale = gamma(rank + 2);
                let lost = mul_up(rank as f64, f64::from_bits(4)); // four times the least positive number
                let error = kept.iter().map(|&i| {
                    let square = sum_up(row(i).iter().map(|&u| mul_up(u, u)));
                    add_up(mul_up(scale, square), lost)
                });
                let error = Some(error.collect());
                let storage = Storage::Dense { entries: Cow::Owned(product), dim };
                // The multiplied-out diagonal is kept: a Gram form is bounded on the cube.
                Self { storage, kept, zero_diagonal: false, error }
            }
        }
    }

    /// The largest |M_ij| stored; at least the least normal number.
    pub(crate) fn largest_entry(&self) -> f64 {
        let entries: &[f64] = match &self.storage {
            Storage::Dense { entries, .. } => entries,
            Storage::Sparse { values, .. } => values,
        };
        entries.iter().fold(f64::MIN_POSITIVE, |most, entry| most.max(entry.abs()))
    }

    /// Number of kept rows.
    pub(crate) fn len(&self) -> usize {
        self.kept.len()
    }

    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self.storage, Storage::Sparse { .. })
    }

    /// The diagonal entry of kept row k.
    pub(crate) fn diagonal(&self, k: usize) -> f64 {
        let i = self.kept[k];
        match &self.storage {
            _ if self.zero_diagonal => 0.0,
            Storage::Dense { entries, dim } => entries[i * dim + i],
            Storage::Sparse { .. } => {
                self.sparse_row(k).find(|&(j, _)| j == i).map_or(0.0, |(_, value)| value)
            }
        }
    }

    /// Column of kept row `k` at kept rows `first..first + out.len()`, diagonal as stored.
    pub(crate) fn dense_column(&self, k: usize, first: usize, out: &mut [f64]) {
        let Storage::Dense { entries, dim } = &self.storage else {
            unreachable!("only dense storage has dense columns")
        };
        // Symmetric, so the column is read as a row: contiguous in memory.
        let row = &entries[self.kept[k] * dim..][..*dim];
        if self.kept.len() == *dim {
            out.copy_from_slice(&row[first..first + out.len()]);
        } else {
            out.iter_mut().zip(&self.kept[first..]).for_each(|(out, &i)| *out = row[i]);
        }
    }

    /// Entries of kept row `k` of sparse storage: original column, value.
    pub(crate) fn sparse_row(&self, k: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let Storage::Sparse { offsets, indices, values } = &self.storage else {
            unreachable!("only sparse storage has sparse rows")
        };
        let range = offsets[self.kept[k]]..offsets[self.kept[k] + 1];
        indices[range.clone()].iter().copied().zip(values[range].iter().copied())
    }

    /// y ← M·x on the kept rows, in plain arithmetic: for estimates only.
    pub(crate) fn multiply(&self, x: &[f64], y: &mut [f64], threads: usize) {
        const BLOCK: usize = 128;
        match &self.storage {
            Storage::Dense { entries, dim } => {
                let mut full = vec![0.0; *dim];
                self.kept.iter().zip(x).for_each(|(&i, &value)| full[i] = value);
                let (full, threads, isa) = (&full, worthwhile(threads, dim * dim), Isa::detect());
                share(threads, y.chunks_mut(BLOCK).enumerate(), |(block, y)| {
                    for (k, y) in (block * BLOCK..).zip(y) {
                        let i = self.kept[k];
                        let row = &entries[i * dim..][..*dim];
                        // A large diagonal taken off afterwards would take the rest with it.
                        *y = if self.zero_diagonal {
                            dot(isa, &row[..i], &full[..i]) + dot(isa, &row[i + 1..], &full[i + 1..])
                        } else {
                            dot(isa, row, full)
                        };
                    }
                });
            }
            Storage::Sparse { offsets, .. } => {
                let mut full = vec![0.0; offsets.len() - 1];
                self.kept.iter().zip(x).for_each(|(&i, &value)| full[i] = value);
                for (k, y) in y.iter_mut().enumerate() {
                    let own = self.kept[k];
                    *y = self
                        .sparse_row(k)
                        .map(|(j, value)| if self.zero_diagonal && j == own { 0.0 } else { value * full[j] })
                        .sum();
                }
            }
        }
    }
}
