//! Symmetric to tridiagonal by reflections, and the way back for vectors.
//!
//! **Reference.** The blocked reduction of Dongarra, Sorensen and Hammarling (J. Comput. Appl. Math. 27, 1989; LAPACK's
//! dsytrd): the reflections of a panel are found from products with the matrix as it was before the panel, which
//! then takes them all at once. Back-transformation by compact WY products (Schreiber and Van Loan, 1989).
//! **Guarantee.** Backward stable. Sums are grouped by dimensions only, so results do not depend on the number of
//! threads. **Deviations.** Rows are reflected from the last to the first, so that what is reflected lies together.

use super::strips::{Strips, WIDTH};
use crate::linalg::aligned::Aligned;
use crate::linalg::kernel::{Isa, ROWS, dot, row_products};
use rayon::prelude::*;

/// Reflections of a panel.
const PANEL: usize = 32;
/// Rows per task of the back-transformation: they stay in the second cache while all panels pass.
const GROUP: usize = 32;
/// The fewest multiplications per task of a product with a vector.
const WORTHWHILE: usize = 1 << 15;
/// The most tasks of such a product: each has its own vector of sums.
const MOST_TASKS: usize = 16;
/// Squared length below which a row counts as zero. The matrix is about one in size; anything shorter would be
/// normalised from subnormal squares.
const NEGLIGIBLE: f64 = 1e-280;

/// Some reflections I − factor·v·vᵀ in the order in which they were found, row by row from the last.
struct Panel {
    /// Entries of a normal: it acts on the coordinates before `top`, later ones padded with zeros.
    top: usize,
    /// The normals v, `top` entries each.
    normals: Vec<f64>,
    factors: Vec<f64>,
}

/// A tridiagonal matrix T and the orthogonal matrix Q with A = Q·T·Qᵀ.
pub(super) struct Reduced {
    pub(super) diagonal: Vec<f64>,
    /// `beside[a]` couples a and a + 1.
    pub(super) beside: Vec<f64>,
    panels: Vec<Panel>,
}

/// Reduces a row-major k × k matrix of about size one, k > 0; its lower triangle is read.
pub(super) fn reduce(matrix: &[f64], k: usize) -> Reduced {
    let isa = Isa::detect();
    let mut room = Aligned::default();
    // Rows a whole number of lines apart, but no power of two, by which they would compete for places in the cache.
    let stride = k.next_multiple_of(16) + 8;
    let working = room.resized(k * stride);
    for (a, (row, given)) in working.chunks_exact_mut(stride).zip(matrix.chunks_exact(k)).enumerate() {
        row[..=a].copy_from_slice(&given[..=a]);
    }
    let matrix = working;
    let mut reduced = Reduced { diagonal: vec![0.0; k], beside: vec![0.0; k - 1], panels: Vec::new() };
    let mut sums = vec![0.0; MOST_TASKS * k];
    let mut top = k;
    while top > 1 {
        let count = PANEL.min(top - 1);
        let mut normals = vec![0.0; count * top];
        let mut updates = vec![0.0; count * top];
        let mut factors = Vec::with_capacity(count);
        for step in 0..count {
            let j = top - 1 - step;
            let (known, rest) = normals.split_at_mut(step * top);
            let (known_updates, update) = updates.split_at_mut(step * top);
            let (normal, update) = (&mut rest[..j], &mut update[..j]);
            let pairs = || known.chunks_exact(top).zip(known_updates.chunks_exact(top));
            // Row j as the reflections before it have left it.
            let row = &mut matrix[j * stride..=j * stride + j];
            let terms = pairs().flat_map(|(v, w)| [(-v[j], &w[..=j]), (-w[j], &v[..=j])]);
            add_combination(isa, terms, row);
            reduced.diagonal[j] = row[j];
            normal.copy_from_slice(&row[..j]);
            let (factor, coupling) = reflector(isa, normal);
            reduced.beside[j - 1] = coupling;
            factors.push(factor);
            if factor == 0.0 {
                continue;
            }
            multiply(isa, matrix, stride, normal, &mut sums, update);
            let terms = pairs().flat_map(|(v, w)| {
                let (v, w) = (&v[..j], &w[..j]);
                [(-dot(isa, w, normal), v), (-dot(isa, v, normal), w)]
            });
            add_combination(isa, terms, update);
            let overlap = 0.5 * factor * dot(isa, update, normal);
            update.iter_mut().zip(&*normal).for_each(|(w, v)| *w = factor * (*w - overlap * v));
        }
        let next = top - count;
        update_block(isa, &mut matrix[..next * stride], stride, &normals, &updates, top);
        reduced.panels.push(Panel { top, normals, factors });
        top = next;
    }
    reduced.diagonal[0] = matrix[0];
    reduced
}

