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
/// Steps of many flips at once, at most.
const CLIMBS: usize = 60;

/// The best of `trials` rounded vertices after local search; entries are ±1. `weights` is a dual solution y: the
/// search climbs by x ← sign((M + Diag(y))·x), which never loses where M + Diag(y) ⪰ 0, before single flips.
pub fn best_vertex(
    operator: &Operator<'_>,
    rows: &UnitRows,
    weights: &[f64],
    trials: usize,
    rng: &mut impl Rng,
) -> Vec<f64> {
    let mut found: Vec<Vertex> = (0..trials.max(1))
        .map(|_| {
            let normal: Vec<f64> = (0..rows.columns).map(|_| StandardNormal.sample(rng)).collect();
            Vertex::new(operator, rows.entries.chunks_exact(rows.columns).map(|row| sign(dot(row, &normal))))
        })
        .collect();
    found.sort_by(|a, b| b.value.total_cmp(&a.value));
    found.truncate(IMPROVED);
    for vertex in &mut found {
        vertex.climb(operator, weights);
        vertex.value += flip_while_better(operator, &mut vertex.x, &mut vertex.image);
    }
    found.into_iter().max_by(|a, b| a.value.total_cmp(&b.value)).map(|vertex| vertex.x).unwrap_or_default()
}

fn sign(value: f64) -> f64 {
    if value < 0.0 { -1.0 } else { 1.0 }
}

struct Vertex {
    x: Vec<f64>,
    /// Mx.
    image: Vec<f64>,
    /// xᵀMx.
    value: f64,
}

impl Vertex {
    fn new(operator: &Operator<'_>, x: impl Iterator<Item = f64>) -> Self {
        let x: Vec<f64> = x.collect();
        let mut image = vec![0.0; x.len()];
        operator.apply(&x, &mut image);
        Self { value: dot(&x, &image), x, image }
    }

    /// Many flips at once while that gains: boldly with y = 0, right for M ⪰ 0, then with y.
    fn climb(&mut self, operator: &Operator<'_>, weights: &[f64]) {
        let mut damping = 0.0;
        for _ in 0..CLIMBS {
            let place = self.image.iter().zip(weights).zip(&self.x);
            let next = Vertex::new(operator, place.map(|((image, y), x)| sign(image + damping * y * x)));
            if next.value > self.value {
                *self = next;
            } else if damping == 0.0 {
                damping = 1.0;
            } else {
                break;
            }
        }
    }
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
