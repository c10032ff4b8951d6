//! The coordinates of an input, and how far the computed ones may be from the true ones.
//!
//! # Problem
//! z = Uᵀu is computed in `f64`, z̃ is what comes out. The smoothed classifier is a function of z, so a radius proven
//! around z̃ is one around z less |z̃ − z|₂ ([`crate::LatentRadius::less`]).
//!
//! # Guarantee
//! Each z_j is a sum of n products. In whatever order it is computed, with or without fused multiply-adds,
//! |z̃_j − z_j| ≤ γ_n·Σ_i |U_ij|·|u_i| + n·η, where γ_n = nu/(1 − nu) and η bounds the loss of one operation to
//! underflow (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., section 3.1). The sum of absolute
//! values is itself computed that way and divided by 1 − γ_n. Everything after is rounded up.
//!
//! The bound is for U and u as stored, at this u. What a program computes for a moved input u' has an error of its own:
//! `perturbed.rs` bounds that for all of them.

use crate::rounding::{UNDERFLOW, add_up, div_up, ensure_ieee, gamma, mul_up, sqrt_up, sub_down, sum_up};
use crate::{CheckError, MatrixProblem, Rejected, SpectralBound};

/// Computed coordinates with what is proven about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinates {
    /// What was computed.
    pub values: Vec<f64>,
    /// The Euclidean distance of `values` from the true coordinates is at most this.
    pub error: f64,
}

/// z = Uᵀu in `f64`, with a bound on |z̃ − z|₂. `basis` is U, `dim` × `rank`, row-major; `input` is u, `dim` numbers.
pub fn encode(basis: &[f64], dim: usize, rank: usize, input: &[f64]) -> Result<Coordinates, CheckError> {
    ensure_ieee()?;
    if dim == 0 || rank == 0 {
        return Err(MatrixProblem::Empty.into());
    }
    if Some(basis.len()) != dim.checked_mul(rank) {
        return Err(MatrixProblem::WrongLength { rows: dim, columns: rank, found: basis.len() }.into());
    }
    if input.len() != dim {
        return Err(MatrixProblem::WrongLength { rows: dim, columns: 1, found: input.len() }.into());
    }
    let (mut values, mut sizes) = (vec![0.0; rank], vec![0.0; rank]);
    for (row, &u) in basis.chunks_exact(rank).zip(input) {
        for ((value, size), entry) in values.iter_mut().zip(&mut sizes).zip(row) {
            let product: f64 = entry * u;
            *value += product;
            *size += product.abs();
        }
    }
    let gamma = gamma(dim);
    let lost = mul_up(dim as f64, UNDERFLOW);
    let errors = sizes.iter().map(|&size| {
        let size = div_up(add_up(size, lost), sub_down(1.0, gamma));
        add_up(mul_up(gamma, size), lost)
    });
    match encoding_error_of_blocks(errors) {
        error if error.is_finite() => Ok(Coordinates { values, error }),
        _ => Err(first_not_finite(basis, rank, input)),
    }
}

/// The error of coordinates that were computed from ũ where u was meant: |Uᵀ(ũ − u)|₂ ≤ σ_max(U)·|ũ − u|₂ comes to
/// what [`encode`] says for ũ. `moved` is at least |ũ − u|₂. Infinite where one of them is not a number from 0 on.
pub fn encoding_error_of_moved(error: f64, moved: f64, spectral: SpectralBound) -> f64 {
    if moved >= 0.0 { encoding_error_of_both(error, mul_up(spectral.value(), moved)) } else { f64::INFINITY }
}

/// Two errors that come one after the other, rounded up.
pub fn encoding_error_of_both(first: f64, second: f64) -> f64 {
    // Written so that a negative number or a NaN hides nothing.
    if first >= 0.0 && second >= 0.0 { add_up(first, second) } else { f64::INFINITY }
}

/// The error of several blocks of coordinates together, channels of an image say: the root of the sum of squares,
/// rounded up. Not finite where an error is not a number from 0 on.
pub fn encoding_error_of_blocks(errors: impl IntoIterator<Item = f64>) -> f64 {
    let errors: Vec<f64> = errors.into_iter().collect();
    if !errors.iter().all(|&error| error >= 0.0 && error.is_finite()) {
        return f64::INFINITY;
    }
    let largest = errors.iter().fold(0.0, |most: f64, &error| most.max(error));
    if largest == 0.0 {
        return 0.0;
    }
    // Divided by the largest, no square overflows.
    let parts = errors.iter().map(|&error| div_up(error, largest));
    mul_up(largest, sqrt_up(sum_up(parts.map(|part| mul_up(part, part)))))
}

/// What kept the bound from being finite: a number that is not, or an overflow.
fn first_not_finite(basis: &[f64], rank: usize, input: &[f64]) -> CheckError {
    if let Some(at) = basis.iter().position(|entry| !entry.is_finite()) {
        return MatrixProblem::NotFinite { row: at / rank, column: at % rank }.into();
    }
    match input.iter().position(|entry| !entry.is_finite()) {
        Some(row) => MatrixProblem::NotFinite { row, column: 0 }.into(),
        None => Rejected::TooLarge.into(),
    }
}
