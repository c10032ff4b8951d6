//! Scores as fast as they can be had: normalisations folded into the weights, bias, shortcut and ReLU into the convolutions,
//! and a few images at a time through the whole network, so that nothing leaves the cache.
//!
//! Values lie in buffers with zeros around the plane (`net::buffers`), so that no image is ever copied to be padded. The scores of
//! an image do not depend on the others, nor on how many there are.

mod folded;
mod forward;

use super::architecture::{Architecture, ArchitectureError};
use super::buffers::{BufferSlot, assign_buffers, frames};
use super::kernel::Isa;
use super::layer::convolution::Scratch;
use super::parameters::{ParameterLayout, Weights};
use super::plan::{Choice, Plan};
use folded::{Folded, Folding};
use gambeson_lowrank::MemoryLimit;
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
    places: Vec<BufferSlot>,
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

impl Inference {
    /// From an architecture and its weights, for images in the order channel, row, column. Refused where the values of the
    /// images that go together take more than `memory`.
    ///
    /// Panics unless the weights are of the architecture.
    pub fn new(
        architecture: &Architecture,
        weights: &Weights,
        isa: Isa,
        memory: MemoryLimit,
    ) -> Result<Self, ArchitectureError> {
        Self::of_rows(architecture, weights, isa, RowLayout::ChannelsFirst, memory)
    }

    /// The same for images in any order.
    pub fn of_rows(
        architecture: &Architecture,
        weights: &Weights,
        isa: Isa,
        rows: RowLayout,
        memory: MemoryLimit,
    ) -> Result<Self, ArchitectureError> {
        let plan = Plan::new(architecture, Choice::ByShape)?;
        let numbers = ParameterLayout::new(architecture)?;
        let Weights { parameters, statistics } = weights;
        assert!(
            parameters.len() == numbers.parameters && statistics.len() == numbers.statistics,
            "weights of another network"
        );
        let frames = frames(&plan, architecture);
        let (mut places, mut buffers) = assign_buffers(&plan, architecture, &frames);
        let folding = Folding { architecture, plan: &plan, numbers: &numbers, weights, isa, rows };
        let layers: Vec<Folded> =
            (0..architecture.layers.len()).map(|at| folding.layer(at, &places, &mut buffers)).collect();
        places.shrink_to_fit();
        let first = places[0];
        let as_given = is_as_given(architecture, &plan, first, rows, &layers[0]);
        if as_given {
            buffers[first.buffer] = 0;
        }
        let architecture = architecture.clone();
        let values = buffers.iter().sum::<usize>().max(1);
        let together = together(values, &layers);
        let lines = match &layers[0] {
            Folded::Planes(first) => first.planes.scratch(),
            _ => 0,
        };
        let needed = (values as u64).saturating_mul(4 * together as u64).saturating_add(4 * lines as u64);
        if !memory.allows(needed) {
            let limit = memory.limit();
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
            .for_each(|(scores, x)| self.with_memory(|memory| self.forward_block(x, scores, memory)));
    }

    /// The same on the thread that asks: for callers that ask from several at once.
    pub fn scores_on_one_thread(&self, x: &[f32], scores: &mut [f32]) {
        let (size, classes) = self.sizes(x, scores);
        let parts = scores.chunks_mut(self.together * classes).zip(x.chunks(self.together * size));
        self.with_memory(|memory| parts.for_each(|(scores, x)| self.forward_block(x, scores, memory)));
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
}

/// Whether images lie as the first layer wants them, and can be read where they are.
fn is_as_given(
    architecture: &Architecture,
    plan: &Plan,
    first: BufferSlot,
    rows: RowLayout,
    layer: &Folded,
) -> bool {
    let shape = architecture.input;
    rows == RowLayout::ChannelsLast
        && first.channels == shape.channels
        && first.is_dense(shape.height, shape.width)
        && plan.is_alone(0)
        && matches!(layer, Folded::Convolution { plan, .. } if plan.shortcut.is_none())
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
