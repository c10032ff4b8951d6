//! Tilted coordinates: a coordinate projection that leans a little towards the coordinates left out.
//!
//! **Problem.** For chosen coordinates S and the others R, the subspace is spanned by the columns of Z = [I; B], B
//! small, R × S. Leaning brings energy, 2⟨M_RS, B⟩ to first order, and costs κ²: at most 2·Σ|b| to first order, which
//! is ‖Π‖₁ − |S| (Fact B.4 of the paper: ‖Π‖²_{∞→2} ≤ ‖Π‖₁), and exactly (1 + Σ|b|)² − 1, divided by the length of the
//! vector, for a single one. So maximise ⟨M, Π(B)⟩ − 2·price·Σ w|b|: a lasso. A whole coordinate costs 1 and brings the
//! energy τ of the best one left out, so a lean pays while |M_ij| exceeds τ, and, where only a part of τ is missing, for
//! smaller M_ij too.
//!
//! **Method.** Proximal gradient steps with the curvature M_ii − M_jj of each entry; halved until the objective rises.
//! The weights w are 1, or the entries |X_ij| of the relaxation's solution at an earlier B, its gradient: where X_ij is
//! small, leaning costs less than the sum of absolute values says.
//!
//! Only the columns of B that lean enter the linear algebra, so a step costs little more than looking at every entry.
//!
//! **Guarantee.** None is needed: κ of the result is proven by the checker like that of any basis.

use crate::linalg::matrix::DenseMatrix;
use crate::linalg::orthonormal::{orthonormal_basis, sum_of_products};
use crate::linalg::products::rows_times;
use crate::linalg::unit_rows::UnitRows;
use crate::projection::energy::Energy;

/// Steps at most.
const STEPS: usize = 20;
/// Relative rise of the objective, in units of what the tilt has brought, at which to stop.
const SMALL: f64 = 1e-3;
/// Least weight of an entry: the solution of a relaxation is not unique, and one of its zeros proves nothing.
const LEAST_WEIGHT: f64 = 0.5;

/// The problem for one set of coordinates.
pub(crate) struct Tilt<'a> {
    energy: &'a Energy,
    chosen: &'a [usize],
    others: Vec<usize>,
    /// w, others × chosen.
    weights: Vec<f64>,
}

/// A tilted subspace.
#[derive(Clone)]
pub(crate) struct Tilted {
    /// B, others × chosen.
    lean: Vec<f64>,
    /// ⟨M, I − Π⟩.
    pub(crate) error: f64,
    /// Energy less the price of the lean.
    objective: f64,
}

impl Tilted {
    /// |S| + 2·Σ|b|: about ‖Π‖₁, which κ² does not exceed.
    pub(crate) fn estimate(&self, chosen: usize) -> f64 {
        chosen as f64 + 2.0 * self.lean.iter().map(|b| b.abs()).sum::<f64>()
    }
}

impl<'a> Tilt<'a> {
    /// With weights from the solution of a relaxation, or all 1.
    pub(crate) fn new(energy: &'a Energy, chosen: &'a [usize], solution: Option<&UnitRows>) -> Self {
        let mut free = vec![true; energy.dim];
        chosen.iter().for_each(|&i| free[i] = false);
        let diagonal = energy.diagonal();
        let others: Vec<usize> = (0..energy.dim).filter(|&j| free[j] && diagonal[j] > 0.0).collect();
        let weight = |i: usize, j: usize| {
            let Some(rows) = solution else { return 1.0 };
            sum_of_products(rows.row(i), rows.row(j)).abs().clamp(LEAST_WEIGHT, 1.0)
        };
        let weights = others.iter().flat_map(|&j| chosen.iter().map(move |&i| weight(i, j))).collect();
        Self { energy, chosen, others, weights }
    }

    fn energy_of_chosen(&self) -> f64 {
        self.chosen.iter().map(|&i| self.energy.at(i, i)).sum()
    }

