//! What noise is added to: a row of numbers on or between the points of a grid, and how a classifier takes them.

use super::grid::{Grid, power_of_two};
use super::stream::PAIRS;
use crate::input_map::{Affine, InputMap};
use gambeson_checker::rounding::mul_up;
use gambeson_checker::{MOST_STEPS, encoding_error_of_blocks, grid_error};
use thiserror::Error;

/// c = h·(m + φ) in every coordinate, and the map from whole numbers K of the grid to what is classified:
/// gain·K + shift, rounded once. Coordinates are in the order in which noise is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Centre {
    /// m. Zeros are positive, so that m + k is never −0 and a classifier sees K and nothing else.
    pub(super) whole: Vec<f32>,
    /// φ, |φ| ≤ ½.
    pub(super) fraction: Vec<f32>,
    pub(super) gain: Vec<f32>,
    pub(super) shift: Vec<f32>,
    /// Of each block of [`PAIRS`] coordinates, whether gain and shift are the same in all of it: then they need not be
    /// read one by one.
    pub(super) even: Vec<bool>,
    /// s = σ/h.
    pub(super) cells: f32,
    error: f64,
}

/// Why there is no noise around a row.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CentreError {
    /// A number so large that single precision has no room for noise around it.
    #[error(
        "coordinate {index} (counting from 0) is {steps} steps of the grid from 0; more than {MOST_STEPS} leave no room \
         for noise: use a larger sigma or smaller inputs"
    )]
    TooFar {
        /// Which coordinate.
        index: usize,
        /// In units of the grid.
        steps: f64,
    },
}

impl Centre {
    /// Noise of level σ around a row of numbers in units of the grid's quantum, in the order and on the scale in which a
    /// classifier takes them; without a map as they are, in units of 1.
    ///
    /// Panics unless the map takes as many numbers.
    #[allow(clippy::cast_possible_truncation)] // whole numbers up to 2²³; the other roundings are accounted for
    pub fn new(row: &[f64], sigma: f64, grid: Grid, map: Option<&InputMap>) -> Result<Self, CentreError> {
        assert!(map.is_none_or(|map| map.dim() == row.len()), "one number per coordinate");
        let zeros = || vec![0.0; row.len()];
        let mut centre = Self {
            whole: zeros(),
            fraction: zeros(),
            gain: zeros(),
            shift: zeros(),
            even: Vec::new(),
            cells: grid.cells(sigma),
            error: 0.0,
        };
        let step = grid.step();
        let mut errors = Vec::with_capacity(row.len());
        for (index, &number) in row.iter().enumerate() {
            let plain = (index, Affine::IDENTITY);
            let (place, Affine { scale, shift }) = map.map_or(plain, |map| map.place(index));
            let scaled = grid.scaled(number);
            let nearest = scaled.round_ties_even();
            // Written so that NaN is refused.
            if !(nearest.abs() <= MOST_STEPS) {
                return Err(CentreError::TooFar { index, steps: scaled });
            }
            let whole = nearest as f32 + 0.0; // −0 + 0 = 0
            let fraction = (scaled - nearest) as f32;
            (centre.whole[place], centre.fraction[place]) = (whole, fraction);
            (centre.gain[place], centre.shift[place]) = ((scale * step) as f32, shift as f32);
            // Scaling by a power of two loses nothing but what underflows: then all of it counts as lost.
            let lost = if scaled * power_of_two(grid.exponent) == number { 0.0 } else { number.abs() };
            let stored = match grid_error(scaled, whole, fraction) {
                0.0 => 0.0,
                steps => mul_up(grid.step_above(), steps),
            };
            errors.push(stored.max(lost));
        }
        centre.error = encoding_error_of_blocks(errors);
        centre.even = even(&centre.gain, &centre.shift);
        Ok(centre)
    }

    /// The same for a classifier that takes the whole numbers K themselves.
    #[must_use]
    pub fn in_steps(mut self) -> Self {
        self.gain.fill(1.0);
        self.shift.fill(0.0);
        self.even.fill(true);
        self
    }

    /// No decided |K| is above this. Radii of normals are below √(2·46·ln 2) < 8, since a smaller uniform number than
    /// 2⁻⁴⁶ is never decided (`rounded.rs`); twice that is allowed for.
    pub fn most_steps(&self) -> f32 {
        let farthest = self.whole.iter().fold(0.0, |most: f32, whole| most.max(whole.abs()));
        farthest + 16.0 * self.cells + 1.0
    }

    /// K itself around whole and fractional parts.
    #[cfg(test)]
    pub(super) fn of_parts(whole: Vec<f32>, fraction: Vec<f32>, cells: f32) -> Self {
        let (gain, shift) = (vec![1.0; whole.len()], vec![0.0; whole.len()]);
        let even = even(&gain, &shift);
        Self { whole, fraction, gain, shift, even, cells, error: 0.0 }
    }

    /// m and φ.
    #[cfg(test)]
    pub(crate) fn parts(&self) -> (&[f32], &[f32]) {
        (&self.whole, &self.fraction)
    }

    /// Proven: what is stored is no further from the numbers given than this, in ℓ2 and in units of 1.
    pub fn error(&self) -> f64 {
        self.error
    }
}

fn even(gain: &[f32], shift: &[f32]) -> Vec<bool> {
    let same = |numbers: &[f32]| numbers.iter().all(|&number| number == numbers[0]);
    gain.chunks(PAIRS).zip(shift.chunks(PAIRS)).map(|(gain, shift)| same(gain) && same(shift)).collect()
}
