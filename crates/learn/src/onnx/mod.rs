//! ONNX networks as classifiers, run by ONNX Runtime.
//!
//! The library is not part of the program: it is looked for when a network is first loaded ([`library`]) and looked at
//! before it is opened. Sessions have one thread each, one session per thread that asks: on small networks that is faster
//! than the threads of the library, and answers cannot depend on their number. A batch of another size may be computed by
//! other code and differ in the last digits.
//!
//! **What goes in.** Noise is added to data in its own range (pixels in [0, 1]), and nothing is clipped. A
//! [`Normalisation`] is for after that, once: (x − mean)/std of each channel. Networks that normalise inside do not get one.
//! Some graphs want height, width, channel. Both are in the model's [`InputMap`](gambeson_smooth::input_map::InputMap),
//! applied by whoever makes the rows: [`classify`](gambeson_smooth::classifier::Classifier::classify) is given rows as
//! the graph takes them.
//!
//! **Fixed batches.** Many files demand batches of one row. [`batch`] rewrites them for any number, and the result is
//! used if it computes the same on a probe as the file itself; else the file runs as it is.
//!
//! **Weights in other files** are put into the graph (`external`); graphs of half or double precision get a Cast in front
//! and behind (`precision`).

pub mod batch;
mod error;
pub mod export;
mod external;
mod graph;
pub mod import;
mod input;
pub mod library;
mod model;
mod normalisation;
mod precision;
mod schema;
mod wire;

pub use error::{LibraryProblem, OnnxError};
pub use external::external_files;
pub(crate) use external::{WholeGraph, external_content, graph_sha256, whole_graph};
pub(crate) use input::{declared_dimensions, image_shape};
pub use model::{Batching, OnnxModel};
pub(crate) use normalisation::affine;
pub use normalisation::{Normalisation, NormalisationError};
pub use wire::WireError;
