//! Vertices with a large value: random hyperplanes through a feasible X = VVᵀ, then local search.
//!
//! **Reference.** Goemans and Williamson (1995) for the hyperplanes; for M ⪰ 0 the expected value of a rounded
//! vertex is at least 2/π of ⟨M, X⟩ (Nesterov 1998). The search flips single coordinates while that helps.
//! **Guarantee.** None here; the checker evaluates the vertex.

use crate::operator::{Operator, dot};
use crate::primal::UnitRows;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// Vertices that are improved by local search.
const IMPROVED: usize = 4;

/// The best of `trials` rounded vertices after local search; entries are ±1.
pub fn best_vertex(operator: &Operator<'_>, rows: &UnitRows, trials: usize, rng: &mut impl Rng) -> Vec<f64> {
    let n = operator.dim();
    let mut found: Vec<(f64, Vec<f64>, Vec<f64>)> = (0..trials.max(1))
        .map(|_| {
            let normal: Vec<f64> = (0..rows.columns).map(|_| StandardNormal.sample(rng)).collect();
            let sign = |row: &[f64]| if dot(row, &normal) < 0.0 { -1.0 } else { 1.0 };
            let x: Vec<f64> = rows.entries.chunks_exact(rows.columns).map(sign).collect();
            let mut image = vec![0.0; n];
            operator.apply(&x, &mut image);
            (dot(&x, &image), x, image)
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.truncate(IMPROVED);
    for (value, x, image) in &mut found {
        *value += flip_while_better(operator, x, image);
    }
    found.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, x, _)| x).unwrap_or_default()
}

/// Flips the coordinate that gains most until none gains; `image` is Mx and is kept so. Returns the gain.
fn flip_while_better(operator: &Operator<'_>, x: &mut [f64], image: &mut [f64]) -> f64 {
    let n = x.len();
    let mut row = vec![0.0; n];
    let mut total = 0.0;
    // Each flip gains, so it ends by itself; the limit only guards against cycling in rounding errors.
    for _ in 0..20 * n {
        // Flipping i changes the value by −4·x_i·(Σ_{j≠i} M_ij·x_j).
        let gain = |i: usize| -4.0 * (x[i] * image[i] - operator.diagonal()[i]);
        let best = (0..n).map(|i| (gain(i), i)).max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((gained, i)) = best.filter(|(gained, _)| *gained > 1e-12 * dot(x, image).abs()) else { break };
        operator.off_diagonal_row(i, &mut row);
        let change = -2.0 * x[i];
        image.iter_mut().zip(&row).for_each(|(image, entry)| *image += change * entry);
        image[i] += change * operator.diagonal()[i];
        x[i] = -x[i];
        total += gained;
    }
    total
}
