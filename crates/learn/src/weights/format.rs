//! Formats of network files, detected from their content, never from their names.

use super::torch;
use crate::onnx::WireError;
use crate::onnx::batch::has_graph;
use gambeson_lowrank::safetensors::{Content, looks_like};
use std::path::Path;
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
    Unknown,
    /// A file named like a graph that is not a whole one.
    #[error("not a whole ONNX file: {0}")]
    Broken(WireError),
    /// A file named like a graph that has none.
    #[error("not an ONNX file: it has no graph")]
    NoGraph,
}

impl NetworkFormat {
    /// The format of the file at a path with this content. The name only says what is wrong with a broken file.
    pub(crate) fn of_file(path: &Path, bytes: &[u8]) -> Result<Self, FormatError> {
        match Self::detect(bytes) {
            Err(FormatError::Unknown)
                if path.extension().is_some_and(|it| it.eq_ignore_ascii_case("onnx")) =>
            {
                Err(has_graph(bytes).map_or_else(FormatError::Broken, |_| FormatError::NoGraph))
            }
            found => found,
        }
    }

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
        if has_graph(bytes).unwrap_or(false) { Ok(Self::Onnx) } else { Err(FormatError::Unknown) }
    }

    /// Whether a file that begins with `head` (16 bytes are enough) is no ONNX graph.
    pub(crate) fn excludes_graph(head: &[u8]) -> bool {
        torch::recognises(head) || looks_like(head)
    }
}
