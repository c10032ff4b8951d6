//! Why a file is not a classifier.

use crate::net::architecture::ArchitectureError;
use crate::network_format::NetworkFormatError;
use crate::onnx::OnnxError;
use crate::onnx::import::Unsupported;
use crate::weights::network::NetworkError;
use gambeson_data::dataset::Shape;
use gambeson_smooth::input_map::InputMapError;
use std::path::PathBuf;
use thiserror::Error;

/// Why a file is not a classifier.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// ONNX files and their run-time.
    #[error(transparent)]
    Onnx(#[from] OnnxError),
    /// Networks of our own, and state dicts.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A file of no known format.
    #[error("{}: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: NetworkFormatError,
    },
    /// The engine was asked for, but lacks something.
    #[error("{}: our engine does not have {reason}", path.display())]
    Unsupported {
        /// The network.
        path: PathBuf,
        /// What it lacks.
        reason: Unsupported,
    },
    /// A graph with weights that are none.
    #[error("{}: operation {operator} (output `{output}`) has a weight that is not finite", path.display())]
    NotFinite {
        /// The network.
        path: PathBuf,
        /// The operation.
        operator: String,
        /// What it makes.
        output: String,
    },
    /// A graph that only ONNX Runtime could compute, and that cannot.
    #[error("{}: our engine does not have {unsupported}, and {onnx}", path.display())]
    Neither {
        /// The network.
        path: PathBuf,
        /// What our engine lacks.
        unsupported: Box<Unsupported>,
        /// What became of the other.
        onnx: Box<OnnxError>,
    },
    /// ONNX Runtime was asked for, but the file is not a graph.
    #[error("{}: ONNX Runtime computes .onnx files only; `gambeson export` makes one", path.display())]
    NotGraph {
        /// The network.
        path: PathBuf,
    },
    /// The network takes other images.
    #[error("{}: the network takes {taken} images, but the data are {data}", path.display())]
    InputShape {
        /// The network.
        path: PathBuf,
        /// What it takes.
        taken: Shape,
        /// Shape of a sample.
        data: Shape,
    },
    /// Normalisation twice.
    #[error("{}: the network has its own mean and deviation", path.display())]
    NormalisedTwice {
        /// The network.
        path: PathBuf,
    },
    /// One score per row is no choice between classes.
    #[error("{}: the network has one score: smoothing needs two or more classes", path.display())]
    OneScore {
        /// The network.
        path: PathBuf,
    },
    /// Normalised numbers would leave the range of a network's.
    #[error("{}: {reason}", path.display())]
    InputMap {
        /// The network.
        path: PathBuf,
        /// Why.
        reason: InputMapError,
    },
    /// Layers that do not fit together.
    #[error("{}: {reason}", path.display())]
    Architecture {
        /// The network.
        path: PathBuf,
        /// Why.
        reason: ArchitectureError,
    },
    /// The two find another number of classes.
    #[error("{}: our engine finds {own} classes, ONNX Runtime {onnx}: one of them is wrong", path.display())]
    Classes {
        /// The network.
        path: PathBuf,
        /// Ours.
        own: usize,
        /// Theirs.
        onnx: usize,
    },
    /// The two compute different scores.
    #[error(
        "{}: scores of our engine and of ONNX Runtime differ by {difference:.1e} of the largest, more than rounding \
         ({allowed:.0e}): one of them is wrong",
        path.display()
    )]
    Disagree {
        /// The network.
        path: PathBuf,
        /// The largest difference, relative to the largest score.
        difference: f32,
        /// What rounding may be.
        allowed: f32,
    },
}
