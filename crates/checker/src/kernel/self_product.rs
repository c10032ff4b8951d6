//! Symmetric products A·Aᵀ through the register-blocked kernel, streamed over the columns of A.
//!
//! Used by the checker for its Gram forms, and open to generators and solvers: entry (i, j) is built from
//! sums over blocks of [`DEPTH`] columns, in the order of the columns, so it has the same bits for every number
//! of threads, and on every machine on which the [`kernel`](crate::kernel) fuses its multiply-adds.

use crate::kernel::Isa;
use crate::kernel::panels::{PANEL, subtract_product};
use crate::threads::share;

/// Columns of A in one block of the sums.
pub const DEPTH: usize = 384;
/// Panels of rows that share one walk over A.
const GROUP: usize = 8;

/// Some columns of A, `rows` rows, in panels of 24 rows (`panels.rs`).
pub struct Panels {
    rows: usize,
    depth: usize,
    data: Vec<f64>,
}

/// a·b, the length of a vector of numbers. Panics if no vector can be that long.
fn length(a: usize, b: usize) -> usize {
    let longest = isize::MAX.unsigned_abs() / size_of::<f64>();
    let length = a.checked_mul(b).filter(|&length| length <= longest);
    length.expect("the matrix is too large for the address space")
}

impl Panels {
    /// Packs `depth` columns; `fill(i, out)` writes the `depth` entries of row i into `out`.
    ///
    /// Panics if the panels, `rows` rounded up to a multiple of 24 times `depth` entries, are too large
    /// for the address space, or if `fill` panics.
    pub fn pack(rows: usize, depth: usize, threads: usize, fill: impl Fn(usize, &mut [f64]) + Sync) -> Self {
        let panel = length(PANEL, depth);
        let mut data = vec![0.0; length(rows.div_ceil(PANEL), panel)];
        share(threads, data.chunks_mut(panel.max(1)).enumerate(), |(p, panel)| {
            let mut row = vec![0.0; depth];
            for i in 0..PANEL.min(rows - p * PANEL) {
                fill(p * PANEL + i, &mut row);
                for (column, value) in panel.as_chunks_mut::<PANEL>().0.iter_mut().zip(&row) {
                    column[i] = *value;
                }
            }
        });
        Self { rows, depth, data }
    }

    /// `lower ← lower + A·Aᵀ` on and below the diagonal of a row-major `rows` × `rows` matrix.
    ///
    /// Panics if `lower` does not have rows² entries.
    pub fn add_self_product(&self, lower: &mut [f64], threads: usize) {
        let n = self.rows;
        assert!(n.checked_mul(n) == Some(lower.len()), "the result must be rows × rows");
        if n == 0 || self.depth == 0 {
            return;
        }
        let isa = Isa::detect();
        let panel = |p: usize| &self.data[p * PANEL * self.depth..][..PANEL * self.depth];
        share(threads, lower.chunks_mut(GROUP * PANEL * n).enumerate(), |(g, rows)| {
            let top = g * GROUP * PANEL;
            let last = (top + rows.len() / n - 1) / PANEL;
            for q in 0..=last {
                for p in q.max(g * GROUP)..=last {
                    let mut block = [0.0; PANEL * PANEL];
                    subtract_product(isa, &mut block, panel(p), panel(q), 0..PANEL);
                    let first = p * PANEL;
                    for i in first..(first + PANEL).min(n) {
                        let row = &mut rows[(i - top) * n..][..n];
                        for j in q * PANEL..(q * PANEL + PANEL).min(i + 1) {
                            row[j] -= block[(j - q * PANEL) * PANEL + (i - first)];
                        }
                    }
                }
            }
        });
    }
}

/// Copies the lower triangle of a row-major n × n matrix onto the upper one.
///
/// Panics if `matrix` does not have n² entries.
pub fn mirror_lower(matrix: &mut [f64], n: usize) {
    const BLOCK: usize = 64;
    assert!(n.checked_mul(n) == Some(matrix.len()), "the matrix must be n × n");
    for rows in (0..n).step_by(BLOCK) {
        for columns in (rows..n).step_by(BLOCK) {
            for i in rows..(rows + BLOCK).min(n) {
                for j in columns.max(i + 1)..(columns + BLOCK).min(n) {
                    matrix[i * n + j] = matrix[j * n + i];
                }
            }
        }
    }
}

/// A·Aᵀ of a `rows` × `columns` matrix as a full symmetric row-major matrix; `fill(i, range, out)` writes the
/// entries of row i in the columns `range` into `out`.
///
/// Panics if the result, rows² entries, or the panels of [`DEPTH`] columns are too large for the address space,
/// or if `fill` panics.
pub fn self_product(
    rows: usize,
    columns: usize,
    threads: usize,
    fill: impl Fn(usize, std::ops::Range<usize>, &mut [f64]) + Sync,
) -> Vec<f64> {
    let mut result = vec![0.0; length(rows, rows)];
    for start in (0..columns).step_by(DEPTH) {
        let depth = DEPTH.min(columns - start);
        Panels::pack(rows, depth, threads, |i, out| fill(i, start..start + depth, out))
            .add_self_product(&mut result, threads);
    }
    mirror_lower(&mut result, rows);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn product_is_exact_on_small_integers() {
        for (rows, columns) in [(1, 1), (5, 3), (70, 800), (200, 1)] {
            let entry = |i: usize, k: usize| ((i * 31 + k * 17) % 13) as f64 - 6.0;
            for threads in [1, 3] {
                let product = self_product(rows, columns, threads, |i, range, out| {
                    out.iter_mut().zip(range).for_each(|(out, k)| *out = entry(i, k));
                });
                for i in 0..rows {
                    for j in 0..rows {
                        let expected: f64 = (0..columns).map(|k| entry(i, k) * entry(j, k)).sum();
                        assert_eq!(product[i * rows + j], expected);
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "the matrix must be n × n")]
    fn only_a_square_is_mirrored() {
        mirror_lower(&mut [0.0; 5], 2);
    }

    #[test]
    #[should_panic(expected = "too large for the address space")]
    fn an_impossible_product_is_refused() {
        self_product(usize::MAX / 2 + 1, 1, 1, |_, _, _| {});
    }

    #[test]
    #[should_panic(expected = "too large for the address space")]
    fn impossible_panels_are_refused() {
        Panels::pack(1, usize::MAX / PANEL, 1, |_, _| {});
    }
}
