//! Cholesky factorisation of a sparse matrix: rows of least degree are eliminated one by one, and when what is
//! left has become dense it goes to the blocked factorisation.
//!
//! The order of elimination is a permutation of rows and columns and changes nothing about definiteness, so it
//! needs no trust. Each entry is still b_ij minus products l_ik·l_jk, then one division or root, as
//! [`definite`](crate::quadratic::definite) asks. Grids and trees finish sparse; random graphs soon fill in, and then the
//! dense kernel is the faster one.

use crate::quadratic::cholesky::LowerTriangle;
use crate::threads::worthwhile;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Rows left below which sparsity is not worth its bookkeeping.
const SMALL: usize = 96;

type Row = Vec<(usize, f64)>;

/// True if the factorisation runs to completion. `rows[i]` holds the off-diagonal entries (column, value) of
/// row i with columns increasing, both triangles; `diagonal` the pivots.
pub(crate) fn elimination_completes(mut rows: Vec<Row>, mut diagonal: Vec<f64>, threads: usize) -> bool {
    let mut left = rows.len();
    let mut gone = vec![false; left];
    let mut queue: BinaryHeap<_> = rows.iter().enumerate().map(|(i, row)| Reverse((row.len(), i))).collect();
    while let Some(Reverse((degree, pivot))) = queue.pop() {
        if gone[pivot] || degree != rows[pivot].len() {
            continue; // an outdated entry: the row's degree has changed and it was queued again
        }
        if left <= SMALL || degree > left / 3 {
            break;
        }
        let value = diagonal[pivot];
        if !(value > 0.0 && value.is_finite()) {
            return false;
        }
        gone[pivot] = true;
        left -= 1;
        let root = value.sqrt();
        let column: Row = rows[pivot].drain(..).map(|(i, entry)| (i, entry / root)).collect();
        for &(i, factor) in &column {
            diagonal[i] -= factor * factor;
            rows[i] = subtract_outer(&rows[i], &column, i, factor, pivot);
            queue.push(Reverse((rows[i].len(), i)));
        }
    }
    let kept: Vec<usize> = (0..rows.len()).filter(|&i| !gone[i]).collect();
    let mut place = vec![usize::MAX; rows.len()];
    kept.iter().enumerate().for_each(|(k, &i)| place[i] = k);
    let rest = LowerTriangle::read(kept.len(), worthwhile(threads, left * left * left), &|j, first, out| {
        out.fill(0.0);
        let own = [(kept[j], diagonal[kept[j]])];
        for &(i, value) in rows[kept[j]].iter().chain(&own) {
            if let Some(entry) = place[i].checked_sub(first).and_then(|at| out.get_mut(at)) {
                *entry = value;
            }
        }
    });
    drop(rows); // much memory, and no more use for it
    rest.factorises()
}

/// Row i after eliminating `pivot`: entries minus factor·column, without the pivot's own column.
fn subtract_outer(row: &Row, column: &Row, i: usize, factor: f64, pivot: usize) -> Row {
    let mut merged = Vec::with_capacity(row.len() + column.len());
    let mut others = column.iter().copied().filter(|&(j, _)| j != i).peekable();
    for &(j, value) in row.iter().filter(|&&(j, _)| j != pivot) {
        while let Some((k, other)) = others.next_if(|&(k, _)| k < j) {
            merged.push((k, -(factor * other)));
        }
        let other = others.next_if(|&(k, _)| k == j);
        merged.push((j, other.map_or(value, |(_, other)| value - factor * other)));
    }
    merged.extend(others.map(|(k, other)| (k, -(factor * other))));
    merged
}
