//! Formats of network files, detected from their content, never from their names.

use super::torch;
use crate::onnx::WireError;
use crate::onnx::batch::has_graph;
use gambeson_lowrank::safetensors::{Content, looks_like};
use thiserror::Error;

/// What the metadata of a gambeson network call its format.
pub const FORMAT: &str = "gambeson network 1";

/// The first byte of a pickle of protocol 2 or later.
const PICKLE: u8 = 0x80;

/// The format of a network file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkFormat {
    /// A gambeson network.
    Own,
    /// A state dict as safetensors.
    Safetensors,
    /// A state dict as `torch.save` writes it.
    Torch,
    /// An ONNX graph.
    Onnx,
}

/// Why a file has none of these formats.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// No bytes.
    #[error("the file is empty")]
    Empty,
    /// A pickle without the magic number of PyTorch.
    #[error("a pickle that torch.save did not write")]
    Pickle,
    /// Another format, or a damaged file.
    #[error(
        "neither a gambeson network, nor a state dict (safetensors, or a file of torch.save), nor an ONNX file"
    )]
    Unknown {
        /// Where the file cannot be read as ONNX, in case it was meant to be; `None` if it merely has no graph.
        graph: Option<WireError>,
    },
}

impl NetworkFormat {
    /// The format of a file with this content.
    pub fn detect(bytes: &[u8]) -> Result<Self, FormatError> {
        if bytes.is_empty() {
            return Err(FormatError::Empty);
        }
        if torch::recognises(bytes) {
            return Ok(Self::Torch);
        }
        if looks_like(bytes) {
            let own = |content: Content<'_>| content.metadata.get("format").is_some_and(|it| it == FORMAT);
            return Ok(if Content::parse(bytes).is_ok_and(own) { Self::Own } else { Self::Safetensors });
        }
        if bytes[0] == PICKLE {
            return Err(FormatError::Pickle);
        }
        match has_graph(bytes) {
            Ok(true) => Ok(Self::Onnx),
            Ok(false) => Err(FormatError::Unknown { graph: None }),
            Err(reason) => Err(FormatError::Unknown { graph: Some(reason) }),
        }
    }

    /// Whether a file that begins with `head` (16 bytes are enough) is no ONNX graph.
    pub(crate) fn excludes_graph(head: &[u8]) -> bool {
        torch::recognises(head) || looks_like(head)
    }
}
