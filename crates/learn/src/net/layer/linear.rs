//! A linear layer: y = W·x + b, then ReLU where asked for.
//!
//! By data dx = Wᵀ·dy, by weights dW = Σ dy·xᵀ and db = Σ dy over the images, dy first set to 0 where the ReLU let nothing
//! through. x is a value as stored, pixel by pixel with its channels filled up, but for the network's input; the rows of W
//! follow that order, with zeros where x has only filling.

use crate::net::architecture::Linear;
use crate::net::kernel::product::{Columns, End, Rows, Sizes, pack_from, product};
use crate::net::kernel::{Isa, padded};
use crate::net::plan::Value;
use gambeson_data::dataset::Shape;
use rayon::prelude::*;

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
        let plane = self.from.height * self.from.width;
        index % plane * self.stored + index / plane
    }

    /// For every place of x or dx as stored, with so many channels a pixel, which number it holds; `None` for filling.
    fn numbers(self, stored: usize) -> Vec<Option<usize>> {
        let plane = self.from.height * self.from.width;
        let number =
            |place| (place % stored < self.from.channels).then(|| place % stored * plane + place / stored);
        (0..plane * stored).map(number).collect()
    }

    pub(crate) fn load(self, weight: &[f32], bias: &[f32], to: &mut LinearWeights) {
        let (outputs, each) = (self.outputs_stored(), self.from.len());
        let number = |output: usize, of: Option<usize>| match of {
            Some(index) if output < self.outputs => weight[output * each + index],
            _ => 0.0,
        };
        let numbers = self.numbers(self.stored);
        pack_from(numbers.len(), outputs, |place, output| number(output, numbers[place]), &mut to.forward);
        let numbers = self.numbers(self.gradient);
        pack_from(outputs, numbers.len(), |output, place| number(output, numbers[place]), &mut to.by_data);
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

    /// Whether sums over a batch are made feature by feature, over all its images in order, instead of chunk by chunk of
    /// images: where the weights are so many that a sum of them for each chunk would cost more than the products.
    pub(crate) fn is_wide(self) -> bool {
        const MANY: usize = 1 << 16;
        self.from.len() * self.outputs >= MANY
    }

    /// Features × outputs, then the bias: ← the sum over some images.
    pub(crate) fn by_weights(self, isa: Isa, x: &[f32], dy: &[f32], dw: &mut [f32]) {
        let (dw, db) = dw.split_at_mut(self.features() * self.outputs_stored());
        self.by_features(isa, (x, 0), dy, dw);
        self.by_bias(dy, db);
    }

    /// The same for a wide layer, on all threads. No sum is shared, so neither their number nor the blocks change anything.
    pub(crate) fn by_weights_wide(self, isa: Isa, x: &[f32], dy: &[f32], dw: &mut [f32]) {
        /// Most features at a time, so that threads end together.
        const MOST: usize = 64;
        let (features, outputs) = (self.features(), self.outputs_stored());
        let block = features.div_ceil(rayon::current_num_threads()).next_multiple_of(8).min(MOST);
        let (dw, db) = dw.split_at_mut(features * outputs);
        dw.par_chunks_mut(block * outputs)
            .enumerate()
            .for_each(|(at, dw)| self.by_features(isa, (x, at * block), dy, dw));
        self.by_bias(dy, db);
    }

    /// Rows of dW, of the features from `first` on.
    fn by_features(self, isa: Isa, (x, first): (&[f32], usize), dy: &[f32], dw: &mut [f32]) {
        let (features, outputs) = (self.features(), self.outputs_stored());
        let (rows, depth) = (dw.len() / outputs, dy.len() / outputs);
        let sizes = Sizes { rows, columns: outputs, segments: 1, depth, out_row: outputs };
        let at = Rows { row: 1, segment: 0, term: features };
        let columns = Columns::Strided { segment: 0, term: outputs };
        product(isa, sizes, (&x[first..], at), (dy, columns), dw, End::Store);
    }

    fn by_bias(self, dy: &[f32], db: &mut [f32]) {
        db.fill(0.0);
        for row in dy.chunks_exact(self.outputs_stored()) {
            db.iter_mut().zip(row).for_each(|(db, dy)| *db += dy);
        }
    }

    /// From the layout of [`by_weights`](Self::by_weights) to that of the parameters.
    pub(crate) fn unload(self, dw: &[f32], weight: &mut [f32], bias: &mut [f32]) {
        /// Outputs that stand side by side in a line of the cache.
        const BLOCK: usize = 16;
        let (features, outputs, each) = (self.features(), self.outputs_stored(), self.from.len());
        weight.par_chunks_mut(BLOCK * each).enumerate().for_each(|(at, rows)| {
            for i in 0..each {
                let from = &dw[self.feature(i) * outputs + at * BLOCK..];
                rows.iter_mut().skip(i).step_by(each).zip(from).for_each(|(w, &dw)| *w = dw);
            }
        });
        let all = bias.len();
        bias.copy_from_slice(&dw[features * outputs..][..all]);
    }
}
