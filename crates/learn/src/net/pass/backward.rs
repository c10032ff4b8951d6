//! The backward pass.
//!
//! At every value the gradient is collected from its readers, last reader first; the reader that comes first in the list
//! completes it: it adds what shortcuts bring, undoes the ReLU and sums up what the normalisation needs, image by image,
//! while they are in cache. What then stands in the value's buffer is dz, the gradient before the ReLU.

use super::{LayerWeights, Mode, Pass, Wanted, linear_plan};
use crate::net::architecture::{LayerKind, ShortcutKind, ValueIndex};
use crate::net::kernel::elementwise::{Mask, add, affine_gradient, finish};
use crate::net::layer::convolution::{Scratch, room};
use crate::net::plan::Reader;
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

    /// Whether a reader is the one that completes the gradient at a value.
    fn completes(&self, value: ValueIndex, layer: usize) -> bool {
        self.plan.values[value].readers.first() == Some(&Reader { layer, as_shortcut: false })
    }

    /// Completes the gradient of one image at a value: see the head of this file.
    fn complete_image(&self, value: ValueIndex, image: usize, da: &mut [f32], sums: &mut [f64]) {
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
    fn complete(&mut self, value: ValueIndex, begun: &mut [bool], wanted: Wanted) {
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
    fn completed(&mut self, value: ValueIndex, wanted: Wanted) {
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

    fn back_convolve(&mut self, layer: usize, begun: &mut [bool], wanted: Wanted) {
        let input = self.architecture.layers[layer].input;
        let by_data = input > 0 || wanted.input;
        if !by_data && !wanted.weights {
            return;
        }
        let completes = by_data && self.completes(input, layer);
        let adds = begun[input];
        let mut dx = if by_data { self.gradients.take(input) } else { Vec::new() };
        let mut sums = std::mem::take(&mut self.sums);
        let mut partial = std::mem::take(&mut self.partial);
        let this = &*self;
        let plan = this.plan.convolutions[layer].as_ref().expect("a convolution has its plan");
        let LayerWeights::Convolution(weights) = &this.weights[layer] else {
            unreachable!("of a convolution")
        };
        let (chunk, count) = (this.plan.chunk, this.chunks());
        let each = plan.from.height * plan.from.width * plan.gradient;
        let (fx, fd) = (plan.input_frame(), plan.gradient_frame());
        let (width, length) = (2 * plan.gradient, plan.weights());
        sums.clear();
        sums.resize(count * width, 0.0);
        let parts = if wanted.weights { count * length } else { 0 };
        let parts = room(&mut partial, parts);
        let mut to: Vec<&mut [f32]> = if by_data {
            dx[..this.images * each].chunks_mut(chunk * each).collect()
        } else {
            (0..count).map(|_| &mut [][..]).collect()
        };
        let mut dw: Vec<&mut [f32]> = if wanted.weights {
            parts.chunks_mut(length).collect()
        } else {
            (0..count).map(|_| &mut [][..]).collect()
        };
        to.par_iter_mut()
            .zip(dw.par_iter_mut())
            .zip(sums.par_chunks_mut(width))
            .enumerate()
            .with_max_len(1)
            .for_each(|(at, ((dx, dw), sums))| {
                this.with_scratch(|scratch| {
                    let images = chunk.min(this.images - at * chunk);
                    let group = plan.group(images);
                    if wanted.weights {
                        plan.begin_by_weights(scratch, dw);
                    }
                    for first in (0..images).step_by(group) {
                        let some = group.min(images - first);
                        for i in 0..some {
                            let image = at * chunk + first + i;
                            if wanted.weights {
                                let size = fx.len(plan.inputs);
                                let x = &mut room(&mut scratch.x, group * size)[i * size..][..size];
                                this.read(input, image, fx, x);
                            }
                            let size = fd.len(plan.outputs);
                            let dy = &mut room(&mut scratch.dy, group * size)[i * size..][..size];
                            this.read_gradient(layer, image, dy);
                        }
                        if wanted.weights {
                            plan.by_weights(this.isa, some, scratch, dw);
                        }
                        if !by_data {
                            continue;
                        }
                        let dx = &mut dx[first * each..][..some * each];
                        if adds {
                            let Scratch { row, .. } = scratch;
                            let mut own = std::mem::take(row);
                            plan.by_data(this.isa, weights, some, scratch, room(&mut own, some * each));
                            add(this.isa, &own[..some * each], dx);
                            scratch.row = own;
                        } else {
                            plan.by_data(this.isa, weights, some, scratch, dx);
                        }
                        if completes {
                            for (i, dx) in dx.chunks_exact_mut(each).enumerate() {
                                this.complete_image(input, at * chunk + first + i, dx, sums);
                            }
                        }
                    }
                    if wanted.weights {
                        plan.end_by_weights(this.isa, scratch, dw);
                    }
                });
            });
        drop((to, dw));
        if wanted.weights {
            let total = sum_of(&mut partial, count, length);
            let plan = self.plan.convolutions[layer].as_ref().expect("a convolution has its plan");
            plan.gather(total, &mut self.parameter_gradient[self.places.layers[layer].weight.clone()]);
        }
        (self.sums, self.partial) = (sums, partial);
        if by_data {
            self.gradients.put(input, dx);
            begun[input] = true;
        }
        if completes {
            self.completed(input, wanted);
        }
    }

    /// dy of one image in its frame, spread out by the stride.
    fn read_gradient(&self, layer: usize, image: usize, out: &mut [f32]) {
        let plan = self.plan.convolutions[layer].as_ref().expect("a convolution has its plan");
        let (frame, c) = (plan.gradient_frame(), plan.outputs);
        let (height, width) = (plan.to.height, plan.to.width);
        let size = height * width * c;
        let dz = &self.gradients.of(layer + 1)[image * size..][..size];
        let y = &self.raw[layer][image * size..][..size];
        if frame.step == 1 {
            super::forward::border(frame, height, width, c, out);
        } else {
            out.fill(0.0);
        }
        for r in 0..height {
            let at = ((frame.before + r * frame.step) * frame.columns + frame.before) * c;
            let (dz, y) = (&dz[r * width * c..][..width * c], &y[r * width * c..][..width * c]);
            affine_gradient(self.isa, dz, y, self.norms[layer].gradient(), c, frame.step, &mut out[at..]);
        }
    }

    fn back_multiply(&mut self, layer: usize, begun: &mut [bool], wanted: Wanted) {
        let plan = linear_plan(&self.architecture, &self.plan, layer);
        let (features, outputs, chunk) = (plan.features(), plan.outputs_stored(), self.plan.chunk);
        let images = self.images;
        let mut dy = self.gradients.take(layer + 1);
        plan.mask(&self.kept[layer + 1][..images * outputs], &mut dy[..images * outputs]);
        let input = self.architecture.layers[layer].input;
        let count = self.chunks();
        let length = (features + 1) * outputs;
        if wanted.weights {
            let mut partial = std::mem::take(&mut self.partial);
            let x = &self.kept[input];
            let isa = self.isa;
            let (x, dy) = (&x[..images * features], &dy[..images * outputs]);
            let total = if plan.is_wide() {
                let total = room(&mut partial, length);
                plan.by_weights_wide(isa, x, dy, total);
                &*total
            } else {
                room(&mut partial, count * length)
                    .par_chunks_mut(length)
                    .zip(dy.par_chunks(chunk * outputs))
                    .zip(x.par_chunks(chunk * features))
                    .for_each(|((dw, dy), x)| plan.by_weights(isa, x, dy, dw));
                sum_of(&mut partial, count, length)
            };
            let place = self.places.layers[layer].clone();
            let mut bias = vec![0.0; place.bias.len()];
            plan.unload(total, &mut self.parameter_gradient[place.weight], &mut bias);
            self.parameter_gradient[place.bias].copy_from_slice(&bias);
            self.partial = partial;
        }
        if input > 0 || wanted.input {
            self.back_by_chunks(layer, begun, wanted, |this, at, own| {
                let LayerWeights::Linear(weights) = &this.weights[layer] else {
                    unreachable!("of a linear layer")
                };
                let count = own.len() / plan.gradient_features();
                plan.by_data(this.isa, weights, &dy[at * chunk * outputs..][..count * outputs], own);
            });
        }
        self.gradients.put(layer + 1, dy);
    }

    fn back_pool(&mut self, layer: usize, begun: &mut [bool], wanted: Wanted) {
        let input = self.architecture.layers[layer].input;
        if input == 0 && !wanted.input {
            return;
        }
        let pool = self.pool(layer).expect("a pooling layer");
        let from = pool.from.height * pool.from.width * pool.stored;
        let to = pool.to.height * pool.to.width * pool.stored;
        let chunk = self.plan.chunk;
        let dy = self.gradients.take(layer + 1);
        self.back_by_chunks(layer, begun, wanted, |this, at, own| {
            own.fill(0.0);
            for (i, dx) in own.chunks_exact_mut(from).enumerate() {
                let image = at * chunk + i;
                pool.backward(
                    this.isa,
                    &this.kept[input][image * from..][..from],
                    &dy[image * to..][..to],
                    dx,
                );
            }
        });
        self.gradients.put(layer + 1, dy);
    }

    /// The gradient at the input of a layer that is no convolution: `work` computes what it brings, chunk by chunk.
    fn back_by_chunks(
        &mut self,
        layer: usize,
        begun: &mut [bool],
        wanted: Wanted,
        work: impl Fn(&Self, usize, &mut [f32]) + Sync,
    ) {
        let input = self.architecture.layers[layer].input;
        let (completes, adds) = (self.completes(input, layer), begun[input]);
        let mut dx = self.gradients.take(input);
        let mut sums = std::mem::take(&mut self.sums);
        let planned = &self.plan.values[input];
        let each = planned.shape.height * planned.shape.width * planned.gradient;
        let (chunk, width) = (self.plan.chunk, 2 * planned.gradient);
        sums.clear();
        sums.resize(self.chunks() * width, 0.0);
        let this = &*self;
        dx[..this.images * each]
            .par_chunks_mut(chunk * each)
            .zip(sums.par_chunks_mut(width))
            .enumerate()
            .for_each(|(at, (dx, sums))| {
                if adds {
                    this.with_scratch(|scratch| {
                        let own = room(&mut scratch.row, dx.len());
                        work(this, at, own);
                        add(this.isa, own, dx);
                    });
                } else {
                    work(this, at, dx);
                }
                if completes {
                    for (i, dx) in dx.chunks_exact_mut(each).enumerate() {
                        this.complete_image(input, at * chunk + i, dx, sums);
                    }
                }
            });
        self.sums = sums;
        self.gradients.put(input, dx);
        begun[input] = true;
        if completes {
            self.completed(input, wanted);
        }
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
