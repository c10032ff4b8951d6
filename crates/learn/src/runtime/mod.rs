//! Networks from files as classifiers, and what computes them: our own engine, or ONNX Runtime.
//!
//! **Which.** [`RuntimeChoice::Auto`] takes the engine for every file that it understands: networks of ours, state dicts,
//! and ONNX graphs made of its layers, whether or not ONNX Runtime is installed; other graphs go to ONNX Runtime. Where
//! both can compute a graph they are compared on a few rows, and a difference beyond rounding is an error, since one of
//! them is then wrong.
//!
//! **Identity.** The two round differently, so draws that are nearly ties may be answered differently: what computed a
//! network is part of a run ([`Runtime::name`] in its records), and a run goes on with what it began with.

mod agree;
mod content;
mod error;
mod load;
mod model;
mod own;

pub use content::NetworkContent;
pub use error::RuntimeError;
pub use load::{LoadParams, LoadedModel, load, load_content};
pub use model::{NetworkModel, Runtime, RuntimeChoice, network_name};
pub use own::{OwnModel, OwnModelError};
