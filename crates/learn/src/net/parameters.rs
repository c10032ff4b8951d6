//! The numbers of a network: one list of trained ones, one of running statistics, and where each layer's lie.
//!
//! Order and layout are those of PyTorch, without any padding, so that optimisers are a loop over one list and files need no
//! translation: a convolution's weights are output × input × row × column, a linear layer's output × input with inputs in
//! the order channel, row, column. What kernels want is made from these once per step.

use super::architecture::{Architecture, ArchitectureError, LayerKind};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use std::ops::Range;

/// Where the numbers of a layer lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayerRanges {
    /// Weights, among the parameters.
    pub weight: Range<usize>,
    /// Bias, or β of a normalisation, among the parameters.
    pub bias: Range<usize>,
    /// γ of a normalisation, among the parameters.
    pub gamma: Range<usize>,
    /// Running mean, among the statistics.
    pub mean: Range<usize>,
    /// Running variance, among the statistics.
    pub variance: Range<usize>,
    /// Numbers that a number of the output is a sum of.
    pub fan_in: usize,
}

/// Where all numbers lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterLayout {
    /// By layer.
    pub layers: Vec<LayerRanges>,
    /// Numbers that are trained.
    pub parameters: usize,
    /// Running statistics.
    pub statistics: usize,
}

impl ParameterLayout {
    /// Of an architecture.
    pub fn new(architecture: &Architecture) -> Result<Self, ArchitectureError> {
        let shapes = architecture.shapes()?;
        let (mut parameters, mut statistics) = (0, 0);
        let take = |count: usize, total: &mut usize| {
            let range = *total..*total + count;
            *total = range.end;
            range
        };
        let layers = architecture.layers.iter().zip(&shapes[1..]).map(|(layer, to)| {
            let from = shapes[layer.input];
            let mut place = LayerRanges::default();
            match &layer.kind {
                LayerKind::Convolution(convolution) => {
                    place.fan_in = from.channels * convolution.kernel * convolution.kernel;
                    place.weight = take(to.channels * place.fan_in, &mut parameters);
                    if convolution.norm {
                        place.gamma = take(to.channels, &mut parameters);
                        place.mean = take(to.channels, &mut statistics);
                        place.variance = take(to.channels, &mut statistics);
                    }
                    if convolution.norm || convolution.bias {
                        place.bias = take(to.channels, &mut parameters);
                    }
                }
                LayerKind::Linear(linear) => {
                    place.fan_in = from.len();
                    place.weight = take(linear.outputs * from.len(), &mut parameters);
                    if linear.bias {
                        place.bias = take(linear.outputs, &mut parameters);
                    }
                }
                LayerKind::AveragePool(_) | LayerKind::MaxPool(_) | LayerKind::GlobalAverage => {}
            }
            place
        });
        let layers = layers.collect();
        Ok(Self { layers, parameters, statistics })
    }
}

/// The numbers of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// What is trained.
    pub parameters: Vec<f32>,
    /// Running means and variances of the normalisations.
    pub statistics: Vec<f32>,
}

impl Weights {
    /// To begin training with: weights normal with variance 2/fan-in (He et al. 2015), of the last linear layer 1/fan-in;
    /// biases 0, normalisations the identity.
    #[allow(clippy::cast_possible_truncation)] // single precision is what is trained
    pub fn initial(places: &ParameterLayout, rng: &mut impl Rng) -> Self {
        let mut parameters = vec![0.0; places.parameters];
        let mut statistics = vec![0.0; places.statistics];
        for (at, place) in places.layers.iter().enumerate() {
            let gain = if at + 1 == places.layers.len() { 1.0 } else { 2.0 };
            let deviation = (gain / place.fan_in.max(1) as f64).sqrt();
            for weight in &mut parameters[place.weight.clone()] {
                let normal: f64 = StandardNormal.sample(rng);
                *weight = (deviation * normal) as f32;
            }
            parameters[place.gamma.clone()].fill(1.0);
            statistics[place.variance.clone()].fill(1.0);
        }
        Self { parameters, statistics }
    }
}
