//! Scores as fast as they can be had: normalisations folded into the weights, bias, shortcut and ReLU into the convolutions,
//! and a few images at a time through the whole network, so that nothing leaves the cache.
//!
//! Values lie in buffers with zeros around the plane (`rooms`), so that no image is ever copied to be padded. The scores of
//! an image do not depend on the others, nor on how many there are.

use super::architecture::{Architecture, ArchitectureError, LayerKind, ShortcutKind};
use super::kernel::Isa;
use super::kernel::elementwise::{close, interleave};
use super::kernel::planes::{Planes, convolve_lines, split};
use super::kernel::winograd::{Epilogue, Layout};
use super::layer::convolution::{Scratch, room};
use super::layer::linear::{LinearPlan, LinearWeights};
use super::layer::norm::{Norm, NormWeights};
use super::layer::pool::Pool;
use super::layer::shortcut::Subsampling;
use super::parameters::{Places, Weights};
use super::plan::{Algorithm, Choice, ConvolutionPlan, Plan};
use super::rooms::{Room, apart, frames, rooms};
use gambeson_lowrank::file::memory_limit;
use gambeson_smooth::input_map::Layout as RowLayout;
use rayon::prelude::*;
use std::sync::Mutex;

/// Images that go through the network together, at least and at most: fewer stay in the cache.
const TOGETHER: (usize, usize) = (4, 8);

/// The most where matrices are larger than values: what goes together shares the reading of them.
const SHARING: usize = 64;

/// Rows of a matrix product that go together at most, on any machine.
const BLOCK: usize = 16;

/// Numbers of all values together that stay in the cache.
const CACHED: usize = 1 << 17;

/// A network ready to answer.
pub struct Inference {
    architecture: Architecture,
    plan: Plan,
    isa: Isa,
    layers: Vec<Folded>,
    /// By value: where it lies.
    places: Vec<Room>,
    /// Numbers of each buffer.
    buffers: Vec<usize>,
    /// Numbers of an image's lines, where the first layer is computed from planes.
    lines: usize,
    /// Images of one task.
    together: usize,
    /// How images are given.
    rows: RowLayout,
    /// Whether images lie as the first layer wants them, and are read where they are.
    as_given: bool,
    idle: Mutex<Vec<Memory>>,
}

/// Memory of one task.
struct Memory {
    buffers: Vec<Vec<f32>>,
    scratch: Scratch,
    features: Vec<f32>,
    /// Lines of an image, with zeros that stay.
    lines: Vec<f32>,
}

enum Folded {
    /// Of the image itself.
    Planes {
        planes: Planes,
        taps: Vec<usize>,
        weights: Vec<f32>,
        bias: Vec<f32>,
        relu: bool,
    },
    Convolution {
        plan: ConvolutionPlan,
        weights: Vec<f32>,
        bias: Vec<f32>,
        subsampling: Option<(Subsampling, usize)>,
    },
    Linear {
        plan: LinearPlan,
        weights: LinearWeights,
    },
    Pool(Pool),
}

impl Inference {
    /// From an architecture and its weights, for images in the order channel, row, column.
    ///
    /// Panics unless the weights are of the architecture.
    pub fn new(architecture: &Architecture, weights: &Weights, isa: Isa) -> Result<Self, ArchitectureError> {
        Self::of_rows(architecture, weights, isa, RowLayout::ChannelsFirst)
    }

