//! What follows from an architecture before any number is known: what is stored, who reads it, which algorithm.
//!
//! **What is stored.** Of a convolution its raw output y, before normalisation; whoever reads it applies
//! relu(scale·y + shift) on the way. Only where the value is read more than once, or a shortcut is added to it, the result
//! is kept too, by the first reader if that is a convolution: no pass over memory is made for it alone.
//!
//! **Which algorithm** is a question of shape alone (and, for scores, of the order in which images come), never of time or
//! machine, so results are reproducible.

use super::architecture::{Architecture, ArchitectureError, Convolution, LayerKind, Shortcut, ValueIndex};
use super::kernel::planes::Planes;
use super::kernel::winograd::{self, Tiles, phases};
use super::kernel::{LANES, padded};
use gambeson_data::dataset::Shape;

/// How a convolution is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Winograd,
    /// Winograd on even and odd rows and columns.
    Phases,
    Direct,
}

/// Which of the two to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Winograd where it pays: kernels of 3 × 3 with stride 1, and of 4 × 4 with stride 2, on planes that tiles of 4 × 4
    /// cover without much waste.
    #[default]
    ByShape,
    /// Direct sums everywhere.
    Direct,
}

/// A value.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) shape: Shape,
    /// Channels as stored.
    pub(crate) stored: usize,
    /// Channels as stored of its gradient.
    pub(crate) gradient: usize,
    /// Whether relu(scale·y + shift + shortcut) is kept beside y.
    pub(crate) kept: bool,
    /// The layers that take it, in order.
    pub(crate) readers: Vec<Reader>,
}

/// Who takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reader {
    pub(crate) layer: usize,
    /// As its shortcut, not as its input.
    pub(crate) as_shortcut: bool,
}

/// A convolution's sizes, channels as stored.
#[derive(Clone, Debug)]
pub(crate) struct ConvolutionPlan {
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    pub(crate) padding: usize,
    pub(crate) from: Shape,
    pub(crate) to: Shape,
    /// Channels in, as stored.
    pub(crate) inputs: usize,
    /// Channels out, as stored.
    pub(crate) outputs: usize,
    /// Channels of the gradient of the input, as stored.
    pub(crate) gradient: usize,
    pub(crate) forward: Algorithm,
    pub(crate) by_data: Algorithm,
    pub(crate) by_weights: Algorithm,
    pub(crate) norm: bool,
    pub(crate) relu: bool,
    pub(crate) shortcut: Option<Shortcut>,
}

/// The plane that a kernel walks over: the image with zeros around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PaddedPlane {
    /// Rows and columns of zeros before the image.
    pub(crate) before: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// From a pixel of the image to the next, in pixels.
    pub(crate) step: usize,
}

impl ConvolutionPlan {
    fn new(convolution: &Convolution, from: Shape, to: Shape, value: &Value, choice: Choice) -> Self {
        let Convolution { kernel, stride, padding, norm, relu, shortcut, .. } = *convolution;
        let (inputs, outputs, gradient) = (value.stored, padded(to.channels), value.gradient);
        let tiled = |shape: Shape| choice == Choice::ByShape && kernel == 3 && padding == 1 && covers(shape);
        let choose = |winograd: bool| if winograd { Algorithm::Winograd } else { Algorithm::Direct };
        let full = inputs == padded(inputs);
        let phases = choice == Choice::ByShape && (kernel, stride) == (4, 2) && full && covers(to);
        let by_weights = choose(stride == 1 && full && tiled(to));
        let forward = if phases { Algorithm::Phases } else { by_weights };
        // Spread out by the stride, the gradient is as large as the input.
        let by_data = choose(tiled(from));
        Self {
            kernel,
            stride,
            padding,
            from,
            to,
            inputs,
            outputs,
            gradient,
            forward,
            by_data,
            by_weights,
            norm,
            relu,
            shortcut,
        }
    }

    /// Numbers of the weights as the kernels have them: kernel × kernel × inputs × outputs.
    pub(crate) fn weights(&self) -> usize {
        self.kernel * self.kernel * self.inputs * self.outputs
    }

    /// The frame of the input for the forward pass and the gradient of the weights.
    pub(crate) fn input_frame(&self) -> PaddedPlane {
        let Shape { height, width, .. } = self.to;
        let (rows, columns) = match self.forward {
            Algorithm::Winograd => tile_frame(self.to),
            Algorithm::Phases => (phases::reach(height), phases::reach(width)),
            Algorithm::Direct => {
                ((height - 1) * self.stride + self.kernel, (width - 1) * self.stride + self.kernel)
            }
        };
        PaddedPlane { before: self.padding, rows, columns, step: 1 }
    }

    /// The frame of the output's gradient, spread out to the grid of the input.
    pub(crate) fn gradient_frame(&self) -> PaddedPlane {
        let Shape { height, width, .. } = self.from;
        let (rows, columns) = match self.by_data {
            Algorithm::Winograd => tile_frame(self.from),
            Algorithm::Phases | Algorithm::Direct => (height + self.kernel - 1, width + self.kernel - 1),
        };
        PaddedPlane { before: self.kernel - 1 - self.padding, rows, columns, step: self.stride }
    }

