//! x ↦ Mx for the matrices the solvers see: dense, sparse, Gram or computed by the caller, with or without their
//! diagonal.
//!
//! Every sum runs over fixed blocks in a fixed order, so results do not depend on the number of threads.

use crate::linalg::kernel::{self, Isa, ROWS, row_products};
use crate::linalg::products::{rows_times, rows_times_blocked, transpose};
use gambeson_checker::{Domain, Quadratic};
use rayon::prelude::*;

/// Dense rows per task. Fixed, because the partial sums are grouped by it.
const STRIPE: usize = 256;

/// The symmetric matrix a solver works on. On [`Domain::Vertices`] its diagonal is left out: it adds the
/// constant tr M to every value.
#[derive(Clone)]
pub struct Operator<'a> {
    backing: Backing<'a>,
    /// M_ii, or zeros where the diagonal is left out.
    diagonal: Vec<f64>,
    /// What the matrix really has there, where it is left out.
    left_out: Option<Vec<f64>>,
}

/// V ↦ M·V for an n × k matrix V, both row-major: takes V and k, returns the product.
pub type BlockProduct<'a> = &'a (dyn Fn(&[f64], usize) -> Vec<f64> + Sync);

/// What products are computed from.
#[derive(Clone)]
enum Backing<'a> {
    Entries(Quadratic<'a>),
    Function(BlockProduct<'a>),
}

impl<'a> Operator<'a> {
    /// Wraps a validated matrix.
    pub fn new(matrix: Quadratic<'a>, domain: Domain) -> Self {
        let diagonal: Vec<f64> = match matrix {
            Quadratic::Dense { entries, dim } => (0..dim).map(|i| entries[i * dim + i]).collect(),
            Quadratic::Sparse { dim, offsets, indices, values } => (0..dim)
                .map(|i| {
                    (offsets[i]..offsets[i + 1]).find(|&at| indices[at] == i).map_or(0.0, |at| values[at])
                })
                .collect(),
            Quadratic::Gram { factor, rank, .. } => {
                factor.chunks_exact(rank).map(|row| row.iter().map(|u| u * u).sum()).collect()
            }
        };
        // A Gram form has one maximum on both domains and keeps its diagonal.
        if domain == Domain::Vertices && !matches!(matrix, Quadratic::Gram { .. }) {
            let zeros = vec![0.0; diagonal.len()];
            return Self { backing: Backing::Entries(matrix), diagonal: zeros, left_out: Some(diagonal) };
        }
        Self { backing: Backing::Entries(matrix), diagonal, left_out: None }
    }

    /// A symmetric matrix known by its products and its diagonal. Solvers propose weights for it; to prove them, the
    /// checker needs the entries of the matrix or of a Gram factor. `product` must return as many finite numbers as
    /// it is given, the same ones every time.
    pub fn matrix_free(diagonal: Vec<f64>, product: BlockProduct<'a>) -> Self {
        Self { backing: Backing::Function(product), diagonal, left_out: None }
    }

    /// The entries, where there are any.
    pub(crate) fn matrix(&self) -> Option<Quadratic<'a>> {
        match self.backing {
            Backing::Entries(matrix) => Some(matrix),
            Backing::Function(_) => None,
        }
    }

    /// What the matrix has on its diagonal, where that is left out.
    pub(crate) fn left_out(&self) -> Option<&[f64]> {
        self.left_out.as_deref()
    }

    /// Dimension n.
    pub fn dim(&self) -> usize {
        self.diagonal.len()
    }

    /// The diagonal of the operator.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// The trace left out on the vertices, in plain arithmetic.
    pub(crate) fn left_out_trace(&self) -> f64 {
        self.left_out.iter().flatten().sum()
    }

    /// True where every entry that counts is zero.
    pub(crate) fn is_zero(&self) -> bool {
        let off_diagonal_zero = match self.backing {
            // Judged by one product with a vector without pattern.
            Backing::Function(product) => {
                let probe: Vec<f64> = (1..=self.dim()).map(|i| (i as f64).sin()).collect();
                product(&probe, 1).iter().all(|&entry| entry == 0.0)
            }
            Backing::Entries(Quadratic::Dense { entries, dim }) => {
                entries.chunks_exact(dim).enumerate().all(|(i, row)| (0..i).all(|j| row[j] == 0.0))
            }
            Backing::Entries(Quadratic::Sparse { dim, offsets, indices, values }) => {
                (0..dim).all(|i| (offsets[i]..offsets[i + 1]).all(|at| indices[at] == i || values[at] == 0.0))
            }
            Backing::Entries(Quadratic::Gram { factor, .. }) => factor.iter().all(|&u| u == 0.0),
        };
        off_diagonal_zero && self.diagonal.iter().all(|&entry| entry == 0.0)
    }

    /// y ← Mx.
    pub fn apply(&self, x: &[f64], y: &mut [f64]) {
        match self.backing {
            Backing::Function(product) => y.copy_from_slice(&product(x, 1)),
            Backing::Entries(Quadratic::Dense { entries, dim }) => symmetric_multiply(entries, dim, x, y),
            Backing::Entries(Quadratic::Sparse { offsets, indices, values, .. }) => {
                y.par_chunks_mut(STRIPE).enumerate().for_each(|(stripe, y)| {
                    for (i, y) in (stripe * STRIPE..).zip(y) {
                        let row = offsets[i]..offsets[i + 1];
                        *y = indices[row.clone()]
                            .iter()
                            .zip(&values[row])
                            .map(|(&j, value)| value * x[j])
                            .sum();
                    }
                });
            }
            Backing::Entries(Quadratic::Gram { factor, rank, .. }) => {
                let coefficients = rows_times_blocked(x, x.len(), factor, rank); // xᵀU
                y.par_chunks_mut(STRIPE).zip(factor.par_chunks(STRIPE * rank)).for_each(|(y, rows)| {
                    for (y, row) in y.iter_mut().zip(rows.chunks_exact(rank)) {
                        *y = dot(row, &coefficients);
                    }
                });
            }
        }
        if let Some(left_out) = &self.left_out {
            for ((y, x), entry) in y.iter_mut().zip(x).zip(left_out) {
                *y -= entry * x;
            }
        }
    }

    /// M·V for an n × `columns` matrix V, both row-major.
    pub fn apply_block(&self, v: &[f64], columns: usize) -> Vec<f64> {
        let mut product = match self.backing {
            Backing::Function(product) => product(v, columns),
            Backing::Entries(Quadratic::Dense { entries, dim }) => rows_times(entries, dim, v, columns),
            Backing::Entries(Quadratic::Sparse { offsets, indices, values, .. }) => {
                let mut product = vec![0.0; v.len()];
                product.par_chunks_mut(STRIPE * columns).enumerate().for_each(|(stripe, rows)| {
                    for (i, row) in (stripe * STRIPE..).zip(rows.chunks_exact_mut(columns)) {
                        for at in offsets[i]..offsets[i + 1] {
                            add_scaled(row, values[at], &v[indices[at] * columns..][..columns]);
                        }
                    }
                });
                product
            }
            Backing::Entries(Quadratic::Gram { factor, dim, rank }) => {
                // UᵀV as the transpose of VᵀU: the kernel wants the rows of its left side in one piece.
                let transposed = transpose(v, dim, columns);
                let coefficients =
                    transpose(&rows_times_blocked(&transposed, dim, factor, rank), columns, rank);
                rows_times(factor, rank, &coefficients, columns)
            }
        };
        if let Some(left_out) = &self.left_out {
            for ((product, v), entry) in
                product.chunks_exact_mut(columns).zip(v.chunks_exact(columns)).zip(left_out)
            {
                add_scaled(product, -entry, v);
            }
        }
        product
    }

    /// True where a row is read rather than computed.
    pub(crate) fn stores_rows(&self) -> bool {
        matches!(self.backing, Backing::Entries(Quadratic::Dense { .. } | Quadratic::Sparse { .. }))
    }

    /// Calls `each` with the column and the value of every stored entry of row i but that of the diagonal. Nothing where
    /// no rows are stored.
    pub(crate) fn each_off_diagonal(&self, i: usize, mut each: impl FnMut(usize, f64)) {
        match self.backing {
            Backing::Entries(Quadratic::Dense { entries, dim }) => {
                let row = entries[i * dim..][..dim].iter().enumerate();
                row.filter(|&(j, _)| j != i).for_each(|(j, &value)| each(j, value));
            }
            Backing::Entries(Quadratic::Sparse { offsets, indices, values, .. }) => {
                let range = (offsets[i]..offsets[i + 1]).filter(|&at| indices[at] != i);
                range.for_each(|at| each(indices[at], values[at]));
            }
            Backing::Entries(Quadratic::Gram { .. }) | Backing::Function(_) => {}
        }
    }

    /// Row i as a full vector, without the diagonal entry.
    pub fn off_diagonal_row(&self, i: usize, row: &mut [f64]) {
        match self.backing {
            Backing::Function(product) => {
                row.fill(0.0);
                row[i] = 1.0;
                let image = product(row, 1);
                row.copy_from_slice(&image);
            }
            Backing::Entries(Quadratic::Dense { entries, dim }) => {
                row.copy_from_slice(&entries[i * dim..][..dim]);
            }
            Backing::Entries(Quadratic::Sparse { offsets, indices, values, .. }) => {
                row.fill(0.0);
                for at in offsets[i]..offsets[i + 1] {
                    row[indices[at]] = values[at];
                }
            }
            Backing::Entries(Quadratic::Gram { factor, rank, .. }) => {
                let own = &factor[i * rank..][..rank];
                row.par_chunks_mut(STRIPE).zip(factor.par_chunks(STRIPE * rank)).for_each(|(row, others)| {
                    row.iter_mut()
                        .zip(others.chunks_exact(rank))
                        .for_each(|(row, other)| *row = dot(own, other));
                });
            }
        }
        row[i] = 0.0;
    }
}

