//! A network of our engine with all that is needed to smooth it, to attack it and to name it in records: from its files, for
//! the inputs of a data set.

use crate::convert::{self, ConvertProblem};
use crate::inputs::{data_name, quantum};
use crate::onnx::{Normalisation, NormalisationError};
use crate::runtime::{OwnModel, OwnModelError, Runtime, network_name};
use crate::view::{View, ViewError};
use crate::weights::network::Network;
use gambeson_checker::NoiseLevel;
use gambeson_data::dataset::{Dataset, Shape};
use gambeson_lowrank::projection::proven::{OpenError, ProvenProjection};
use gambeson_smooth::noise::GridError;
use gambeson_smooth::record::Names;
use gambeson_smooth::seed::seed_in;
use gambeson_smooth::space::{Space, SpaceError};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Where everything is.
#[derive(Clone, Copy, Debug)]
pub struct SmoothedFiles<'a> {
    /// A network of our layers.
    pub network: &'a Path,
    /// Means and deviations, one or one per channel, of a network that has none of its own; empty otherwise.
    pub normalisation: (&'a [f32], &'a [f32]),
    /// Noise is added in its coordinates.
    pub projection: Option<&'a Path>,
    /// Of the projection, if it is not beside it.
    pub certificate: Option<&'a Path>,
}

/// A network, how it sees inputs, and where noise is added.
pub struct SmoothedNetwork {
    /// The network, with its normalisation.
    pub network: Network,
    /// As in records.
    pub name: String,
    /// From inputs to what the network is shown, and gradients back.
    pub view: View,
    /// Where noise is added; its grid is that of the data.
    pub space: Space,
    /// The network as a classifier.
    pub classifier: OwnModel,
}

/// Why it cannot be had.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SmoothedError {
    /// No such network.
    #[error("{problem}")]
    Network {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        problem: Box<ConvertProblem>,
    },
    /// The network has a normalisation, and another was given.
    #[error("the network has its own mean and deviation")]
    NormalisedTwice,
    /// No such normalisation.
    #[error(transparent)]
    Normalisation(#[from] NormalisationError),
    /// No such projection.
    #[error(transparent)]
    Projection(#[from] Box<OpenError>),
    /// A projection of other inputs.
    #[error("{}: a projection of {projection} inputs, but the data are {data}", path.display())]
    ProjectionShape {
        /// Its file.
        path: PathBuf,
        /// What it takes.
        projection: Shape,
        /// What there is.
        data: Shape,
    },
    /// A network of other images.
    #[error("takes images of {network}, but is given {given}")]
    Shape {
        /// What it takes.
        network: Shape,
        /// What the projection decodes, or the data are.
        given: Shape,
    },
    /// What the projection keeps cannot be shown to it.
    #[error(transparent)]
    View(#[from] ViewError),
    /// No noise can be added there.
    #[error(transparent)]
    Space(#[from] Box<SpaceError>),
    /// A network that is no classifier.
    #[error(transparent)]
    Model(#[from] OwnModelError),
}

impl SmoothedNetwork {
    /// Reads the files and proves κ of the projection.
    pub fn open(files: SmoothedFiles<'_>, data: &Dataset, threads: usize) -> Result<Self, SmoothedError> {
        let shape = data.shape();
        let named = if files.projection.is_some() { None } else { Some(shape) };
        let source = convert::read(files.network, named)
            .map_err(|error| SmoothedError::Network { path: error.path, problem: error.problem })?;
        let (mut network, mut name) = (source.network, source.sha256);
        let (mean, std) = files.normalisation;
        if !(mean.is_empty() && std.is_empty()) {
            if network.normalisation.is_some() {
                return Err(SmoothedError::NormalisedTwice);
            }
            let given = Normalisation::new(mean, std, network.architecture.input.channels)?;
            name = network_name(&name, Some(&given));
            let numbers = |of: &[f32]| of.iter().map(|&number| f64::from(number)).collect();
            network.normalisation = Some((numbers(given.mean()), numbers(given.std())));
        }
        let taken = network.architecture.input;
        let (view, space) = match files.projection {
            None => (View::values(shape, network.normalisation.as_ref())?, Space::identity(shape.len())),
            Some(path) => {
                let proven =
                    ProvenProjection::open(path, files.certificate, None, threads).map_err(Box::new)?;
                let projection = proven.projection().shape();
                if projection != shape {
                    let path = path.to_path_buf();
                    return Err(SmoothedError::ProjectionShape { path, projection, data: shape });
                }
                let onto = (taken.height, taken.width);
                let view = View::projected(proven.projection(), onto, network.normalisation.as_ref())?;
                (view, Space::projected(&proven, Some(onto)).map_err(Box::new)?)
            }
        };
        if view.output() != taken {
            return Err(SmoothedError::Shape { network: taken, given: view.output() });
        }
        let classifier = OwnModel::of_network(&network)?;
        // The smoothed classifier that certificates are about rounds to the grid of the data.
        Ok(Self { network, name, view, space: space.of(quantum(data)), classifier })
    }

    /// What records call everything.
    pub fn names(&self, data: &Dataset, nonce: Option<u64>) -> Names {
        Names {
            model: self.name.clone(),
            runtime: Some(Runtime::Own.name().to_owned()),
            data: data_name(data),
            nonce,
        }
    }

    /// The seed that follows from network, projection, data, σ and grid.
    pub fn seed(&self, data: &Dataset, noise: NoiseLevel, nonce: u64) -> Result<u64, GridError> {
        seed_in(&self.space, (&self.name, data.sha256()), noise, None, nonce)
    }
}
