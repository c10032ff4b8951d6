//! Vertices with a large value: random hyperplanes through a feasible X = VVᵀ, then local search.
//!
//! **Reference.** Goemans and Williamson (1995) for the hyperplanes; for M ⪰ 0 the expected value of a rounded
//! vertex is at least 2/π of ⟨M, X⟩ (Nesterov 1998). The search flips single coordinates while that helps.
//! **Guarantee.** None here; the checker evaluates the vertex.

use crate::linalg::operator::{Operator, dot};
use crate::linalg::unit_rows::UnitRows;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// Vertices that are improved by local search.
const IMPROVED: usize = 4;
/// The most single flips where each costs half a product with M.
const COMPUTED_FLIPS: usize = 60;
/// Above this size coordinates are flipped in their order, not the best one first.
const SWEPT: usize = 20_000;
/// The most sweeps over all coordinates.
const SWEEPS: usize = 30;
/// The most steps of many flips at once.
const ASCENTS: usize = 60;

/// The best of `trials` rounded vertices after local search by single flips; where a flip needs a
/// row that must be computed, steps of many flips at once come first. Entries are ±1. `stop` ends the search.
pub fn best_vertex(
    operator: &Operator<'_>,
    rows: &UnitRows,
    trials: usize,
    rng: &mut impl Rng,
    stop: &dyn Fn() -> bool,
) -> Vec<f64> {
    // All trials in one block product: one reading of the matrix.
    let (n, trials) = (operator.dim(), trials.max(1));
    let normals: Vec<Vec<f64>> =
        (0..trials).map(|_| (0..rows.columns).map(|_| StandardNormal.sample(rng)).collect()).collect();
    let row_signs = |row: &[f64]| normals.iter().map(|normal| sign(dot(row, normal))).collect::<Vec<f64>>();
    let signs: Vec<f64> = rows.entries.chunks_exact(rows.columns).flat_map(row_signs).collect();
    let images = operator.apply_block(&signs, trials);
    let column = |of: &[f64], t: usize| (0..n).map(|i| of[i * trials + t]).collect::<Vec<f64>>();
    let mut found: Vec<Vertex> = (0..trials)
        .map(|t| {
            let (x, image) = (column(&signs, t), column(&images, t));
            Vertex { value: dot(&x, &image), x, image }
        })
        .collect();
    found.sort_by(|a, b| b.value.total_cmp(&a.value));
    found.truncate(trials.div_ceil(4).min(IMPROVED));
    for vertex in &mut found {
        if !operator.stores_rows() {
            vertex.flip_together(operator, stop);
        }
        vertex.value += flip_while_better(operator, &mut vertex.x, &mut vertex.image, stop);
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
    fn new(operator: &Operator<'_>, x: Vec<f64>) -> Self {
        let mut image = vec![0.0; x.len()];
        operator.apply(&x, &mut image);
        Self { value: dot(&x, &image), x, image }
    }

    /// Flips the most promising coordinates together, fewer of them when that gains nothing: one product per try.
    fn flip_together(&mut self, operator: &Operator<'_>, stop: &dyn Fn() -> bool) {
        let n = self.x.len();
        let mut together = n;
        for _ in 0..ASCENTS {
            let mut promising: Vec<(f64, usize)> = (0..n)
                .map(|i| (flip_gain(operator, &self.x, &self.image, i), i))
                .filter(|(gain, _)| *gain > 0.0)
                .collect();
            promising.sort_by(|a, b| b.0.total_cmp(&a.0));
            together = together.min(promising.len());
            if together == 0 || stop() {
                break;
            }
            let mut next = self.x.clone();
            promising[..together].iter().for_each(|&(_, i)| next[i] = -next[i]);
            let next = Vertex::new(operator, next);
            if next.value > self.value {
                *self = next;
            } else {
                together /= 2;
            }
        }
    }
}

/// What flipping coordinate i alone would gain: −4·x_i·Σ_{j≠i} M_ij·x_j.
fn flip_gain(operator: &Operator<'_>, x: &[f64], image: &[f64], i: usize) -> f64 {
    -4.0 * (x[i] * image[i] - operator.diagonal()[i])
}

/// Flips the coordinate that gains most until none gains; `image` is Mx and is kept so. Returns the gain.
fn flip_while_better(
    operator: &Operator<'_>,
    x: &mut [f64],
    image: &mut [f64],
    stop: &dyn Fn() -> bool,
) -> f64 {
    let n = x.len();
    if n > SWEPT && operator.stores_rows() {
        return sweep_while_better(operator, x, image, stop);
    }
    let mut row = vec![0.0; n];
    let mut total = 0.0;
    // Each flip gains, so the search ends. The limit guards against cycling in rounding errors, and where a row
    // must be computed, not read, against spending more on it than it is worth.
    let most = if operator.stores_rows() { 20 * n } else { COMPUTED_FLIPS };
    for _ in 0..most {
        let best = (0..n).map(|i| (flip_gain(operator, x, image, i), i)).max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((gained, i)) = best.filter(|(gained, _)| *gained > 1e-12 * dot(x, image).abs()) else {
            break;
        };
        if stop() {
            break;
        }
        operator.off_diagonal_row(i, &mut row);
        let change = -2.0 * x[i];
        image.iter_mut().zip(&row).for_each(|(image, entry)| *image += change * entry);
        image[i] += change * operator.diagonal()[i];
        x[i] = -x[i];
        total += gained;
    }
    total
}

/// Flips every coordinate that gains, sweep after sweep: each flip costs one row.
fn sweep_while_better(
    operator: &Operator<'_>,
    x: &mut [f64],
    image: &mut [f64],
    stop: &dyn Fn() -> bool,
) -> f64 {
    let mut total = 0.0;
    let least = 1e-12 * dot(x, image).abs() / x.len() as f64;
    for _ in 0..SWEEPS {
        let mut flipped = false;
        for i in 0..x.len() {
            let gained = flip_gain(operator, x, image, i);
            if !(gained > least) {
                continue;
            }
            let change = -2.0 * x[i];
            operator.each_off_diagonal(i, |j, entry| image[j] += change * entry);
            image[i] += change * operator.diagonal()[i];
            x[i] = -x[i];
            total += gained;
            flipped = true;
        }
        if !flipped || stop() {
            break;
        }
    }
    total
}
