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

use crate::operator::{Operator, add_scaled, dot};
use rayon::prelude::*;

/// Dimension at which the space is folded.
const FULL: usize = 28;
/// Ritz vectors kept when folding.
const KEPT: usize = 12;
/// A direction this much shorter after orthogonalisation is inside the space already.
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

/// The space carried from one call to the next.
pub struct TopEigenspace {
    /// Basis vectors, orthonormal with respect to the D of the last call.
    basis: Vec<Vec<f64>>,
    /// M times the basis vectors.
    images: Vec<Vec<f64>>,
    /// Products with M so far.
    pub products: usize,
}

impl TopEigenspace {
    /// Starts from one vector, which must not be zero.
    pub fn new(operator: &Operator<'_>, start: Vec<f64>) -> Self {
        let mut space = Self { basis: Vec::new(), images: Vec::new(), products: 0 };
        space.push(operator, start);
        space
    }

    fn push(&mut self, operator: &Operator<'_>, vector: Vec<f64>) {
        let mut image = vec![0.0; vector.len()];
        operator.apply(&vector, &mut image);
        self.products += 1;
        self.basis.push(vector);
        self.images.push(image);
    }

    /// The top eigenpair for D = Diag(weights), to a residual of `tolerance`·λ or after `most` products with M.
    pub fn solve(&mut self, operator: &Operator<'_>, weights: &[f64], tolerance: f64, most: usize) -> TopEigenpair {
        self.orthonormalise(weights);
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
            if residual <= tolerance * value.abs() || spent >= most || self.basis.len() >= operator.dim() {
                return TopEigenpair { value, vector, residual };
            }
            if self.basis.len() >= FULL {
                self.fold(&vectors);
            }
            let length = self.orthogonalise(&mut direction, weights);
            if length <= NEGLIGIBLE * residual {
                return TopEigenpair { value, vector, residual };
            }
            direction.iter_mut().for_each(|x| *x /= length);
            self.push(operator, direction);
            spent += 1;
        }
    }

    /// Makes the basis D-orthonormal again (modified Gram–Schmidt, twice), dropping what has become dependent.
    fn orthonormalise(&mut self, weights: &[f64]) {
        let basis = std::mem::take(&mut self.basis);
        let images = std::mem::take(&mut self.images);
        // The newest directions first: they are the ones the weights have just been moved by.
        for (mut vector, mut image) in basis.into_iter().zip(images) {
            let before = weighted_dot(&vector, &vector, weights).sqrt();
            for _ in 0..2 {
                for (other, other_image) in self.basis.iter().zip(&self.images) {
                    let overlap = weighted_dot(other, &vector, weights);
                    add_scaled(&mut vector, -overlap, other);
                    add_scaled(&mut image, -overlap, other_image);
                }
            }
            let length = weighted_dot(&vector, &vector, weights).sqrt();
            if length > 1e-7 * before && length.is_normal() {
                vector.iter_mut().for_each(|x| *x /= length);
                image.iter_mut().for_each(|x| *x /= length);
                self.basis.push(vector);
                self.images.push(image);
            }
        }
    }

    /// Takes the basis out of `direction`; returns what is left of its length.
    fn orthogonalise(&self, direction: &mut [f64], weights: &[f64]) -> f64 {
        for _ in 0..2 {
            for vector in &self.basis {
                let overlap = weighted_dot(vector, direction, weights);
                add_scaled(direction, -overlap, vector);
            }
        }
        weighted_dot(direction, direction, weights).max(0.0).sqrt()
    }

    /// Ritz values, decreasing, and the coefficients of their vectors.
    fn ritz(&self) -> (Vec<f64>, Vec<Vec<f64>>) {
        let k = self.basis.len();
        let pairs: Vec<(usize, usize)> = (0..k).flat_map(|a| (0..=a).map(move |b| (a, b))).collect();
        let products: Vec<f64> = pairs.par_iter().map(|&(a, b)| dot(&self.basis[a], &self.images[b])).collect();
        let mut matrix = vec![0.0; k * k];
        for (&(a, b), product) in pairs.iter().zip(products) {
            matrix[a * k + b] = product;
            matrix[b * k + a] = product;
        }
        symmetric_eigen(matrix, k)
    }

    fn fold(&mut self, vectors: &[Vec<f64>]) {
        let kept = &vectors[..KEPT.min(vectors.len())];
        self.basis = kept.iter().map(|coefficients| combine(&self.basis, coefficients)).collect();
        self.images = kept.iter().map(|coefficients| combine(&self.images, coefficients)).collect();
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

/// All eigenpairs of a small symmetric matrix (row-major, k × k) by cyclic Jacobi rotations: values decreasing,
/// vectors by their coefficients. Exact to rounding errors relative to the norm, and simple.
pub(crate) fn symmetric_eigen(mut matrix: Vec<f64>, k: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut vectors = vec![0.0; k * k]; // row a is the a-th vector
    (0..k).for_each(|a| vectors[a * k + a] = 1.0);
    let norm = dot(&matrix, &matrix).sqrt();
    for _ in 0..40 {
        let mut off = 0.0_f64;
        for p in 0..k {
            for q in p + 1..k {
                let entry = matrix[p * k + q];
                off = off.max(entry.abs());
                if entry.abs() <= 1e-17 * norm {
                    continue;
                }
                let theta = (matrix[q * k + q] - matrix[p * k + p]) / (2.0 * entry);
                let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let cosine = 1.0 / tangent.hypot(1.0);
                let sine = tangent * cosine;
                for a in 0..k {
                    let (x, y) = (matrix[a * k + p], matrix[a * k + q]);
                    matrix[a * k + p] = cosine * x - sine * y;
                    matrix[a * k + q] = sine * x + cosine * y;
                }
                rotate_rows(&mut matrix, k, p, q, cosine, sine);
                rotate_rows(&mut vectors, k, p, q, cosine, sine);
            }
        }
        if off <= 1e-15 * norm {
            break;
        }
    }
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|&a, &b| matrix[b * k + b].total_cmp(&matrix[a * k + a]));
    let values = order.iter().map(|&a| matrix[a * k + a]).collect();
    (values, order.iter().map(|&a| vectors[a * k..][..k].to_vec()).collect())
}

fn rotate_rows(matrix: &mut [f64], k: usize, p: usize, q: usize, cosine: f64, sine: f64) {
    let (before, after) = matrix.split_at_mut(q * k);
    for (x, y) in before[p * k..][..k].iter_mut().zip(&mut after[..k]) {
        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
    }
}
