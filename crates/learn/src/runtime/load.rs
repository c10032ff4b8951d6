//! From a file to a classifier.

use super::agree::compare;
use super::content::NetworkContent;
use super::error::RuntimeError;
use super::model::{NetworkModel, RuntimeChoice};
use super::own::OwnModel;
use crate::net::architecture::Architecture;
use crate::net::parameters::Weights;
use crate::network_format::NetworkFormat;
use crate::onnx::import::{ImportError, Imported, Unsupported, import};
use crate::onnx::{
    Normalisation, OnnxError, OnnxModel, WholeGraph, affine, declared_dimensions, image_shape, whole_graph,
};
use crate::weights::network::{Network, NetworkError};
use gambeson_data::dataset::Shape;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::sha256;
use gambeson_smooth::classifier::Classifier;
use gambeson_smooth::input_map::{Affine, InputMap, Layout};
use std::path::Path;

/// How to load a network.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadParams {
    /// Shape of the samples. The network may take smaller images with as many channels: something has to make them (a
    /// projection can).
    pub data: Shape,
    /// What is done to rows first, unless the network says it itself.
    pub normalisation: Option<Normalisation>,
    /// What computes it.
    pub runtime: RuntimeChoice,
    /// Threads that will ask at the same time.
    pub threads: usize,
    /// What a file may take in memory, and the values of the images that go through the network together.
    pub memory: MemoryLimit,
}

/// A network, ready to be asked.
#[derive(Debug)]
pub struct LoadedModel {
    /// The classifier.
    pub model: NetworkModel,
    /// SHA-256 of the file, and of those it refers to.
    pub sha256: String,
    /// Shape of the images it takes.
    pub shape: Shape,
    /// What our engine lacks, where a graph went to ONNX Runtime for it.
    pub unsupported: Option<Unsupported>,
    /// Why the engine was not compared with ONNX Runtime on a graph that it computes, where that cannot load it.
    pub not_compared: Option<OnnxError>,
}

/// Loads a gambeson network, a state dict of PyTorch, or an ONNX graph; the format is detected from the content.
pub fn load(path: &Path, params: &LoadParams) -> Result<LoadedModel, RuntimeError> {
    load_content(path, NetworkContent::read(path, params.memory)?, params)
}

/// The same for what was read already; `path` names it in errors.
pub fn load_content(
    path: &Path,
    content: NetworkContent,
    params: &LoadParams,
) -> Result<LoadedModel, RuntimeError> {
    let loaded = match content.format(path) {
        Ok(NetworkFormat::Onnx) => {
            graph(path, &whole_graph(path, content.bytes, &content.external)?, params)?
        }
        Ok(_) if params.runtime == RuntimeChoice::Onnx => {
            return Err(RuntimeError::NotGraph { path: path.to_path_buf() });
        }
        Ok(_) => network(path, &content.bytes, params)?,
        Err(reason) => return Err(RuntimeError::Format { path: path.to_path_buf(), reason }),
    };
    if loaded.model.classes() < 2 {
        return Err(RuntimeError::OneScore { path: path.to_path_buf() });
    }
    Ok(loaded)
}

/// A file of ours, or a state dict.
fn network(path: &Path, bytes: &[u8], params: &LoadParams) -> Result<LoadedModel, RuntimeError> {
    let network = Network::parse(bytes, Some(params.data))
        .map_err(|problem| NetworkError { path: path.to_path_buf(), problem: Box::new(problem) })?;
    let sha256 = sha256(bytes);
    let (taken, data) = (network.architecture.input, params.data);
    if taken.channels != data.channels || taken.height > data.height || taken.width > data.width {
        return Err(RuntimeError::InputShape { path: path.to_path_buf(), taken, data });
    }
    let maps = match (&network.normalisation, &params.normalisation) {
        (Some(_), Some(_)) => return Err(RuntimeError::NormalisedTwice { path: path.to_path_buf() }),
        (None, None) => None,
        (None, Some(given)) => Some(given.maps()),
        (Some(own), None) => Some(maps_of(own)),
    };
    let model =
        own(path, &network.architecture, &network.weights, maps, Layout::ChannelsFirst, params.memory)?;
    let model = NetworkModel::Own(Box::new(model));
    Ok(LoadedModel { model, sha256, shape: taken, unsupported: None, not_compared: None })
}

