//! Networks as their users meet them.

/// Networks in ONNX files.
mod onnx;
/// Writing small files.
mod support;
