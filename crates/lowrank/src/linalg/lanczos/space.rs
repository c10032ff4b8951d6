//! Largest eigenpair of D^−½·M·D^−½, warm-started: the oracle of Algorithm 2.
//!
//! **Problem.** M v = λ D v with D = Diag(weights) > 0 and λ algebraically largest; u = D^½ v is the eigenvector
//! of D^−½·M·D^−½. Algorithm 2 asks for it again and again while D changes a little.
//!
//! **Method.** Rayleigh–Ritz on a growing space, extended by the residual of the top Ritz vector: from one
//! start vector that is the Lanczos process. The space is kept in the coordinates of v, where M does not depend
//! on D, together with its image under M. A new D then costs a re-orthonormalisation and *no product with M*;
//! what earlier iterations learnt about the top of the spectrum is all still there. When the space is full it is
//! folded to its best Ritz vectors (thick restart, Wu and Simon, SIMAX 22, 2000).
//!
//! **Guarantee.** None: the Ritz value lies below λ. The checker proves bounds; this only steers.

use crate::linalg::eigen::symmetric_eigen;
use crate::linalg::operator::{Operator, add_scaled, dot};
use crate::linalg::orthonormal::take_out;
use crate::linalg::unit_rows::UnitRows;
use rayon::prelude::*;

/// Dimension at which the space is folded, unless it began with more vectors.
const FULL: usize = 28;
/// Ritz vectors kept when folding.
const KEPT: usize = 12;
/// Products with M between two Rayleigh–Ritz steps: the residual, then M times it, and so on.
const BURST: usize = 3;
/// A direction this much shorter after orthogonalisation already lies in the space.
const NEGLIGIBLE: f64 = 1e-9;

/// An approximate top eigenpair, v'Dv = 1.
pub struct TopEigenpair {
    /// The Ritz value λ.
    pub value: f64,
    /// v, so that v'Dv = 1; the eigenvector of D^−½·M·D^−½ is D^½v.
    pub vector: Vec<f64>,
    /// |D^−½(Mv − λDv)|.
    pub residual: f64,
}

/// A basis vector of which only this much is new after a change of D is dropped: its image would be mostly rounding
/// errors, blown up.
const DEPENDENT: f64 = 1e-3;
/// Calls after which the images are computed anew: they drift from M times the basis as both are recombined.
const REFRESH: usize = 6;

/// The space carried from one call to the next.
pub struct TopEigenspace {
    /// Basis vectors, orthonormal with respect to the D of the last call.
    basis: Vec<Vec<f64>>,
    /// M times the basis vectors.
    images: Vec<Vec<f64>>,
    /// Lower triangle of basisᵀ·M·basis by rows, as far as it has been computed for this basis.
    projected: Vec<Vec<f64>>,
    /// Dimension at which the space is folded.
    full: usize,
    /// Calls since the images were computed.
    calls: usize,
    /// Products with M so far.
    pub products: usize,
}

impl TopEigenspace {
    /// Starts from one vector, which must not be zero.
    pub fn new(operator: &Operator<'_>, start: Vec<f64>) -> Self {
        let mut space = Self::seeded(Vec::new(), Vec::new());
        space.push(operator, start);
        space
    }

    /// Starts from the columns of a matrix V whose product with M is known already.
    pub(crate) fn spanned_by(v: &UnitRows, image: &[f64]) -> Self {
        let columns = |of: &[f64]| {
            (0..v.columns).map(|l| of.iter().skip(l).step_by(v.columns).copied().collect()).collect()
        };
        Self::seeded(columns(&v.entries), columns(image))
    }

    /// Adds a vector whose product with M is known already.
    pub(crate) fn include(&mut self, vector: Vec<f64>, image: Vec<f64>) {
        self.basis.push(vector);
        self.images.push(image);
    }

    fn seeded(basis: Vec<Vec<f64>>, images: Vec<Vec<f64>>) -> Self {
        let full = FULL.max(basis.len() + 4 * BURST);
        Self { basis, images, projected: Vec::new(), full, calls: 0, products: 0 }
    }

    fn push(&mut self, operator: &Operator<'_>, vector: Vec<f64>) {
        let mut image = vec![0.0; vector.len()];
        operator.apply(&vector, &mut image);
        self.products += 1;
        self.basis.push(vector);
        self.images.push(image);
    }

