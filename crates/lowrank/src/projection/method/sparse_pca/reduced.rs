//! The problem without the features that no dictionary can give a code, in a unit in which nothing overflows.

use super::params::{SparsePca, SparsePcaError, SparsePcaParams, WIDTH_STEP};
use crate::linalg::matrix::{DenseMatrix, MatrixError, zeros};
use crate::linalg::operator::dot;
use crate::linalg::products::{rows_times, transpose};
use crate::memory::MemoryLimit;
use crate::sdp::progress::StopReason;
use rayon::prelude::*;

/// Codes and dictionary of the features kept.
pub(super) struct Point {
    /// C, features kept × width.
    pub(super) codes: Vec<f64>,
    /// D, width × samples.
    pub(super) dictionary: Vec<f64>,
    /// Atoms, rounded up to whole registers; those beyond the requested number are zero.
    pub(super) width: usize,
}

impl Point {
    /// No codes, no atoms.
    /// Both are smaller than the matrix, which the caller has in memory already.
    pub(super) fn zero(reduced: &Reduced, width: usize) -> Result<Self, MatrixError> {
        let zeros = |rows, columns| zeros(rows, columns, MemoryLimit::NONE);
        let codes = zeros(reduced.squares.len(), width)?;
        Ok(Self { codes, dictionary: zeros(width, reduced.samples)?, width })
    }
}

/// Features longer than α, all numbers times a power of two.
pub(super) struct Reduced {
    /// Length of an atom.
    pub(super) samples: usize,
    /// Number of all features.
    features: usize,
    /// Which features are kept, increasing.
    kept: Vec<usize>,
    /// Features kept × samples.
    pub(super) rows: Vec<f64>,
    /// ‖x‖² of every feature kept.
    pub(super) squares: Vec<f64>,
    /// α.
    pub(super) alpha: f64,
    /// The part of the objective that belongs to the other features.
    pub(super) rest: f64,
    /// What one in this unit is in the caller's.
    unit: f64,
}

impl Reduced {
    /// Scales and centres the features, and keeps those longer than α.
    pub(super) fn new(mut data: DenseMatrix, params: &SparsePcaParams) -> Self {
        let (samples, features) = (data.rows, data.columns);
        let largest = data.entries.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let unit =
            if largest > 0.0 { 2.0_f64.powf(largest.log2().floor().clamp(-1000.0, 1000.0)) } else { 1.0 };
        data.entries.iter_mut().for_each(|x| *x /= unit);
        let mut rows = data.transposed().entries;
        drop(data);
        if params.centre {
            for row in rows.chunks_exact_mut(samples) {
                let mean = row.iter().sum::<f64>() / samples as f64;
                row.iter_mut().for_each(|x| *x -= mean);
            }
        }
        let alpha = params.alpha / unit;
        let mut reduced =
            Self { samples, features, kept: vec![], rows: vec![], squares: vec![], alpha, rest: 0.0, unit };
        for (feature, row) in rows.chunks_exact(samples).enumerate() {
            let square = dot(row, row);
            if square.sqrt() > alpha {
                reduced.kept.push(feature);
                reduced.squares.push(square);
            } else {
                reduced.rest += 0.5 * square;
            }
        }
        for (place, &feature) in reduced.kept.iter().enumerate() {
            rows.copy_within(feature * samples..(feature + 1) * samples, place * samples);
        }
        rows.truncate(reduced.kept.len() * samples);
        reduced.rows = rows;
        reduced
    }

    /// An objective in the caller's unit.
    pub(super) fn unscaled(&self, objective: f64) -> f64 {
        objective * self.unit * self.unit
    }

    /// No dictionary of any number of atoms has a lower objective.
    pub(super) fn lower_bound(&self) -> f64 {
        let least = |square: &f64| self.alpha * (square.sqrt() - 0.5 * self.alpha);
        self.rest + self.squares.iter().map(least).sum::<f64>()
    }