    /// The same for images in any order.
    pub fn of_rows(
        architecture: &Architecture,
        weights: &Weights,
        isa: Isa,
        rows: RowLayout,
    ) -> Result<Self, ArchitectureError> {
        let plan = Plan::new(architecture, Choice::ByShape)?;
        let numbers = Places::new(architecture)?;
        let Weights { parameters, statistics } = weights;
        assert!(
            parameters.len() == numbers.parameters && statistics.len() == numbers.statistics,
            "weights of another network"
        );
        let frames = frames(&plan, architecture);
        let (mut places, mut buffers) = rooms(&plan, architecture, &frames);
        let layers: Vec<Folded> = (0..architecture.layers.len())
            .map(|at| {
                let place = &numbers.layers[at];
                let weight = &parameters[place.weight.clone()];
                let bias = &parameters[place.bias.clone()];
                let (from, to) = (&plan.values[architecture.layers[at].input], &plan.values[at + 1]);
                if let LayerKind::Linear(linear) = architecture.layers[at].kind {
                    let plan = LinearPlan::new(from, linear);
                    let mut own = LinearWeights::default();
                    plan.load(weight, bias, &mut own);
                    return Folded::Linear { plan, weights: own };
                }
                let Some(convolution) = plan.convolutions[at].clone() else {
                    let pool =
                        Pool::of(&architecture.layers[at].kind, from, to).expect("nothing else is left");
                    return Folded::Pool(pool);
                };
                let mut norm = Norm::new(to.stored);
                let own = NormWeights {
                    gamma: &parameters[place.gamma.clone()],
                    beta: bias,
                    mean: &statistics[place.mean.clone()],
                    variance: &statistics[place.variance.clone()],
                };
                norm.load(convolution.to.channels, own);
                let spread = convolution.spread(weight, |o| norm.scale[o]);
                if rows == RowLayout::ChannelsFirst && plan.is_planar(at) {
                    // Images are read as they come.
                    buffers[places[0].buffer] = 0;
                    let planes = convolution.planes();
                    let (taps, weights) = (planes.taps(), planes.weights(&spread));
                    return Folded::Planes {
                        planes,
                        taps,
                        weights,
                        bias: norm.shift,
                        relu: convolution.relu,
                    };
                }
                let mut folded = Vec::new();
                convolution.forward_weights(isa, &spread, &mut folded);
                let subsampling = Subsampling::of(&convolution, &plan.values).map(|subsampling| {
                    // A buffer of its own, whose other channels stay zero.
                    buffers.push(buffers[places[at + 1].buffer]);
                    (subsampling, buffers.len() - 1)
                });
                Folded::Convolution { plan: convolution, weights: folded, bias: norm.shift, subsampling }
            })
            .collect();
        places.shrink_to_fit();
        let (shape, first) = (architecture.input, places[0]);
        let as_given = rows == RowLayout::ChannelsLast
            && first.channels == shape.channels
            && first.is_dense(shape.height, shape.width)
            && plan.is_alone(0)
            && matches!(&layers[0], Folded::Convolution { plan, .. } if plan.shortcut.is_none());
        if as_given {
            buffers[first.buffer] = 0;
        }
        let architecture = architecture.clone();
        let values = buffers.iter().sum::<usize>().max(1);
        let together = together(values, &layers);
        let lines = match &layers[0] {
            Folded::Planes { planes, .. } => planes.scratch(),
            _ => 0,
        };
        let needed = (values as u64).saturating_mul(4 * together as u64).saturating_add(4 * lines as u64);
        let limit = memory_limit();
        if needed > limit {
            return Err(ArchitectureError::Memory { images: together, needed, limit });
        }
        Ok(Self {
            architecture,
            plan,
            isa,
            layers,
            places,
            buffers,
            lines,
            together,
            rows,
            as_given,
            idle: Mutex::new(Vec::new()),
        })
    }

    /// Images that go through the network together.
    pub fn together(&self) -> usize {
        self.together
    }

    /// The network.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// The scores of images: images × classes, on all threads.
    ///
    /// Panics unless `x` holds whole images and `scores` a row for each.
    pub fn scores(&self, x: &[f32], scores: &mut [f32]) {
        let (size, classes) = self.sizes(x, scores);
        // No fewer parts than threads, if that leaves enough together; it changes no score.
        let share = (x.len() / size).div_ceil(rayon::current_num_threads()).max(TOGETHER.0);
        let together = self.together.min(share);
        scores
            .par_chunks_mut(together * classes)
            .zip(x.par_chunks(together * size))
            .with_max_len(1)
            .for_each(|(scores, x)| self.with_memory(|memory| self.some(x, scores, memory)));
    }

    /// The same on the thread that asks: for callers that ask from several at once.
    pub fn scores_on_one_thread(&self, x: &[f32], scores: &mut [f32]) {
        let (size, classes) = self.sizes(x, scores);
        let parts = scores.chunks_mut(self.together * classes).zip(x.chunks(self.together * size));
        self.with_memory(|memory| parts.for_each(|(scores, x)| self.some(x, scores, memory)));
    }

