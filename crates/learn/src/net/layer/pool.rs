//! Pooling: the mean or the largest number of a window, channel by channel.
//!
//! Mean: y = (1/k)·Σ x over the k places of the window that lie inside the plane; dx += dy/k at each of them.
//! Largest: y = max x; dx += dy at the first place that has it. NaN counts as larger than any number, and so goes on.

use crate::net::architecture::{LayerKind, Window};
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

    /// Rows (or columns) of the plane that a window meets.
    fn reach(self, at: usize, size: usize) -> std::ops::Range<usize> {
        let first = at * self.window.stride;
        first.saturating_sub(self.window.padding)
            ..(first + self.window.kernel - self.window.padding).min(size)
    }

    /// One image, each with the distance of its rows.
    pub(crate) fn forward(self, (x, x_row): (&[f32], usize), (y, y_row): (&mut [f32], usize)) {
        let c = self.stored;
        for r in 0..self.to.height {
            for q in 0..self.to.width {
                let out = &mut y[r * y_row + q * c..][..c];
                let (rows, columns) = (self.reach(r, self.from.height), self.reach(q, self.from.width));
                let places = rows.len() * columns.len();
                let pixels = rows.flat_map(|i| columns.clone().map(move |j| (i, j)));
                let mut pixels = pixels.map(|(i, j)| &x[i * x_row + j * c..][..c]);
                match (self.pooling, pixels.next()) {
                    (_, None) => out.fill(0.0),
                    (Pooling::Mean, Some(first)) => {
                        out.copy_from_slice(first);
                        pixels.for_each(|pixel| out.iter_mut().zip(pixel).for_each(|(out, x)| *out += x));
                        let share = 1.0 / places as f32;
                        out.iter_mut().for_each(|out| *out *= share);
                    }
                    (Pooling::Largest, Some(first)) => {
                        out.copy_from_slice(first);
                        for pixel in pixels {
                            for (out, x) in out.iter_mut().zip(pixel) {
                                if is_larger(*x, *out) {
                                    *out = *x;
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// dx ← dx + the gradient of one image.
    pub(crate) fn backward(self, x: &[f32], dy: &[f32], dx: &mut [f32]) {
        let c = self.stored;
        for r in 0..self.to.height {
            for q in 0..self.to.width {
                let dy = &dy[(r * self.to.width + q) * c..][..c];
                let (rows, columns) = (self.reach(r, self.from.height), self.reach(q, self.from.width));
                let share = 1.0 / (rows.len() * columns.len()).max(1) as f32;
                let pixels = rows.flat_map(|i| columns.clone().map(move |j| (i * self.from.width + j) * c));
                match self.pooling {
                    Pooling::Mean => pixels.for_each(|at| {
                        dx[at..][..c].iter_mut().zip(dy).for_each(|(dx, dy)| *dx += share * dy);
                    }),
                    Pooling::Largest => {
                        let pixels: Vec<usize> = pixels.collect();
                        let Some((&first, rest)) = pixels.split_first() else { continue };
                        for lane in 0..c {
                            let best = rest.iter().fold(first, |best, &at| {
                                if is_larger(x[at + lane], x[best + lane]) { at } else { best }
                            });
                            dx[best + lane] += dy[lane];
                        }
                    }
                }
            }
        }
    }
}

fn is_larger(x: f32, than: f32) -> bool {
    x > than || (x.is_nan() && !than.is_nan())
}
