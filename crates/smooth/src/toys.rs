//! Two exact classifiers for tests and tours, whose smoothed versions are known in closed form.

use crate::classifier::Classifier;
use crate::input_map::InputMap;
use rayon::prelude::*;
use std::convert::Infallible;
use thiserror::Error;

/// Why parts do not make a toy.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ToyError {
    /// A number is NaN or infinite.
    #[error("{what} is {value}, but must be finite")]
    NotFinite {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// The normal vector is zero or empty.
    #[error("the normal vector of a half-space must not be zero")]
    NoNormal,
    /// The ball is empty, or has no dimension.
    #[error("a ball needs a radius above 0 and a centre of at least one number; its radius is {radius}")]
    NoBall {
        /// The radius given.
        radius: f64,
    },
}

fn finite(what: &'static str, values: &[f64]) -> Result<(), ToyError> {
    match values.iter().find(|value| !value.is_finite()) {
        Some(&value) => Err(ToyError::NotFinite { what, value }),
        None => Ok(()),
    }
}

/// Class 1 where wᵀx > b, else 0. Smoothed with N(0, σ²I) it answers 1 with probability Φ((wᵀx − b)/(σ|w|)).
#[derive(Clone, Debug, PartialEq)]
pub struct HalfSpace {
    normal: Vec<f64>,
    offset: f64,
}

impl HalfSpace {
    /// From w and b.
    pub fn new(normal: Vec<f64>, offset: f64) -> Result<Self, ToyError> {
        finite("a number of the normal vector", &normal)?;
        finite("the offset", &[offset])?;
        if normal.iter().all(|&w| w == 0.0) {
            return Err(ToyError::NoNormal);
        }
        Ok(Self { normal, offset })
    }

    /// w.
    pub fn normal(&self) -> &[f64] {
        &self.normal
    }

    /// b.
    pub fn offset(&self) -> f64 {
        self.offset
    }
}

impl Classifier for HalfSpace {
    type Error = Infallible;

    fn classes(&self) -> usize {
        2
    }

    fn dim(&self) -> usize {
        self.normal.len()
    }

    fn input_map(&self) -> Option<&InputMap> {
        None
    }

    fn classify(&self, batch: &[f32], rows: usize, out: &mut [u32]) -> Result<(), Infallible> {
        each_row(batch, rows, self.dim(), out, |row| {
            row.iter().zip(&self.normal).map(|(&x, w)| f64::from(x) * w).sum::<f64>() > self.offset
        });
        Ok(())
    }
}

/// Class 1 where |x − c|₂ ≤ R, else 0. Smoothed, |x − c|²/σ² is noncentral χ² with n degrees of freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct Ball {
    centre: Vec<f64>,
    radius: f64,
}

impl Ball {
    /// From c and R.
    pub fn new(centre: Vec<f64>, radius: f64) -> Result<Self, ToyError> {
        finite("a number of the centre", &centre)?;
        finite("the radius", &[radius])?;
        if centre.is_empty() || radius <= 0.0 {
            return Err(ToyError::NoBall { radius });
        }
        Ok(Self { centre, radius })
    }
}

impl Classifier for Ball {
    type Error = Infallible;

    fn classes(&self) -> usize {
        2
    }

    fn dim(&self) -> usize {
        self.centre.len()
    }

    fn input_map(&self) -> Option<&InputMap> {
        None
    }

    fn classify(&self, batch: &[f32], rows: usize, out: &mut [u32]) -> Result<(), Infallible> {
        let square = self.radius * self.radius;
        each_row(batch, rows, self.dim(), out, |row| {
            row.iter().zip(&self.centre).map(|(&x, c)| (f64::from(x) - c).powi(2)).sum::<f64>() <= square
        });
        Ok(())
    }
}

/// Panics unless the batch has `rows` rows of `dim` numbers and `out` a place for each answer.
fn each_row(batch: &[f32], rows: usize, dim: usize, out: &mut [u32], inside: impl Fn(&[f32]) -> bool + Sync) {
    assert!(batch.len() == rows * dim && out.len() == rows, "a batch of {rows} rows");
    // A row of a toy is cheap: only large batches are worth splitting, and callers mostly have batches on all threads.
    let parts = (1 << 16) / dim.max(1) + 1;
    out.par_chunks_mut(parts).zip(batch.par_chunks(parts * dim)).for_each(|(out, rows)| {
        for (out, row) in out.iter_mut().zip(rows.chunks_exact(dim)) {
            *out = u32::from(inside(row));
        }
    });
}
