//! Eigenpairs of a symmetric tridiagonal matrix by divide and conquer.
//!
//! **Reference.** Cuppen (Numer. Math. 36, 1981) with the deflation of Dongarra and Sorensen (1987) and the stable
//! vectors of Gu and Eisenstat (SIAM J. Matrix Anal. Appl. 15, 1994); LAPACK's dlaed0 to dlaed4. **Guarantee.** Backward
//! stable relative to the norm of the whole matrix; results do not depend on the number of threads.
//! **Deviations.** What is small compared with the whole matrix, not only with its part, is deflated. Coefficients of
//! the new vectors are computed where they are multiplied and never stored as a whole.

use super::secular::{Root, root};
use super::small::implicit_ql;
use super::strips::Strips;
use crate::linalg::kernel::Isa;
use rayon::prelude::*;
use std::borrow::Cow;

/// Parts up to this size are left to QL iterations.
const LEAF: usize = 32;
/// New vectors per task.
const GROUP: usize = 64;
/// The fewest roots per task: a task should be worth some 10⁵ divisions.
const DIVISIONS: usize = 1 << 15;

/// Eigenvalues, in no order, and the vectors as rows of `n` entries.
pub(super) struct Eigenpairs {
    pub(super) values: Vec<f64>,
    pub(super) vectors: Vec<f64>,
}

/// The `wanted` largest eigenpairs (all of them where `wanted` ≥ n) of the tridiagonal matrix; n > 0.
pub(super) fn eigenpairs(diagonal: &[f64], beside: &[f64], wanted: usize) -> Eigenpairs {
    let n = diagonal.len();
    let coupling = |a: usize| beside.get(a).map_or(0.0, |x| x.abs());
    let norm = (0..n).map(|a| diagonal[a].abs() + coupling(a) + a.checked_sub(1).map_or(0.0, coupling));
    let tolerance = 4.0 * f64::EPSILON * norm.fold(0.0, f64::max);
    solve(&mut diagonal.to_vec(), beside, tolerance, wanted)
}

fn solve(diagonal: &mut [f64], beside: &[f64], tolerance: f64, wanted: usize) -> Eigenpairs {
    let n = diagonal.len();
    if n <= LEAF {
        let mut vectors = vec![0.0; n * n];
        vectors.iter_mut().step_by(n + 1).for_each(|entry| *entry = 1.0);
        let mut values = diagonal.to_vec();
        implicit_ql(&mut values, &mut beside.to_vec(), &mut vectors, n);
        return Eigenpairs { values, vectors };
    }
    // T = T₁ ⊕ T₂ + |ρ|·u·uᵀ with u = e_m ± e_{m+1}.
    let middle = n / 2;
    let coupling = beside[middle - 1];
    let (upper, lower) = diagonal.split_at_mut(middle);
    upper[middle - 1] -= coupling.abs();
    lower[0] -= coupling.abs();
    let (beside_upper, beside_lower) = (&beside[..middle - 1], &beside[middle..]);
    let (upper, lower) = rayon::join(
        || solve(upper, beside_upper, tolerance, usize::MAX),
        || solve(lower, beside_lower, tolerance, usize::MAX),
    );
    merge(&upper, &lower, coupling, tolerance, wanted)
}

/// A vector in two parts; an empty part is zero.
#[derive(Clone)]
struct Row<'a> {
    value: f64,
    /// Its component in u, divided by |u|.
    weight: f64,
    upper: Cow<'a, [f64]>,
    lower: Cow<'a, [f64]>,
}

fn merge(upper: &Eigenpairs, lower: &Eigenpairs, coupling: f64, tolerance: f64, wanted: usize) -> Eigenpairs {
    let sizes = (upper.values.len(), lower.values.len());
    let n = sizes.0 + sizes.1;
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let rows_upper = upper.values.iter().zip(upper.vectors.chunks_exact(sizes.0)).map(|(&value, row)| Row {
        value,
        weight: row[sizes.0 - 1] * half,
        upper: row.into(),
        lower: Cow::default(),
    });
    let rows_lower = lower.values.iter().zip(lower.vectors.chunks_exact(sizes.1)).map(|(&value, row)| Row {
        value,
        weight: row[0] * half.copysign(coupling),
        upper: Cow::default(),
        lower: row.into(),
    });
    let mut rows: Vec<Row<'_>> = rows_upper.chain(rows_lower).collect();
    rows.sort_by(|a, b| a.value.total_cmp(&b.value));
    let strength = 2.0 * coupling.abs();
    let (kept, mut deflated) = deflate(rows, strength, tolerance);

    let m = kept.len();
    let poles: Vec<f64> = kept.iter().map(|row| row.value).collect();
    let weights: Vec<f64> = kept.iter().map(|row| strength * row.weight * row.weight).collect();
    let least = DIVISIONS / m.max(1) + 1;
    let find = |distances: &mut Vec<f64>, j: usize| root(&poles, &weights, j, distances);
    let mut roots: Vec<Root> =
        (0..m).into_par_iter().with_min_len(least).map_init(|| vec![0.0; m], find).collect();
    // Weights for which the roots found are exact: then the vectors are orthogonal, however inaccurate the roots.
    let exact = |i: usize| {
        let ratio = |j: usize, over: usize| {
            let root = roots[j];
            ((poles[root.origin] - poles[i]) + root.offset) / (poles[over] - poles[i])
        };
        let before: f64 = (0..i).map(|j| ratio(j, j)).product();
        let after: f64 = (i..m - 1).map(|j| ratio(j, j + 1)).product();
        let last = (poles[roots[m - 1].origin] - poles[i]) + roots[m - 1].offset;
        (before * after * last).abs().sqrt().copysign(kept[i].weight)
    };
    let weights: Vec<f64> = (0..m).into_par_iter().with_min_len(least).map(exact).collect();

    // Of the last merger only the largest are needed.
    if wanted < n {
        let mut values: Vec<f64> = roots.iter().map(|root| root.value(&poles)).collect();
        values.extend(deflated.iter().map(|row| row.value));
        values.sort_by(|a, b| b.total_cmp(a));
        let least = wanted.checked_sub(1).map_or(f64::INFINITY, |at| values[at]);
        roots.retain(|root| root.value(&poles) >= least);
        deflated.retain(|row| row.value >= least);
    }
    let mut values: Vec<f64> = roots.iter().map(|root| root.value(&poles)).collect();
    let mut vectors = combine(&kept, &poles, &weights, &roots, sizes);
    for row in &deflated {
        values.push(row.value);
        for (part, size) in [(&row.upper, sizes.0), (&row.lower, sizes.1)] {
            vectors.extend_from_slice(part);
            vectors.resize(vectors.len() + size - part.len(), 0.0);
        }
    }
    Eigenpairs { values, vectors }
}