    /// An atom for every feature kept: reaches the lower bound.
    pub(super) fn closed_form(&self, width: usize) -> Result<Point, MatrixError> {
        let mut point = Point::zero(self, width)?;
        for (k, (row, square)) in self.rows.chunks_exact(self.samples).zip(&self.squares).enumerate() {
            let length = square.sqrt();
            let atom = &mut point.dictionary[k * self.samples..][..self.samples];
            atom.iter_mut().zip(row).for_each(|(atom, x)| *atom = x / length);
            point.codes[k * width + k] = length - self.alpha;
        }
        Ok(point)
    }

    /// Xᵀ − C·D, features kept × samples.
    pub(super) fn left(&self, point: &Point) -> Vec<f64> {
        let mut left = rows_times(&point.codes, point.width, &point.dictionary, self.samples);
        left.par_iter_mut().zip(&self.rows).with_min_len(1 << 14).for_each(|(left, x)| *left = x - *left);
        left
    }

    /// A start in this problem's terms: at most `atoms` atoms, those with the largest codes, in their order.
    pub(super) fn read_start(&self, start: &SparsePca, atoms: usize) -> Result<Point, SparsePcaError> {
        let SparsePca { components, dictionary, .. } = start;
        let (features, samples) = (self.features, self.samples);
        let given = components.len() / features;
        if components.len() != given * features || given.checked_mul(samples) != Some(dictionary.len()) {
            let (components, dictionary) = (components.len(), dictionary.len());
            return Err(SparsePcaError::StartShape { components, dictionary, features, samples });
        }
        let parts = || components.chunks_exact(features).zip(dictionary.chunks_exact(samples));
        if let Some(atom) = parts().position(|(c, d)| c.iter().chain(d).any(|x| !x.is_finite())) {
            return Err(SparsePcaError::StartNotFinite { atom });
        }
        let weight = |c: &[f64]| c.iter().map(|c| (c / self.unit).abs()).sum::<f64>();
        let mut order: Vec<(usize, f64)> = parts().map(|(c, _)| weight(c)).enumerate().collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        order.truncate(atoms);
        order.sort_by_key(|(k, _)| *k);
        let width = atoms.next_multiple_of(WIDTH_STEP);
        let mut point = Point::zero(self, width)?;
        for (place, (k, _)) in order.into_iter().enumerate() {
            let atom = &dictionary[k * samples..][..samples];
            let longest = atom.iter().fold(f64::MIN_POSITIVE, |most, d| most.max(d.abs()));
            let length = longest * atom.iter().map(|d| (d / longest) * (d / longest)).sum::<f64>().sqrt();
            let shortened = length.max(1.0);
            let goal = &mut point.dictionary[place * samples..][..samples];
            goal.iter_mut().zip(atom).for_each(|(goal, d)| *goal = d / shortened);
            for (code, &feature) in point.codes.chunks_exact_mut(width).zip(&self.kept) {
                code[place] = components[k * features + feature] / self.unit;
            }
        }
        Ok(point)
    }

    /// The answer in the caller's terms; the objective is recomputed from the residual.
    pub(super) fn result(
        &self,
        point: &Point,
        atoms: usize,
        iterations: usize,
        stop: StopReason,
    ) -> SparsePca {
        let left = self.left(point);
        let squares: f64 = left.chunks_exact(self.samples).map(|row| dot(row, row)).sum();
        let size: f64 = point.codes.iter().map(|c| c.abs()).sum();
        let objective = self.unscaled(self.rest + 0.5 * squares + self.alpha * size);
        let by_atom = transpose(&point.codes, self.kept.len(), point.width);
        let mut components = vec![0.0; atoms * self.features];
        for (component, codes) in
            components.chunks_exact_mut(self.features).zip(by_atom.chunks(self.kept.len().max(1)))
        {
            self.kept.iter().zip(codes).for_each(|(&feature, c)| component[feature] = c * self.unit);
        }
        let dictionary = point.dictionary[..atoms * self.samples].to_vec();
        SparsePca { components, dictionary, objective, iterations, stop }
    }
}
