//! A network with all that its file says: architecture, weights, how it takes its rows, how it was trained.
//!
//! **File.** Safetensors: one array per list of numbers of a layer, `LAYER.weight`, `.bias`, `.gamma`, `.mean`, `.variance`
//! (F32, in PyTorch's layout; layers count from 0); as metadata `format` = `gambeson network 1`, `architecture` (JSON),
//! `input_mean` and `input_std` where rows are normalised first, and `training`, the spec it was trained by, in its own
//! words. The same network gives the same bytes, and the hash of the file is its name in records.

use super::format::{FORMAT, WeightsFormat, WeightsFormatError};
use super::state_dict::{StateDictError, from_state_dict};
use super::tensor::NamedTensor;
use super::torch::{self, TorchError};
use crate::net::architecture::{Architecture, ArchitectureError};
use crate::net::layer::norm::EPSILON;
use crate::net::parameters::{LayerRanges, ParameterLayout, Weights};
use gambeson_data::dataset::Shape;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::{sha256, write_file};
use gambeson_lowrank::safetensors::{ArrayView, Content, SafetensorsProblem, Tensor, Tensors};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A network.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Its layers.
    pub architecture: Architecture,
    /// Its numbers.
    pub weights: Weights,
    /// Mean and deviation per channel: rows are normalised by them first.
    pub normalisation: Option<(Vec<f64>, Vec<f64>)>,
    /// The spec it was trained by, where it is known.
    pub training: Option<String>,
}

/// Why a file is not a network.
#[derive(Debug, Error)]
#[error("{}: {problem}", path.display())]
pub struct NetworkError {
    /// Which file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: Box<NetworkProblem>,
}

