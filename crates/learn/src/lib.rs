//! Brings networks: classifiers for `smooth` to ask.
//!
//! `data` and `learn` bring pictures and networks. So far the networks come ready-made, as ONNX files:
//!
//! - [`onnx`]: loading a file and running it with ONNX Runtime; its [`OnnxModel`] is a
//!   [`Classifier`](gambeson_smooth::classifier::Classifier). Read it first, then [`onnx::library`] for finding the
//!   run-time and [`onnx::batch`] for files that take one row only.

pub mod net;
pub mod onnx;

pub use onnx::{Normalisation, OnnxError, OnnxModel};
