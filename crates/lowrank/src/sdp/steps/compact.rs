//! A problem without its rows of zeros: a solver would pay for them as for others, the proof pays nothing.

use crate::linalg::unit_rows::UnitRows;
use crate::sdp::problem::Problem;

/// A problem as a solver gets it, and which rows of the original it has.
pub(crate) struct Compact {
    /// None where it has them all.
    smaller: Option<(Problem, Vec<usize>)>,
    dim: usize,
}

impl Compact {
    /// Of a problem of dimension `dim`.
    pub(crate) fn of(problem: &Problem) -> Self {
        Self { smaller: problem.without_zero_rows(), dim: problem.quadratic().dim() }
    }

    /// The smaller one, or the problem it was made of.
    pub(crate) fn problem<'a>(&'a self, whole: &'a Problem) -> &'a Problem {
        self.smaller.as_ref().map_or(whole, |(problem, _)| problem)
    }

    /// A point of the original: rows that are missing point along the first axis.
    pub(crate) fn whole_point(&self, point: UnitRows) -> UnitRows {
        let Some((_, kept)) = &self.smaller else { return point };
        let k = point.columns;
        let mut entries = vec![0.0; self.dim * k];
        entries.iter_mut().step_by(k).for_each(|first| *first = 1.0);
        for (row, &i) in point.entries.chunks_exact(k).zip(kept) {
            entries[i * k..][..k].copy_from_slice(row);
        }
        UnitRows { entries, columns: k }
    }

    /// A point of the smaller problem. One of another size is left to the solver, which refuses it.
    pub(crate) fn part_of(&self, point: &UnitRows) -> UnitRows {
        match &self.smaller {
            Some((_, kept)) if point.entries.len() == self.dim * point.columns => {
                let entries = kept.iter().flat_map(|&i| point.row(i)).copied().collect();
                UnitRows { entries, columns: point.columns }
            }
            _ => point.clone(),
        }
    }

    /// Numbers of the original, one per row; those of missing rows are `missing`.
    pub(crate) fn whole(&self, numbers: Vec<f64>, missing: f64) -> Vec<f64> {
        let Some((_, kept)) = &self.smaller else { return numbers };
        let mut whole = vec![missing; self.dim];
        kept.iter().zip(numbers).for_each(|(&i, number)| whole[i] = number);
        whole
    }
}
