//! One block of images through the network, in the buffers of one task.

use super::folded::{Folded, PlanarConvolution};
use super::{Inference, Memory};
use crate::net::architecture::ShortcutKind;
use crate::net::buffers::{BufferSlot, apart};
use crate::net::kernel::elementwise::{close, interleave};
use crate::net::kernel::planes::{convolve_lines, split};
use crate::net::kernel::winograd::{Epilogue, Layout};
use crate::net::layer::convolution::first_of;
use crate::net::layer::linear::LinearPlan;
use crate::net::layer::shortcut::Subsampling;
use crate::net::plan::{Algorithm, ConvolutionPlan};
use gambeson_smooth::input_map::Layout as RowLayout;

impl Inference {
    /// One block of at most [`together`](Self::together) images.
    pub(super) fn forward_block(&self, x: &[f32], scores: &mut [f32], memory: &mut Memory) {
        let images = x.len() / self.architecture.input.len();
        if !self.as_given && !matches!(self.layers[0], Folded::Planes(_)) {
            self.take(x, memory);
        }
        for (at, layer) in self.layers.iter().enumerate() {
            let from = self.places[self.architecture.layers[at].input];
            let to = self.places[at + 1];
            match layer {
                Folded::Planes(first) => self.convolve_planes(first, to, x, memory),
                Folded::Convolution { plan, weights, bias, .. } if at == 0 && self.as_given => {
                    let layout = Layout { image: self.architecture.input.len(), ..from.layout() };
                    let Memory { buffers, scratch, .. } = memory;
                    let y = (&mut buffers[to.buffer][..], to.layout());
                    let epilogue = Epilogue { bias: Some(bias), shortcut: None, relu: plan.relu };
                    plan.forward_into(self.isa, weights, images, (x, layout), y, epilogue, scratch);
                }
                Folded::Convolution { plan, weights, bias, subsampling } => {
                    self.convolve(plan, (weights, bias), *subsampling, (from, to), images, memory);
                }
                Folded::Linear { plan, weights } => {
                    let mut y = std::mem::take(&mut memory.buffers[to.buffer]);
                    let x = &memory.buffers[from.buffer];
                    let (x, x_row) = gathered(x, from, plan, images, &mut memory.features);
                    let layout = to.layout();
                    let y_of = (&mut y[layout.first..], layout.image);
                    plan.forward(self.isa, weights, images, (x, x_row), y_of);
                    memory.buffers[to.buffer] = y;
                }
                Folded::Pool(pool) => {
                    let mut y = std::mem::take(&mut memory.buffers[to.buffer]);
                    let (lx, ly) = (from.layout(), to.layout());
                    for image in 0..images {
                        let x = &memory.buffers[from.buffer][lx.first + image * lx.image..];
                        pool.forward(self.isa, (x, lx.row), (&mut y[ly.first + image * ly.image..], ly.row));
                    }
                    memory.buffers[to.buffer] = y;
                }
            }
        }
        self.read_scores(memory, scores);
    }

    /// The first layer, computed from the planes of the images.
    fn convolve_planes(&self, first: &PlanarConvolution, to: BufferSlot, x: &[f32], memory: &mut Memory) {
        let PlanarConvolution { planes, taps, weights, bias, relu } = first;
        let (layout, line) = (to.layout(), planes.line());
        let y = &mut memory.buffers[to.buffer];
        let scratch = &mut memory.lines[..];
        for (image, x) in x.chunks_exact(self.architecture.input.len()).enumerate() {
            let y = &mut y[layout.first + image * layout.image..];
            split(self.isa, planes, line, x, scratch);
            convolve_lines(self.isa, planes, line, taps, weights, scratch, bias, *relu, y, layout.row);
        }
    }

    /// Scores from the buffer of the last value.
    fn read_scores(&self, memory: &Memory, scores: &mut [f32]) {
        let last = self.places[self.layers.len()];
        let (layout, classes) = (last.layout(), self.architecture.classes);
        for (image, scores) in scores.chunks_exact_mut(classes).enumerate() {
            // One pixel of as many channels as classes, or a plane of one channel each: shapes say which.
            let shape = self.plan.values[self.layers.len()].shape;
            let from = &memory.buffers[last.buffer][layout.first + image * layout.image..];
            for (index, score) in scores.iter_mut().enumerate() {
                let plane = shape.height * shape.width;
                let (c, pixel) = (index / plane, index % plane);
                *score = from[pixel / shape.width * layout.row + pixel % shape.width * last.channels + c];
            }
        }
    }

