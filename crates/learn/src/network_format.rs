//! Formats of network files, detected from their content, never from their names: weights, or an ONNX graph.

use crate::onnx::WireError;
use crate::onnx::batch::has_graph;
use crate::weights::format::{WeightsFormat, WeightsFormatError};
use std::path::Path;
use thiserror::Error;

/// The format of a network file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkFormat {
    /// A gambeson network, or a state dict of PyTorch.
    Weights(WeightsFormat),
    /// An ONNX graph.
    Onnx,
}

/// Why a file has none of these formats.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum NetworkFormatError {
    /// Another format, or a damaged file.
    #[error(
        "neither a gambeson network, nor a state dict (safetensors, or a file of torch.save), nor an ONNX file"
    )]
    Unknown,
    /// A file that no network can be: empty, or a pickle of something else.
    #[error(transparent)]
    Weights(WeightsFormatError),
    /// A file named like a graph that is not a whole one.
    #[error("not a whole ONNX file: {0}")]
    Broken(WireError),
    /// A file named like a graph that has none.
    #[error("not an ONNX file: it has no graph")]
    NoGraph,
}

impl NetworkFormat {
    /// The format of the file at a path with this content. The name only says what is wrong with a broken file.
    pub fn detect(path: &Path, bytes: &[u8]) -> Result<Self, NetworkFormatError> {
        match WeightsFormat::detect(bytes) {
            Ok(format) => return Ok(Self::Weights(format)),
            Err(WeightsFormatError::Unknown) => {}
            Err(error) => return Err(NetworkFormatError::Weights(error)),
        }
        let named_onnx = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("onnx"));
        match has_graph(bytes) {
            Ok(true) => Ok(Self::Onnx),
            _ if !named_onnx => Err(NetworkFormatError::Unknown),
            Ok(false) => Err(NetworkFormatError::NoGraph),
            Err(reason) => Err(NetworkFormatError::Broken(reason)),
        }
    }
}