/// An ONNX graph.
fn graph(path: &Path, whole: &WholeGraph, params: &LoadParams) -> Result<LoadedModel, RuntimeError> {
    let WholeGraph { bytes, sha256 } = whole;
    let by_threads =
        |threads| OnnxModel::of_graph(path, whole, params.data, params.normalisation.clone(), threads);
    let onnx = || by_threads(params.threads);
    let by_onnx = |model: OnnxModel, unsupported| LoadedModel {
        sha256: model.sha256().to_owned(),
        shape: model.shape(),
        model: NetworkModel::Onnx(Box::new(model)),
        unsupported,
        not_compared: None,
    };
    if params.runtime == RuntimeChoice::Onnx {
        return Ok(by_onnx(onnx()?, None));
    }
    let (imported, layout) = match imported(path, bytes, params.data)? {
        Ok(imported) => imported,
        Err(reason) if params.runtime == RuntimeChoice::Own => {
            return Err(RuntimeError::Unsupported { path: path.to_path_buf(), reason });
        }
        Err(unsupported) => {
            return match onnx() {
                Ok(model) => Ok(by_onnx(model, Some(unsupported))),
                Err(onnx @ (OnnxError::NoLibrary | OnnxError::Library { .. })) => {
                    Err(RuntimeError::Neither {
                        path: path.to_path_buf(),
                        unsupported: Box::new(unsupported),
                        onnx: Box::new(onnx),
                    })
                }
                Err(onnx) => Err(onnx.into()),
            };
        }
    };
    // A graph that normalises by itself does so after what is asked for beside it.
    let inner = imported.normalisation.as_ref().map(maps_of);
    let maps = match (params.normalisation.as_ref().map(Normalisation::maps), &inner) {
        (Some(outer), Some(inner)) => Some(outer.iter().zip(inner).map(|(a, b)| a.then(*b)).collect()),
        (outer, inner) => outer.or_else(|| inner.clone()),
    };
    // Rows in the order of the graph: noise is drawn in that order, so both runtimes get the same draws.
    let plain = || vec![Affine::IDENTITY; imported.architecture.input.channels];
    let maps = if layout == Layout::ChannelsLast { maps.or_else(|| Some(plain())) } else { maps };
    let model = own(path, &imported.architecture, &imported.weights, maps, layout, params.memory)?;
    let mut not_compared = None;
    if params.runtime == RuntimeChoice::Auto {
        match by_threads(1) {
            Ok(other) => compare(path, &model, inner.as_deref(), &other)?,
            // Nothing to compare with.
            Err(OnnxError::NoLibrary | OnnxError::Library { .. }) => {}
            // An older library than the graph, or one without an operation in this version.
            Err(reason @ OnnxError::Load { .. }) => not_compared = Some(reason),
            Err(error) => return Err(error.into()),
        }
    }
    let shape = model.shape();
    let model = NetworkModel::Own(Box::new(model));
    Ok(LoadedModel { model, sha256: sha256.clone(), shape, unsupported: None, not_compared })
}

fn maps_of((mean, std): &(Vec<f64>, Vec<f64>)) -> Vec<Affine> {
    mean.iter().zip(std).map(|(mean, std)| affine(*mean, *std)).collect()
}

/// The graph as a network of ours, or what stands in the way.
fn imported(
    path: &Path,
    bytes: &[u8],
    data: Shape,
) -> Result<Result<(Imported, Layout), Unsupported>, RuntimeError> {
    let broken = |reason| OnnxError::Broken { path: path.to_path_buf(), reason };
    let dims = declared_dimensions(bytes).map_err(broken)?;
    let (shape, layout) = image_shape(&dims, data).ok_or_else(|| OnnxError::InputShape {
        path: path.to_path_buf(),
        expected: dims,
        data,
    })?;
    match import(bytes, shape) {
        Ok(None) => Err(OnnxError::NotOnnx { path: path.to_path_buf() }.into()),
        Ok(Some(imported)) if imported.channels_last != (layout == Layout::ChannelsLast) => {
            Ok(Err(Unsupported::Layout))
        }
        Ok(Some(imported)) => Ok(Ok((imported, layout))),
        Err(ImportError::Wire(reason)) => Err(broken(reason).into()),
        Err(ImportError::Unsupported(reason)) => Ok(Err(reason)),
        Err(ImportError::NotFinite { operator, output }) => {
            Err(RuntimeError::NotFinite { path: path.to_path_buf(), operator, output })
        }
    }
}

fn own(
    path: &Path,
    architecture: &Architecture,
    weights: &Weights,
    maps: Option<Vec<Affine>>,
    layout: Layout,
    memory: MemoryLimit,
) -> Result<OwnModel, RuntimeError> {
    let Shape { height, width, .. } = architecture.input;
    let map = maps.map(|maps| InputMap::new(maps, height * width, layout)).transpose();
    let map = map.map_err(|reason| RuntimeError::InputMap { path: path.to_path_buf(), reason })?;
    OwnModel::new(architecture, weights, map, memory)
        .map_err(|reason| RuntimeError::Architecture { path: path.to_path_buf(), reason })
}