    /// The top eigenpair for D = Diag(weights), to a residual of `tolerance`·λ or after `most` products with M.
    pub fn solve(
        &mut self,
        operator: &Operator<'_>,
        weights: &[f64],
        tolerance: f64,
        most: usize,
    ) -> TopEigenpair {
        self.solve_until(operator, weights, tolerance, most, &|| false)
    }

    /// The same, left unfinished where `stop` says so: it is asked every few products.
    pub(crate) fn solve_until(
        &mut self,
        operator: &Operator<'_>,
        weights: &[f64],
        tolerance: f64,
        most: usize,
        stop: &dyn Fn() -> bool,
    ) -> TopEigenpair {
        self.orthonormalise(weights);
        if self.basis.is_empty() {
            // Everything was dropped, because of weights or vectors of absurd sizes. Start again from the first coordinate.
            let mut first = vec![0.0; weights.len()];
            first[0] = 1.0 / weights[0].sqrt();
            self.push(operator, first);
        }
        self.calls += 1;
        if self.calls.is_multiple_of(REFRESH) {
            self.refresh(operator);
        }
        let mut spent = 0;
        loop {
            let (values, vectors) = self.ritz();
            let top = &vectors[0];
            let vector = combine(&self.basis, top);
            let image = combine(&self.images, top);
            let value = values[0];
            // In the metric of D: the residual of the symmetric problem is D^−½r, and D^−1 r extends the space.
            let mut direction: Vec<f64> =
                image.iter().zip(&vector).zip(weights).map(|((image, v), d)| image / d - value * v).collect();
            let residual = weighted_dot(&direction, &direction, weights).max(0.0).sqrt();
            let ended = residual <= tolerance * value.abs() || spent >= most || stop();
            if ended || self.basis.len() >= operator.dim() {
                return TopEigenpair { value, vector, residual };
            }
            if self.basis.len() + BURST > self.full {
                self.fold(&values, &vectors);
            }
            let before = spent;
            for _ in 0..BURST {
                let scale = weighted_dot(&direction, &direction, weights).sqrt();
                let length = self.orthogonalise(&mut direction, weights);
                if !(length > NEGLIGIBLE * scale) || self.basis.len() >= operator.dim() {
                    break; // the space is invariant, or everything
                }
                direction.iter_mut().for_each(|x| *x /= length);
                self.push(operator, direction);
                spent += 1;
                // D^−1·M of the newest vector: one more step of the Krylov space of the residual.
                let newest = self.images.last().expect("just pushed");
                direction = newest.iter().zip(weights).map(|(image, d)| image / d).collect();
            }
            if spent == before {
                return TopEigenpair { value, vector, residual };
            }
        }
    }

    /// The leading Ritz pairs for D = Diag(weights), decreasing.
    pub(crate) fn leading(&mut self, weights: &[f64], count: usize) -> Vec<(f64, Vec<f64>)> {
        self.orthonormalise(weights);
        let (values, vectors) = self.ritz();
        let pairs = values.into_iter().zip(vectors).take(count);
        pairs.map(|(value, coefficients)| (value, combine(&self.basis, &coefficients))).collect()
    }

    /// The top eigenvalue from another start vector, left unfinished where `stop` says so. The vector found joins the space, so that it is not missed again.
    pub fn solve_afresh(
        &mut self,
        operator: &Operator<'_>,
        weights: &[f64],
        tolerance: f64,
        most: usize,
        start: Vec<f64>,
        stop: &dyn Fn() -> bool,
    ) -> f64 {
        let mut fresh = Self::new(operator, start);
        let top = fresh.solve_until(operator, weights, tolerance, most, stop);
        self.products += fresh.products;
        self.push(operator, top.vector);
        self.projected.clear();
        top.value
    }

