//! Weights in and out: our own files, PyTorch's state dicts, safetensors, ONNX.
//!
//! In reading order: [`mod@format`], which tells files apart; [`network`], a network with all that its file says; [`state_dict`], which names PyTorch has for the same
//! numbers; [`torch`], its containers, on a [`pickle`] reader that builds tensors and
//! nothing else (`object`).

pub mod format;
pub mod network;
mod object;
pub mod pickle;
pub mod state_dict;
pub mod tensor;
pub mod torch;
