//! Networks.

pub mod onnx;
