//! What is smoothed: a classifier of vectors, called by the batch; and two exact ones for tests and tours.

use crate::input_map::Feed;
use rayon::prelude::*;
use std::convert::Infallible;
use thiserror::Error;

/// The answer of a classifier that has none, such as a network that says NaN. It counts as a class of its own, against
/// every other.
pub const NONE: u32 = u32::MAX;

/// A function from vectors to classes. What it computes need not be exact, only always the same: a batch of one size
/// gets the same answers whichever thread asks.
pub trait Classifier: Sync {
    /// Why it cannot answer.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Number of classes; answers are below it, or [`NONE`].
    fn classes(&self) -> usize;

    /// Numbers in a row.
    fn dim(&self) -> usize;

    /// How it takes its rows; where there is none, as they are, images in the order channel, row, column.
    fn feed(&self) -> Option<&Feed>;

    /// The class of every row of a batch, `rows` × [`dim`](Self::dim), row after row, each as [`feed`](Self::feed) says.
    /// May be called from several threads at once.
    fn classify(&self, batch: &[f32], rows: usize, out: &mut [u32]) -> Result<(), Self::Error>;
}

/// No classifier has such parts.
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
    /// The ball has no points, or no dimension.
    #[error("a ball needs a radius above 0 and a centre of at least one number; radius {radius}")]
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

    fn feed(&self) -> Option<&Feed> {
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

    fn feed(&self) -> Option<&Feed> {
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

/// Panics unless the batch has `rows` rows of `dim` numbers and there is a place for each answer.
fn each_row(batch: &[f32], rows: usize, dim: usize, out: &mut [u32], inside: impl Fn(&[f32]) -> bool + Sync) {
    assert!(batch.len() == rows * dim && out.len() == rows, "a batch of {rows} rows");
    // A row of a toy is cheap: only large batches are worth sharing, and callers mostly share batches themselves.
    let parts = (1 << 16) / dim.max(1) + 1;
    out.par_chunks_mut(parts).zip(batch.par_chunks(parts * dim)).for_each(|(out, rows)| {
        for (out, row) in out.iter_mut().zip(rows.chunks_exact(dim)) {
            *out = u32::from(inside(row));
        }
    });
}
