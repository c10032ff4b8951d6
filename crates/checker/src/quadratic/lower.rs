//! Proven lower ends: the value of the form at a vertex, and of the relaxation at a feasible X = VVᵀ.
//!
//! Σ_ij M_ij⟨v_i, v_j⟩ is computed row by row in plain arithmetic. The inner sum of row i runs over blocks of 256
//! columns, then over the blocks, then over the k coordinates of v_i, so no term meets more than
//! K = 256 + n/256 + k + 4 roundings, and the row errs by at most γ_K·|v_i|·Σ_j |M_ij|·|v_j| (Cauchy–Schwarz).
//! That is taken off before the rows are added, rounding down. At a vertex, integers and other numbers of few digits leave
//! nothing to round: [`exact`](crate::quadratic::exact) comes first there.

use super::gram;
use crate::Domain;
use crate::kernel::Isa;
use crate::kernel::rows::{ROWS, add_rows_times};
use crate::quadratic::form::Quadratic;
use crate::rounding::{UNDERFLOW, add_up, gamma, mul_up, sqrt_up, sub_down, sum_down, sum_up};
use crate::threads::{share, worthwhile};

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
    let mut values = vec![0.0; n];
    share(worthwhile(threads, n * n * columns), values.chunks_mut(ROWS).enumerate(), |(group, values)| {
        let first = group * ROWS;
        let mut sums = vec![0.0; values.len() * columns];
        let mut sizes = vec![0.0; values.len()];
        match *matrix {
            Quadratic::Dense { entries, dim } => {
                let mut rows: Vec<Vec<f64>> =
                    (first..first + values.len()).map(|i| entries[i * dim..][..dim].to_vec()).collect();
                if domain == Domain::Vertices {
                    rows.iter_mut().enumerate().for_each(|(r, row)| row[first + r] = 0.0);
                }
                let isa = Isa::detect();
                for start in (0..dim).step_by(BLOCK) {
                    let range = start..(start + BLOCK).min(dim);
                    let rows: Vec<&[f64]> = rows.iter().map(|row| &row[range.clone()]).collect();
                    add_rows_times(isa, &rows, &v[start * columns..range.end * columns], columns, &mut sums);
                    for (size, row) in sizes.iter_mut().zip(&rows) {
                        *size +=
                            row.iter().zip(&lengths[range.clone()]).map(|(m, l)| m.abs() * l).sum::<f64>();
                    }
                }
            }
            Quadratic::Sparse { offsets, indices, values, .. } => {
                for (i, (sums, size)) in (first..).zip(sums.chunks_exact_mut(columns).zip(&mut sizes)) {
                    for start in (offsets[i]..offsets[i + 1]).step_by(BLOCK) {
                        let mut block = vec![0.0; columns];
                        for at in start..(start + BLOCK).min(offsets[i + 1]) {
                            let (j, value) = (indices[at], values[at]);
                            if domain == Domain::Vertices && j == i {
                                continue;
                            }
                            *size += value.abs() * lengths[j];
                            let v = &v[j * columns..][..columns];
                            block.iter_mut().zip(v).for_each(|(block, v)| *block += value * v);
                        }
                        sums.iter_mut().zip(&block).for_each(|(sum, block)| *sum += block);
                    }
                }
            }
            Quadratic::Gram { .. } => unreachable!("handled above"),
        }
        for (r, value) in values.iter_mut().enumerate() {
            let own = &v[(first + r) * columns..][..columns];
            let sum: f64 = sums[r * columns..].iter().zip(own).map(|(sum, v)| sum * v).sum();
            let error = mul_up(mul_up(relative, sizes[r]), lengths[first + r]);
            if sizes[r] == 0.0 && sum == 0.0 && matrix.is_zero_row(first + r, domain) {
                continue; // exactly zero
            }
            // An infinite sum may have lost terms of the other sign: it bounds nothing.
            *value = if sum.is_finite() { sub_down(sum, add_up(error, underflow)) } else { f64::NAN };
        }
    });
    sum_down(values)
}

/// |v_i|² rounded up, row by row.
pub(crate) fn row_squares(v: &[f64], columns: usize) -> impl Iterator<Item = f64> + '_ {
    v.chunks_exact(columns).map(|row| sum_up(row.iter().map(|&v| mul_up(v, v))))
}