/// Parts rows with increasing values into those that the change of rank one mixes, and those that it leaves alone up to
/// `tolerance`: their weight is small, or their value is so close to another that a rotation takes the weight.
fn deflate<'a>(rows: Vec<Row<'a>>, strength: f64, tolerance: f64) -> (Vec<Row<'a>>, Vec<Row<'a>>) {
    let (mut kept, mut deflated): (Vec<Row<'a>>, Vec<Row<'a>>) = (Vec::with_capacity(rows.len()), Vec::new());
    for mut row in rows {
        if !(strength * row.weight.abs() > tolerance) {
            deflated.push(row);
            continue;
        }
        if let Some(before) = kept.last_mut() {
            let length = before.weight.hypot(row.weight);
            let (sine, cosine) = (before.weight / length, row.weight / length);
            let gap = row.value - before.value;
            if (gap * sine * cosine).abs() <= tolerance {
                let (low, high) = (before.value, row.value);
                before.value = low * cosine * cosine + high * sine * sine;
                row.value = low * sine * sine + high * cosine * cosine;
                (before.weight, row.weight) = (0.0, length);
                rotate(&mut before.upper, &mut row.upper, cosine, sine);
                rotate(&mut before.lower, &mut row.lower, cosine, sine);
                deflated.push(std::mem::replace(before, row));
                continue;
            }
        }
        kept.push(row);
    }
    (kept, deflated)
}

/// (x, y) ← (cosine·x − sine·y, cosine·y + sine·x).
fn rotate<'a>(x: &mut Cow<'a, [f64]>, y: &mut Cow<'a, [f64]>, cosine: f64, sine: f64) {
    let length = x.len().max(y.len());
    for part in [&mut *x, &mut *y] {
        if part.len() < length {
            *part = vec![0.0; length].into();
        }
    }
    for (x, y) in x.to_mut().iter_mut().zip(y.to_mut()) {
        (*x, *y) = (cosine * *x - sine * *y, cosine * *y + sine * *x);
    }
}

/// The vectors Σ_i weight_i/(d_i − λ)·row_i, normalised, one of each root.
fn combine(
    kept: &[Row<'_>],
    poles: &[f64],
    weights: &[f64],
    roots: &[Root],
    sizes: (usize, usize),
) -> Vec<f64> {
    let n = sizes.0 + sizes.1;
    let isa = Isa::detect();
    let upper: Vec<usize> = (0..kept.len()).filter(|&i| !kept[i].upper.is_empty()).collect();
    let lower: Vec<usize> = (0..kept.len()).filter(|&i| !kept[i].lower.is_empty()).collect();
    let (upper_rows, lower_rows) = rayon::join(
        || Strips::pack(sizes.0, upper.iter().map(|&i| &*kept[i].upper)),
        || Strips::pack(sizes.1, lower.iter().map(|&i| &*kept[i].lower)),
    );
    let mut vectors = Vec::with_capacity(n * n);
    vectors.resize(roots.len() * n, 0.0);
    vectors.par_chunks_mut(GROUP * n).zip(roots.par_chunks(GROUP)).for_each(|(out, roots)| {
        let mut upper_factors = Vec::with_capacity(roots.len() * upper.len());
        let mut lower_factors = Vec::with_capacity(roots.len() * lower.len());
        let mut factors = vec![0.0; kept.len()];
        for root in roots {
            let origin = poles[root.origin];
            for ((factor, pole), weight) in factors.iter_mut().zip(poles).zip(weights) {
                *factor = weight / ((pole - origin) - root.offset);
            }
            let inverse = 1.0 / factors.iter().map(|x| x * x).sum::<f64>().sqrt();
            upper_factors.extend(upper.iter().map(|&i| factors[i] * inverse));
            lower_factors.extend(lower.iter().map(|&i| factors[i] * inverse));
        }
        upper_rows.add_product(isa, (&upper_factors, upper.len()), (&mut *out, n), roots.len(), n);
        lower_rows.add_product(isa, (&lower_factors, lower.len()), (&mut out[sizes.0..], n), roots.len(), n);
    });
    vectors
}
