//! The codes of all features for one dictionary: a lasso each, by coordinate descent.
//!
//! min over c of ½‖x − Dᵀc‖² + α·Σ|c|. With G = D·Dᵀ and p = D·x, q = p − G·c is the gradient of the first term,
//! negated; one coordinate's exact minimum is c_k ← soft(q_k + G_kk·c_k, α)/G_kk, and a change of it by t takes t times
//! row k of G from q. Optimal is c where q_k = α·sign(c_k) for c_k ≠ 0, and |q_k| ≤ α elsewhere.
//!
//! Descent crawls where atoms are nearly parallel. At the end, therefore, signs held, the linear system G·c = p − α·sign(c)
//! on the support is solved outright; the step to its solution falls all the way, and is cut where a c_k reaches zero.

use rayon::prelude::*;

/// Features per task.
const GROUP: usize = 16;
/// Changes this small against ‖x‖ are rounding errors.
const ROUNDING: f64 = 1e-14;

/// How much work one feature is worth.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// The most sweeps over all coordinates.
    pub(super) sweeps: usize,
    /// The most sweeps, after each of those, over the coordinates that are not zero.
    pub(super) inner: usize,
    /// Largest change of c_k·‖d_k‖ in a sweep, against α, at which to stop.
    pub(super) tolerance: f64,
    /// Whether to solve for the support between sweeps.
    pub(super) exact: bool,
}

/// What all features have in common.
pub(super) struct Lasso {
    /// G, width × width.
    pub(super) gram: Vec<f64>,
    /// Atoms, with the zero ones that fill a register.
    pub(super) width: usize,
    /// α.
    pub(super) alpha: f64,
}

impl Lasso {
    /// Improves all codes (features × width) where they stand, given p of each feature (features × width) and its
    /// ‖x‖². Returns every feature's part of the objective.
    pub(super) fn solve(
        &self,
        correlations: &[f64],
        squares: &[f64],
        codes: &mut [f64],
        effort: Effort,
    ) -> Vec<f64> {
        let chunk = GROUP * self.width;
        let groups = codes.par_chunks_mut(chunk).zip(correlations.par_chunks(chunk));
        let parts = groups.zip(squares.par_chunks(GROUP)).map(|((codes, correlations), squares)| {
            let mut slack = vec![0.0; self.width];
            let mut support = Vec::with_capacity(self.width);
            let codes = codes.chunks_exact_mut(self.width).zip(correlations.chunks_exact(self.width));
            let value = |((code, correlation), &square): ((&mut [f64], &[f64]), &f64)| {
                slack.copy_from_slice(correlation);
                self.descend(code, square, &mut slack, &mut support, effort);
                // ‖x − Dᵀc‖² = ‖x‖² − c·(p + q)
                let both = code.iter().zip(correlation).zip(&slack).map(|((c, p), q)| c * (p + q));
                0.5 * (square - both.sum::<f64>()) + self.alpha * code.iter().map(|c| c.abs()).sum::<f64>()
            };
            codes.zip(squares).map(value).collect::<Vec<f64>>()
        });
        parts.collect::<Vec<_>>().concat()
    }

    /// Coordinate descent on one code. `slack` comes as p and leaves as q.
    fn descend(
        &self,
        code: &mut [f64],
        square: f64,
        slack: &mut [f64],
        support: &mut Vec<usize>,
        effort: Effort,
    ) {
        // Never to less than the rounding errors of q.
        let enough = (effort.tolerance * self.alpha).powi(2).max(ROUNDING * ROUNDING * square);
        for k in 0..self.width {
            if code[k] != 0.0 {
                self.take(slack, k, code[k]);
            }
        }
        for _ in 0..effort.sweeps {
            if self.sweep(code, slack, 0..self.width) <= enough {
                break;
            }
            support.clear();
            support.extend((0..self.width).filter(|&k| code[k] != 0.0));
            for _ in 0..effort.inner {
                if self.sweep(code, slack, support.iter().copied()) <= enough {
                    break;
                }
            }
            if effort.exact {
                self.solve_support(code, slack, support);
            }
        }
    }

    /// One step on each of some coordinates; returns the largest (change of c_k)²·G_kk.
    #[inline]
    fn sweep(&self, code: &mut [f64], slack: &mut [f64], coordinates: impl Iterator<Item = usize>) -> f64 {
        let mut largest = 0.0_f64;
        for k in coordinates {
            let before = code[k];
            if before == 0.0 && slack[k].abs() <= self.alpha {
                continue;
            }
            let curvature = self.gram[k * self.width + k];
            let goal = slack[k] + curvature * before;
            // An atom of length zero has no correlations and gets no code.
            let excess = goal.abs() - self.alpha;
            let after = if curvature > 0.0 && excess > 0.0 { excess.copysign(goal) / curvature } else { 0.0 };
            let change = after - before;
            if change != 0.0 {
                code[k] = after;
                self.take(slack, k, change);
                largest = largest.max(change * change * curvature);
            }
        }
        largest
    }

    /// Newton steps on the coordinates that are not zero, their signs held, until none of them becomes zero.
    fn solve_support(&self, code: &mut [f64], slack: &mut [f64], support: &mut Vec<usize>) {
        loop {
            support.retain(|&k| code[k] != 0.0);
            let n = support.len();
            let mut factor: Vec<f64> = support
                .iter()
                .flat_map(|k| support.iter().map(move |l| self.gram[k * self.width + l]))
                .collect();
            let mut step: Vec<f64> =
                support.iter().map(|&k| slack[k] - self.alpha.copysign(code[k])).collect();
            if !solve_definite(&mut factor, &mut step, n) {
                return; // parallel atoms: any division among them is as good
            }
            let reach = |(&k, step): (&usize, &f64)| -code[k] / step;
            let crossings =
                support.iter().zip(&step).map(reach).enumerate().filter(|(_, t)| *t > 0.0 && *t < 1.0);
            let first = crossings.min_by(|a, b| a.1.total_cmp(&b.1));
            let length = first.map_or(1.0, |(_, t)| t);
            for (&k, step) in support.iter().zip(&step) {
                code[k] += length * step;
                self.take(slack, k, length * step);
            }
            let Some((gone, _)) = first else { return };
            let k = support[gone];
            self.take(slack, k, -code[k]);
            code[k] = 0.0;
        }
    }

    /// q ← q − t·G_k.
    #[inline]
    fn take(&self, slack: &mut [f64], k: usize, t: f64) {
        let row = &self.gram[k * self.width..][..self.width];
        slack.iter_mut().zip(row).for_each(|(q, g)| *q -= t * g);
    }
}

/// Solves a symmetric positive definite n × n system in place, by Cholesky's method; false if it is not safely definite.
fn solve_definite(matrix: &mut [f64], side: &mut [f64], n: usize) -> bool {
    for i in 0..n {
        for j in 0..=i {
            let products = (0..j).map(|k| matrix[i * n + k] * matrix[j * n + k]).sum::<f64>();
            let left = matrix[i * n + j] - products;
            if i > j {
                matrix[i * n + j] = left / matrix[j * n + j];
            } else if left > 1e-12 * matrix[i * n + i] {
                matrix[i * n + i] = left.sqrt();
            } else {
                return false;
            }
        }
        let products = (0..i).map(|k| matrix[i * n + k] * side[k]).sum::<f64>();
        side[i] = (side[i] - products) / matrix[i * n + i];
    }
    for i in (0..n).rev() {
        let products = (i + 1..n).map(|k| matrix[k * n + i] * side[k]).sum::<f64>();
        side[i] = (side[i] - products) / matrix[i * n + i];
    }
    true
}
