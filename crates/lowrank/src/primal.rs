//! The primal candidate of Algorithm 2, X = (1/T)·Σ v_t·v_tᵀ, kept as its factor, and feasible points from it.

use crate::eigen::symmetric_eigen;
use crate::operator::{Operator, dot};
use crate::products::{rows_times, sum_of_parts};
use crate::sphere::normalise;
use rayon::prelude::*;
use std::collections::VecDeque;

/// Columns used for a quick value while the solver runs.
const QUICK_COLUMNS: usize = 32;

/// X as the columns v_t of its factor: n numbers a round, or only the latest where the whole of X is not wanted.
pub struct PrimalCandidate {
    columns: VecDeque<Vec<f64>>,
    /// Columns kept at most.
    most: usize,
    /// Rounds so far, T.
    rounds: usize,
    /// Σ v_t² by row.
    squares: Vec<f64>,
    /// Σ v_tᵀMv_t.
    value: f64,
}

/// A feasible point X = VVᵀ with unit rows of V.
#[derive(Clone, Debug)]
pub struct UnitRows {
    /// Row-major, n × `columns`.
    pub entries: Vec<f64>,
    /// Number of columns of V.
    pub columns: usize,
}

impl PrimalCandidate {
    pub(crate) fn new(n: usize, keep: bool) -> Self {
        let most = if keep { usize::MAX } else { QUICK_COLUMNS };
        Self { columns: VecDeque::new(), most, rounds: 0, squares: vec![0.0; n], value: 0.0 }
    }

    /// Adds one round: v and vᵀMv.
    pub(crate) fn push(&mut self, v: Vec<f64>, value: f64) {
        self.squares.iter_mut().zip(&v).for_each(|(sum, v)| *sum += v * v);
        self.value += value;
        self.rounds += 1;
        if self.columns.len() == self.most {
            self.columns.pop_front();
        }
        self.columns.push_back(v);
    }

    /// Rounds averaged over, T.
    pub fn len(&self) -> usize {
        self.rounds
    }

    /// True before the first round.
    pub fn is_empty(&self) -> bool {
        self.rounds == 0
    }

    /// X_ii.
    pub fn diagonal(&self) -> Vec<f64> {
        self.squares.iter().map(|sum| sum / self.len() as f64).collect()
    }

    /// max X_ii.
    pub(crate) fn largest_diagonal(&self) -> f64 {
        self.squares.iter().copied().fold(0.0, f64::max) / self.len() as f64
    }

    /// ⟨M, X⟩, which equals Σ ŷ (Lemma C.3).
    pub fn inner_product(&self) -> f64 {
        self.value / self.len() as f64
    }

    /// X itself, row-major; None where not all of its factor was kept.
    pub fn matrix(&self) -> Option<Vec<f64>> {
        if self.columns.len() < self.rounds {
            return None;
        }
        let n = self.squares.len();
        let mut matrix = vec![0.0; n * n];
        for v in &self.columns {
            for (row, x) in matrix.chunks_exact_mut(n).zip(v) {
                row.iter_mut().zip(v).for_each(|(entry, y)| *entry += x * y);
            }
        }
        matrix.iter_mut().for_each(|entry| *entry /= self.rounds as f64);
        Some(matrix)
    }

    /// The last `most` columns with every row brought to length one: a feasible point from the best iterates.
    pub fn unit_rows(&self, most: usize) -> UnitRows {
        let columns = most.clamp(1, self.columns.len().max(1));
        let last: Vec<&Vec<f64>> = self.columns.iter().rev().take(columns).collect();
        let mut entries: Vec<f64> =
            (0..self.squares.len()).flat_map(|i| last.iter().map(move |v| v[i])).collect();
        normalise(&mut entries, columns);
        UnitRows { entries, columns }
    }

    /// A feasible point from the last few columns, a few steps up, and its value.
    pub(crate) fn quick_point(&self, operator: &Operator<'_>, weights: &[f64]) -> (f64, UnitRows) {
        let mut point = self.unit_rows(QUICK_COLUMNS);
        let value = point.ascend(operator, weights, 3, f64::INFINITY);
        (value, point)
    }
}