    /// (chosen, other) coordinates in the order of B.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.others.iter().flat_map(|&j| self.chosen.iter().map(move |&i| (i, j)))
    }

    /// The price above which nothing leans.
    pub(crate) fn highest_price(&self) -> f64 {
        self.pairs().zip(&self.weights).map(|((i, j), w)| self.energy.at(i, j).abs() / w).fold(0.0, f64::max)
    }

    /// The best tilt at a price, from a tilt at another.
    pub(crate) fn at(&self, price: f64, start: Option<&Tilted>) -> Tilted {
        let curvature: Vec<f64> = self
            .pairs()
            .map(|(i, j)| (self.energy.at(i, i) - self.energy.at(j, j)).max(price).max(f64::MIN_POSITIVE))
            .collect();
        let count = curvature.len();
        let untilted = self.energy_of_chosen();
        let mut state = self.state(start.map_or(vec![0.0; count], |start| start.lean.clone()), price);
        let mut step = 1.0;
        for _ in 0..STEPS {
            let gradient = self.gradient(&state);
            let moved = loop {
                let lean = (0..count).map(|e| {
                    let scale = step / curvature[e];
                    soft(state.tilted.lean[e] + scale * gradient[e], scale * price * self.weights[e])
                        .clamp(-1.0, 1.0)
                });
                let moved = self.state(lean.collect(), price);
                if moved.tilted.objective > state.tilted.objective || step < 1e-2 {
                    break moved;
                }
                step *= 0.5;
            };
            let rise = moved.tilted.objective - state.tilted.objective;
            if !(rise > 0.0) {
                break;
            }
            state = moved;
            if rise < SMALL * (state.tilted.objective - untilted).abs() {
                break;
            }
        }
        state.tilted
    }

    /// An orthonormal basis of the tilted subspace.
    pub(crate) fn basis(&self, tilted: &Tilted) -> Option<DenseMatrix> {
        let s = self.chosen.len();
        let mut vectors = vec![vec![0.0; self.energy.dim]; s];
        for (a, (&i, vector)) in self.chosen.iter().zip(&mut vectors).enumerate() {
            vector[i] = 1.0;
            self.others.iter().enumerate().for_each(|(b, &j)| vector[j] = tilted.lean[b * s + a]);
        }
        orthonormal_basis(self.energy.dim, vectors.iter().map(Vec::as_slice))
    }

    /// Everything the gradient needs. P = (ZᵀZ)⁻¹ differs from I on the leaning columns only.
    fn state(&self, lean: Vec<f64>, price: f64) -> State {
        let s = self.chosen.len();
        let rows: Vec<Vec<(usize, f64)>> = lean
            .chunks_exact(s.max(1))
            .map(|row| row.iter().copied().enumerate().filter(|&(_, b)| b != 0.0).collect())
            .collect();
        let mut leaning: Vec<usize> = rows.iter().flatten().map(|&(a, _)| a).collect();
        leaning.sort_unstable();
        leaning.dedup();
        // W = M·Z, column by column of Z: W[a] has n entries.
        let mut image: Vec<Vec<f64>> = self.chosen.iter().map(|&i| self.energy.row(i).to_vec()).collect();
        for (&j, row) in self.others.iter().zip(&rows) {
            for &(a, b) in row {
                image[a].iter_mut().zip(self.energy.row(j)).for_each(|(w, m)| *w += b * m);
            }
        }
        // The leaning rows of K = ZᵀW, leaning × s, and G = ZᵀZ, leaning × leaning.
        let k = leaning.len();
        let place: Vec<Option<usize>> = {
            let mut place = vec![None; s];
            leaning.iter().enumerate().for_each(|(at, &a)| place[a] = Some(at));
            place
        };
        let mut form = vec![0.0; k * s];
        let mut gram = vec![0.0; k * k];
        for (at, &a) in leaning.iter().enumerate() {
            (0..s).for_each(|c| form[at * s + c] = image[c][self.chosen[a]]);
            gram[at * k + at] = 1.0;
        }
        for (&j, row) in self.others.iter().zip(&rows) {
            for &(a, b) in row {
                let at = place[a].unwrap_or(0);
                (0..s).for_each(|c| form[at * s + c] += b * image[c][j]);
                row.iter().for_each(|&(c, d)| gram[at * k + place[c].unwrap_or(0)] += b * d);
            }
        }
        let inverse = inverse(gram, k);
        let still = (0..s).filter(|&a| place[a].is_none()).map(|a| image[a][self.chosen[a]]).sum::<f64>();
        let kept: f64 = still
            + (0..k)
                .flat_map(|p| (0..k).map(move |q| (p, q)))
                .map(|(p, q)| inverse[p * k + q] * form[q * s + leaning[p]])
                .sum::<f64>();
        let cost: f64 = lean.iter().zip(&self.weights).map(|(b, w)| b.abs() * w).sum();
        let tilted = Tilted { lean, error: 1.0 - kept, objective: kept - 2.0 * price * cost };
        State { tilted, rows, leaning, image, form, inverse }
    }

    /// Half the gradient of the energy with respect to B: the rows R of W·P − Z·P·K·P.
    fn gradient(&self, state: &State) -> Vec<f64> {
        let (s, k) = (self.chosen.len(), state.leaning.len());
        let mut gradient: Vec<f64> =
            self.others.iter().flat_map(|&j| state.image.iter().map(move |column| column[j])).collect();
        if k == 0 {
            return gradient;
        }
        // Multiplies the leaning columns of rows by P.
        let times_inverse = |rows: &mut [f64]| {
            let old: Vec<f64> =
                rows.chunks_exact(s).flat_map(|row| state.leaning.iter().map(|&a| row[a])).collect();
            let new = rows_times(&old, k, &state.inverse, k);
            for (row, new) in rows.chunks_exact_mut(s).zip(new.chunks_exact(k)) {
                state.leaning.iter().zip(new).for_each(|(&a, &x)| row[a] = x);
            }
        };
        times_inverse(&mut gradient);
        // P·K·P for the leaning rows.
        let mut inner = rows_times(&state.inverse, k, &state.form, s);
        times_inverse(&mut inner);
        for (row, lean) in gradient.chunks_exact_mut(s).zip(&state.rows) {
            for &(a, b) in lean {
                if let Ok(at) = state.leaning.binary_search(&a) {
                    row.iter_mut().zip(&inner[at * s..][..s]).for_each(|(x, y)| *x -= b * y);
                }
            }
        }
        gradient
    }
}

