//! Forward and backward passes over a batch, with all memory they need.
//!
//! [`Pass`] is made once for an architecture and a largest batch; then, as often as one likes: [`load`](Pass::load) weights,
//! [`forward`](Pass::forward) images, [`backward`](Pass::backward) the gradient of whatever loss was made of the scores.
//! Weights are never changed here, running statistics included: what a training pass learned about them is asked for
//! ([`update_statistics`](Pass::update_statistics)).
//!
//! Every layer is one parallel loop over chunks of images. Which images make a chunk is fixed by the shape of the input, and
//! sums over chunks are added in their order: the same bits on any number of threads. Only the weights of wide linear layers
//! have their gradients computed feature by feature, each over all images in order.

mod arena;
mod backward;
mod forward;

use super::architecture::{Architecture, ArchitectureError, LayerKind, ValueIndex};
use super::kernel::Isa;
use super::layer::convolution::{ConvolutionWeights, Scratch};
use super::layer::linear::{LinearPlan, LinearWeights};
use super::layer::norm::{BatchNorm, NormWeights};
use super::layer::pool::Pool;
use super::layer::shortcut::Subsampling;
use super::parameters::{ParameterLayout, Weights};
use super::plan::{Choice, Plan, Value};
use gambeson_lowrank::MemoryLimit;
use rayon::prelude::*;
use std::sync::Mutex;

/// Where the statistics of normalisations come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// From the batch itself.
    Training,
    /// From the running statistics: an image's scores do not depend on the others.
    Evaluation,
}

/// Which gradients are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Of the weights.
    pub weights: bool,
    /// Of the images.
    pub input: bool,
}

/// Buffers and weights for forward and backward passes.
pub struct Pass {
    architecture: Architecture,
    places: ParameterLayout,
    plan: Plan,
    isa: Isa,
    /// Images there is room for.
    batch: usize,
    /// Images of the last forward pass, and its mode.
    images: usize,
    mode: Mode,
    /// By layer.
    weights: Vec<LayerWeights>,
    /// By layer.
    norms: Vec<BatchNorm>,
    /// Raw outputs of convolutions, by layer.
    raw: Vec<Vec<f32>>,
    /// Values as others read them, by value: the input, kept outputs of convolutions, outputs of other layers.
    kept: Vec<Vec<f32>>,
    gradients: arena::Arena,
    /// Sums over the images of each chunk, per channel.
    sums: Vec<f64>,
    /// Gradients of weights of each chunk; of a wide linear layer, of all of them.
    partial: Vec<f32>,
    scratch: Mutex<Vec<Scratch>>,
    scores: Vec<f32>,
    parameter_gradient: Vec<f32>,
}

/// Weights of a layer as the kernels want them.
enum LayerWeights {
    Convolution(ConvolutionWeights),
    Linear(LinearWeights),
    None,
}

impl Pass {
    /// For batches of at most `batch` images, at least one. Refused where they take more than `memory`.
    pub fn new(
        architecture: &Architecture,
        batch: usize,
        choice: Choice,
        isa: Isa,
        memory: MemoryLimit,
    ) -> Result<Self, ArchitectureError> {
        let (plan, places) = (Plan::new(architecture, choice)?, ParameterLayout::new(architecture)?);
        let batch = batch.max(1);
        // Known before anything is taken: values as computed and as read, and at most as much again for gradients; weights
        // as forward and backward products want them, their gradients as summed and as handed over; and what training keeps
        // outside: the weights, the last step, and their running mean.
        let each = |value: &Value| {
            (value.shape.height * value.shape.width * value.stored.max(value.gradient)) as u64
        };
        let numbers: u64 = plan.values.iter().map(each).fold(0, u64::saturating_add);
        let needed = numbers.saturating_mul(3 * 4).saturating_mul(batch as u64);
        let needed = needed.saturating_add((places.parameters as u64).saturating_mul(7 * 4));
        if !memory.allows(needed) {
            let limit = memory.limit();
            return Err(ArchitectureError::Memory { images: batch, needed, limit });
        }
        let size = |value: usize| {
            let value = &plan.values[value];
            batch * value.shape.height * value.shape.width * value.stored
        };
        let mut weights = Vec::new();
        let mut raw = Vec::new();
        let mut kept = vec![vec![0.0; size(0)]];
        let mut norms = Vec::new();
        for (at, layer) in architecture.layers.iter().enumerate() {
            let is_convolution = matches!(layer.kind, LayerKind::Convolution(_));
            weights.push(match layer.kind {
                LayerKind::Convolution(_) => LayerWeights::Convolution(ConvolutionWeights::default()),
                LayerKind::Linear(_) => LayerWeights::Linear(LinearWeights::default()),
                _ => LayerWeights::None,
            });
            let value = &plan.values[at + 1];
            raw.push(if is_convolution { vec![0.0; size(at + 1)] } else { Vec::new() });
            kept.push(if value.kept || !is_convolution { vec![0.0; size(at + 1)] } else { Vec::new() });
            norms.push(if is_convolution { BatchNorm::new(value.stored) } else { BatchNorm::default() });
        }
        let gradients = arena::Arena::new(architecture, &plan, batch);
        Ok(Self {
            scores: vec![0.0; batch * architecture.classes],
            parameter_gradient: vec![0.0; places.parameters],
            architecture: architecture.clone(),
            places,
            plan,
            isa,
            batch,
            images: 0,
            mode: Mode::Evaluation,
            weights,
            norms,
            raw,
            kept,
            gradients,
            sums: Vec::new(),
            partial: Vec::new(),
            scratch: Mutex::new(Vec::new()),
        })
    }

