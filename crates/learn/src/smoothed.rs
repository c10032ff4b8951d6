//! Smoothed models from files: a classifier, the space that noise is added in, its name in records and its seed.
//!
//! [`SmoothedModel::open`] takes any network that can be asked; [`WhiteBoxModel::open`] one of our layers, whose gradients
//! attacks need.

use crate::convert::{self, ConvertError};
use crate::input_codec::{InputCodec, InputCodecError};
use crate::inputs::{data_name, quantum};
use crate::onnx::{Normalisation, OnnxError, import::Unsupported};
use crate::runtime::{
    self, LoadParams, LoadedModel, NetworkContent, NetworkModel, OwnModel, OwnModelError, Runtime,
    RuntimeChoice, RuntimeError, network_name,
};
use crate::weights::network::Network;
use gambeson_checker::NoiseLevel;
use gambeson_data::dataset::{Dataset, Shape};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::projection::proven::{OpenError, ProvenProjection};
use gambeson_smooth::noise::{GridError, Quantum};
use gambeson_smooth::record::{FileNames, Names};
use gambeson_smooth::seed::{PlannedDraws, seed_in};
use gambeson_smooth::space::{Space, SpaceError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// A network and the noise before it.
#[derive(Clone, Debug)]
pub struct SmoothedParams<'a> {
    /// File of the network: a gambeson network, a state dict of PyTorch or an ONNX graph.
    pub network: &'a Path,
    /// Mean and deviation of the inputs the network was trained on, if its file does not have them.
    pub normalisation: Option<Normalisation>,
    /// What computes the network. Default: our engine if it can.
    pub runtime: RuntimeChoice,
    /// Where noise is added. Default: to the inputs themselves.
    pub noise: NoiseParams<'a>,
    /// Shape of an input.
    pub input: Shape,
    /// Threads that prove κ of the projection, and that will ask the network at the same time. Default: all there are.
    pub threads: usize,
    /// What a file may take in memory, and the values of the images that go through the network together. Default: no limit.
    pub memory: MemoryLimit,
}

impl<'a> SmoothedParams<'a> {
    /// The defaults, for inputs of a shape in units of 1.
    pub fn new(network: &'a Path, input: Shape) -> Self {
        Self {
            network,
            normalisation: None,
            runtime: RuntimeChoice::default(),
            noise: NoiseParams::default(),
            input,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory: MemoryLimit::NONE,
        }
    }
}

/// The space that noise is added in.
#[derive(Clone, Copy, Debug)]
pub struct NoiseParams<'a> {
    /// File of a projection: noise is added to its coordinates. Default: to the inputs themselves.
    pub projection: Option<&'a Path>,
    /// Certificate of the projection. Default: the file beside it.
    pub certificate: Option<&'a Path>,
    /// Relative level of the noise in each coordinate of the projection. Default: the same in all.
    pub levels: Option<&'a [f64]>,
    /// What a unit of the grid means that noisy inputs are rounded to, without a projection;
    /// [`quantum`] tells it for a data set. Default: 1.
    pub quantum: Quantum,
}

impl Default for NoiseParams<'_> {
    fn default() -> Self {
        Self { projection: None, certificate: None, levels: None, quantum: Quantum::One }
    }
}

/// A classifier before noise is added.
#[derive(Debug)]
pub struct NamedClassifier<C> {
    /// The classifier.
    pub classifier: C,
    /// Its name in records, which says what it computes.
    pub name: String,
    /// What computes it, if it is a network.
    pub runtime: Option<Runtime>,
    /// Name of its file, without folders, if it is in one.
    pub file: Option<String>,
    /// Shape of the images it takes.
    pub images: Shape,
}

/// A classifier and the space that noise is added in.
pub struct SmoothedModel<C> {
    /// The classifier.
    pub classifier: C,
    /// Its name in records.
    pub name: String,
    /// What computes it, if it is a network.
    pub runtime: Option<Runtime>,
    /// Where noise is added; [`space_for`](Self::space_for) takes samples of a data set as they are stored.
    pub space: Arc<Space>,
    /// The projection whose coordinates these are, if it is one.
    pub projection: Option<ProvenProjection>,
    /// Names of their files.
    pub files: FileNames,
}

/// A network from a file, ready to be smoothed.
pub struct OpenedModel {
    /// The network and its noise.
    pub smoothed: SmoothedModel<NetworkModel>,
    /// What our engine lacks, if a graph went to ONNX Runtime for it.
    pub unsupported: Option<Unsupported>,
    /// Why the engine was not compared with ONNX Runtime on a graph, if that cannot load it.
    pub not_compared: Option<OnnxError>,
}

/// A smoothed network of our engine, with what attacks need besides.
pub struct WhiteBoxModel {
    /// The network, with its normalisation.
    pub network: Network,
    /// From inputs to what the network is shown, and gradients back.
    pub codec: InputCodec,
    /// The network as a classifier, and its noise.
    pub smoothed: SmoothedModel<OwnModel>,
}

