//! The grid that noisy inputs are rounded to: h = quantum·2^e, one for a run, part of its record.
//!
//! Without a projection the quantum is the step of the data, so that bytes and 16-bit samples lie on the grid or at dyadic
//! fractions of it and nothing is lost; with one, h is a power of two. By default σ/h lies in [128, 256): a draw is then
//! cheap to decide, and rounding adds less than 5·10⁻⁶ of σ² to the variance that the network sees. Radii do not depend on
//! h at all.

use gambeson_checker::rounding::mul_up;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use thiserror::Error;

/// What one unit of the numbers of an input means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Quantum {
    /// Numbers as they are.
    #[default]
    #[serde(rename = "1")]
    One,
    /// Bytes, pixels from 0 to 255.
    #[serde(rename = "1/255")]
    Byte,
    /// 16-bit samples of sound.
    #[serde(rename = "1/32768")]
    Sample,
}

impl Quantum {
    /// How many of them are 1.
    pub fn per_one(self) -> NonZeroU32 {
        const BYTES: NonZeroU32 = NonZeroU32::new(255).unwrap();
        const SAMPLES: NonZeroU32 = NonZeroU32::new(32_768).unwrap();
        match self {
            Self::One => NonZeroU32::MIN,
            Self::Byte => BYTES,
            Self::Sample => SAMPLES,
        }
    }

    /// 1/quantum.
    pub fn inverse(self) -> f64 {
        self.per_one().get().into()
    }

    /// Whether multiples of it are numbers of a machine, so that dividing by [`inverse`](Self::inverse) loses nothing.
    pub fn is_dyadic(self) -> bool {
        self != Self::Byte
    }

    /// As in records: `1`, `1/255`, `1/32768`.
    pub fn name(self) -> &'static str {
        match self {
            Self::One => "1",
            Self::Byte => "1/255",
            Self::Sample => "1/32768",
        }
    }
}

/// h = quantum·2^exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// What a unit of the coordinates means; 1 in the coordinates of a projection.
    pub quantum: Quantum,
    /// e.
    pub exponent: i32,
}

/// Why noise of some level has no such grid.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum GridError {
    /// Single precision has no room.
    #[error("noise of level {sigma} is beyond the range of single precision")]
    Level {
        /// σ.
        sigma: f64,
    },
    /// Too coarse or too fine for the sampler.
    #[error(
        "a grid of {} * 2^{exponent} has {cells} steps in sigma: there must be 1 to {MOST_CELLS}", .quantum.name()
    )]
    Cells {
        /// Of the grid.
        quantum: Quantum,
        /// Of the grid.
        exponent: i32,
        /// σ/h.
        cells: f64,
    },
}

/// Exponents of grids: h and all that is computed with it are then far from the ends of single precision.
const EXPONENTS: std::ops::RangeInclusive<i32> = -90..=90;

/// Most steps of a grid in one σ: beyond, single precision decides too few draws.
pub const MOST_CELLS: f32 = 65_536.0;

/// 2^exponent for exponents of normal numbers.
pub(super) fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(u64::from((exponent + 1023).unsigned_abs()) << 52)
}

/// σ/quantum, rounded up; exact for powers of two.
fn steps(sigma: f64, quantum: Quantum) -> f64 {
    if quantum.is_dyadic() { sigma * quantum.inverse() } else { mul_up(sigma, quantum.inverse()) }
}

impl Grid {
    /// The grid for noise of level σ: that of an exponent, or the one with σ/h in [128, 256).
    pub fn new(sigma: f64, quantum: Quantum, exponent: Option<i32>) -> Result<Self, GridError> {
        let steps = steps(sigma, quantum);
        if !(steps.is_finite() && steps >= f64::MIN_POSITIVE) {
            return Err(GridError::Level { sigma });
        }
        #[allow(clippy::cast_possible_truncation)] // eleven bits
        let magnitude = (steps.to_bits() >> 52) as i32 - 1023;
        let grid = Self { quantum, exponent: exponent.unwrap_or(magnitude - 7) };
        if !EXPONENTS.contains(&grid.exponent) {
            return Err(GridError::Level { sigma });
        }
        let cells = grid.cells(sigma);
        if !(1.0..=MOST_CELLS).contains(&cells) {
            let Self { quantum, exponent } = grid;
            return Err(GridError::Cells { quantum, exponent, cells: cells.into() });
        }
        Ok(grid)
    }

    /// s: σ/h, rounded up.
    #[allow(clippy::cast_possible_truncation)] // rounding is what is asked for
    pub fn cells(self, sigma: f64) -> f32 {
        let exact = steps(sigma, self.quantum) * power_of_two(-self.exponent);
        let near = exact as f32;
        if f64::from(near) < exact { near.next_up() } else { near }
    }

    /// h, to the nearest number.
    pub fn step(self) -> f64 {
        power_of_two(self.exponent) / self.quantum.inverse()
    }

    /// h, rounded up.
    pub fn step_above(self) -> f64 {
        if self.quantum.is_dyadic() { self.step() } else { self.step().next_up() }
    }

    /// A number of a unit in steps of the grid, exactly unless it underflows.
    pub(super) fn scaled(self, number: f64) -> f64 {
        number * power_of_two(-self.exponent)
    }
}
