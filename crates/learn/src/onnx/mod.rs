//! ONNX networks as classifiers, run by ONNX Runtime.
//!
//! The library is not part of the program: it is looked for when a network is first loaded ([`library`]) and looked at
//! before it is opened. Sessions have one thread each and there are as many as threads ask: on small networks that is
//! faster than the threads of the library, and answers cannot depend on their number. A batch of another size may be
//! computed by other code and differ in last places.
//!
//! **What goes in.** Rows in the order channel, row, column and in the range of the data (pixels in [0, 1]); noise has
//! been added by then and nothing was clipped. A [`Normalisation`] is applied after that, once: (x − mean)/std of each
//! channel. Networks that normalise inside get none. Where the graph wants height, width, channel, rows are reordered.
//!
//! **Fixed batches.** Many files say that a batch has one row. [`batch`] rewrites them for any number, and the result is
//! used if it computes the same on a probe as the file itself; else the file runs as it is.

pub mod batch;
mod error;
mod input;
pub mod library;
mod model;
mod normalisation;
mod wire;

pub use error::{LibraryProblem, OnnxError};
pub use input::Layout;
pub use model::{Batching, OnnxModel};
pub use normalisation::{Normalisation, NormalisationError};
pub use wire::WireError;