impl UnitRows {
    /// V turned to its principal axes, without those that hold less than the share `negligible` of it, but with a
    /// multiple of `step` columns; None where that makes it no narrower.
    pub(crate) fn narrowed(&self, negligible: f64, step: usize) -> Option<UnitRows> {
        let k = self.columns;
        let parts = self.entries.par_chunks(512 * k).map(|rows| {
            let mut gram = vec![0.0; k * k];
            for row in rows.chunks_exact(k) {
                for (sums, a) in gram.chunks_exact_mut(k).zip(row) {
                    sums.iter_mut().zip(row).for_each(|(sum, b)| *sum += a * b);
                }
            }
            gram
        });
        let (masses, axes) = symmetric_eigen(sum_of_parts(parts.collect()), k);
        let all: f64 = masses.iter().sum();
        let columns =
            masses.iter().filter(|mass| **mass > negligible * all).count().max(1).next_multiple_of(step);
        if columns >= k {
            return None;
        }
        let axes: Vec<f64> = (0..k).flat_map(|l| axes[..columns].iter().map(move |axis| axis[l])).collect();
        let mut entries = rows_times(&self.entries, k, &axes, columns);
        normalise(&mut entries, columns);
        Some(UnitRows { entries, columns })
    }

    /// Raises ⟨M, VVᵀ⟩ by V ← rows of (M + Diag(s))·V brought to length one. That never lowers the value where
    /// M + Diag(s) ⪰ 0; s = 0 is tried first, and `weights` (a dual solution) where that fails. Stops after `most`
    /// steps, at the value `enough`, or when steps gain nothing any more. Returns the value reached.
    pub fn ascend(&mut self, operator: &Operator<'_>, weights: &[f64], most: usize, enough: f64) -> f64 {
        let k = self.columns;
        let mut image = operator.apply_block(&self.entries, k);
        let mut value = dot(&self.entries, &image);
        let mut shifted = false;
        for _ in 0..most {
            if value >= enough {
                break;
            }
            let mut next = UnitRows { entries: image.clone(), columns: k };
            for (i, row) in next.entries.chunks_exact_mut(k).enumerate() {
                let shift = if shifted { weights[i] } else { 0.0 };
                let own = &self.entries[i * k..][..k];
                row.iter_mut().zip(own).for_each(|(x, v)| *x += shift * v);
                if row.iter().all(|x| *x == 0.0) {
                    row.copy_from_slice(own);
                }
            }
            normalise(&mut next.entries, k);
            let next_image = operator.apply_block(&next.entries, k);
            let next_value = dot(&next.entries, &next_image);
            if next_value > value * (1.0 + 1e-12) {
                (*self, image, value) = (next, next_image, next_value);
            } else if shifted {
                break;
            } else {
                shifted = true;
            }
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrowing_keeps_the_inner_products_of_rows() {
        let (n, k, rank) = (40, 24, 3);
        let direction = |l: usize, c: usize| ((l * 7 + c * c * 5) % 11) as f64 - 5.0;
        let row = |i: usize| {
            (0..k)
                .map(move |c| (0..rank).map(|l| ((i * (l + 3)) % 7) as f64 * direction(l, c)).sum())
                .collect()
        };
        let mut entries: Vec<f64> = (1..=n).flat_map(|i| -> Vec<f64> { row(i) }).collect();
        normalise(&mut entries, k);
        let wide = UnitRows { entries, columns: k };
        let narrow = wide.narrowed(1e-9, 8).expect("rank 3 fits into 8 columns");
        assert_eq!(narrow.columns, 8);
        assert!(narrow.narrowed(1e-9, 8).is_none());
        for i in 0..n {
            for j in 0..n {
                let product = |v: &UnitRows| {
                    let (a, b) = (&v.entries[i * v.columns..], &v.entries[j * v.columns..]);
                    dot(&a[..v.columns], &b[..v.columns])
                };
                assert!((product(&wide) - product(&narrow)).abs() < 1e-12);
            }
        }
    }
}
