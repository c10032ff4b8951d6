//! The forward pass.

use super::{LayerWeights, Mode, Pass, linear_plan};
use crate::net::architecture::{LayerKind, ShortcutKind, ValueIndex};
use crate::net::kernel::elementwise::{affine, affine_add, interleave, moments};
use crate::net::layer::convolution::first_of;
use crate::net::plan::{PaddedPlane, Value};
use rayon::prelude::*;

impl Pass {
    /// The scores of some images, at most [`batch`](Self::batch): images × classes. `x` has them one after the other, each
    /// in the order channel, row, column.
    ///
    /// Panics where there are too many, or not whole ones.
    pub fn forward(&mut self, x: &[f32], mode: Mode) -> &[f32] {
        let size = self.architecture.input.len();
        let images = x.len() / size;
        assert!(x.len() == images * size && images > 0 && images <= self.batch, "a batch of whole images");
        (self.images, self.mode) = (images, mode);
        self.take_input(x);
        if mode == Mode::Evaluation {
            for (norm, plan) in self.norms.iter_mut().zip(&self.plan.convolutions) {
                plan.iter().filter(|plan| plan.norm).for_each(|plan| norm.take_running(plan.to.channels));
            }
        }
        for layer in 0..self.architecture.layers.len() {
            match self.architecture.layers[layer].kind {
                LayerKind::Convolution(_) => self.convolve(layer),
                LayerKind::Linear(_) => self.multiply(layer),
                LayerKind::AveragePool(_) | LayerKind::MaxPool(_) | LayerKind::GlobalAverage => {
                    self.pool_forward(layer);
                }
            }
        }
        let (classes, last) = (self.architecture.classes, self.architecture.layers.len());
        let Value { shape, stored, .. } = self.plan.values[last];
        let plane = shape.height * shape.width;
        let scores = self.scores.chunks_exact_mut(classes).zip(self.kept[last].chunks_exact(plane * stored));
        for (out, row) in scores.take(images) {
            for (c, out) in out.chunks_exact_mut(plane).enumerate() {
                out.iter_mut().zip(row.iter().skip(c).step_by(stored)).for_each(|(out, score)| *out = *score);
            }
        }
        &self.scores[..images * classes]
    }

    /// Channels innermost.
    fn take_input(&mut self, x: &[f32]) {
        let shape = self.architecture.input;
        let (plane, stored) = (shape.height * shape.width, self.plan.values[0].stored);
        let (each, isa) = (plane * stored, self.isa);
        self.kept[0][..self.images * each]
            .par_chunks_mut(each)
            .zip(x.par_chunks(shape.len()))
            .for_each(|(out, x)| interleave(isa, x, plane, plane, shape.channels, stored, each, out));
    }

    fn convolve(&mut self, layer: usize) {
        let input = self.architecture.layers[layer].input;
        let keeps =
            self.plan.values[input].kept && self.is_convolution(input) && self.keeper(input) == Some(layer);
        let mut y = std::mem::take(&mut self.raw[layer]);
        let mut kept = if keeps { std::mem::take(&mut self.kept[input]) } else { Vec::new() };
        let mut sums = std::mem::take(&mut self.sums);
        let this = &*self;
        let plan = this.plan.convolutions[layer].as_ref().expect("a convolution has its plan");
        let LayerWeights::Convolution(weights) = &this.weights[layer] else {
            unreachable!("of a convolution")
        };
        let (chunk, count) = (this.plan.chunk, this.chunks());
        let each = plan.to.height * plan.to.width * plan.outputs;
        let from = plan.from.height * plan.from.width * plan.inputs;
        let frame = plan.input_frame();
        let measured = plan.norm && this.mode == Mode::Training;
        sums.clear();
        sums.resize(count * 2 * plan.outputs, 0.0);
        let mut keeping: Vec<&mut [f32]> = if keeps {
            kept.chunks_mut(chunk * from).collect()
        } else {
            (0..count).map(|_| &mut [][..]).collect()
        };
        y[..this.images * each]
            .par_chunks_mut(chunk * each)
            .zip(sums.par_chunks_mut(2 * plan.outputs))
            .zip(keeping.par_iter_mut())
            .enumerate()
            .with_max_len(1)
            .for_each(|(at, ((y, sums), kept))| {
                this.with_scratch(|scratch| {
                    let images = y.len() / each;
                    let group = plan.group(images);
                    let size = frame.len(plan.inputs);
                    for first in (0..images).step_by(group) {
                        let some = group.min(images - first);
                        for i in 0..some {
                            let image = at * chunk + first + i;
                            if keeps {
                                let kept = &mut kept[(first + i) * from..][..from];
                                this.output(input, image, &mut scratch.row, kept);
                                let x = &mut first_of(&mut scratch.x, group * size)[i * size..][..size];
                                framed(kept, frame, plan.from.height, plan.from.width, plan.inputs, x);
                            } else {
                                let x = &mut first_of(&mut scratch.x, group * size)[i * size..][..size];
                                this.read(input, image, frame, x);
                            }
                        }
                        let y = &mut y[first * each..][..some * each];
                        plan.forward(this.isa, weights, some, scratch, y);
                        if measured {
                            for y in y.chunks_exact(each) {
                                moments(this.isa, y, &this.norms[layer].about, plan.outputs, sums);
                            }
                        }
                    }
                });
            });
        drop(keeping);
        let (channels, numbers) = (plan.to.channels, (this.images * plan.to.height * plan.to.width) as f64);
        self.raw[layer] = y;
        if keeps {
            self.kept[input] = kept;
        }
        if measured {
            self.norms[layer].take_batch(channels, &sums, numbers);
        }
        self.sums = sums;
        if self.plan.values[layer + 1].kept && self.keeper(layer + 1).is_none() {
            self.keep(layer + 1);
        }
    }

