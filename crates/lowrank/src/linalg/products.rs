//! Products of row-major matrices with few columns, in either precision, split into tasks of fixed size.
//!
//! Every sum runs over fixed blocks in a fixed order, so results do not depend on the number of threads.

use crate::linalg::kernel::{Isa, ROWS, Real, add_rows_times};
use rayon::prelude::*;

/// Depth of a block: this many rows of the right side stay in the innermost cache. Fixed, because partial sums are
/// grouped by it.
const STRIPE: usize = 256;
/// Rows of a product per task.
const GROUP: usize = 16 * ROWS;

/// A·V for row-major A with rows of `depth` entries, a few rows at a time over blocks of the depth.
pub(crate) fn rows_times<T: Real>(a: &[T], depth: usize, v: &[T], columns: usize) -> Vec<T> {
    let isa = Isa::detect();
    let mut product = vec![T::default(); a.len() / depth * columns];
    product.par_chunks_mut(GROUP * columns).zip(a.par_chunks(GROUP * depth)).for_each(|(product, a)| {
        for start in (0..depth).step_by(STRIPE) {
            let range = start..(start + STRIPE).min(depth);
            let v = &v[range.start * columns..range.end * columns];
            for (product, a) in product.chunks_mut(ROWS * columns).zip(a.chunks(ROWS * depth)) {
                let mut rows: [&[T]; ROWS] = [&[]; ROWS];
                let count = a.len() / depth;
                rows.iter_mut().zip(a.chunks_exact(depth)).for_each(|(row, a)| *row = &a[range.clone()]);
                add_rows_times(isa, &rows[..count], v, columns, product);
            }
        }
    });
    product
}

/// A·B for few long rows of A: tasks split the depth, and their parts are added in order.
pub(crate) fn rows_times_blocked<T: Real>(a: &[T], depth: usize, b: &[T], columns: usize) -> Vec<T> {
    let isa = Isa::detect();
    let parts = b.par_chunks(STRIPE * columns).enumerate().map(|(stripe, b)| {
        let from = stripe * STRIPE;
        let range = from..from + b.len() / columns;
        let mut part = vec![T::default(); a.len() / depth * columns];
        for (part, a) in part.chunks_mut(ROWS * columns).zip(a.chunks(ROWS * depth)) {
            let rows: Vec<&[T]> = a.chunks_exact(depth).map(|row| &row[range.clone()]).collect();
            add_rows_times(isa, &rows, b, columns, part);
        }
        part
    });
    sum_of_parts(parts.collect())
}

/// The sum of equally long parts, in their order.
pub(crate) fn sum_of_parts<T: Real>(parts: Vec<Vec<T>>) -> Vec<T> {
    parts
        .into_iter()
        .reduce(|mut sum, part| {
            sum.iter_mut().zip(&part).for_each(|(sum, part)| *sum += *part);
            sum
        })
        .unwrap_or_default()
}

/// The transpose of a row-major rows × columns matrix.
pub(crate) fn transpose<T: Real>(matrix: &[T], rows: usize, columns: usize) -> Vec<T> {
    (0..columns).flat_map(|c| (0..rows).map(move |r| matrix[r * columns + c])).collect()
}
