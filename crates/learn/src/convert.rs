//! From one kind of network file to another: gambeson networks, PyTorch state dicts and ONNX files of our layers come in,
//! gambeson networks and ONNX files go out.

use crate::network_format::{NetworkFormat, NetworkFormatError};
use crate::onnx::export::{ExportError, export};
use crate::onnx::import::{ImportError, declared_shape, import};
use crate::onnx::{Normalisation, OnnxError, WholeGraph, external_content, whole_graph};
use crate::weights::network::{Network, NetworkProblem};
use gambeson_data::dataset::Shape;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::{sha256, write_file};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A network from a file of any kind.
#[derive(Clone, Debug)]
pub struct Source {
    /// The network.
    pub network: Network,
    /// Format of the file.
    pub format: NetworkFormat,
    /// Hash of the file.
    pub sha256: String,
    /// Whether the file takes rows with channels innermost, which the network here does not.
    pub channels_last: bool,
}

/// What a network can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A gambeson network: `.safetensors`.
    Own,
    /// An ONNX graph: `.onnx`.
    Onnx,
}

/// Why a file is not read or written.
#[derive(Debug, Error)]
#[error("{}: {problem}", path.display())]
pub struct ConvertError {
    /// Which file.
    pub path: PathBuf,
    /// What is wrong.
    pub problem: Box<ConvertProblem>,
}

/// What is wrong with a file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConvertProblem {
    /// The system.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A network or state dict that cannot be read or written.
    #[error(transparent)]
    Network(#[from] NetworkProblem),
    /// A graph that is not one of our layers.
    #[error("{}", match .0 {
        ImportError::Wire(reason) => format!("not a whole ONNX file: {reason}"),
        ImportError::Unsupported(reason) => format!("the graph has something that is not a layer here: {reason}"),
        ImportError::NotFinite { .. } => .0.to_string(),
    })]
    Import(ImportError),
    /// A graph whose weights are elsewhere and cannot be read.
    #[error("{0}")]
    Graph(Box<OnnxError>),
    /// A file of no known format.
    #[error(transparent)]
    Format(#[from] NetworkFormatError),
    /// The file does not say what images it takes, and neither did the caller.
    #[error("the graph does not say what images it takes: their shape must be given")]
    NoShape,
    /// A network for other images than asked for.
    #[error("the network takes images of {network}, not {asked}")]
    Shape {
        /// What it takes.
        network: Shape,
        /// What was asked for.
        asked: Shape,
    },
    /// The network has a normalisation, and another was given.
    #[error("the network has its own mean and deviation")]
    NormalisedTwice,
    /// A network that the format cannot hold.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A name from which no format follows.
    #[error("the name must end with .onnx, or with .safetensors for a gambeson network")]
    Ending,
}

fn at(path: &Path) -> impl Fn(ConvertProblem) -> ConvertError {
    move |problem| ConvertError { path: path.to_path_buf(), problem: Box::new(problem) }
}

/// Reads a network; the format is detected from the content. `shape` is that of the images, for state dicts, which do not
/// tell (without it: 32 × 32); of other files it must be the shape they have, if it is given. A file beyond `memory` is
/// refused.
pub fn read(path: &Path, shape: Option<Shape>, memory: MemoryLimit) -> Result<Source, ConvertError> {
    let bytes = memory.read_file(path).map_err(|reason| at(path)(reason.into()))?;
    let source = match NetworkFormat::detect(path, &bytes) {
        Ok(NetworkFormat::Onnx) => external_content(path, &bytes, memory)
            .and_then(|external| whole_graph(path, bytes, &external))
            .map_err(|reason| ConvertProblem::Graph(Box::new(reason)))
            .and_then(|graph| from_graph(&graph, shape)),
        Ok(format) => from_weights(&bytes, format, shape),
        Err(error) => Err(error.into()),
    };
    source.map_err(at(path))
}

impl Source {
    /// Gives the network a normalisation; it must have none of its own.
    pub fn normalise(&mut self, path: &Path, given: &Normalisation) -> Result<(), ConvertError> {
        if self.network.normalisation.is_some() {
            return Err(at(path)(ConvertProblem::NormalisedTwice));
        }
        let numbers = |of: &[f32]| of.iter().map(|&number| f64::from(number)).collect();
        self.network.normalisation = Some((numbers(given.mean()), numbers(given.std())));
        Ok(())
    }
}

fn from_weights(bytes: &[u8], format: NetworkFormat, shape: Option<Shape>) -> Result<Source, ConvertProblem> {
    let network = Network::parse(bytes, shape)?;
    match shape {
        Some(asked) if asked != network.architecture.input => {
            Err(ConvertProblem::Shape { network: network.architecture.input, asked })
        }
        _ => Ok(Source { network, format, sha256: sha256(bytes), channels_last: false }),
    }
}

fn from_graph(
    WholeGraph { bytes, sha256 }: &WholeGraph,
    asked: Option<Shape>,
) -> Result<Source, ConvertProblem> {
    let declared = declared_shape(bytes).map_err(|reason| ConvertProblem::Import(reason.into()))?;
    if let (Some(network), Some(asked)) = (declared, asked)
        && network != asked
    {
        return Err(ConvertProblem::Shape { network, asked });
    }
    let shape = declared.or(asked).ok_or(ConvertProblem::NoShape)?;
    let imported =
        import(bytes, shape).map_err(ConvertProblem::Import)?.ok_or(NetworkFormatError::NoGraph)?;
    let channels_last = imported.channels_last;
    let (network, format) = (imported.into_network(), NetworkFormat::Onnx);
    Ok(Source { network, format, sha256: sha256.clone(), channels_last })
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(ending))
}

/// What a file of that name is to be.
pub fn target(path: &Path) -> Result<Target, ConvertError> {
    match [(Target::Onnx, "onnx"), (Target::Own, "safetensors")]
        .iter()
        .find(|(_, ending)| has_ending(path, ending))
    {
        Some((target, _)) => Ok(*target),
        None => Err(at(path)(ConvertProblem::Ending)),
    }
}

/// Writes a network as what the name says, whole or not at all; returns the hash of the file and its length.
pub fn write(network: &Network, path: &Path) -> Result<(String, usize), ConvertError> {
    let bytes = match target(path)? {
        Target::Onnx => export(network).map_err(ConvertProblem::from),
        Target::Own => network.check().and_then(|_| network.to_bytes()).map_err(ConvertProblem::from),
    };
    let bytes = bytes.map_err(at(path))?;
    write_file(path, &bytes).map_err(|reason| at(path)(reason.into()))?;
    Ok((sha256(&bytes), bytes.len()))
}
