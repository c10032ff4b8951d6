//! From one kind of network file to another: gambeson networks, PyTorch state dicts and ONNX files of our layers come in,
//! gambeson networks and ONNX files go out.

use crate::onnx::batch::has_graph;
use crate::onnx::export::{ExportError, export};
use crate::onnx::import::{ImportError, declared_shape, import};
use crate::onnx::{OnnxError, WholeGraph, whole_graph};
use crate::weights::network::{FORMAT, Network, NetworkProblem};
use gambeson_data::dataset::Shape;
use gambeson_lowrank::file::{sha256, write_file};
use gambeson_lowrank::safetensors::{Content, looks_like};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A gambeson network.
    Own,
    /// A state dict of PyTorch, as `torch.save` or safetensors have it.
    StateDict,
    /// An ONNX graph.
    Onnx,
}

/// A network from a file of any kind.
#[derive(Clone, Debug)]
pub struct Source {
    /// The network.
    pub network: Network,
    /// What the file is.
    pub kind: Kind,
    /// Its hash.
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
    /// A file named like a graph that has none.
    #[error("not an ONNX file: it has no graph")]
    NoGraph,
    /// A graph whose weights are elsewhere and cannot be read.
    #[error("{0}")]
    Graph(Box<OnnxError>),
    /// Nothing that is known.
    #[error(
        "neither a gambeson network, nor a state dict (safetensors, or a file of torch.save), nor an ONNX file"
    )]
    Unknown,
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

/// Reads a network. What a file is, its content says. `shape` is that of the images, for state dicts, which do not tell
/// (without it: 32 × 32); of other files it must be the shape they have, if it is given.
pub fn read(path: &Path, shape: Option<Shape>) -> Result<Source, ConvertError> {
    let bytes = gambeson_lowrank::file::read_file(path).map_err(|reason| at(path)(reason.into()))?;
    if Network::recognises(&bytes) || !has_graph(&bytes).unwrap_or(false) {
        return parse(&bytes, shape, has_ending(path, "onnx")).map_err(at(path));
    }
    let WholeGraph { bytes, sha256 } =
        whole_graph(path, bytes).map_err(|reason| at(path)(ConvertProblem::Graph(Box::new(reason))))?;
    let source = parse(&bytes, shape, true).map_err(at(path))?;
    Ok(Source { sha256, ..source })
}

fn parse(bytes: &[u8], shape: Option<Shape>, named_onnx: bool) -> Result<Source, ConvertProblem> {
    let sha256 = sha256(bytes);
    if Network::recognises(bytes) {
        let network = Network::parse(bytes, shape)?;
        let kind = if is_own(bytes) { Kind::Own } else { Kind::StateDict };
        return match shape {
            Some(asked) if asked != network.architecture.input => {
                Err(ConvertProblem::Shape { network: network.architecture.input, asked })
            }
            _ => Ok(Source { network, kind, sha256, channels_last: false }),
        };
    }
    match has_graph(bytes) {
        Ok(true) => {}
        Err(reason) if named_onnx => return Err(ConvertProblem::Import(reason.into())),
        _ => return Err(if named_onnx { ConvertProblem::NoGraph } else { ConvertProblem::Unknown }),
    }
    let declared = declared_shape(bytes).map_err(|reason| ConvertProblem::Import(reason.into()))?;
    match (declared, shape) {
        (Some(network), Some(asked)) if network != asked => Err(ConvertProblem::Shape { network, asked }),
        (None, None) => Err(ConvertProblem::NoShape),
        (declared, asked) => {
            let shape = declared.or(asked).ok_or(ConvertProblem::NoShape)?;
            let imported =
                import(bytes, shape).map_err(ConvertProblem::Import)?.ok_or(ConvertProblem::NoGraph)?;
            let channels_last = imported.channels_last;
            Ok(Source { network: imported.into_network(), kind: Kind::Onnx, sha256, channels_last })
        }
    }
}

fn is_own(bytes: &[u8]) -> bool {
    let format = |content: Content<'_>| content.metadata.get("format").is_some_and(|format| format == FORMAT);
    looks_like(bytes) && Content::parse(bytes).is_ok_and(format)
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
