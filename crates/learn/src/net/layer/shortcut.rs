//! Shortcuts: an earlier value is added, as it is or subsampled.
//!
//! Subsampled (option A of He et al. 2016): out[r, q, before + c] += x[s·r, s·q, c], all other channels get nothing. By data:
//! dx[s·r, s·q, c] += dz[r, q, before + c].

use crate::net::architecture::{Shortcut, ShortcutKind};
use crate::net::plan::{ConvolutionPlan, Value};
use gambeson_data::dataset::Shape;

/// A subsampled shortcut's sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subsampling {
    pub(crate) from: Shape,
    /// Channels of `from` as stored.
    pub(crate) from_stored: usize,
    pub(crate) to: Shape,
    /// Channels of `to` as stored.
    pub(crate) to_stored: usize,
    /// Rows and columns from one taken to the next.
    pub(crate) step: usize,
    /// Channels of zeros before.
    pub(crate) before: usize,
}

impl Subsampling {
    /// Of a convolution, if its shortcut is one.
    pub(crate) fn of(plan: &ConvolutionPlan, values: &[Value]) -> Option<Self> {
        let shortcut = plan.shortcut.filter(|shortcut| shortcut.kind == ShortcutKind::Subsampled)?;
        let from = &values[shortcut.from];
        let (step, before) = Shortcut::subsampling(plan.to, from.shape)?;
        let (from_stored, to_stored) = (from.stored, plan.outputs);
        Some(Self { from: from.shape, from_stored, to: plan.to, to_stored, step, before })
    }

    /// Row r of what is added, zeros included.
    pub(crate) fn row(self, x: &[f32], r: usize, out: &mut [f32]) {
        out.fill(0.0);
        let from = &x[r * self.step * self.from.width * self.from_stored..];
        for q in 0..self.to.width {
            let taken = &from[q * self.step * self.from_stored..][..self.from.channels];
            out[q * self.to_stored + self.before..][..self.from.channels].copy_from_slice(taken);
        }
    }

    /// What is added into an image whose other channels are zero already; each image with the distance of its rows.
    pub(crate) fn copy(self, (x, x_row): (&[f32], usize), (out, out_row): (&mut [f32], usize)) {
        for r in 0..self.to.height {
            for q in 0..self.to.width {
                let taken =
                    &x[r * self.step * x_row + q * self.step * self.from_stored..][..self.from.channels];
                out[r * out_row + q * self.to_stored + self.before..][..self.from.channels]
                    .copy_from_slice(taken);
            }
        }
    }

    /// dx ← dx + its part of dz, one image.
    pub(crate) fn add_gradient(self, dz: &[f32], dx: &mut [f32]) {
        for r in 0..self.to.height {
            for q in 0..self.to.width {
                let from =
                    &dz[(r * self.to.width + q) * self.to_stored + self.before..][..self.from.channels];
                let at = (r * self.step * self.from.width + q * self.step) * self.from_stored;
                dx[at..][..self.from.channels].iter_mut().zip(from).for_each(|(dx, dz)| *dx += dz);
            }
        }
    }
}