    /// The same convolution of planes.
    pub(crate) fn planes(&self) -> Planes {
        Planes {
            channels: self.from.channels,
            height: self.from.height,
            width: self.from.width,
            kernel: self.kernel,
            stride: self.stride,
            padding: self.padding,
            down: self.to.height,
            across: self.to.width,
            outputs: self.outputs,
        }
    }

    /// Images that are convolved together: as many as fill a batch of tiles.
    pub(crate) fn group(&self, most: usize) -> usize {
        let tiles = Tiles { images: 1, height: self.from.height, width: self.from.width }.per_image();
        winograd::BATCH.div_ceil(tiles).clamp(1, most)
    }
}

impl PaddedPlane {
    pub(crate) fn len(self, channels: usize) -> usize {
        self.rows * self.columns * channels
    }
}

/// Rows and columns that whole tiles read.
fn tile_frame(shape: Shape) -> (usize, usize) {
    (4 * shape.height.div_ceil(4) + 2, 4 * shape.width.div_ceil(4) + 2)
}

/// Whether tiles of 4 × 4 compute at most 1.8 times the plane: beyond, direct sums are faster.
fn covers(shape: Shape) -> bool {
    let tiles = 16 * shape.height.div_ceil(4) * shape.width.div_ceil(4);
    10 * tiles <= 18 * shape.height * shape.width
}

/// Everything that is known beforehand.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) values: Vec<Value>,
    /// By layer; none for layers that are no convolutions.
    pub(crate) convolutions: Vec<Option<ConvolutionPlan>>,
    /// Images of one task. Fixed by the shape of the input: sums over a batch are grouped by it.
    pub(crate) chunk: usize,
}

impl Plan {
    pub(crate) fn new(architecture: &Architecture, choice: Choice) -> Result<Self, ArchitectureError> {
        let shapes = architecture.shapes()?;
        let mut values: Vec<Value> = shapes
            .iter()
            .map(|&shape| {
                let stored = padded(shape.channels);
                Value { shape, stored, gradient: stored, kept: false, readers: Vec::new() }
            })
            .collect();
        let kind = |layer: usize| &architecture.layers[layer].kind;
        for value in 0..values.len() {
            let readers: Vec<Reader> = readers(architecture, value);
            let by_convolutions =
                readers.iter().all(|r| !r.as_shortcut && matches!(kind(r.layer), LayerKind::Convolution(_)));
            let by_matrices =
                readers.iter().all(|r| !r.as_shortcut && matches!(kind(r.layer), LayerKind::Linear(_)));
            // Filled up to eight, a few channels would more than double the first layer.
            if value == 0 && (by_matrices || (by_convolutions && shapes[0].channels <= 4)) {
                values[0].stored = shapes[0].channels;
            }
            let with_shortcut = value > 0
                && matches!(kind(value - 1), LayerKind::Convolution(Convolution { shortcut: Some(_), .. }));
            values[value].kept = with_shortcut || readers.len() != 1 || !by_convolutions;
            values[value].readers = readers;
        }
        let convolutions = architecture
            .layers
            .iter()
            .enumerate()
            .map(|(at, layer)| match &layer.kind {
                LayerKind::Convolution(convolution) => {
                    let (from, to) = (shapes[layer.input], shapes[at + 1]);
                    Some(ConvolutionPlan::new(convolution, from, to, &values[layer.input], choice))
                }
                _ => None,
            })
            .collect();
        let Shape { height, width, .. } = architecture.input;
        let chunk = (256 / height.max(width)).clamp(1, 32);
        Ok(Self { values, convolutions, chunk })
    }

    /// Whether scores of images that come plane by plane are computed from planes in a layer: it alone reads the image, and few
    /// channels make few, which would leave registers half empty where a line of pixels fills them.
    pub(crate) fn is_planar(&self, layer: usize) -> bool {
        let few =
            |plan: &ConvolutionPlan| plan.inputs < LANES && plan.outputs == LANES && plan.to.width >= LANES;
        self.is_alone(layer) && self.convolutions[layer].as_ref().is_some_and(few)
    }

    /// Whether a layer is the only one that takes the image.
    pub(crate) fn is_alone(&self, layer: usize) -> bool {
        self.values[0].readers == [Reader { layer, as_shortcut: false }]
    }
}

/// Readers of a value in layer order; a layer that reads it twice appears twice, as its input first.
fn readers(architecture: &Architecture, value: ValueIndex) -> Vec<Reader> {
    let mut readers = Vec::new();
    for (at, layer) in architecture.layers.iter().enumerate() {
        if layer.input == value {
            readers.push(Reader { layer: at, as_shortcut: false });
        }
        if let LayerKind::Convolution(Convolution { shortcut: Some(shortcut), .. }) = &layer.kind
            && shortcut.from == value
        {
            readers.push(Reader { layer: at, as_shortcut: true });
        }
    }
    readers
}
