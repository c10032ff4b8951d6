//! A network as a value: which layers, on what.
//!
//! Values are numbered: 0 is the input, i + 1 what layer i makes. A layer names the values it takes, all earlier ones, so
//! the list is in the order in which it is computed. The unit of the list is what is computed together: a convolution with
//! its normalisation, its shortcut and its ReLU is one layer, since none of the four is worth a walk through memory of its
//! own.

use gambeson_data::dataset::Shape;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The number of a value: 0 for the input, i + 1 for the output of layer i.
pub type ValueIndex = usize;

/// A network without its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// What it takes: channel, row, column.
    pub input: Shape,
    /// What it tells apart: the length of the last layer's output.
    pub classes: usize,
    /// In the order of computation; the last one makes the scores of the classes.
    pub layers: Vec<Layer>,
}

/// One layer and what it takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Layer {
    /// The value it takes.
    pub input: ValueIndex,
    /// What it does.
    #[serde(flatten)]
    pub kind: LayerKind,
}

/// What a layer does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LayerKind {
    /// Convolution, then normalisation, shortcut and ReLU, as far as asked for.
    Convolution(Convolution),
    /// The mean over a window.
    AveragePool(Window),
    /// The largest number of a window.
    MaxPool(Window),
    /// The mean over the whole plane: one number per channel.
    GlobalAverage,
    /// A matrix times all numbers of the value, in the order channel, row, column.
    Linear(Linear),
}

/// A convolution and what follows it at once: relu(norm(w ∗ x + bias) + shortcut).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Convolution {
    /// Channels of the output.
    pub channels: usize,
    /// Rows and columns of the kernel.
    pub kernel: usize,
    /// From a place of the kernel to the next.
    pub stride: usize,
    /// Rows and columns of zeros around the input.
    pub padding: usize,
    /// Whether a number is added per channel.
    #[serde(default, skip_serializing_if = "is_false")]
    pub bias: bool,
    /// Whether batch normalisation follows; then a bias would do nothing, and is refused.
    #[serde(default, skip_serializing_if = "is_false")]
    pub norm: bool,
    /// What is added after that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortcut: Option<Shortcut>,
    /// Whether max(·, 0) closes it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub relu: bool,
}

/// An earlier value that is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shortcut {
    /// The value that is added.
    pub from: ValueIndex,
    /// How.
    pub kind: ShortcutKind,
}

/// How a value is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShortcutKind {
    /// As it is.
    Identity,
    /// Option A of He et al. (2016): every s-th row and column, with as many channels of zeros before as behind.
    Subsampled,
}

/// A window that moves over the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Rows and columns.
    pub kernel: usize,
    /// From one place to the next.
    pub stride: usize,
    /// Rows and columns beyond the edge, which do not count.
    #[serde(default)]
    pub padding: usize,
}

/// A matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linear {
    /// Numbers that come out.
    pub outputs: usize,
    /// Whether a number is added to each.
    pub bias: bool,
    /// Whether max(·, 0) closes it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub relu: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde calls it so
fn is_false(value: &bool) -> bool {
    !value
}

