//! Weights that nearly dominate the matrix, made to: before a proof that takes long.
//!
//! **Problem.** A solver's weights D are estimated to be just feasible, D ⪰ M, by brief looks at the spectrum. The matrices
//! of large sparse graphs have eigenvectors that live on a few rows, far from where it looks, and a proof that fails for
//! one of them may have taken minutes.
//!
//! **Method.** Eigenpairs (θ, u) of M u = θ D u with θ > 1, from a start vector of their own (Lanczos, with what it learnt
//! kept while D changes). To each weight d_i is added
//!
//! > δ_i = (θ − 1)·(Σ d_j u_j²)·d_i u_i² / Σ d_j u_j⁴,
//!
//! which makes u feasible: Σ δ_i u_i² = (θ − 1)·Σ d_i u_i². By the inequality of Cauchy and Schwarz Σ δ_i ≤ (θ − 1)·Σ d_i, what
//! multiplying all weights by θ would cost, and for a vector on a few rows it is next to nothing.
//!
//! **Guarantee.** None: a proposal to the checker.

use crate::linalg::lanczos::TopEigenspace;
use crate::linalg::operator::Operator;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Products with M between two repairs.
const LOOK: usize = 60;
/// Looks at most.
const LOOKS: usize = 120;
/// Looks in a row that find nothing, after which there is nothing.
const QUIET: usize = 4;
/// Eigenvectors repaired for at a time.
const AT_ONCE: usize = 12;
/// What a repair is larger by, since eigenvectors change with it.
const AMPLE: f64 = 1.2;

/// Weights for which no θ above 1 + `tolerance` is found any more; `stop` is asked between looks.
pub(crate) fn repaired(
    operator: &Operator<'_>,
    weights: &[f64],
    tolerance: f64,
    rng: &mut ChaCha8Rng,
    stop: &dyn Fn() -> bool,
) -> Vec<f64> {
    let mut weights: Vec<f64> = weights.iter().map(|w| w.max(f64::MIN_POSITIVE)).collect();
    let n = weights.len();
    let mut start = || (0..n).map(|_| StandardNormal.sample(rng)).collect::<Vec<f64>>();
    let mut space = TopEigenspace::new(operator, start());
    let (mut quiet, mut last) = (0, 1.0);
    for _ in 0..LOOKS {
        last = space.solve(operator, &weights, 0.1 * tolerance, LOOK).value;
        if last <= 1.0 + tolerance {
            // From one start vector only one vector of each eigenvalue is found.
            last =
                space.solve_afresh(operator, &weights, 0.1 * tolerance, LOOK, start(), &|| false).max(last);
        }
        quiet = if last > 1.0 + tolerance { 0 } else { quiet + 1 };
        if quiet == QUIET || stop() {
            break;
        }
        for (value, vector) in space.leading(&weights, AT_ONCE) {
            if value > 1.0 + 0.5 * tolerance {
                strengthen(&mut weights, &vector, AMPLE * (value - 1.0));
            }
        }
    }
    // The remaining excess is spread over all weights.
    if last > 1.0 {
        weights.iter_mut().for_each(|w| *w *= last);
    }
    weights
}

/// Adds δ, which is `excess` of the vector's weight.
fn strengthen(weights: &mut [f64], vector: &[f64], excess: f64) {
    let terms = || weights.iter().zip(vector).map(|(w, u)| (w * u * u, u * u));
    let second: f64 = terms().map(|(term, _)| term).sum();
    let fourth: f64 = terms().map(|(term, square)| term * square).sum();
    let factor = excess * second / fourth;
    if factor.is_finite() {
        weights.iter_mut().zip(vector).for_each(|(w, u)| *w += factor * *w * u * u);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::matrix::{Matrix, SparseMatrix};
    use crate::sdp::problem::{MatrixRole, OperatorNorm, Problem};
    use gambeson_checker::Domain;
    use rand::SeedableRng;

    /// Triangles beside each other: weights that are right but for a few of them are repaired there and nowhere else.
    #[test]
    fn what_is_missing_is_added_where_it_is_missing() {
        let (triangles, short) = (2000, [17, 900, 1313]);
        let n = 3 * triangles;
        // Each row has −1 beside the diagonal twice: −M's relaxation needs 1 on every row.
        let indices: Vec<usize> =
            (0..n).flat_map(|i| (i / 3 * 3..i / 3 * 3 + 3).filter(move |j| *j != i)).collect();
        let offsets: Vec<usize> = (0..=n).map(|i| 2 * i).collect();
        let values = vec![-1.0; 2 * n];
        let matrix = SparseMatrix { rows: n, columns: n, offsets, indices, values };
        let domain = Domain::Vertices;
        let problem =
            Problem::new(Matrix::Sparse(matrix), OperatorNorm::Quadratic, MatrixRole::Plain, domain, 1)
                .expect("a form");
        let operator = Operator::new(problem.quadratic(), domain);
        let mut weights = vec![1.0; n];
        short.iter().for_each(|t| weights[3 * t..3 * t + 3].fill(0.9));
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let repaired = repaired(&operator, &weights, 1e-6, &mut rng, &|| false);
        let added: f64 = repaired.iter().sum::<f64>() - weights.iter().sum::<f64>();
        assert!(added > 0.89 && added < 1.5, "0.9 is missing, {added} was added");
        let mut space = TopEigenspace::new(&operator, (0..n).map(|i| (i as f64).sin()).collect());
        let top = space.solve(&operator, &repaired, 1e-9, 400).value;
        assert!(top <= 1.0 + 2e-6, "{top}");
    }
}
