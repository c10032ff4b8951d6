//! Products of spheres: n × k matrices whose rows have length one, and the few operations optimisation on them needs.
//!
//! Everything is row-major; sums run over fixed blocks in a fixed order, so that threads change nothing.

use crate::linalg::operator::dot;
use rayon::prelude::*;

/// Numbers per task. Fixed, because partial sums are grouped by it.
const BLOCK: usize = 1 << 14;
/// Numbers of a sum of many terms that stay in the innermost cache meanwhile.
const COMBINED: usize = 1 << 11;

/// ⟨A, B⟩, all entries.
pub(crate) fn inner(a: &[f64], b: &[f64]) -> f64 {
    let parts: Vec<f64> = a.par_chunks(BLOCK).zip(b.par_chunks(BLOCK)).map(|(a, b)| dot(a, b)).collect();
    parts.iter().sum()
}

/// ⟨a, b⟩ for every a of `of` and b of `with`, in one pass: entry `a·|with| + b`.
pub(crate) fn inner_products(of: &[&[f64]], with: &[&[f64]]) -> Vec<f64> {
    let length = of.first().map_or(0, |a| a.len());
    let parts: Vec<Vec<f64>> = (0..length.div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let range = block * BLOCK..((block + 1) * BLOCK).min(length);
            of.iter().flat_map(|a| with.iter().map(|b| dot(&a[range.clone()], &b[range.clone()]))).collect()
        })
        .collect();
    let mut sums = vec![0.0; of.len() * with.len()];
    for part in &parts {
        sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
    }
    sums
}

/// Σ factor·A over at least one term, in one pass.
pub(crate) fn combination(terms: &[(f64, &[f64])]) -> Vec<f64> {
    let mut sum = vec![0.0; terms[0].1.len()];
    sum.par_chunks_mut(COMBINED).enumerate().for_each(|(block, sum)| {
        for (factor, a) in terms {
            let a = &a[block * COMBINED..][..sum.len()];
            sum.iter_mut().zip(a).for_each(|(sum, a)| *sum += factor * a);
        }
    });
    sum
}

/// A ← A + factor·B.
pub(crate) fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    a.par_chunks_mut(BLOCK).zip(b.par_chunks(BLOCK)).for_each(|(a, b)| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += factor * b);
    });
}

/// ⟨a_i, b_i⟩ by rows.
pub(crate) fn row_products(a: &[f64], b: &[f64], columns: usize) -> Vec<f64> {
    a.par_chunks(columns).zip(b.par_chunks(columns)).with_min_len(512).map(|(a, b)| dot(a, b)).collect()
}

/// Takes from every row of `a` its part along the row of `v`: the projection onto the tangent space at V.
pub(crate) fn project(v: &[f64], a: &mut [f64], columns: usize) {
    a.par_chunks_mut(columns).zip(v.par_chunks(columns)).with_min_len(512).for_each(|(a, v)| {
        let along = dot(a, v);
        a.iter_mut().zip(v).for_each(|(a, v)| *a -= along * v);
    });
}

/// Brings every row of finite numbers to length one; a row of zeros becomes the first unit vector.
pub(crate) fn normalise(v: &mut [f64], columns: usize) {
    v.par_chunks_mut(columns).with_min_len(512).for_each(|row| {
        let mut length = dot(row, row).sqrt();
        if !(length.is_finite() && length > 1e-150) {
            // The squares overflowed or vanished: again with the largest entry at one.
            let largest = row.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            if largest == 0.0 {
                row[0] = 1.0;
                return;
            }
            row.iter_mut().for_each(|x| *x /= largest);
            length = dot(row, row).sqrt();
        }
        row.iter_mut().for_each(|x| *x /= length);
    });
}

/// Rows of V + step·D brought to length one.
pub(crate) fn retract(v: &[f64], step: f64, direction: &[f64], columns: usize) -> Vec<f64> {
    let mut next = combination(&[(1.0, v), (step, direction)]);
    normalise(&mut next, columns);
    next
}
