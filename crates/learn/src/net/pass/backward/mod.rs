//! The backward pass.
//!
//! At every value the gradient is collected from its readers, last reader first; the reader that comes first in the list
//! completes it: it adds what shortcuts bring, undoes the ReLU and sums up what the normalisation needs, image by image,
//! while they are in cache. What then stands in the value's buffer is dz, the gradient before the ReLU.

mod chunks;
mod complete;
mod convolution;

use super::{Pass, Wanted};
use crate::net::architecture::LayerKind;
use rayon::prelude::*;

impl Pass {
    /// From the gradient of a loss by the scores of the last forward pass, images × classes, to those by the weights
    /// ([`parameter_gradient`](Self::parameter_gradient)) and by the images ([`input_gradient`](Self::input_gradient)).
    ///
    /// Panics unless there is a number for every score.
    pub fn backward(&mut self, by_scores: &[f32], wanted: Wanted) {
        let (classes, last) = (self.architecture.classes, self.architecture.layers.len());
        assert!(by_scores.len() == self.images * classes, "a gradient for every score");
        let (shape, stored) = (self.plan.values[last].shape, self.plan.values[last].stored);
        let plane = shape.height * shape.width;
        let mut top = self.gradients.take(last);
        for (out, row) in top.chunks_exact_mut(plane * stored).zip(by_scores.chunks_exact(classes)) {
            out.fill(0.0);
            for (c, row) in row.chunks_exact(plane).enumerate() {
                out.iter_mut().skip(c).step_by(stored).zip(row).for_each(|(out, d)| *out = *d);
            }
        }
        self.gradients.put(last, top);
        // Which gradients have begun to be collected.
        let mut begun = vec![false; last + 1];
        begun[last] = true;
        if self.is_convolution(last) {
            self.complete(last, &mut begun, wanted);
        }
        for layer in (0..last).rev() {
            let value = layer + 1;
            if value < last
                && self.plan.values[value].readers.first().is_some_and(|reader| reader.as_shortcut)
            {
                self.complete(value, &mut begun, wanted);
            }
            match self.architecture.layers[layer].kind {
                LayerKind::Convolution(_) => self.back_convolve(layer, &mut begun, wanted),
                LayerKind::Linear(_) => self.back_multiply(layer, &mut begun, wanted),
                LayerKind::AveragePool(_) | LayerKind::MaxPool(_) | LayerKind::GlobalAverage => {
                    self.back_pool(layer, &mut begun, wanted);
                }
            }
        }
        if wanted.input && self.plan.values[0].readers.first().is_some_and(|reader| reader.as_shortcut) {
            self.complete(0, &mut begun, wanted);
        }
    }

    /// The gradient of the loss by the images of the last pass, images × (channel, row, column); after a backward pass that
    /// was asked for it.
    ///
    /// Panics unless `out` has room for exactly that.
    pub fn input_gradient(&self, out: &mut [f32]) {
        let shape = self.architecture.input;
        assert!(out.len() == self.images * shape.len(), "a number for every pixel");
        let (plane, stored) = (shape.height * shape.width, self.plan.values[0].gradient);
        let dx = self.gradients.of(0);
        out.par_chunks_mut(shape.len()).zip(dx.par_chunks(plane * stored)).for_each(|(out, dx)| {
            for (c, out) in out.chunks_exact_mut(plane).enumerate() {
                out.iter_mut().zip(dx.iter().skip(c).step_by(stored)).for_each(|(out, dx)| *out = *dx);
            }
        });
    }
}

/// The sum of `count` parts of `length` numbers, in their order, left in the first.
fn sum_of(parts: &mut [f32], count: usize, length: usize) -> &[f32] {
    const BLOCK: usize = 1024;
    let (total, rest) = parts[..count * length].split_at_mut(length);
    total.par_chunks_mut(BLOCK).enumerate().for_each(|(at, total)| {
        for part in rest.chunks_exact(length) {
            total.iter_mut().zip(&part[at * BLOCK..]).for_each(|(total, part)| *total += part);
        }
    });
    total
}
