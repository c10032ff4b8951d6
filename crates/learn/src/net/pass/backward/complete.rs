//! What completes the gradient at a value: shortcuts, the ReLU, and the sums of the normalisation.

use crate::net::architecture::{ShortcutKind, ValueIndex};
use crate::net::kernel::elementwise::{Mask, add, finish};
use crate::net::pass::{Mode, Pass, Wanted};
use crate::net::plan::Reader;
use rayon::prelude::*;

impl Pass {
    /// Whether a reader is the one that completes the gradient at a value.
    pub(super) fn completes(&self, value: ValueIndex, layer: usize) -> bool {
        self.plan.values[value].readers.first() == Some(&Reader { layer, as_shortcut: false })
    }

    /// Completes the gradient of one image at a value: see the head of this file.
    pub(super) fn complete_image(&self, value: ValueIndex, image: usize, da: &mut [f32], sums: &mut [f64]) {
        let planned = &self.plan.values[value];
        let size = planned.shape.height * planned.shape.width * planned.gradient;
        let mut extra: &[f32] = &[];
        for reader in planned.readers.iter().filter(|reader| reader.as_shortcut) {
            let other = &self.plan.values[reader.layer + 1];
            let length = other.shape.height * other.shape.width * other.gradient;
            let dz = &self.gradients.of(reader.layer + 1)[image * length..][..length];
            let kind = self.plan.convolutions[reader.layer].as_ref().and_then(|plan| plan.shortcut);
            match (kind.map(|shortcut| shortcut.kind), self.subsampling(reader.layer)) {
                (Some(ShortcutKind::Subsampled), Some(subsampling)) => {
                    let mut subsampling = subsampling;
                    subsampling.from_stored = planned.gradient;
                    subsampling.add_gradient(dz, da);
                }
                _ if extra.is_empty() => extra = dz,
                _ => add(self.isa, dz, da),
            }
        }
        if !self.is_convolution(value) {
            if !extra.is_empty() {
                add(self.isa, extra, da);
            }
            return;
        }
        let layer = value - 1;
        let relu = self.plan.convolutions[layer].as_ref().is_some_and(|plan| plan.relu);
        let norm = &self.norms[layer];
        let mask = match (relu, planned.kept) {
            (false, _) => Mask::None,
            (true, true) => Mask::Output(&self.kept[value][image * size..][..size]),
            (true, false) => Mask::Affine(norm.affine()),
        };
        let y = &self.raw[layer][image * size..][..size];
        finish(self.isa, da, extra, mask, y, &norm.mean, &norm.inverse, planned.gradient, sums);
    }

    /// Completes the gradient at a value in a pass of its own, where no reader can.
    pub(super) fn complete(&mut self, value: ValueIndex, begun: &mut [bool], wanted: Wanted) {
        let mut da = self.gradients.take(value);
        let mut sums = std::mem::take(&mut self.sums);
        let planned = &self.plan.values[value];
        let each = planned.shape.height * planned.shape.width * planned.gradient;
        let (chunk, width) = (self.plan.chunk, 2 * planned.gradient);
        sums.clear();
        sums.resize(self.chunks() * width, 0.0);
        let this = &*self;
        let fresh = !begun[value];
        da[..this.images * each]
            .par_chunks_mut(chunk * each)
            .zip(sums.par_chunks_mut(width))
            .enumerate()
            .for_each(|(at, (da, sums))| {
                for (i, da) in da.chunks_exact_mut(each).enumerate() {
                    if fresh {
                        da.fill(0.0);
                    }
                    this.complete_image(value, at * chunk + i, da, sums);
                }
            });
        begun[value] = true;
        self.gradients.put(value, da);
        self.sums = sums;
        self.completed(value, wanted);
    }

    /// What follows for a normalisation when the gradient at its value is complete: its own gradients, and the line of the
    /// convolution's backward pass.
    pub(super) fn completed(&mut self, value: ValueIndex, wanted: Wanted) {
        let Some(plan) = value.checked_sub(1).and_then(|layer| self.plan.convolutions[layer].as_ref()) else {
            return;
        };
        let (layer, channels) = (value - 1, plan.to.channels);
        let numbers = (self.images * plan.to.height * plan.to.width) as f64;
        let from_batch = plan.norm && self.mode == Mode::Training;
        let sums = self.norms[layer].backward(channels, &self.sums, from_batch.then_some(numbers));
        if wanted.weights {
            let place = &self.places.layers[layer];
            #[allow(clippy::cast_possible_truncation)] // gradients are f32
            for (c, (first, second)) in sums.into_iter().enumerate() {
                if let Some(at) = place.bias.clone().nth(c) {
                    self.parameter_gradient[at] = first as f32;
                }
                if let Some(at) = place.gamma.clone().nth(c) {
                    self.parameter_gradient[at] = second as f32;
                }
            }
        }
    }
}