/// Why a model cannot be smoothed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SmoothedError {
    /// `network` cannot be loaded.
    #[error(transparent)]
    Model(#[from] Box<RuntimeError>),
    /// `network` cannot be loaded as one of our layers.
    #[error(transparent)]
    Network(#[from] Box<ConvertError>),
    /// `network` is no classifier.
    #[error("{}: {reason}", network.display())]
    Classifier {
        /// Its file.
        network: PathBuf,
        /// Why not.
        reason: OwnModelError,
    },
    /// `network` takes images of another shape.
    #[error(
        "the network takes images of {images}, but is given {given}; a projection can decode smaller ones"
    )]
    Images {
        /// What it takes.
        images: Shape,
        /// What the projection decodes, or the inputs are.
        given: Shape,
    },
    /// `runtime` or `noise.levels` have no gradients.
    #[error("{}: gradients need {needed}", network.display())]
    NoGradients {
        /// Its file.
        network: PathBuf,
        /// What there must be.
        needed: &'static str,
    },
    /// `noise.projection` or `noise.certificate` cannot be used.
    #[error(transparent)]
    Projection(#[from] Box<OpenError>),
    /// `noise.projection` takes inputs of another shape.
    #[error("{}: a projection of {projection} inputs, but the data are {input}", path.display())]
    ProjectionShape {
        /// Its file.
        path: PathBuf,
        /// What it takes.
        projection: Shape,
        /// What there is.
        input: Shape,
    },
    /// The images of `noise.projection` cannot be decoded with a proven error.
    #[error("{}: {reason}", path.display())]
    Space {
        /// Its file.
        path: PathBuf,
        /// Why not.
        reason: Box<SpaceError>,
    },
    /// The network cannot be shown what `noise.projection` keeps.
    #[error("{}: {reason}", network.display())]
    InputCodec {
        /// The network.
        network: PathBuf,
        /// Why not.
        reason: InputCodecError,
    },
}

impl SmoothedModel<NetworkModel> {
    /// Loads a network and proves κ of its projection.
    pub fn open(params: &SmoothedParams<'_>) -> Result<OpenedModel, SmoothedError> {
        let content = NetworkContent::read(params.network, params.memory).map_err(Box::new)?;
        let noise = params.noise;
        Self::open_with(content, params, |named| {
            SmoothedModel::new(named, params.input, &noise, params.memory, params.threads)
        })
    }

    /// The same for a network that was read already, with a projection that is proven: the paths of `params` only name them.
    pub fn of_content(
        content: NetworkContent,
        projection: Option<ProvenProjection>,
        params: &SmoothedParams<'_>,
    ) -> Result<OpenedModel, SmoothedError> {
        let place = params.noise.projection.unwrap_or(Path::new("projection"));
        let projection = projection.map(|proven| (proven, place));
        Self::open_with(content, params, |named| {
            SmoothedModel::with_noise(named, params.input, projection, params.noise.quantum)
        })
    }

    fn open_with(
        content: NetworkContent,
        params: &SmoothedParams<'_>,
        with_noise: impl FnOnce(NamedClassifier<NetworkModel>) -> Result<Self, SmoothedError>,
    ) -> Result<OpenedModel, SmoothedError> {
        let SmoothedParams { network, normalisation, runtime, input, threads, memory, .. } = params;
        let load = LoadParams {
            data: *input,
            normalisation: normalisation.clone(),
            runtime: *runtime,
            threads: *threads,
            memory: *memory,
        };
        let LoadedModel { model, sha256, shape, unsupported, not_compared } =
            runtime::load_content(network, content, &load).map_err(Box::new)?;
        let named = NamedClassifier {
            name: network_name(&sha256, normalisation.as_ref()),
            runtime: Some(model.runtime()),
            classifier: model,
            file: file_name(network),
            images: shape,
        };
        Ok(OpenedModel { smoothed: with_noise(named)?, unsupported, not_compared })
    }
}

/// The name of a file without its folders.
fn file_name(path: &Path) -> Option<String> {
    path.file_name().map(|name| name.to_string_lossy().into_owned())
}

impl<C> SmoothedModel<C> {
    /// Adds noise to inputs of a shape before a classifier; proves κ of the projection.
    pub fn new(
        named: NamedClassifier<C>,
        input: Shape,
        noise: &NoiseParams<'_>,
        memory: MemoryLimit,
        threads: usize,
    ) -> Result<Self, SmoothedError> {
        let open = |path| {
            let proven = ProvenProjection::open(path, noise.certificate, noise.levels, memory, threads)
                .map_err(Box::new)?;
            Ok::<_, SmoothedError>((proven, path))
        };
        let projection = noise.projection.map(open).transpose()?;
        Self::with_noise(named, input, projection, noise.quantum)
    }