/// Why a list of layers is no network. Layers count from 0.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ArchitectureError {
    /// Nothing in, nothing out, or nothing between.
    #[error("a network needs an input with numbers, at least one class and at least one layer")]
    Empty,
    /// More memory than there may be.
    #[error(
        "a pass over {images} images takes {:.1} GB, more than the memory limit of {:.1} GB: take a smaller batch, or fewer draws",
        *.needed as f64 / 1e9,
        *.limit as f64 / 1e9
    )]
    Memory {
        /// Images of a batch, draws counted.
        images: usize,
        /// Bytes.
        needed: u64,
        /// Bytes.
        limit: u64,
    },
    /// A size of 0.
    #[error("layer {layer}: {what} must be at least 1")]
    Zero {
        /// Number of the layer, counting from 0.
        layer: usize,
        /// What of it.
        what: &'static str,
    },
    /// A value that does not exist yet.
    #[error("layer {layer} takes value {value}, but only 0 to {layer} exist before it")]
    Forward {
        /// Number of the layer, counting from 0.
        layer: usize,
        /// The value it names.
        value: usize,
    },
    /// The window does not fit.
    #[error("layer {layer}: a window of {kernel} with padding {padding} does not fit {height} x {width}")]
    Window {
        /// Number of the layer, counting from 0.
        layer: usize,
        /// Rows and columns of the window.
        kernel: usize,
        /// Around the plane.
        padding: usize,
        /// Rows of the plane.
        height: usize,
        /// Columns of the plane.
        width: usize,
    },
    /// Padding as large as the window.
    #[error("layer {layer}: padding {padding} must be smaller than the window, {kernel}")]
    Padding {
        /// Number of the layer, counting from 0.
        layer: usize,
        /// The padding.
        padding: usize,
        /// Rows and columns of the window.
        kernel: usize,
    },
    /// A bias under a normalisation.
    #[error("layer {layer}: a bias before batch normalisation does nothing")]
    BiasAndNorm {
        /// Number of the layer, counting from 0.
        layer: usize,
    },
    /// The shortcut does not fit.
    #[error(
        "layer {layer}: its output is {channels} x {height} x {width}, the shortcut's {from_channels} x {from_height} x {from_width}"
    )]
    Shortcut {
        /// Number of the layer, counting from 0.
        layer: usize,
        /// Of the layer.
        channels: usize,
        /// Of the layer.
        height: usize,
        /// Of the layer.
        width: usize,
        /// Of the shortcut.
        from_channels: usize,
        /// Of the shortcut.
        from_height: usize,
        /// Of the shortcut.
        from_width: usize,
    },
    /// The last layer makes something else than scores.
    #[error("the last layer makes {found} numbers, but there are {classes} classes")]
    Scores {
        /// What it makes.
        found: usize,
        /// What there should be.
        classes: usize,
    },
    /// A value that nobody takes.
    #[error("the output of layer {layer} is used by no layer")]
    Unused {
        /// Number of the layer, counting from 0.
        layer: usize,
    },
    /// More layers than any network has.
    #[error("{found} layers; at most {most} are taken")]
    Layers {
        /// How many.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// An input beyond what memory could hold.
    #[error("an input of {input} is too large")]
    Input {
        /// Its shape.
        input: Shape,
    },
    /// Numbers beyond what memory could hold.
    #[error("layer {layer}: too large")]
    TooLarge {
        /// Number of the layer, counting from 0.
        layer: usize,
    },
}

/// Numbers of a value, weights of a layer: more is refused.
const MOST: usize = 1 << 31;
/// Layers of a network: more is refused.
pub(crate) const MOST_LAYERS: usize = 1 << 14;

impl Architecture {
    /// The shapes of all values, the input first, if everything fits together.
    pub fn shapes(&self) -> Result<Vec<Shape>, ArchitectureError> {
        if self.input.is_empty() || self.classes == 0 || self.layers.is_empty() {
            return Err(ArchitectureError::Empty);
        }
        if self.layers.len() > MOST_LAYERS {
            return Err(ArchitectureError::Layers { found: self.layers.len(), most: MOST_LAYERS });
        }
        if self.input.len() > MOST {
            return Err(ArchitectureError::Input { input: self.input });
        }
        let mut shapes = vec![self.input];
        let mut taken = vec![false; self.layers.len() + 1];
        for (layer, Layer { input, kind }) in self.layers.iter().enumerate() {
            let value =
                |value: usize| shapes.get(value).copied().ok_or(ArchitectureError::Forward { layer, value });
            let from = value(*input)?;
            taken[*input] = true;
            let shape = kind.output(layer, from)?;
            if let LayerKind::Convolution(convolution) = kind
                && let Some(shortcut) = convolution.shortcut
            {
                shortcut.check(layer, shape, value(shortcut.from)?)?;
                taken[shortcut.from] = true;
            }
            if shape.len() > MOST {
                return Err(ArchitectureError::TooLarge { layer });
            }
            shapes.push(shape);
        }
        let found = shapes[self.layers.len()].len();
        if found != self.classes {
            return Err(ArchitectureError::Scores { found, classes: self.classes });
        }
        match (1..self.layers.len()).find(|&value| !taken[value]) {
            Some(value) => Err(ArchitectureError::Unused { layer: value - 1 }),
            None => Ok(shapes),
        }
    }
}

