//! Networks as their users meet them.

/// Networks of our own.
mod net;
/// Networks in ONNX files.
mod onnx;
/// Files and observers.
#[path = "../../../data/tests/it/files.rs"]
mod support;
