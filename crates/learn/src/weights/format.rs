//! Formats of files of weights, detected from their content, never from their names.

use super::torch;
use gambeson_lowrank::safetensors::{Content, looks_like};
use thiserror::Error;

/// What the metadata of a gambeson network call its format.
pub const FORMAT: &str = "gambeson network 1";

/// The first byte of a pickle of protocol 2 or later.
const PICKLE: u8 = 0x80;

/// The format of a file of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightsFormat {
    /// A gambeson network.
    Own,
    /// A state dict as safetensors.
    Safetensors,
    /// A state dict as `torch.save` writes it.
    Torch,
}

/// Why a file has none of these formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WeightsFormatError {
    /// No bytes.
    #[error("the file is empty")]
    Empty,
    /// A pickle without the magic number of PyTorch.
    #[error("a pickle that torch.save did not write")]
    Pickle,
    /// Another format, or a damaged file.
    #[error("neither a gambeson network nor a state dict (safetensors, or a file of torch.save)")]
    Unknown,
}

impl WeightsFormat {
    /// The format of a file with this content.
    pub fn detect(bytes: &[u8]) -> Result<Self, WeightsFormatError> {
        if torch::recognises(bytes) {
            return Ok(Self::Torch);
        }
        if looks_like(bytes) {
            let own = |content: Content<'_>| content.metadata.get("format").is_some_and(|it| it == FORMAT);
            return Ok(if Content::parse(bytes).is_ok_and(own) { Self::Own } else { Self::Safetensors });
        }
        Err(match bytes.first() {
            None => WeightsFormatError::Empty,
            Some(&PICKLE) => WeightsFormatError::Pickle,
            Some(_) => WeightsFormatError::Unknown,
        })
    }
}
