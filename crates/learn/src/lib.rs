//! Networks.

pub mod net;
pub mod onnx;
