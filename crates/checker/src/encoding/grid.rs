//! Centres on a grid: what storing them as a whole number and a fraction loses.
//!
//! # Problem
//! Noise is added to c = h·(m + φ), where h is the step of a grid, m a whole number and φ a number of single precision
//! with |φ| ≤ ½. What was meant is h·y. How far apart are they?
//!
//! # Guarantee
//! * For one y: y − m is exact for a whole number m nearest to y, since it is a multiple of the last place of y and at most
//!   ½ in size, so a difference (y − m) − φ of 0 is exact, and any other is rounded up. The next number below ½ is at a
//!   distance from 1 that is rounded to ½: adding 1 again tells.
//! * For every y with |y| ≤ 2²³: φ is the nearest number of single precision to one of at most ½, so off by at most 2⁻²⁶,
//!   and r coordinates by √r·2⁻²⁶. This is what a perturbed input may lose, whatever it is.

use crate::rounding::{above, mul_up, root_above};

/// Most units of the grid that the whole part of a centre may have: beyond, single precision has no room for noise.
pub const MOST_STEPS: f64 = 8_388_608.0;

/// |y − m − φ|, rounded up, in units of the grid; infinite where m is not a whole number nearest to y, or
/// too large, or φ is not finite.
pub fn grid_error(scaled: f64, whole: f32, fraction: f32) -> f64 {
    let whole = f64::from(whole);
    let rest = scaled - whole;
    let nearest = whole.fract() == 0.0 && rest.abs() <= 0.5 && rest + whole == scaled;
    // Written so that NaN fails.
    if !(nearest && whole.abs() <= MOST_STEPS) {
        return f64::INFINITY;
    }
    match (rest - f64::from(fraction)).abs() {
        0.0 => 0.0,
        left if left.is_finite() => above(left),
        _ => f64::INFINITY,
    }
}

/// √r·2⁻²⁶, rounded up: in units of the grid, at least the distance between r coordinates and what is stored for them,
/// whatever they are.
pub fn grid_error_everywhere(rank: usize) -> f64 {
    mul_up(root_above(rank as u64), 1.0 / 67_108_864.0)
}
