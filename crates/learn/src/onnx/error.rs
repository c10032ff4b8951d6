//! What can go wrong with ONNX networks and their run-time.

use super::wire::WireError;
use gambeson_data::dataset::Shape;
use gambeson_smooth::input_map::InputMapError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// How to get the library.
const HOW: &str = "`pip install onnxruntime` brings it; or set ORT_DYLIB_PATH to libonnxruntime.so \
                   (.dylib, onnxruntime.dll) or its folder";

/// Why a network cannot be run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OnnxError {
    /// No library was found.
    #[error("ONNX Runtime, the library that runs .onnx files, was not found. {HOW}")]
    NoLibrary,
    /// A file that was named or found cannot be used as the library.
    #[error("{}: {problem}. {HOW}", path.display())]
    Library {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: LibraryProblem,
    },
    /// The file cannot be read.
    #[error("{}: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: io::Error,
    },
    /// The file is broken.
    #[error("{}: not a whole ONNX file: {reason}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Where and how.
        reason: WireError,
    },
    /// A reference to a file outside the folder of the network.
    #[error(
        "{}: refers to {location:?} for its weights, which is not a file in the network's own folder; put it there",
        path.display()
    )]
    Outside {
        /// The network.
        path: PathBuf,
        /// As the graph says, clipped.
        location: String,
    },
    /// A tensor whose bytes are not where the graph says.
    #[error("{}: the bytes of {tensor:?} are not in {}: it is too short", path.display(), file.display())]
    External {
        /// The network.
        path: PathBuf,
        /// Name of the tensor.
        tensor: String,
        /// The file that should have them.
        file: PathBuf,
    },
    /// The file is something else.
    #[error("{}: not an ONNX file: it has no graph", path.display())]
    NotOnnx {
        /// The file.
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
    /// The run-time refuses the graph.
    #[error("{}: ONNX Runtime cannot load it: {reason}", path.display())]
    Load {
        /// The network.
        path: PathBuf,
        /// What the run-time says.
        reason: ort::Error,
    },
    /// A graph that does not take one array.
    #[error("{}: the graph has {inputs} inputs and {outputs} outputs: expected one input and an output", path.display())]
    Arity {
        /// The network.
        path: PathBuf,
        /// Inputs that are not constants.
        inputs: usize,
        /// Outputs.
        outputs: usize,
    },
    /// Input or output are not 32-bit floats.
    #[error("{}: {what} is {found}: expected an array of 32-bit floats", path.display())]
    Type {
        /// The network.
        path: PathBuf,
        /// Input or output, with its name.
        what: String,
        /// What it is.
        found: String,
    },
    /// The graph takes arrays of another shape.
    #[error("{}: the graph takes {expected:?} (-1: any, the first is the batch), but the data are {data}", path.display())]
    InputShape {
        /// The network.
        path: PathBuf,
        /// Dimensions of its input.
        expected: Vec<i64>,
        /// Shape of a sample.
        data: Shape,
    },
    /// The answer is not one row of scores per input.
    #[error("{}: for {rows} rows the graph answers with {found:?}: expected one row of scores each", path.display())]
    OutputShape {
        /// The network.
        path: PathBuf,
        /// Rows asked about.
        rows: usize,
        /// Dimensions of the answer.
        found: Vec<i64>,
    },
    /// One score per row is no choice between classes.
    #[error("{}: the graph answers with one score per row: smoothing needs two or more classes", path.display())]
    OneScore {
        /// The network.
        path: PathBuf,
    },
    /// The scores of a row depend on the other rows of its batch.
    #[error(
        "{}: the scores of an input depend on what else is in its batch (is a normalisation in training mode?), so draws \
         would not be independent",
        path.display()
    )]
    RowsMix {
        /// The network.
        path: PathBuf,
    },
    /// A forward pass failed.
    #[error("{}: the forward pass failed: {reason}", path.display())]
    Run {
        /// The network.
        path: PathBuf,
        /// What the run-time says.
        reason: ort::Error,
    },
}

/// Why a file is not the library.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LibraryProblem {
    /// There is nothing, or it cannot be read.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// A folder without a library.
    #[error("no ONNX Runtime library in this folder")]
    NotInFolder,
    /// Not a shared library of any platform.
    #[error("not a shared library")]
    NotLibrary,
    /// Its end is missing.
    #[error("a shared library cut short: expected {expected} bytes, found {found}")]
    Truncated {
        /// What its header says.
        expected: u64,
        /// Its length.
        found: u64,
    },
    /// Too old.
    #[error("ONNX Runtime {found}, but 1.{least} or newer is needed")]
    TooOld {
        /// Its version.
        found: String,
        /// The least minor version.
        least: u32,
    },
    /// The system refuses it, or it is a different library.
    #[error("{0}")]
    NotLoadable(ort::LoadDynamicError),
    /// It was loaded, but does not start.
    #[error("it does not start: {0}")]
    NotStarted(ort::Error),
}

impl OnnxError {
    pub(super) fn load(path: &Path) -> impl Fn(ort::Error) -> Self {
        move |reason| Self::Load { path: path.to_path_buf(), reason }
    }

    pub(super) fn run(path: &Path) -> impl Fn(ort::Error) -> Self {
        move |reason| Self::Run { path: path.to_path_buf(), reason }
    }
}