/// Turns `row` into the normal v of a reflection I − factor·v·vᵀ that maps it onto its last entry, which v has as
/// one. Returns the factor and that entry.
fn reflector(isa: Isa, row: &mut [f64]) -> (f64, f64) {
    let Some((last, others)) = row.split_last_mut() else { return (0.0, 0.0) };
    let square = dot(isa, others, others);
    if square <= NEGLIGIBLE {
        let coupling = *last;
        others.fill(0.0);
        *last = 1.0;
        return (0.0, coupling);
    }
    let coupling = -(last.mul_add(*last, square)).sqrt().copysign(*last);
    let factor = (coupling - *last) / coupling;
    let inverse = 1.0 / (*last - coupling);
    others.iter_mut().for_each(|x| *x *= inverse);
    *last = 1.0;
    (factor, coupling)
}

/// `out` ← `out` + Σ factor·row.
fn add_combination<'a>(isa: Isa, mut terms: impl Iterator<Item = (f64, &'a [f64])>, out: &mut [f64]) {
    while let Some((factor, row)) = terms.next() {
        let (mut factors, mut rows) = ([0.0; ROWS], [row; ROWS]);
        factors[0] = factor;
        for (r, (factor, row)) in (1..ROWS).zip(&mut terms) {
            (factors[r], rows[r]) = (factor, row);
        }
        row_products(isa, rows, row, factors, out);
    }
}

/// `out` ← A·x from the lower triangle of A, whose rows lie `stride` apart; j = x.len() of them.
fn multiply(isa: Isa, matrix: &[f64], stride: usize, x: &[f64], sums: &mut [f64], out: &mut [f64]) {
    let j = x.len();
    let tasks = (j * j / 2 / WORTHWHILE).clamp(1, MOST_TASKS);
    // Rows to equal areas of the triangle.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and j
    let bound = |task: usize| match task {
        _ if task == tasks => j,
        _ => (j as f64 * (task as f64 / tasks as f64).sqrt()) as usize / ROWS * ROWS,
    };
    let work = |task: usize, sums: &mut [f64]| {
        let rows = bound(task)..bound(task + 1);
        let sums = &mut sums[..rows.end];
        sums.fill(0.0);
        for i in rows.clone().step_by(ROWS) {
            let height = ROWS.min(rows.end - i);
            let row = |r: usize| &matrix[(i + r.min(height - 1)) * stride..];
            let mut factors = [0.0; ROWS];
            factors[..height].copy_from_slice(&x[i..i + height]);
            let (before, here) = sums.split_at_mut(i);
            let products = row_products(isa, std::array::from_fn(|r| &row(r)[..i]), &x[..i], factors, before);
            for r in 0..height {
                here[r] += products[r] + row(r)[i + r] * x[i + r];
                for c in 0..r {
                    here[r] += row(r)[i + c] * x[i + c];
                    here[c] += row(r)[i + c] * x[i + r];
                }
            }
        }
    };
    let sums = &mut sums[..tasks * j];
    if tasks == 1 {
        work(0, sums);
    } else {
        sums.par_chunks_exact_mut(j).enumerate().for_each(|(task, sums)| work(task, sums));
    }
    out.fill(0.0);
    for (task, sums) in sums.chunks_exact(j).enumerate() {
        out.iter_mut().zip(&sums[..bound(task + 1)]).for_each(|(out, sum)| *out += sum);
    }
}