    /// The network.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// Where its numbers lie.
    pub fn places(&self) -> &ParameterLayout {
        &self.places
    }

    /// Images there is room for.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Takes weights over: all passes use these until the next call.
    ///
    /// Panics unless they are of this network.
    pub fn load(&mut self, weights: &Weights) {
        let Weights { parameters, statistics } = weights;
        assert!(
            parameters.len() == self.places.parameters && statistics.len() == self.places.statistics,
            "weights of another network"
        );
        let (architecture, plan, isa) = (&self.architecture, &self.plan, self.isa);
        let own = self.weights.par_iter_mut().zip(self.norms.par_iter_mut());
        own.zip(&self.places.layers).enumerate().for_each(|(at, ((own, norm), place))| {
            let weight = &parameters[place.weight.clone()];
            match own {
                LayerWeights::Convolution(own) => {
                    let plan = plan.convolutions[at].as_ref().expect("a convolution has its plan");
                    plan.load(isa, weight, true, own);
                    let weights = NormWeights {
                        gamma: &parameters[place.gamma.clone()],
                        beta: &parameters[place.bias.clone()],
                        mean: &statistics[place.mean.clone()],
                        variance: &statistics[place.variance.clone()],
                    };
                    norm.load(plan.to.channels, weights);
                }
                LayerWeights::Linear(own) => {
                    let bias = &parameters[place.bias.clone()];
                    linear_plan(architecture, plan, at).load(weight, bias, own);
                }
                LayerWeights::None => {}
            }
        });
    }

    /// Moves running statistics towards those of the last training pass: new = old + momentum·(batch − old), with the
    /// unbiased variance, as PyTorch does with momentum 0.1.
    pub fn update_statistics(&self, momentum: f32, statistics: &mut [f32]) {
        if self.mode == Mode::Evaluation {
            return;
        }
        for (at, place) in self.places.layers.iter().enumerate() {
            let Some(plan) = self.plan.convolutions[at].as_ref().filter(|plan| plan.norm) else { continue };
            let count = (self.images * plan.to.height * plan.to.width) as f32;
            let unbiased = if count > 1.0 { count / (count - 1.0) } else { 1.0 };
            let norm = &self.norms[at];
            for (old, new) in statistics[place.mean.clone()].iter_mut().zip(&norm.mean) {
                *old += momentum * (new - *old);
            }
            for (old, new) in statistics[place.variance.clone()].iter_mut().zip(&norm.variance) {
                *old += momentum * (unbiased * new - *old);
            }
        }
    }

    /// The gradient of the loss by all parameters, in their order, from the last backward pass that was asked for it.
    pub fn parameter_gradient(&self) -> &[f32] {
        &self.parameter_gradient
    }

    fn chunks(&self) -> usize {
        self.images.div_ceil(self.plan.chunk)
    }

    /// The layer that computes what is kept of a convolution's value: its first reader, if that is a convolution that
    /// takes it as its input.
    fn keeper(&self, value: ValueIndex) -> Option<usize> {
        let first = self.plan.values[value].readers.first().filter(|reader| !reader.as_shortcut)?;
        self.plan.convolutions[first.layer].as_ref().map(|_| first.layer)
    }

    fn is_convolution(&self, value: ValueIndex) -> bool {
        value > 0 && self.plan.convolutions[value - 1].is_some()
    }

    fn subsampling(&self, layer: usize) -> Option<Subsampling> {
        Subsampling::of(self.plan.convolutions[layer].as_ref()?, &self.plan.values)
    }

    fn pool(&self, layer: usize) -> Option<Pool> {
        let from = &self.plan.values[self.architecture.layers[layer].input];
        Pool::of(&self.architecture.layers[layer].kind, from, &self.plan.values[layer + 1])
    }

    fn with_scratch<T>(&self, work: impl FnOnce(&mut Scratch) -> T) -> T {
        let mut scratch = self.scratch.lock().map(|mut idle| idle.pop()).ok().flatten().unwrap_or_default();
        let result = work(&mut scratch);
        if let Ok(mut idle) = self.scratch.lock() {
            idle.push(scratch);
        }
        result
    }
}

fn linear_plan(architecture: &Architecture, plan: &Plan, layer: usize) -> LinearPlan {
    let from = &plan.values[architecture.layers[layer].input];
    let LayerKind::Linear(linear) = architecture.layers[layer].kind else {
        unreachable!("asked of linear layers only")
    };
    LinearPlan::new(from, linear)
}
