//! A linear layer: y = W·x + b, then ReLU where asked for.
//!
//! By data dx = Wᵀ·dy, by weights dW = Σ dy·xᵀ and db = Σ dy over the images, dy first set to 0 where the ReLU let nothing
//! through. x is a value as stored, pixel by pixel with its channels filled up, but for the network's input; the rows of W
//! follow that order, with zeros where x has only filling.

use crate::net::architecture::Linear;
use crate::net::kernel::product::{Columns, End, Rows, Sizes, pack, product};
use crate::net::kernel::{Isa, padded};
use crate::net::plan::Value;
use gambeson_data::dataset::Shape;

/// A linear layer's sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinearPlan {
    pub(crate) from: Shape,
    /// Channels of the input as stored.
    pub(crate) stored: usize,
    /// Channels of the input's gradient as stored.
    gradient: usize,
    pub(crate) outputs: usize,
    pub(crate) relu: bool,
}

/// Its weights as the products want them.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinearWeights {
    /// Features × outputs, packed.
    forward: Vec<f32>,
    /// Outputs × features, packed.
    by_data: Vec<f32>,
    bias: Vec<f32>,
}

impl LinearPlan {
    /// On a value.
    pub(crate) fn new(from: &Value, linear: Linear) -> Self {
        let Value { shape, stored, gradient, .. } = *from;
        Self { from: shape, stored, gradient, outputs: linear.outputs, relu: linear.relu }
    }

    /// Numbers of x as stored.
    pub(crate) fn features(self) -> usize {
        self.from.height * self.from.width * self.stored
    }

    /// Numbers of dx as stored.
    pub(crate) fn gradient_features(self) -> usize {
        self.from.height * self.from.width * self.gradient
    }

    pub(crate) fn outputs_stored(self) -> usize {
        padded(self.outputs)
    }

    /// Where number (channel, row, column) of x is stored.
    fn feature(self, index: usize) -> usize {
        self.place(index, self.stored)
    }

    fn place(self, index: usize, stored: usize) -> usize {
        let plane = self.from.height * self.from.width;
        index % plane * stored + index / plane
    }

    pub(crate) fn load(self, weight: &[f32], bias: &[f32], to: &mut LinearWeights) {
        let (features, outputs, gradient) =
            (self.features(), self.outputs_stored(), self.gradient_features());
        let mut forward = vec![0.0; features * outputs];
        let mut by_data = vec![0.0; outputs * gradient];
        for (o, row) in weight.chunks_exact(self.from.len()).enumerate() {
            for (i, &w) in row.iter().enumerate() {
                forward[self.feature(i) * outputs + o] = w;
                by_data[o * gradient + self.place(i, self.gradient)] = w;
            }
        }
        pack(&forward, features, outputs, &mut to.forward);
        pack(&by_data, outputs, gradient, &mut to.by_data);
        to.bias.clear();
        to.bias.extend_from_slice(bias);
        to.bias.resize(outputs, 0.0);
    }

    /// Some images, one row of x and of y each, rows so far apart.
    pub(crate) fn forward(
        self,
        isa: Isa,
        weights: &LinearWeights,
        images: usize,
        (x, x_row): (&[f32], usize),
        (y, y_row): (&mut [f32], usize),
    ) {
        let (depth, columns) = (self.features(), self.outputs_stored());
        let sizes = Sizes { rows: images, columns, segments: 1, depth, out_row: y_row };
        let end = End::Close { bias: &weights.bias, relu: self.relu };
        let at = Rows { row: x_row, segment: 0, term: 1 };
        product(isa, sizes, (x, at), (&weights.forward, Columns::Packed), y, end);
    }

    /// dy at the output becomes that before the ReLU.
    pub(crate) fn mask(self, y: &[f32], dy: &mut [f32]) {
        if self.relu {
            dy.iter_mut().zip(y).filter(|(_, y)| **y <= 0.0).for_each(|(dy, _)| *dy = 0.0);
        }
    }

    /// dx of some images.
    pub(crate) fn by_data(self, isa: Isa, weights: &LinearWeights, dy: &[f32], dx: &mut [f32]) {
        let (features, outputs) = (self.gradient_features(), self.outputs_stored());
        let rows = dy.len() / outputs;
        let sizes = Sizes { rows, columns: features, segments: 1, depth: outputs, out_row: features };
        let at = Rows { row: outputs, segment: 0, term: 1 };
        product(isa, sizes, (dy, at), (&weights.by_data, Columns::Packed), dx, End::Store);
    }

    /// Features × outputs, then the bias: ← the sum over some images.
    pub(crate) fn by_weights(self, isa: Isa, x: &[f32], dy: &[f32], dw: &mut [f32]) {
        let (features, outputs) = (self.features(), self.outputs_stored());
        let images = dy.len() / outputs;
        let (dw, db) = dw.split_at_mut(features * outputs);
        let sizes = Sizes { rows: features, columns: outputs, segments: 1, depth: images, out_row: outputs };
        let at = Rows { row: 1, segment: 0, term: features };
        product(isa, sizes, (x, at), (dy, Columns::Strided { segment: 0, term: outputs }), dw, End::Store);
        db.fill(0.0);
        for row in dy.chunks_exact(outputs) {
            db.iter_mut().zip(row).for_each(|(db, dy)| *db += dy);
        }
    }

    /// From the layout of [`by_weights`](Self::by_weights) to that of the parameters.
    pub(crate) fn unload(self, dw: &[f32], weight: &mut [f32], bias: &mut [f32]) {
        let (features, outputs) = (self.features(), self.outputs_stored());
        for (o, row) in weight.chunks_exact_mut(self.from.len()).enumerate() {
            for (i, w) in row.iter_mut().enumerate() {
                *w = dw[self.feature(i) * outputs + o];
            }
        }
        let all = bias.len();
        bias.copy_from_slice(&dw[features * outputs..][..all]);
    }
}