struct State {
    tilted: Tilted,
    /// The entries of B that are not zero, row by row.
    rows: Vec<Vec<(usize, f64)>>,
    /// Columns with any.
    leaning: Vec<usize>,
    /// W = M·Z by columns.
    image: Vec<Vec<f64>>,
    /// The leaning rows of K = ZᵀMZ.
    form: Vec<f64>,
    /// P on the leaning columns.
    inverse: Vec<f64>,
}

fn soft(x: f64, threshold: f64) -> f64 {
    (x.abs() - threshold).max(0.0).copysign(x)
}

/// The inverse of a symmetric matrix that is at least I, by elimination without pivots.
fn inverse(mut matrix: Vec<f64>, k: usize) -> Vec<f64> {
    for p in 0..k {
        let pivot = 1.0 / matrix[p * k + p];
        let row: Vec<f64> = matrix[p * k..][..k].to_vec();
        for i in (0..k).filter(|&i| i != p) {
            let factor = matrix[i * k + p] * pivot;
            if factor != 0.0 {
                matrix[i * k..][..k].iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
            }
            matrix[i * k + p] = -factor;
        }
        matrix[p * k..][..k].iter_mut().for_each(|x| *x *= pivot);
        matrix[p * k + p] = pivot;
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A form of trace one with decreasing diagonal and correlations everywhere.
    fn energy(n: usize) -> Energy {
        let pseudo = |i: usize| ((i * 7919 + 13) % 1009) as f64 / 504.0 - 1.0;
        let factor: Vec<f64> = (0..n * n)
            .map(|at| (if at % (n + 1) == 0 { 3.0 } else { pseudo(at) }) * 0.9_f64.powf((at / n) as f64))
            .collect();
        let entry = |i: usize, j: usize| (0..n).map(|k| factor[i * n + k] * factor[j * n + k]).sum::<f64>();
        let mut entries: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
        let trace: f64 = entries.iter().step_by(n + 1).sum();
        entries.iter_mut().for_each(|entry| *entry /= trace);
        Energy { dim: n, entries, total: 1.0, mean: None, samples: 100 }
    }

    #[test]
    fn the_gradient_is_that_of_the_energy() {
        let energy = energy(9);
        let chosen = [0, 1, 3, 4];
        let tilt = Tilt::new(&energy, &chosen, None);
        // Some entries lean, others do not, one column stays.
        let lean: Vec<f64> = (0..20_u8)
            .map(|e| if e % 4 == 2 || e % 3 == 0 { 0.0 } else { 0.03 * f64::from(e) - 0.2 })
            .collect();
        let gradient = tilt.gradient(&tilt.state(lean.clone(), 0.0));
        for e in 0..20 {
            let kept = |step: f64| {
                let mut lean = lean.clone();
                lean[e] += step;
                tilt.state(lean, 0.0).tilted.objective
            };
            let slope = (kept(1e-5) - kept(-1e-5)) / 2e-5;
            assert!((slope - 2.0 * gradient[e]).abs() < 1e-8, "{e}: {slope} {}", 2.0 * gradient[e]);
        }
    }

    #[test]
    fn what_a_tilt_says_is_so() {
        let energy = energy(12);
        let chosen = [0, 1, 2, 4, 5];
        let tilt = Tilt::new(&energy, &chosen, None);
        let untilted = 1.0 - tilt.energy_of_chosen();
        let mut last = untilted;
        for part in [1.0, 0.7, 0.4, 0.1, 0.01] {
            let tilted = tilt.at(part * tilt.highest_price(), None);
            let basis = tilt.basis(&tilted).expect("a basis");
            assert!((energy.error(&basis) - tilted.error).abs() < 1e-12);
            assert!(tilted.error <= last + 1e-12, "a lower price brings energy");
            last = tilted.error;
            // No entry could be changed to bring noticeably more.
            let price = part * tilt.highest_price();
            let brought = tilted.objective - tilt.energy_of_chosen();
            for e in 0..tilted.lean.len() {
                for change in [-0.1, -0.02, -tilted.lean[e], 0.02, 0.1] {
                    let mut lean = tilted.lean.clone();
                    lean[e] += change;
                    let more = tilt.state(lean, price).tilted.objective - tilted.objective;
                    assert!(more <= 0.02 * brought + 1e-9, "{part}, {e}: {more} more than {brought}");
                }
            }
        }
        assert!(last < untilted);
    }
}