impl LayerKind {
    /// What comes out for an input of this shape; `layer` is for messages.
    pub(crate) fn output(&self, layer: usize, from: Shape) -> Result<Shape, ArchitectureError> {
        let nonzero = |value: usize, what: &'static str| {
            if value == 0 { Err(ArchitectureError::Zero { layer, what }) } else { Ok(()) }
        };
        match self {
            LayerKind::Convolution(convolution) => {
                let Convolution { channels, kernel, stride, padding, bias, norm, .. } = *convolution;
                nonzero(channels, "the number of channels")?;
                if bias && norm {
                    return Err(ArchitectureError::BiasAndNorm { layer });
                }
                let weights = kernel
                    .checked_mul(kernel)
                    .and_then(|k| k.checked_mul(from.channels)?.checked_mul(channels));
                if weights.is_none_or(|weights| weights > MOST) {
                    return Err(ArchitectureError::TooLarge { layer });
                }
                let (height, width) = Window { kernel, stride, padding }.output(layer, from)?;
                Ok(Shape { channels, height, width })
            }
            LayerKind::AveragePool(window) | LayerKind::MaxPool(window) => {
                let (height, width) = window.output(layer, from)?;
                Ok(Shape { height, width, ..from })
            }
            LayerKind::GlobalAverage => Ok(Shape { height: 1, width: 1, ..from }),
            LayerKind::Linear(Linear { outputs, .. }) => {
                nonzero(*outputs, "the number of outputs")?;
                if from.len().checked_mul(*outputs).is_none_or(|weights| weights > MOST) {
                    return Err(ArchitectureError::TooLarge { layer });
                }
                Ok(Shape { channels: *outputs, height: 1, width: 1 })
            }
        }
    }
}

impl Window {
    fn output(self, layer: usize, from: Shape) -> Result<(usize, usize), ArchitectureError> {
        let Window { kernel, stride, padding } = self;
        for (value, what) in [(kernel, "the window"), (stride, "the stride")] {
            if value == 0 {
                return Err(ArchitectureError::Zero { layer, what });
            }
        }
        if padding >= kernel {
            return Err(ArchitectureError::Padding { layer, padding, kernel });
        }
        let Shape { height, width, .. } = from;
        let along = |size: usize| {
            let places = size.checked_add(padding.checked_mul(2)?)?.checked_sub(kernel)? / stride;
            places.checked_add(1)
        };
        along(height).zip(along(width)).ok_or(ArchitectureError::Window {
            layer,
            kernel,
            padding,
            height,
            width,
        })
    }
}

impl Shortcut {
    fn check(self, layer: usize, to: Shape, from: Shape) -> Result<(), ArchitectureError> {
        let fits = match self.kind {
            ShortcutKind::Identity => to == from,
            ShortcutKind::Subsampled => Self::subsampling(to, from).is_some(),
        };
        if fits {
            return Ok(());
        }
        Err(ArchitectureError::Shortcut {
            layer,
            channels: to.channels,
            height: to.height,
            width: to.width,
            from_channels: from.channels,
            from_height: from.height,
            from_width: from.width,
        })
    }

    /// The step between rows and columns taken, and the channels of zeros before; for [`ShortcutKind::Subsampled`].
    pub(crate) fn subsampling(to: Shape, from: Shape) -> Option<(usize, usize)> {
        let more = to.channels.checked_sub(from.channels)?;
        // Rows 0, s, 2s, … below the height: ⌈height/s⌉ of them.
        let step = (1..=from.height.max(from.width))
            .find(|&s| from.height.div_ceil(s) == to.height && from.width.div_ceil(s) == to.width)?;
        more.is_multiple_of(2).then_some((step, more / 2))
    }
}
