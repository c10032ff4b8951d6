//! Feasible points X = VVᵀ of the relaxation, X_ii = 1, kept as the factor V.

use crate::linalg::eigen::symmetric_eigen;
use crate::linalg::operator::{Operator, dot};
use crate::linalg::products::{rows_times, sum_of_parts};
use crate::linalg::sphere::normalise;
use rayon::prelude::*;

/// A feasible point X = VVᵀ with unit rows of V.
#[derive(Clone, Debug)]
pub struct UnitRows {
    /// Row-major, n × `columns`.
    pub entries: Vec<f64>,
    /// Number of columns of V.
    pub columns: usize,
}

impl UnitRows {
    /// Row `i` of V.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.columns..][..self.columns]
    }

    /// The signs of the first column: a feasible point of one column.
    pub(crate) fn signs(&self) -> UnitRows {
        let sign = |row: &[f64]| if row[0] < 0.0 { -1.0 } else { 1.0 };
        UnitRows { entries: self.entries.chunks_exact(self.columns).map(sign).collect(), columns: 1 }
    }

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
    /// steps, at the value `enough`, where `stop` says so, or when steps gain nothing any more. Returns the value reached.
    pub fn ascend(
        &mut self,
        operator: &Operator<'_>,
        weights: &[f64],
        most: usize,
        enough: f64,
        stop: &dyn Fn() -> bool,
    ) -> f64 {
        let k = self.columns;
        let mut image = operator.apply_block(&self.entries, k);
        let mut value = dot(&self.entries, &image);
        let mut shifted = false;
        for _ in 0..most {
            if value >= enough || stop() {
                break;
            }
            let mut next = UnitRows { entries: image.clone(), columns: k };
            for (i, row) in next.entries.chunks_exact_mut(k).enumerate() {
                let shift = if shifted { weights[i] } else { 0.0 };
                let own = self.row(i);
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
                let product = |v: &UnitRows| dot(v.row(i), v.row(j));
                assert!((product(&wide) - product(&narrow)).abs() < 1e-12);
            }
        }
    }
}