/// A ← A − V·Wᵀ − W·Vᵀ on and below the diagonal (and a few entries above), V and W given by rows of `top` entries.
fn update_block(isa: Isa, matrix: &mut [f64], stride: usize, normals: &[f64], updates: &[f64], top: usize) {
    let size = matrix.len() / stride;
    let (vs, ws) = (normals.chunks_exact(top), updates.chunks_exact(top));
    let right: Vec<&[f64]> = ws.clone().chain(vs.clone()).map(|row| &row[..size]).collect();
    let right = Strips::pack(size, right.into_iter());
    let left: Vec<&[f64]> = vs.chain(ws).collect();
    matrix.par_chunks_mut(WIDTH * stride).enumerate().for_each(|(block, rows)| {
        let height = rows.len() / stride;
        let first = block * WIDTH;
        let factors: Vec<f64> =
            (first..first + height).flat_map(|i| left.iter().map(move |row| -row[i])).collect();
        right.add_product(isa, (&factors, left.len()), (rows, stride), height, first + height);
    });
}

impl Reduced {
    /// Eigenvectors of A from those of T, `vectors[i]` each.
    pub(super) fn transform_back(&self, vectors: &[&[f64]]) -> Vec<Vec<f64>> {
        let k = self.diagonal.len();
        let isa = Isa::detect();
        let panels: Vec<(usize, Strips, Strips)> = self.panels.par_iter().map(|p| p.compact(isa)).collect();
        let groups = vectors.par_chunks(GROUP).flat_map_iter(|group| {
            let mut rows: Vec<f64> = group.iter().flat_map(|row| row.iter().copied()).collect();
            let mut overlaps = [0.0; GROUP * PANEL];
            // The panel found last is the innermost.
            for (count, overlap, normals) in panels.iter().rev() {
                overlaps.fill(0.0);
                overlap.add_product(isa, (&rows, k), (&mut overlaps, *count), group.len(), *count);
                normals.add_product(isa, (&overlaps, *count), (&mut rows, k), group.len(), k);
            }
            rows.chunks_exact(k).map(<[f64]>::to_vec).collect::<Vec<_>>()
        });
        groups.collect()
    }
}

impl Panel {
    /// The product of the reflections, I − V·T·Vᵀ, as (number of reflections, −V·Tᵀ, Vᵀ), each packed: a row x
    /// becomes x + (x·(−V·Tᵀ))·Vᵀ.
    fn compact(&self, isa: Isa) -> (usize, Strips, Strips) {
        let count = self.factors.len();
        let normal = |s: usize| &self.normals[s * self.top..][..self.top];
        let mut triangle = [[0.0; PANEL]; PANEL];
        for s in 0..count {
            let overlaps: Vec<f64> = (0..s).map(|a| dot(isa, normal(a), normal(s))).collect();
            for a in 0..s {
                let sum: f64 = (a..s).map(|b| triangle[a][b] * overlaps[b]).sum();
                triangle[a][s] = -self.factors[s] * sum;
            }
            triangle[s][s] = self.factors[s];
        }
        let mut product = vec![0.0; self.top * count];
        for (i, row) in product.chunks_exact_mut(count).enumerate() {
            let entries: [f64; PANEL] =
                std::array::from_fn(|s| if s < count { self.normals[s * self.top + i] } else { 0.0 });
            for (out, factors) in row.iter_mut().zip(&triangle) {
                *out = -factors.iter().zip(&entries).map(|(t, v)| t * v).sum::<f64>();
            }
        }
        let normals = Strips::pack(self.top, self.normals.chunks_exact(self.top));
        (count, Strips::pack(count, product.chunks_exact(count)), normals)
    }
}
