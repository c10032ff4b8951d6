//! The primal candidate of Algorithm 2, X = (1/T)·Σ v_t·v_tᵀ, kept as its factor, and feasible points from it.

use crate::linalg::operator::Operator;
use crate::linalg::sphere::normalise;
use crate::linalg::unit_rows::UnitRows;
use std::collections::VecDeque;

/// Columns used for a quick value while the solver runs.
const QUICK_COLUMNS: usize = 32;

/// X as the columns v_t of its factor: n numbers per round, or only the latest ones where X as a whole is not needed.
pub struct PrimalCandidate {
    columns: VecDeque<Vec<f64>>,
    /// The most columns kept.
    most: usize,
    /// Rounds so far, T.
    rounds: usize,
    /// Σ v_t² by row.
    squares: Vec<f64>,
    /// Σ v_tᵀMv_t.
    value: f64,
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

    /// A feasible point from the last few columns, improved by a few steps, and its value.
    pub(crate) fn quick_point(
        &self,
        operator: &Operator<'_>,
        weights: &[f64],
        stop: &dyn Fn() -> bool,
    ) -> (f64, UnitRows) {
        let mut point = self.unit_rows(QUICK_COLUMNS);
        let value = point.ascend(operator, weights, 3, f64::INFINITY, stop);
        (value, point)
    }
}
