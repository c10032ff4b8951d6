//! A truncated Newton step for ⟨M, VVᵀ⟩ on the product of spheres, by conjugate gradients on the tangent space.
//!
//! **Reference.** Steihaug (SIAM J. Numer. Anal. 20, 1983); on manifolds Absil, Baker and Gallivan (Found. Comput.
//! Math. 7, 2007). **Why.** On grids the landscape is so flat that quasi-Newton steps crawl; the Hessian is one block
//! product. **Deviation.** The radius of the trust region is fixed, and a line search follows.

use crate::linalg::sphere::{add, inner, project};
use crate::sdp::burer_monteiro::evaluate::State;

/// The most conjugate gradient steps.
const MOST: usize = 200;

/// The longest step, per row on average.
const RADIUS: f64 = 0.5;

/// A direction of ascent and what it cost.
pub(crate) struct NewtonStep {
    pub(crate) direction: Vec<f64>,
    pub(crate) products: usize,
}

/// Solves H·d = −G approximately, H the Hessian of ⟨M, VVᵀ⟩/2: U ↦ P(M·U − Diag(y)·U). −H is positive definite near a
/// maximum; where it is not, or where the step leaves the trust region, the last direction is followed to its boundary.
/// `product` is U ↦ M·U, which single precision suffices for: it only decides on a direction. The step ends early, with what it has,
/// when `go_on` returns false.
pub(crate) fn step(
    product: impl Fn(&[f64]) -> Vec<f64>,
    state: &State,
    mut go_on: impl FnMut() -> bool,
) -> NewtonStep {
    let k = state.point.columns;
    let hessian = |u: &[f64]| {
        // −H, so that the system is positive definite: Diag(y)·U − M·U.
        let mut image = product(u);
        for ((image, u), y) in image.chunks_exact_mut(k).zip(u.chunks_exact(k)).zip(&state.dual) {
            image.iter_mut().zip(u).for_each(|(image, u)| *image = y * u - *image);
        }
        project(&state.point.entries, &mut image, k);
        image
    };
    let n = state.dual.len() as f64;
    let radius_square = RADIUS * RADIUS * n;
    let mut direction = vec![0.0; state.point.entries.len()];
    let mut residual = state.gradient.clone();
    let mut along = residual.clone();
    let mut square = inner(&residual, &residual);
    let first = square;
    // Superlinear: the required residual shrinks with the gradient itself.
    let enough = first * (0.01_f64).min((first.sqrt() / state.size).sqrt()).powi(2);
    let mut products = 0;
    while products < MOST && square > enough && (products == 0 || go_on()) {
        let image = hessian(&along);
        products += 1;
        let curvature = inner(&along, &image);
        let (size, ahead, gone) =
            (inner(&along, &along), inner(&direction, &along), inner(&direction, &direction));
        let length = square / curvature;
        let flat = curvature <= 1e-14 * size * state.size / n;
        if flat || gone + length * (2.0 * ahead + length * size) >= radius_square {
            // |direction + length·along| = radius.
            let root = (ahead * ahead + size * (radius_square - gone)).max(0.0).sqrt();
            add(&mut direction, (root - ahead) / size, &along);
            break;
        }
        add(&mut direction, length, &along);
        add(&mut residual, -length, &image);
        let next = inner(&residual, &residual);
        let factor = next / square;
        square = next;
        along.iter_mut().zip(&residual).for_each(|(along, residual)| *along = residual + factor * *along);
    }
    NewtonStep { direction, products }
}
