//! Pooling: the mean or the largest number of a window, channel by channel.
//!
//! Mean: y = (1/k)·Σ x over the k places of the window that lie inside the plane; dx += dy/k at each of them.
//! Largest: y = max x; dx += dy at the first place that has it. NaN counts as larger than any number, and so goes on.

use crate::net::architecture::{LayerKind, Window};
use crate::net::kernel::Isa;
use crate::net::kernel::pooling::{Along, largest, largest_gradient, mean, mean_gradient};
use crate::net::plan::Value;
use gambeson_data::dataset::Shape;

/// What is taken of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pooling {
    Mean,
    Largest,
}

/// A pooling layer's sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pool {
    pub(crate) pooling: Pooling,
    pub(crate) window: Window,
    pub(crate) from: Shape,
    pub(crate) to: Shape,
    /// Channels as stored.
    pub(crate) stored: usize,
}

impl Pool {
    /// Of a layer, if it is one.
    pub(crate) fn of(kind: &LayerKind, from: &Value, to: &Value) -> Option<Self> {
        let (pooling, window) = match *kind {
            LayerKind::AveragePool(window) => (Pooling::Mean, window),
            LayerKind::MaxPool(window) => (Pooling::Largest, window),
            LayerKind::GlobalAverage => {
                let kernel = from.shape.height.max(from.shape.width);
                (Pooling::Mean, Window { kernel, stride: kernel, padding: 0 })
            }
            LayerKind::Convolution(_) | LayerKind::Linear(_) => return None,
        };
        Some(Self { pooling, window, from: from.shape, to: to.shape, stored: from.stored })
    }

    /// Numbers of a row of the input, and of the output, where nothing lies between rows.
    pub(crate) fn rows(self) -> (usize, usize) {
        (self.from.width * self.stored, self.to.width * self.stored)
    }

    /// How windows lie along the rows of the plane, and along its columns.
    fn along(self) -> (Along, Along) {
        let Window { kernel, stride, padding } = self.window;
        let along = |size| Along { kernel, stride, padding, size };
        (along(self.from.height), along(self.from.width))
    }

    /// One image, each with the distance of its rows.
    pub(crate) fn forward(self, isa: Isa, (x, x_row): (&[f32], usize), (y, y_row): (&mut [f32], usize)) {
        let (c, (down, across)) = (self.stored, self.along());
        for r in 0..self.to.height {
            let out = &mut y[r * y_row..][..self.to.width * c];
            match self.pooling {
                Pooling::Mean => mean(isa, x, x_row, &down.reach(r), across, c, out),
                Pooling::Largest => largest(isa, x, x_row, &down.reach(r), across, c, out),
            }
        }
    }

    /// dx ← dx + the gradient of one image.
    pub(crate) fn backward(self, isa: Isa, x: &[f32], dy: &[f32], dx: &mut [f32]) {
        let (c, (down, across), (row, dy_row)) = (self.stored, self.along(), self.rows());
        for (r, dy) in dy.chunks_exact(dy_row).take(self.to.height).enumerate() {
            match self.pooling {
                Pooling::Mean => mean_gradient(isa, row, &down.reach(r), across, c, dy, dx),
                Pooling::Largest => largest_gradient(isa, x, row, &down.reach(r), across, c, dy, dx),
            }
        }
    }
}
