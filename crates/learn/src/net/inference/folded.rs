//! Layers with their normalisations folded into the weights.

use crate::net::architecture::{Architecture, LayerKind};
use crate::net::buffers::BufferSlot;
use crate::net::kernel::Isa;
use crate::net::kernel::planes::Planes;
use crate::net::layer::linear::{LinearPlan, LinearWeights};
use crate::net::layer::norm::{BatchNorm, NormWeights};
use crate::net::layer::pool::Pool;
use crate::net::layer::shortcut::Subsampling;
use crate::net::parameters::{LayerRanges, ParameterLayout, Weights};
use crate::net::plan::{ConvolutionPlan, Plan};
use gambeson_smooth::input_map::Layout as RowLayout;

/// A convolution computed from the planes of images as they come.
pub(super) struct PlanarConvolution {
    pub(super) planes: Planes,
    pub(super) taps: Vec<usize>,
    pub(super) weights: Vec<f32>,
    pub(super) bias: Vec<f32>,
    pub(super) relu: bool,
}

/// A layer, ready to be computed.
pub(super) enum Folded {
    /// Of the image itself.
    Planes(PlanarConvolution),
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

/// What layers are folded from.
pub(super) struct Folding<'a> {
    pub(super) architecture: &'a Architecture,
    pub(super) plan: &'a Plan,
    /// Where the numbers of each layer lie among the weights.
    pub(super) numbers: &'a ParameterLayout,
    pub(super) weights: &'a Weights,
    pub(super) isa: Isa,
    pub(super) rows: RowLayout,
}

impl Folding<'_> {
    /// A layer. A buffer that it does not need is emptied, one that it needs besides is added.
    pub(super) fn layer(&self, at: usize, places: &[BufferSlot], buffers: &mut Vec<usize>) -> Folded {
        let Self { architecture, plan, .. } = self;
        let parameters = &self.weights.parameters;
        let place = &self.numbers.layers[at];
        let weight = &parameters[place.weight.clone()];
        let (from, to) = (&plan.values[architecture.layers[at].input], &plan.values[at + 1]);
        if let LayerKind::Linear(linear) = architecture.layers[at].kind {
            let plan = LinearPlan::new(from, linear);
            let mut own = LinearWeights::default();
            plan.load(weight, &parameters[place.bias.clone()], &mut own);
            return Folded::Linear { plan, weights: own };
        }
        let Some(convolution) = plan.convolutions[at].clone() else {
            let pool = Pool::of(&architecture.layers[at].kind, from, to).expect("nothing else is left");
            return Folded::Pool(pool);
        };
        let norm = self.norm(place, to.stored, convolution.to.channels);
        let spread = convolution.spread(weight, |o| norm.scale[o]);
        if self.rows == RowLayout::ChannelsFirst && plan.is_planar(at) {
            // Images are read as they come.
            buffers[places[0].buffer] = 0;
            let planes = convolution.planes();
            let (taps, weights) = (planes.taps(), planes.weights(&spread));
            let (bias, relu) = (norm.shift, convolution.relu);
            return Folded::Planes(PlanarConvolution { planes, taps, weights, bias, relu });
        }
        let mut folded = Vec::new();
        convolution.forward_weights(self.isa, &spread, &mut folded);
        let subsampling = Subsampling::of(&convolution, &plan.values).map(|subsampling| {
            // A buffer of its own, whose other channels stay zero.
            buffers.push(buffers[places[at + 1].buffer]);
            (subsampling, buffers.len() - 1)
        });
        Folded::Convolution { plan: convolution, weights: folded, bias: norm.shift, subsampling }
    }

    fn norm(&self, place: &LayerRanges, stored: usize, channels: usize) -> BatchNorm {
        let Weights { parameters, statistics } = self.weights;
        let own = NormWeights {
            gamma: &parameters[place.gamma.clone()],
            beta: &parameters[place.bias.clone()],
            mean: &statistics[place.mean.clone()],
            variance: &statistics[place.variance.clone()],
        };
        let mut norm = BatchNorm::new(stored);
        norm.load(channels, own);
        norm
    }
}