/// y ← Mx, reading only the lower triangle: the product is limited by memory, so half the entries take half the time.
fn symmetric_multiply(entries: &[f64], dim: usize, x: &[f64], y: &mut [f64]) {
    // Stripes of rows of about equal area; their number depends on the dimension alone.
    let stripes = dim.div_ceil(STRIPE).min(16);
    let edge = |s: usize| ((s as f64 / stripes as f64).sqrt() * dim as f64).round();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and dim
    let edges: Vec<usize> = (0..=stripes).map(|s| edge(s) as usize).collect();
    let isa = Isa::detect();
    let parts: Vec<Vec<f64>> = edges
        .par_windows(2)
        .map(|window| {
            let mut part = vec![0.0; window[1]];
            for first in (window[0]..window[1]).step_by(ROWS) {
                let last = (first + ROWS).min(window[1]);
                // What the rows have in common goes through the kernel; the corner at the diagonal is left over.
                if last - first == ROWS {
                    let rows = std::array::from_fn(|r| &entries[(first + r) * dim..][..first]);
                    let factors = std::array::from_fn(|r| x[first + r]);
                    let sums = row_products(isa, rows, &x[..first], factors, &mut part[..first]);
                    sums.iter().enumerate().for_each(|(r, sum)| part[first + r] += sum);
                }
                let common = if last - first == ROWS { first } else { 0 };
                for i in first..last {
                    for j in common..i {
                        part[i] += entries[i * dim + j] * x[j];
                        part[j] += entries[i * dim + j] * x[i];
                    }
                    part[i] += entries[i * dim + i] * x[i];
                }
            }
            part
        })
        .collect();
    y.fill(0.0);
    for part in &parts {
        y.iter_mut().zip(part).for_each(|(y, part)| *y += part);
    }
}

/// a·b.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    kernel::dot(Isa::detect(), a, b)
}

/// y ← y + factor · x.
pub(crate) fn add_scaled(y: &mut [f64], factor: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += factor * x);
}