/// What is wrong with a file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NetworkProblem {
    /// The system.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Arrays that cannot be read.
    #[error(transparent)]
    Safetensors(#[from] SafetensorsProblem),
    /// A saved state dict that cannot be read.
    #[error(transparent)]
    Torch(#[from] TorchError),
    /// Tensors of another network.
    #[error(transparent)]
    StateDict(#[from] StateDictError),
    /// Layers that do not fit together.
    #[error(transparent)]
    Architecture(#[from] ArchitectureError),
    /// The architecture is not one.
    #[error("its architecture cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    /// Numbers of another length.
    #[error("{name} has {found} numbers, the architecture {expected}")]
    Length {
        /// Name of the list.
        name: String,
        /// There should be.
        expected: usize,
        /// There are.
        found: usize,
    },
    /// A list of numbers that the architecture needs, or one that it does not.
    #[error("{name} is {problem}")]
    Array {
        /// Name of the list.
        name: String,
        /// `missing` or `not of this network`.
        problem: &'static str,
    },
    /// A number that is none.
    #[error("{name}: a number is not finite")]
    NotFinite {
        /// Name of the list.
        name: String,
    },
    /// A variance that is none.
    #[error("{name}: a variance is not positive")]
    Variance {
        /// Name of the list.
        name: String,
    },
    /// Normalisation that is none.
    #[error("its normalisation is not one mean and one positive deviation per channel")]
    Normalisation,
    /// A file of no known format.
    #[error(transparent)]
    Format(#[from] WeightsFormatError),
}

/// The lists of numbers of a layer, and whether each is a statistic.
fn lists(at: usize, place: &LayerRanges) -> impl Iterator<Item = (String, Range<usize>, bool)> {
    [
        ("weight", place.weight.clone(), false),
        ("bias", place.bias.clone(), false),
        ("gamma", place.gamma.clone(), false),
        ("mean", place.mean.clone(), true),
        ("variance", place.variance.clone(), true),
    ]
    .into_iter()
    .filter(|(_, range, _)| !range.is_empty())
    .map(move |(name, range, statistic)| (format!("{at}.{name}"), range, statistic))
}

/// Numbers of an array in single precision; none where they are whole numbers.
#[allow(clippy::cast_possible_truncation)] // networks are f32
fn single(view: &ArrayView<'_>) -> Result<Option<Vec<f32>>, SafetensorsProblem> {
    let short = |number: fn(u16) -> f32| {
        view.bytes().as_chunks().0.iter().map(|&bytes| number(u16::from_le_bytes(bytes))).collect()
    };
    Ok(match view.type_name().as_str() {
        "F32" => Some(view.values()?),
        "F64" => Some(view.values::<f64>()?.into_iter().map(|number| number as f32).collect()),
        "F16" => Some(short(torch::half)),
        "BF16" => Some(short(torch::brain)),
        _ => None,
    })
}

impl Network {
    /// Whether it is one: layers that fit together, as many numbers as they need, all of them finite, variances and
    /// deviations positive. Also where the numbers lie.
    pub fn check(&self) -> Result<ParameterLayout, NetworkProblem> {
        let places = self.check_lengths()?;
        let Weights { parameters, statistics } = &self.weights;
        for (at, place) in places.layers.iter().enumerate() {
            for (name, range, statistic) in lists(at, place) {
                let values = if statistic { &statistics[range] } else { &parameters[range] };
                if values.iter().any(|value| !value.is_finite()) {
                    return Err(NetworkProblem::NotFinite { name });
                }
            }
            // Of another program's ε a little may be left over below 0.
            let variances = &statistics[place.variance.clone()];
            if variances.iter().any(|&variance| f64::from(variance) + EPSILON <= 0.0) {
                return Err(NetworkProblem::Variance { name: format!("{at}.variance") });
            }
        }
        if let Some((mean, std)) = &self.normalisation {
            let channels = self.architecture.input.channels;
            let finite = mean.iter().chain(std).all(|value| value.is_finite());
            if !finite || mean.len() != channels || std.len() != channels || std.iter().any(|&std| std <= 0.0)
            {
                return Err(NetworkProblem::Normalisation);
            }
        }
        Ok(places)
    }

    fn check_lengths(&self) -> Result<ParameterLayout, NetworkProblem> {
        let places = ParameterLayout::new(&self.architecture)?;
        for (name, expected, found) in [
            ("the list of parameters", places.parameters, self.weights.parameters.len()),
            ("the list of statistics", places.statistics, self.weights.statistics.len()),
        ] {
            if expected != found {
                return Err(NetworkProblem::Length { name: name.to_owned(), expected, found });
            }
        }
        Ok(places)
    }

    /// The bytes of its file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, NetworkProblem> {
        let places = self.check_lengths()?;
        let mut file = Tensors::<f32>::default();
        for (at, place) in places.layers.iter().enumerate() {
            for (name, range, statistic) in lists(at, place) {
                let from = if statistic { &self.weights.statistics } else { &self.weights.parameters };
                let values = from[range].to_vec();
                file.tensors.insert(name, Tensor { shape: vec![values.len()], values });
            }
        }
        let numbers = |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        let mut put = |key: &str, value: String| file.metadata.insert(key.to_owned(), value);
        put("format", FORMAT.to_owned());
        put("architecture", serde_json::to_string(&self.architecture)?);
        if let Some((mean, std)) = &self.normalisation {
            put("input_mean", numbers(mean));
            put("input_std", numbers(std));
        }
        if let Some(training) = &self.training {
            put("training", training.clone());
        }
        Ok(file.to_bytes())
    }

    /// Writes its file, whole or not at all; returns its hash.
    pub fn write(&self, path: &Path) -> Result<String, NetworkError> {
        let problem = |problem| NetworkError { path: path.to_path_buf(), problem: Box::new(problem) };
        let bytes = self.to_bytes().map_err(problem)?;
        write_file(path, &bytes).map_err(|reason| problem(reason.into()))?;
        Ok(sha256(&bytes))
    }

    /// Reads a file: ours, or a state dict of a network for images of the shape `input`. Also its hash.
    pub fn read(path: &Path, input: Shape, memory: MemoryLimit) -> Result<(Self, String), NetworkError> {
        let problem = |problem| NetworkError { path: path.to_path_buf(), problem: Box::new(problem) };
        let bytes = memory.read_file(path).map_err(|reason| problem(reason.into()))?;
        let network = Self::parse(&bytes, Some(input)).map_err(problem)?;
        Ok((network, sha256(&bytes)))
    }

    /// The network of a file's bytes: ours, or a state dict of one for images of the shape `input`. Without a shape a state
    /// dict is taken for images of 32 × 32.
    pub fn parse(bytes: &[u8], input: Option<Shape>) -> Result<Self, NetworkProblem> {
        let state_dict = |tensors| {
            let (architecture, weights) = from_state_dict(tensors, input)?;
            let network = Self { architecture, weights, normalisation: None, training: None };
            network.check()?;
            Ok(network)
        };
        let content = match WeightsFormat::detect(bytes)? {
            WeightsFormat::Torch => return state_dict(torch::read(bytes)?),
            WeightsFormat::Own => return Self::own(&Content::parse(bytes)?),
            WeightsFormat::Safetensors => Content::parse(bytes)?,
        };
        let mut tensors = Vec::new();
        for (name, view) in &content.arrays {
            // Counters and the like are of other types, and no part of a network.
            if let Some(values) = single(view)? {
                tensors.push(NamedTensor { name: name.clone(), shape: view.shape().to_vec(), values });
            }
        }
        state_dict(tensors)
    }

    fn own(content: &Content<'_>) -> Result<Self, NetworkProblem> {
        let text = |key: &str| content.metadata.get(key).cloned();
        let architecture: Architecture = serde_json::from_str(&text("architecture").unwrap_or_default())?;
        let places = ParameterLayout::new(&architecture)?;
        let all: Vec<_> = places.layers.iter().enumerate().flat_map(|(at, place)| lists(at, place)).collect();
        for (name, range, _) in &all {
            let view = content.arrays.get(name);
            let view =
                view.ok_or_else(|| NetworkProblem::Array { name: name.clone(), problem: "missing" })?;
            let found = view.shape().iter().product();
            if found != range.len() {
                return Err(NetworkProblem::Length { name: name.clone(), expected: range.len(), found });
            }
        }
        let known: BTreeSet<&String> = all.iter().map(|(name, ..)| name).collect();
        if let Some(name) = content.arrays.keys().find(|name| !known.contains(name)) {
            return Err(NetworkProblem::Array { name: name.clone(), problem: "not of this network" });
        }
        // Only now: an architecture alone could claim any size, but the numbers are all there.
        let mut weights =
            Weights { parameters: vec![0.0; places.parameters], statistics: vec![0.0; places.statistics] };
        for (name, range, statistic) in &all {
            let to = if *statistic { &mut weights.statistics } else { &mut weights.parameters };
            to[range.clone()].copy_from_slice(&content.arrays[name].values::<f32>()?);
        }
        let numbers = |key: &str| -> Result<Option<Vec<f64>>, NetworkProblem> {
            let Some(text) = text(key) else { return Ok(None) };
            let values: Option<Vec<f64>> = text.split(',').map(|number| number.parse().ok()).collect();
            values.map(Some).ok_or(NetworkProblem::Normalisation)
        };
        let normalisation = match (numbers("input_mean")?, numbers("input_std")?) {
            (None, None) => None,
            (Some(mean), Some(std)) => Some((mean, std)),
            _ => return Err(NetworkProblem::Normalisation),
        };
        let network = Self { architecture, weights, normalisation, training: text("training") };
        network.check()?;
        Ok(network)
    }
}
