//! Networks: an engine for them, training, attacks, and files as classifiers that `smooth` asks.
//!
//! - [`net`]: networks of our own, computed by an explicit engine: layers with hand-written forward and backward passes.
//!   Read [`net::architecture`] first, then [`net::pass`] for training and [`net::inference`] for answers.
//! - [`runtime`]: networks from files as classifiers, computed by our engine or by ONNX Runtime.
//! - [`input_codec`]: how a network sees an input, with or without a projection. [`attack`]: perturbations that raise its loss.
//!   [`train`]: the loop that trains it, Algorithm 1 of the paper among what it trains against.
//! - [`smoothed`]: a network with all that is needed to smooth it, and to attack it, from its files.
//! - [`inputs`]: samples of a data set as a smoother takes them.
//! - [`weights`]: their numbers in files: our own, and state dicts of PyTorch. [`network_format`] tells files
//!   of networks apart.
//! - [`convert`]: from files of any kind to files of another.
//! - [`onnx`]: loading a file and running it with ONNX Runtime; its [`OnnxModel`] is a
//!   [`Classifier`](gambeson_smooth::classifier::Classifier). Read it first, then [`onnx::library`] for finding the
//!   run-time and [`onnx::batch`] for files that take one row only; [`onnx::import`] and [`onnx::export`]
//!   for graphs made of the engine's layers.

pub mod attack;
pub mod convert;
pub mod input_codec;
pub mod inputs;
pub mod net;
pub mod network_format;
pub mod onnx;
pub mod runtime;
pub mod smoothed;
pub mod train;
pub mod weights;

pub use onnx::{Normalisation, OnnxError, OnnxModel};
