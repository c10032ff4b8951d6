//! Convolutions: gradients by the weights and by the input, image by image while both are in cache.

use super::sum_of;
use crate::net::architecture::ValueIndex;
use crate::net::kernel::elementwise::{add, affine_gradient};
use crate::net::layer::convolution::{ConvolutionWeights, Scratch, first_of};
use crate::net::pass::forward::border;
use crate::net::pass::{LayerWeights, Pass, Wanted};
use crate::net::plan::ConvolutionPlan;
use rayon::prelude::*;

/// What is computed of one convolution.
struct Backward<'a> {
    pass: &'a Pass,
    plan: &'a ConvolutionPlan,
    weights: &'a ConvolutionWeights,
    layer: usize,
    /// The value that it takes.
    input: ValueIndex,
    /// The gradients by its weights, and by its input.
    wanted: Wanted,
    /// Whether the gradient at the input is added to what others brought.
    adds: bool,
    /// Whether it completes the gradient at the input.
    completes: bool,
}

impl Pass {
    pub(super) fn back_convolve(&mut self, layer: usize, begun: &mut [bool], wanted: Wanted) {
        let input = self.architecture.layers[layer].input;
        let own = Wanted { input: input > 0 || wanted.input, ..wanted };
        if !own.input && !own.weights {
            return;
        }
        let completes = own.input && self.completes(input, layer);
        let mut dx = if own.input { self.gradients.take(input) } else { Vec::new() };
        let mut sums = std::mem::take(&mut self.sums);
        let mut partial = std::mem::take(&mut self.partial);
        let plan = self.plan.convolutions[layer].as_ref().expect("a convolution has its plan");
        let LayerWeights::Convolution(weights) = &self.weights[layer] else {
            unreachable!("of a convolution")
        };
        let adds = begun[input];
        let work = Backward { pass: self, plan, weights, layer, input, wanted: own, adds, completes };
        let (chunk, count) = (self.plan.chunk, self.chunks());
        let each = plan.from.height * plan.from.width * plan.gradient;
        let (width, length) = (2 * plan.gradient, plan.weights());
        sums.clear();
        sums.resize(count * width, 0.0);
        let parts = first_of(&mut partial, if own.weights { count * length } else { 0 });
        let nothing = || (0..count).map(|_| &mut [][..]).collect();
        let mut to: Vec<&mut [f32]> =
            if own.input { dx[..self.images * each].chunks_mut(chunk * each).collect() } else { nothing() };
        let mut dw: Vec<&mut [f32]> =
            if own.weights { parts.chunks_mut(length).collect() } else { nothing() };
        to.par_iter_mut()
            .zip(dw.par_iter_mut())
            .zip(sums.par_chunks_mut(width))
            .enumerate()
            .with_max_len(1)
            .for_each(|(at, ((dx, dw), sums))| work.chunk(at, dx, dw, sums));
        drop((to, dw));
        if own.weights {
            let total = sum_of(&mut partial, count, length);
            plan.gather(total, &mut self.parameter_gradient[self.places.layers[layer].weight.clone()]);
        }
        (self.sums, self.partial) = (sums, partial);
        if own.input {
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
            border(frame, height, width, c, out);
        } else {
            out.fill(0.0);
        }
        for r in 0..height {
            let at = ((frame.before + r * frame.step) * frame.columns + frame.before) * c;
            let (dz, y) = (&dz[r * width * c..][..width * c], &y[r * width * c..][..width * c]);
            affine_gradient(self.isa, dz, y, self.norms[layer].gradient(), c, frame.step, &mut out[at..]);
        }
    }
}

impl Backward<'_> {
    /// The images of one chunk: their gradients by the input, the sum of those by the weights, and the sums of the
    /// normalisation at the input.
    fn chunk(&self, at: usize, dx: &mut [f32], dw: &mut [f32], sums: &mut [f64]) {
        let Self { pass, plan, wanted, .. } = *self;
        let each = plan.from.height * plan.from.width * plan.gradient;
        pass.with_scratch(|scratch| {
            let begin = at * pass.plan.chunk;
            let images = pass.plan.chunk.min(pass.images - begin);
            let group = plan.group(images);
            if wanted.weights {
                plan.begin_by_weights(scratch, dw);
            }
            for first in (0..images).step_by(group) {
                let some = group.min(images - first);
                self.read(begin + first, some, group, scratch);
                if wanted.weights {
                    plan.by_weights(pass.isa, some, scratch, dw);
                }
                if wanted.input {
                    let dx = &mut dx[first * each..][..some * each];
                    self.gradient_by_data(begin + first, some, scratch, dx, sums);
                }
            }
            if wanted.weights {
                plan.end_by_weights(pass.isa, scratch, dw);
            }
        });
    }

    /// What a group of images is computed from: their inputs and the gradients at their outputs, in frames.
    fn read(&self, first: usize, count: usize, group: usize, scratch: &mut Scratch) {
        let (fx, fd) = (self.plan.input_frame(), self.plan.gradient_frame());
        for i in 0..count {
            if self.wanted.weights {
                let size = fx.len(self.plan.inputs);
                let x = &mut first_of(&mut scratch.x, group * size)[i * size..][..size];
                self.pass.read(self.input, first + i, fx, x);
            }
            let size = fd.len(self.plan.outputs);
            let dy = &mut first_of(&mut scratch.dy, group * size)[i * size..][..size];
            self.pass.read_gradient(self.layer, first + i, dy);
        }
    }

    fn gradient_by_data(
        &self,
        first: usize,
        count: usize,
        scratch: &mut Scratch,
        dx: &mut [f32],
        sums: &mut [f64],
    ) {
        let Self { pass, plan, weights, .. } = *self;
        if self.adds {
            let mut own = std::mem::take(&mut scratch.row);
            plan.by_data(pass.isa, weights, count, scratch, first_of(&mut own, dx.len()));
            add(pass.isa, &own[..dx.len()], dx);
            scratch.row = own;
        } else {
            plan.by_data(pass.isa, weights, count, scratch, dx);
        }
        if self.completes {
            for (i, dx) in dx.chunks_exact_mut(dx.len() / count).enumerate() {
                pass.complete_image(self.input, first + i, dx, sums);
            }
        }
    }
}