    /// Images into the slot of the first value.
    fn take(&self, x: &[f32], memory: &mut Memory) {
        let shape = self.architecture.input;
        let (slot, plane) = (self.places[0], shape.height * shape.width);
        let layout = slot.layout();
        for (image, x) in x.chunks_exact(shape.len()).enumerate() {
            let out = &mut memory.buffers[slot.buffer][layout.first + image * layout.image..];
            let (width, channels, stored) = (shape.width, shape.channels, slot.channels);
            let lines = out.chunks_mut(layout.row).zip(x.chunks_exact(width * channels));
            match self.rows {
                RowLayout::ChannelsFirst => {
                    interleave(self.isa, x, plane, width, channels, stored, layout.row, out);
                }
                RowLayout::ChannelsLast if stored == channels => {
                    lines.for_each(|(out, x)| out[..x.len()].copy_from_slice(x));
                }
                RowLayout::ChannelsLast => lines.for_each(|(out, x)| {
                    let pixels = out.chunks_exact_mut(stored).zip(x.chunks_exact(channels));
                    pixels.for_each(|(out, x)| out[..channels].copy_from_slice(x));
                }),
            }
        }
    }

    fn convolve(
        &self,
        plan: &ConvolutionPlan,
        (weights, bias): (&[f32], &[f32]),
        subsampling: Option<(Subsampling, usize)>,
        (from, to): (BufferSlot, BufferSlot),
        images: usize,
        memory: &mut Memory,
    ) {
        let (lx, ly) = (from.layout(), to.layout());
        let mut y = std::mem::take(&mut memory.buffers[to.buffer]);
        // Frames in buffers may begin further out than the kernel does.
        let first = lx.first - plan.padding * (lx.row + from.channels);
        let shortcut = plan.shortcut.map(|shortcut| match subsampling {
            Some((subsampling, buffer)) if shortcut.kind == ShortcutKind::Subsampled => {
                let other = self.places[shortcut.from];
                let (lo, mut out) = (other.layout(), std::mem::take(&mut memory.buffers[buffer]));
                for image in 0..images {
                    let x = &memory.buffers[other.buffer][lo.first + image * lo.image..];
                    subsampling.copy((x, lo.row), (&mut out[ly.first + image * ly.image..], ly.row));
                }
                memory.buffers[buffer] = out;
                buffer
            }
            _ => self.places[shortcut.from].buffer,
        });
        let x = std::mem::take(&mut memory.buffers[from.buffer]);
        let added =
            shortcut.map(|buffer| if buffer == from.buffer { &[][..] } else { &memory.buffers[buffer][..] });
        // The layer is closed on the way, unless the shortcut is the very value that is convolved, or is added to direct sums.
        let fused = match plan.forward {
            Algorithm::Winograd | Algorithm::Phases => added.is_none_or(|added| !added.is_empty()),
            Algorithm::Direct => added.is_none(),
        };
        let epilogue = if fused {
            Epilogue { bias: Some(bias), shortcut: added, relu: plan.relu }
        } else {
            Epilogue::default()
        };
        let scratch = &mut memory.scratch;
        let from_x = (&x[..], Layout { first, ..lx });
        plan.forward_into(self.isa, weights, images, from_x, (&mut y, ly), epilogue, scratch);
        if !fused {
            let added = added.map_or(&[][..], |added| if added.is_empty() { &x } else { added });
            let width = plan.to.width * plan.outputs;
            for image in 0..images {
                for r in 0..plan.to.height {
                    let at = ly.first + image * ly.image + r * ly.row;
                    let added = if added.is_empty() { &[][..] } else { &added[at..][..width] };
                    close(self.isa, bias, added, plan.relu, plan.outputs, &mut y[at..][..width]);
                }
            }
        }
        memory.buffers[from.buffer] = x;
        memory.buffers[to.buffer] = y;
    }
}

/// The features of a linear layer, gathered where they do not lie together, and from a row of them to the next.
fn gathered<'a>(
    x: &'a [f32],
    from: BufferSlot,
    plan: &LinearPlan,
    images: usize,
    own: &'a mut Vec<f32>,
) -> (&'a [f32], usize) {
    let layout = from.layout();
    if from.is_dense(plan.from.height, plan.from.width) {
        return (x, layout.image);
    }
    let (width, row) = (plan.from.width * plan.stored, apart(plan.features()));
    let out = first_of(own, images * row);
    for (image, out) in out.chunks_exact_mut(row).enumerate() {
        for (r, out) in out[..plan.features()].chunks_exact_mut(width).enumerate() {
            out.copy_from_slice(&x[layout.first + image * layout.image + r * layout.row..][..width]);
        }
    }
    (out, row)
}
