//! Proven lower ends: the value of the form at a vertex, and of the relaxation at a feasible X = VVᵀ.
//!
//! Σ_ij M_ij⟨v_i, v_j⟩ is computed row by row in plain arithmetic. The inner sum of row i runs over blocks of 256
//! columns, then over the blocks, then over the k coordinates of v_i, so no term meets more than
//! K = 256 + n/256 + k + 4 roundings, and the row errs by at most γ_K·|v_i|·Σ_j |M_ij|·|v_j| (Cauchy–Schwarz).
//! That is taken off before the rows are added, rounding down.

use crate::quadratic::Quadratic;
use crate::rounding::{UNDERFLOW, add_up, gamma, mul_up, sqrt_up, sub_down, sum_down, sum_up};
use crate::threads::{share, worthwhile};
use crate::{Domain, gram};

const BLOCK: usize = 256;

/// ⟨M, VVᵀ⟩ rounded down for V with `columns` columns, row-major. On [`Domain::Vertices`] without the diagonal.
pub(crate) fn inner_product_down(
    matrix: &Quadratic<'_>,
    domain: Domain,
    v: &[f64],
    columns: usize,
    threads: usize,
) -> f64 {
    if let Quadratic::Gram { factor, rank, .. } = *matrix {
        return gram::norm_squared_down(factor, rank, v, columns);
    }
    let n = matrix.dim();
    let lengths: Vec<f64> = row_squares(v, columns).map(sqrt_up).collect();
    let largest = v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    let depth = BLOCK + n / BLOCK + columns + 8;
    // Sizes are sums of at most n non-negative products, each with a few roundings.
    let relative = mul_up(gamma(depth), add_up(1.0, gamma(2 * n + 16)));
    let underflow = mul_up(mul_up(2.0 * (n as f64 + 2.0), columns as f64), mul_up(UNDERFLOW, 1.0 + largest));
    let skip = |i: usize, j: usize| domain == Domain::Vertices && i == j;
    let mut rows = vec![0.0; n];
    share(worthwhile(threads, n * n * columns), rows.chunks_mut(64).enumerate(), |(chunk, rows)| {
        let mut sums = vec![0.0; columns];
        let mut block = vec![0.0; columns];
        for (i, row) in (chunk * 64..).zip(rows) {
            let mut size = 0.0;
            sums.fill(0.0);
            let mut add = |entries: &mut dyn Iterator<Item = (usize, f64)>| {
                block.fill(0.0);
                for (j, value) in entries.filter(|&(j, _)| !skip(i, j)) {
                    size += value.abs() * lengths[j];
                    for (block, v) in block.iter_mut().zip(&v[j * columns..][..columns]) {
                        *block += value * v;
                    }
                }
                sums.iter_mut().zip(&block).for_each(|(sum, block)| *sum += block);
            };
            match *matrix {
                Quadratic::Dense { entries, dim } => {
                    for start in (0..dim).step_by(BLOCK) {
                        let range = start..(start + BLOCK).min(dim);
                        let entries = &entries[i * dim..][range.clone()];
                        add(&mut range.zip(entries.iter().copied()));
                    }
                }
                Quadratic::Sparse { offsets, indices, values, .. } => {
                    for start in (offsets[i]..offsets[i + 1]).step_by(BLOCK) {
                        let range = start..(start + BLOCK).min(offsets[i + 1]);
                        let indices = indices[range.clone()].iter().copied();
                        add(&mut indices.zip(values[range].iter().copied()));
                    }
                }
                Quadratic::Gram { .. } => unreachable!("handled above"),
            }
            let value: f64 = sums.iter().zip(&v[i * columns..]).map(|(sum, v)| sum * v).sum();
            let error = mul_up(mul_up(relative, size), lengths[i]);
            *row = sub_down(value, add_up(error, underflow));
        }
    });
    sum_down(rows)
}

/// |v_i|² rounded up, row by row.
pub(crate) fn row_squares(v: &[f64], columns: usize) -> impl Iterator<Item = f64> + '_ {
    v.chunks_exact(columns).map(|row| sum_up(row.iter().map(|&v| mul_up(v, v))))
}