    /// Numbers per image and per row of scores.
    fn sizes(&self, x: &[f32], scores: &[f32]) -> (usize, usize) {
        let (size, classes) = (self.architecture.input.len(), self.architecture.classes);
        assert!(x.len().is_multiple_of(size) && scores.len() == x.len() / size * classes, "whole images");
        (size, classes)
    }

    fn with_memory(&self, work: impl FnOnce(&mut Memory)) {
        let idle = self.idle.lock().map(|mut idle| idle.pop()).ok().flatten();
        let mut memory = idle.unwrap_or_else(|| self.memory());
        work(&mut memory);
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(memory);
        }
    }

    fn memory(&self) -> Memory {
        let buffers = self.buffers.iter().map(|&size| vec![0.0; self.together * size]).collect();
        Memory { buffers, scratch: Scratch::default(), features: Vec::new(), lines: vec![0.0; self.lines] }
    }

    /// At most as many images as go together.
    fn some(&self, x: &[f32], scores: &mut [f32], memory: &mut Memory) {
        let images = x.len() / self.architecture.input.len();
        if !self.as_given && !matches!(self.layers[0], Folded::Planes { .. }) {
            self.take(x, memory);
        }
        for (at, layer) in self.layers.iter().enumerate() {
            let from = self.places[self.architecture.layers[at].input];
            let to = self.places[at + 1];
            match layer {
                Folded::Planes { planes, taps, weights, bias, relu } => {
                    let (layout, line) = (to.layout(), planes.line());
                    let y = &mut memory.buffers[to.buffer];
                    let scratch = &mut memory.lines[..];
                    for (image, x) in x.chunks_exact(self.architecture.input.len()).enumerate() {
                        let y = &mut y[layout.first + image * layout.image..];
                        split(self.isa, planes, line, x, scratch);
                        convolve_lines(
                            self.isa, planes, line, taps, weights, scratch, bias, *relu, y, layout.row,
                        );
                    }
                }
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

    /// Images into the room of the first value.
    fn take(&self, x: &[f32], memory: &mut Memory) {
        let shape = self.architecture.input;
        let (room, plane) = (self.places[0], shape.height * shape.width);
        let layout = room.layout();
        for (image, x) in x.chunks_exact(shape.len()).enumerate() {
            let out = &mut memory.buffers[room.buffer][layout.first + image * layout.image..];
            let (width, channels, stored) = (shape.width, shape.channels, room.channels);
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
        (from, to): (Room, Room),
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

/// Images that go together, of a network with this many numbers of values: as many as stay in the cache, or more where
/// the reading of matrices takes longer than that of values.
fn together(values: usize, layers: &[Folded]) -> usize {
    let matrix = |layer: &Folded| match layer {
        Folded::Linear { plan, .. } => plan.features() * plan.outputs_stored(),
        _ => 0,
    };
    let matrices: usize = layers.iter().map(matrix).sum();
    let cached = (CACHED / values).clamp(TOGETHER.0, TOGETHER.1);
    let sharing = (matrices / values).min(4 * CACHED / values).min(SHARING);
    // Whole blocks of rows, if there are that many.
    cached.max(if sharing > BLOCK { sharing / BLOCK * BLOCK } else { sharing })
}

/// The features of a linear layer, gathered where they do not lie together, and from a row of them to the next.
fn gathered<'a>(
    x: &'a [f32],
    from: Room,
    plan: &LinearPlan,
    images: usize,
    own: &'a mut Vec<f32>,
) -> (&'a [f32], usize) {
    let layout = from.layout();
    if from.is_dense(plan.from.height, plan.from.width) {
        return (x, layout.image);
    }
    let (width, row) = (plan.from.width * plan.stored, apart(plan.features()));
    let out = room(own, images * row);
    for (image, out) in out.chunks_exact_mut(row).enumerate() {
        for (r, out) in out[..plan.features()].chunks_exact_mut(width).enumerate() {
            out.copy_from_slice(&x[layout.first + image * layout.image + r * layout.row..][..width]);
        }
    }
    (out, row)
}