    /// The same in the coordinates of a projection that is proven already; its path names it in errors and records.
    pub fn with_noise(
        named: NamedClassifier<C>,
        input: Shape,
        projection: Option<(ProvenProjection, &Path)>,
        quantum: Quantum,
    ) -> Result<Self, SmoothedError> {
        let NamedClassifier { classifier, name, runtime, file, images } = named;
        let projection_file = projection.as_ref().and_then(|(_, path)| file_name(path));
        let files = FileNames { network: file, projection: projection_file };
        let (space, projection) = match projection {
            None if images != input => return Err(SmoothedError::Images { images, given: input }),
            None => (Space::identity(input.len()), None),
            Some((proven, path)) => {
                let projection = proven.projection().shape();
                if projection != input {
                    let path = path.to_path_buf();
                    return Err(SmoothedError::ProjectionShape { path, projection, input });
                }
                let onto = (images.height, images.width);
                let space = Space::projected(&proven, Some(onto)).map_err(|reason| SmoothedError::Space {
                    path: path.to_path_buf(),
                    reason: Box::new(reason),
                })?;
                (space, Some(proven))
            }
        };
        // The smoothed classifier that certificates are about rounds to the grid of the inputs.
        let space = Arc::new(space.with_quantum(quantum));
        Ok(Self { classifier, name, runtime, space, projection, files })
    }

    /// The same with another type of classifier, which computes the same.
    pub fn map<D>(self, change: impl FnOnce(C) -> D) -> SmoothedModel<D> {
        let Self { classifier, name, runtime, space, projection, files } = self;
        SmoothedModel { classifier: change(classifier), name, runtime, space, projection, files }
    }

    /// Where noise is added, for samples of a data set as they are stored.
    pub fn space_for(&self, data: &Dataset) -> Arc<Space> {
        let stored = quantum(data);
        if self.space.stored() == stored {
            return Arc::clone(&self.space);
        }
        Arc::new(Space::clone(&self.space).stored_in(stored))
    }

    /// What records of a run over a data set call everything.
    pub fn names(&self, data: &Dataset, nonce: Option<u64>) -> Names {
        Names {
            model: self.name.clone(),
            runtime: self.runtime.map(|runtime| runtime.name().to_owned()),
            data: data_name(data),
            nonce,
            files: self.files.clone(),
        }
    }

    /// The seed that follows from network, projection, data, σ, the exponent of the grid (by default the one that follows
    /// from σ), the draws planned and a nonce.
    pub fn seed(
        &self,
        data: &Dataset,
        noise: NoiseLevel,
        grid_exponent: Option<i32>,
        draws: PlannedDraws,
        nonce: u64,
    ) -> Result<u64, GridError> {
        seed_in(&self.space, (&self.name, data.sha256()), noise, grid_exponent, draws, nonce)
    }
}

impl WhiteBoxModel {
    /// Loads a network of our layers and proves κ of its projection. Needs our engine, and one level of noise.
    pub fn open(params: &SmoothedParams<'_>) -> Result<Self, SmoothedError> {
        let SmoothedParams { network: path, normalisation, runtime, noise, input, threads, memory } = params;
        let no_gradients = |needed| SmoothedError::NoGradients { network: path.to_path_buf(), needed };
        if *runtime == RuntimeChoice::Onnx {
            return Err(no_gradients("our engine, not ONNX Runtime"));
        }
        if noise.levels.is_some() {
            return Err(no_gradients("one level of noise in all coordinates"));
        }
        let asked = if noise.projection.is_some() { None } else { Some(*input) };
        let mut source = convert::read(path, asked, *memory).map_err(Box::new)?;
        if let Some(given) = normalisation {
            source.normalise(path, given).map_err(Box::new)?;
        }
        let network = source.network;
        let classifier = OwnModel::of_network(&network, *memory)
            .map_err(|reason| SmoothedError::Classifier { network: path.to_path_buf(), reason })?;
        let (name, images) =
            (network_name(&source.sha256, normalisation.as_ref()), network.architecture.input);
        let (runtime, file) = (Some(Runtime::Own), file_name(path));
        let named = NamedClassifier { classifier, name, runtime, file, images };
        let smoothed = SmoothedModel::new(named, *input, noise, *memory, *threads)?;
        let own = network.normalisation.as_ref();
        let codec = match &smoothed.projection {
            None => InputCodec::values(*input, own),
            Some(proven) => InputCodec::projected(proven.projection(), (images.height, images.width), own),
        };
        let codec =
            codec.map_err(|reason| SmoothedError::InputCodec { network: path.to_path_buf(), reason })?;
        if codec.output() != images {
            return Err(SmoothedError::Images { images, given: codec.output() });
        }
        Ok(Self { network, codec, smoothed })
    }
}
