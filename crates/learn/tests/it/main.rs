//! Networks as their users meet them.

/// Networks of our own.
mod net;
/// Networks in ONNX files.
mod onnx;
/// Writing small files.
mod support;
