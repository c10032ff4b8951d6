//! The networks that are trained here.

use super::architecture::{
    Architecture, Convolution, Layer, LayerKind, Linear, MOST_LAYERS, Shortcut, ShortcutKind, Window,
};
use gambeson_data::dataset::Shape;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A family of networks and its sizes: what a training spec names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "family", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Model {
    /// He, Zhang, Ren, Sun, *Deep residual learning* (CVPR 2016), section 4.2: three stages of widths w, 2w, 4w, with
    /// shortcuts of option A. Depth 6k + 2: 8, 20, 32, 44, 56, 110.
    ResNet {
        /// Layers with weights.
        depth: usize,
        /// Channels of the first stage; 16 in the paper.
        width: usize,
    },
    /// Three convolutions of 3×3 with normalisation, each halving the plane by a stride of 2, and a linear layer.
    Cnn {
        /// Channels of the first convolution; doubled twice.
        width: usize,
    },
    /// Linear layers with ReLU between them.
    Mlp {
        /// Numbers of each layer between input and scores.
        hidden: Vec<usize>,
    },
}

/// No network of that size.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModelSizeError {
    /// A depth that is not 6k + 2.
    #[error("a ResNet has 6k + 2 layers (8, 20, 32, 44, 56, 110, ...), not {depth}")]
    Depth {
        /// What was asked for.
        depth: usize,
    },
    /// Deeper than any network.
    #[error("a depth of {depth}: must be at most {most}")]
    Deep {
        /// What was asked for.
        depth: usize,
        /// What there may be.
        most: usize,
    },
    /// A width of 0, or an odd one where option A needs an even number.
    #[error("a width of {width}: must be even and at least 2")]
    Width {
        /// What was asked for.
        width: usize,
    },
    /// A layer of nothing.
    #[error("a hidden layer of 0 numbers")]
    Hidden,
}

impl Model {
    /// Its layers for inputs of this shape.
    pub fn architecture(&self, input: Shape, classes: usize) -> Result<Architecture, ModelSizeError> {
        let layers = match self {
            Model::ResNet { depth, width } => resnet(*depth, *width, classes)?,
            Model::Cnn { width } => cnn(*width, classes)?,
            Model::Mlp { hidden } => mlp(hidden, classes)?,
        };
        Ok(Architecture { input, classes, layers })
    }
}

fn convolution(input: usize, channels: usize, stride: usize, shortcut: Option<Shortcut>) -> Layer {
    let (bias, norm, relu) = (false, true, true);
    let kind = Convolution { channels, kernel: 3, stride, padding: 1, bias, norm, shortcut, relu };
    Layer { input, kind: LayerKind::Convolution(kind) }
}

fn scores(input: usize, classes: usize) -> Layer {
    Layer { input, kind: LayerKind::Linear(Linear { outputs: classes, bias: true, relu: false }) }
}

fn resnet(depth: usize, width: usize, classes: usize) -> Result<Vec<Layer>, ModelSizeError> {
    if depth < 8 || !(depth - 2).is_multiple_of(6) {
        return Err(ModelSizeError::Depth { depth });
    }
    if depth > MOST_LAYERS {
        return Err(ModelSizeError::Deep { depth, most: MOST_LAYERS });
    }
    if width == 0 || !width.is_multiple_of(2) {
        return Err(ModelSizeError::Width { width });
    }
    let mut layers = vec![convolution(0, width, 1, None)];
    for stage in 0..3 {
        for block in 0..(depth - 2) / 6 {
            let (channels, from) = (width << stage, layers.len());
            let halved = stage > 0 && block == 0;
            let kind = if halved { ShortcutKind::Subsampled } else { ShortcutKind::Identity };
            layers.push(convolution(from, channels, if halved { 2 } else { 1 }, None));
            layers.push(convolution(from + 1, channels, 1, Some(Shortcut { from, kind })));
        }
    }
    layers.push(Layer { input: layers.len(), kind: LayerKind::GlobalAverage });
    layers.push(scores(layers.len(), classes));
    Ok(layers)
}

fn cnn(width: usize, classes: usize) -> Result<Vec<Layer>, ModelSizeError> {
    if width == 0 {
        return Err(ModelSizeError::Width { width });
    }
    let mut layers: Vec<Layer> =
        (0..3).map(|at| convolution(at, width << at, if at == 0 { 1 } else { 2 }, None)).collect();
    let pool = Window { kernel: 2, stride: 2, padding: 0 };
    layers.insert(1, Layer { input: 1, kind: LayerKind::MaxPool(pool) });
    for (at, layer) in layers.iter_mut().enumerate() {
        layer.input = at;
    }
    layers.push(Layer { input: layers.len(), kind: LayerKind::GlobalAverage });
    layers.push(scores(layers.len(), classes));
    Ok(layers)
}

fn mlp(hidden: &[usize], classes: usize) -> Result<Vec<Layer>, ModelSizeError> {
    if hidden.contains(&0) {
        return Err(ModelSizeError::Hidden);
    }
    let linear = |(input, &outputs): (usize, &usize)| Layer {
        input,
        kind: LayerKind::Linear(Linear { outputs, bias: true, relu: true }),
    };
    let mut layers: Vec<Layer> = hidden.iter().enumerate().map(linear).collect();
    layers.push(scores(layers.len(), classes));
    Ok(layers)
}
