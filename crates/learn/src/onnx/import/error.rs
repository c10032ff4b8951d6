//! Why a graph is not one for the engine.

use crate::net::architecture::ArchitectureError;
use crate::onnx::wire::WireError;
use gambeson_data::dataset::Shape;
use thiserror::Error;

/// Why a graph is not one for the engine.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// An operation that it does not have.
    #[error("operation {operator} (output `{output}`)")]
    Operator {
        /// Its name.
        operator: String,
        /// What it makes.
        output: String,
    },
    /// An operation with settings that it does not have.
    #[error("operation {operator} (output `{output}`) with {what}")]
    Setting {
        /// Its name.
        operator: String,
        /// What it makes.
        output: String,
        /// What of it.
        what: &'static str,
    },
    /// Not one input and one output.
    #[error("{inputs} inputs and {outputs} outputs, where one of each is expected")]
    Ends {
        /// Inputs that are no constants.
        inputs: usize,
        /// Outputs.
        outputs: usize,
    },
    /// It takes other images.
    #[error("an input declared as {declared} (batch first, ? where it is free), where images are {images}")]
    Input {
        /// Its axes.
        declared: String,
        /// What it would be given.
        images: Shape,
    },
    /// It takes larger images than there are.
    #[error("an input of {images}, which is too large")]
    Large {
        /// As declared.
        images: Shape,
    },
    /// Scores are not what it ends with.
    #[error("an output `{output}` that is {what}")]
    Output {
        /// Its name.
        output: String,
        /// What it is.
        what: &'static str,
    },
    /// Not a normalisation.
    #[error("an input that is multiplied by a number that is not positive (channel {channel}: {factor})")]
    Normalisation {
        /// Counting from 0.
        channel: usize,
        /// The number.
        factor: f64,
    },
    /// The order of the input's numbers is not the one that its dimensions suggest.
    #[error("an input whose channels lie elsewhere than its dimensions suggest")]
    Layout,
    /// The layers do not fit together.
    #[error(transparent)]
    Architecture(#[from] ArchitectureError),
}

/// Why a file is not a network for the engine.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// What the graph is made of.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// Weights that are none, for whichever program.
    #[error("operation {operator} (output `{output}`) has a weight that is not finite")]
    NotFinite {
        /// The operation.
        operator: String,
        /// What it makes.
        output: String,
    },
}
