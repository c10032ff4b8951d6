//! A problem made smaller for the solver: without the entries that the proof gives up, and without rows of zeros, for
//! which a solver would pay as for others while the proof pays nothing.

use crate::linalg::unit_rows::UnitRows;
use crate::sdp::plan::ProofPlan;
use crate::sdp::problem::Problem;

/// A problem as a solver gets it, and which rows of the original it has.
pub(crate) struct ReducedProblem {
    /// `None` if nothing was left out.
    smaller: Option<Problem>,
    /// Rows of the original, in order; `None` if it has them all.
    kept: Option<Vec<usize>>,
    /// Rows of the original.
    dim: usize,
    /// Whether entries were left out that are not zero.
    pub(crate) drops_entries: bool,
}

impl ReducedProblem {
    /// What is proven in full, without rows of zeros.
    pub(crate) fn planned(problem: &Problem, plan: &ProofPlan) -> Self {
        match plan.reduced(problem) {
            Some(part) => {
                let Self { smaller, kept, dim, .. } = Self::without_zero_rows(&part);
                Self { smaller: smaller.or(Some(part)), kept, dim, drops_entries: true }
            }
            None => Self::without_zero_rows(problem),
        }
    }

    /// All but rows of zeros.
    pub(crate) fn without_zero_rows(problem: &Problem) -> Self {
        let (smaller, kept) = problem.without_zero_rows().unzip();
        Self { smaller, kept, dim: problem.quadratic().dim(), drops_entries: false }
    }

    /// The smaller one, or the problem it was made of.
    pub(crate) fn problem<'a>(&'a self, whole: &'a Problem) -> &'a Problem {
        self.smaller.as_ref().unwrap_or(whole)
    }

    /// A point of the original: rows that are missing point along the first axis.
    pub(crate) fn whole_point(&self, point: UnitRows) -> UnitRows {
        let Some(kept) = &self.kept else { return point };
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
        match &self.kept {
            Some(kept) if point.entries.len() == self.dim * point.columns => {
                let entries = kept.iter().flat_map(|&i| point.row(i)).copied().collect();
                UnitRows { entries, columns: point.columns }
            }
            _ => point.clone(),
        }
    }

    /// Numbers of the original, one per row; those of missing rows are `missing`.
    pub(crate) fn whole(&self, numbers: Vec<f64>, missing: f64) -> Vec<f64> {
        let Some(kept) = &self.kept else { return numbers };
        let mut whole = vec![missing; self.dim];
        kept.iter().zip(numbers).for_each(|(&i, number)| whole[i] = number);
        whole
    }
}
