//! Networks as their users meet them.

/// Networks of our own.
mod net;
/// Networks in ONNX files.
mod onnx;
/// Networks in ONNX files as exporters write them.
mod onnx_files;
/// Networks from files as classifiers.
mod runtime;
/// Smoothed models from files.
mod smoothed;
/// Files and observers.
#[path = "../../../data/tests/it/files.rs"]
mod support;
/// Views, attacks and training.
mod train;