    /// Makes the basis D-orthonormal again (modified Gram–Schmidt, twice), dropping what has become dependent.
    fn orthonormalise(&mut self, weights: &[f64]) {
        self.projected.clear();
        let basis = std::mem::take(&mut self.basis);
        let images = std::mem::take(&mut self.images);
        for (mut vector, mut image) in basis.into_iter().zip(images) {
            let before = weighted_dot(&vector, &vector, weights).sqrt();
            for _ in 0..2 {
                let also = |at: usize, overlap: f64| add_scaled(&mut image, -overlap, &self.images[at]);
                let units = self.basis.iter().map(Vec::as_slice);
                take_out(&mut vector, units, |a, b| weighted_dot(a, b, weights), also);
            }
            let length = weighted_dot(&vector, &vector, weights).sqrt();
            if length > DEPENDENT * before && length.is_normal() {
                vector.iter_mut().for_each(|x| *x /= length);
                image.iter_mut().for_each(|x| *x /= length);
                self.basis.push(vector);
                self.images.push(image);
            }
        }
    }

    /// The images of all basis vectors, in one reading of the matrix.
    fn refresh(&mut self, operator: &Operator<'_>) {
        let (n, k) = (operator.dim(), self.basis.len());
        let rows: Vec<f64> = (0..n).flat_map(|i| self.basis.iter().map(move |vector| vector[i])).collect();
        let images = operator.apply_block(&rows, k);
        self.images = (0..k).map(|l| (0..n).map(|i| images[i * k + l]).collect()).collect();
        self.projected.clear();
        self.products += k;
    }

    /// Takes the basis out of `direction`; returns the length that is left.
    fn orthogonalise(&self, direction: &mut [f64], weights: &[f64]) -> f64 {
        let mut length = weighted_dot(direction, direction, weights).sqrt();
        loop {
            let units = self.basis.iter().map(Vec::as_slice);
            take_out(direction, units, |a, b| weighted_dot(a, b, weights), |_, _| ());
            let before = length;
            length = weighted_dot(direction, direction, weights).sqrt();
            // A second pass only where much was taken out and rounding errors weigh.
            if length > 0.3 * before || !(length > NEGLIGIBLE * before) {
                return length;
            }
        }
    }

    /// Ritz values, decreasing, and the coefficients of their vectors.
    fn ritz(&mut self) -> (Vec<f64>, Vec<Vec<f64>>) {
        let (k, known) = (self.basis.len(), self.projected.len());
        let (basis, images) = (&self.basis, &self.images);
        let task = self.vectors_per_task();
        let row = |a: usize| {
            (0..a + 1).into_par_iter().with_min_len(task).map(|b| dot(&basis[a], &images[b])).collect()
        };
        self.projected.extend((known..k).map(row).collect::<Vec<Vec<f64>>>());
        let mut matrix = vec![0.0; k * k];
        for (a, row) in self.projected.iter().enumerate() {
            matrix[a * k..=a * k + a].copy_from_slice(row);
        }
        symmetric_eigen(matrix, k)
    }

    /// Vectors worth a task of their own: short ones are not worth waking a thread for.
    fn vectors_per_task(&self) -> usize {
        (1 << 15) / self.basis.first().map_or(1, |vector| vector.len().max(1)) + 1
    }

    fn fold(&mut self, values: &[f64], vectors: &[Vec<f64>]) {
        let kept = &vectors[..KEPT.min(vectors.len())];
        let task = self.vectors_per_task();
        let combined = |of: &[Vec<f64>]| {
            kept.par_iter().with_min_len(task).map(|coefficients| combine(of, coefficients)).collect()
        };
        (self.basis, self.images) = (combined(&self.basis), combined(&self.images));
        self.projected = (0..kept.len())
            .map(|a| {
                let mut row = vec![0.0; a + 1];
                row[a] = values[a];
                row
            })
            .collect();
    }
}

fn combine(vectors: &[Vec<f64>], coefficients: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; vectors[0].len()];
    vectors.iter().zip(coefficients).for_each(|(vector, &c)| add_scaled(&mut sum, c, vector));
    sum
}

fn weighted_dot(a: &[f64], b: &[f64], weights: &[f64]) -> f64 {
    let (a, a_rest) = a.as_chunks::<4>();
    let (b, b_rest) = b.as_chunks::<4>();
    let (w, w_rest) = weights.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for ((a, b), w) in a.iter().zip(b).zip(w) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane] * w[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).zip(w_rest).map(|((a, b), w)| a * b * w).sum();
    sums.iter().sum::<f64>() + rest
}