    /// A value in the frame that a kernel walks over.
    pub(super) fn read(&self, value: ValueIndex, image: usize, frame: PaddedPlane, out: &mut [f32]) {
        let planned = &self.plan.values[value];
        let (height, width, c) = (planned.shape.height, planned.shape.width, planned.stored);
        let each = height * width * c;
        if !self.is_convolution(value) || planned.kept {
            return framed(&self.kept[value][image * each..][..each], frame, height, width, c, out);
        }
        let layer = value - 1;
        let relu = self.plan.convolutions[layer].as_ref().is_some_and(|plan| plan.relu);
        let y = &self.raw[layer][image * each..][..each];
        border(frame, height, width, c, out);
        let (rows, columns) =
            (height.min(frame.rows - frame.before), width.min(frame.columns - frame.before));
        for r in 0..rows {
            let to = &mut out[((r + frame.before) * frame.columns + frame.before) * c..][..columns * c];
            affine(self.isa, &y[r * width * c..][..columns * c], self.norms[layer].affine(), relu, c, to);
        }
    }

    /// What a convolution layer makes of one image: relu(scale·y + shift + shortcut).
    fn output(&self, value: ValueIndex, image: usize, row: &mut Vec<f32>, out: &mut [f32]) {
        let layer = value - 1;
        let plan = self.plan.convolutions[layer].as_ref().expect("a convolution has its plan");
        let c = plan.outputs;
        let each = plan.to.height * plan.to.width * c;
        let y = &self.raw[layer][image * each..][..each];
        let map = self.norms[layer].affine();
        let Some(shortcut) = plan.shortcut else { return affine(self.isa, y, map, plan.relu, c, out) };
        let from = &self.plan.values[shortcut.from];
        let size = from.shape.height * from.shape.width * from.stored;
        let x = &self.kept[shortcut.from][image * size..][..size];
        match (shortcut.kind, self.subsampling(layer)) {
            (ShortcutKind::Subsampled, Some(subsampling)) => {
                let width = plan.to.width * c;
                let row = first_of(row, width);
                for r in 0..plan.to.height {
                    subsampling.row(x, r, row);
                    affine_add(
                        self.isa,
                        &y[r * width..][..width],
                        map,
                        row,
                        plan.relu,
                        c,
                        &mut out[r * width..][..width],
                    );
                }
            }
            _ => affine_add(self.isa, y, map, x, plan.relu, c, out),
        }
    }

    /// Computes what is kept of a convolution whose first reader is not a convolution.
    fn keep(&mut self, value: ValueIndex) {
        let mut kept = std::mem::take(&mut self.kept[value]);
        let planned = &self.plan.values[value];
        let each = planned.shape.height * planned.shape.width * planned.stored;
        let this = &*self;
        kept[..this.images * each].par_chunks_mut(each).enumerate().for_each(|(image, out)| {
            this.with_scratch(|scratch| this.output(value, image, &mut scratch.row, out));
        });
        self.kept[value] = kept;
    }

    fn multiply(&mut self, layer: usize) {
        let mut y = std::mem::take(&mut self.kept[layer + 1]);
        let this = &*self;
        let plan = linear_plan(&this.architecture, &this.plan, layer);
        let LayerWeights::Linear(weights) = &this.weights[layer] else { unreachable!("of a linear layer") };
        let x = &this.kept[this.architecture.layers[layer].input];
        let (features, outputs, chunk) = (plan.features(), plan.outputs_stored(), this.plan.chunk);
        y[..this.images * outputs]
            .par_chunks_mut(chunk * outputs)
            .zip(x.par_chunks(chunk * features))
            .for_each(|(y, x)| {
                plan.forward(this.isa, weights, y.len() / outputs, (x, features), (y, outputs));
            });
        self.kept[layer + 1] = y;
    }

    fn pool_forward(&mut self, layer: usize) {
        let mut y = std::mem::take(&mut self.kept[layer + 1]);
        let this = &*self;
        let pool = this.pool(layer).expect("a pooling layer");
        let from = pool.from.height * pool.from.width * pool.stored;
        let to = pool.to.height * pool.to.width * pool.stored;
        let x = &this.kept[this.architecture.layers[layer].input];
        y[..this.images * to]
            .par_chunks_mut(to)
            .zip(x.par_chunks(from))
            .for_each(|(y, x)| pool.forward(this.isa, (x, pool.rows().0), (y, pool.rows().1)));
        self.kept[layer + 1] = y;
    }
}

/// Zeros around the image in a frame.
pub(super) fn border(frame: PaddedPlane, height: usize, width: usize, c: usize, out: &mut [f32]) {
    let row = frame.columns * c;
    let rows = height.min(frame.rows - frame.before);
    let columns = width.min(frame.columns - frame.before);
    out[..frame.before * row].fill(0.0);
    for row in out[frame.before * row..].chunks_exact_mut(row).take(rows) {
        row[..frame.before * c].fill(0.0);
        row[(frame.before + columns) * c..].fill(0.0);
    }
    out[(frame.before + rows) * row..frame.rows * row].fill(0.0);
}

/// An image in a frame of zeros.
fn framed(x: &[f32], frame: PaddedPlane, height: usize, width: usize, c: usize, out: &mut [f32]) {
    border(frame, height, width, c, out);
    let (rows, columns) = (height.min(frame.rows - frame.before), width.min(frame.columns - frame.before));
    for r in 0..rows {
        let to = &mut out[((r + frame.before) * frame.columns + frame.before) * c..][..columns * c];
        to.copy_from_slice(&x[r * width * c..][..columns * c]);
    }
}
