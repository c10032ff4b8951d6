//! A truncated Newton step for ⟨M, VVᵀ⟩ on the product of spheres, by conjugate gradients on the tangent space.
//!
//! **Reference.** Absil, Baker and Gallivan (Found. Comput. Math. 7, 2007): Steihaug's truncated conjugate gradients
//! in Riemannian trust regions; here with the trust region as a bound on the length of rows and a line search after.
//! **Why.** On grids the landscape is so flat that quasi-Newton steps crawl; the Hessian is one block product.

use crate::evaluate::State;
use crate::sphere::{add, inner, project};

/// Conjugate gradient steps at most.
const MOST: usize = 200;

/// A direction of ascent and what it cost.
pub(crate) struct NewtonStep {
    pub(crate) direction: Vec<f64>,
    pub(crate) products: usize,
}

/// Solves H·d = −G approximately, H the Hessian of ⟨M, VVᵀ⟩/2: U ↦ P(M·U − Diag(y)·U). −H is positive definite near a
/// maximum; where it is not, the direction of negative curvature found is followed.
/// `product` is U ↦ M·U, which may be rough: it decides about a direction only.
pub(crate) fn step(product: impl Fn(&[f64]) -> Vec<f64>, state: &State) -> NewtonStep {
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
    let mut direction = vec![0.0; state.point.entries.len()];
    let mut residual = state.gradient.clone();
    let mut along = residual.clone();
    let mut square = inner(&residual, &residual);
    let first = square;
    // Superlinear: the residual asked for shrinks with the gradient itself.
    let enough = first * (0.01_f64).min((first.sqrt() / state.value.abs()).sqrt()).powi(2);
    let mut products = 0;
    while products < MOST && square > enough {
        let image = hessian(&along);
        products += 1;
        let curvature = inner(&along, &image);
        let size = inner(&along, &along);
        if curvature <= 1e-14 * size * state.value.abs() / state.dual.len() as f64 {
            if products == 1 {
                direction = along;
            }
            break;
        }
        let length = square / curvature;
        add(&mut direction, length, &along);
        add(&mut residual, -length, &image);
        let next = inner(&residual, &residual);
        let factor = next / square;
        square = next;
        along.iter_mut().zip(&residual).for_each(|(along, residual)| *along = residual + factor * *along);
    }
    NewtonStep { direction, products }
}
