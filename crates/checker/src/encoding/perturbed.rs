//! The error of encoding, for all inputs of a bounded length at once.
//!
//! # Problem
//! A radius R around z is a promise about every input u' that moves z by less. A program that is given u' computes z̃', off
//! by an error of its own, and asks the smoothed classifier there. For the promise to be about that program, the largest
//! such error is taken off the radius too, beside the error at the input itself.
//!
//! # Guarantee
//! * **How far u' may be.** A radius never exceeds [`MOST_DEVIATIONS`](crate::MOST_DEVIATIONS)·σ. Claims are about
//!   |u' − u|₂ < R/s and |u' − u|_∞ < R/κ; the second has |u' − u|₂ < √n·R/κ. A cosine transform keeps lengths.
//! * **The product.** |z̃_j − z_j| ≤ γ_n·Σ_i |U_ij|·|u_i| + n·η (`product.rs`), at most γ_n·|U_j|₂·|u|₂ + n·η by Cauchy and
//!   Schwarz. Over j: |z̃ − z|₂ ≤ γ_n·‖U‖_F·|u|₂ + √r·n·η, and ‖U‖_F ≤ √r·σ_max(U).
//! * **Values** that were divided, as bytes by 255, are off by one rounding each: at most 2⁻⁵³ of the length, and underflow.

use crate::rounding::{UNDERFLOW, UNIT, above, add_up, div_up, gamma, mul_up, root_above};
use crate::{InfToTwoBound, MOST_DEVIATIONS, NoiseLevel, SpectralBound};

/// At least |u' − u|₂ of every input u' that a radius can be about: `dim` coordinates, noise of level σ.
pub fn farthest_input(dim: usize, noise: NoiseLevel, kappa: InfToTwoBound, spectral: SpectralBound) -> f64 {
    let radius = mul_up(MOST_DEVIATIONS, noise.value());
    let by_length = div_up(radius, spectral.value());
    let by_entries = mul_up(root_above(dim as u64), div_up(radius, kappa.value()));
    by_length.max(by_entries)
}

/// At least the error of [`encode`](crate::encode) for every u with |u|₂ ≤ `length`; infinite where that is not a number
/// from 0 on.
pub fn encoding_error_within(dim: usize, rank: usize, spectral: SpectralBound, length: f64) -> f64 {
    if !(length >= 0.0) {
        return f64::INFINITY;
    }
    let root = root_above(rank as u64);
    let norm = mul_up(root, spectral.value());
    let lost = mul_up(root, mul_up(dim as f64, UNDERFLOW));
    add_up(mul_up(gamma(dim), mul_up(norm, length)), lost)
}

/// At least the distance of `dim` quotients, each rounded once, from the true ones, of length at most `length`; infinite
/// where that is not a number from 0 on.
pub fn quotient_error(dim: usize, length: f64) -> f64 {
    if !(length >= 0.0) {
        return f64::INFINITY;
    }
    // Of what was computed, or of what was meant: a unit more covers either.
    add_up(mul_up(UNIT, above(length)), mul_up(root_above(dim as u64), UNDERFLOW))
}
