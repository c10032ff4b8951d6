//! From a spec and data to what is trained: network, view of inputs, projection, level of the noise.

use super::check::SpecError;
use super::spec::{FitMethodName, FitSpec, Grid, ProjectionSpec, TrainSpec};
use crate::input_codec::{InputCodec, InputCodecError};
use crate::net::architecture::{Architecture, ArchitectureError};
use crate::net::models::ModelSizeError;
use crate::net::parameters::ParameterLayout;
use gambeson_data::dataset::{Dataset, Shape, Values};
use gambeson_data::energies::{DataEnergies, DataEnergiesError, EnergyParams};
use gambeson_data::progress::LoadProgress;
use gambeson_data::statistics::channel_statistics;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::sha256;
use gambeson_lowrank::observe::Observer;
use gambeson_lowrank::projection::certificate::{ProjectionCertificate, certificate_path};
use gambeson_lowrank::projection::fit::{FitMethod, FitProgress, FitProjectionError, Target, fit_projection};
use gambeson_lowrank::projection::method::algorithm3::SparseParams;
use gambeson_lowrank::projection::{Projection, ProjectionError};
use gambeson_lowrank::sdp::bracket::BoundParams;
use gambeson_lowrank::sdp::certificate::CertificateFileError;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use thiserror::Error;

/// Everything a [`Trainer`](super::trainer::Trainer) needs.
#[derive(Debug)]
pub struct TrainSetup {
    /// What to train.
    pub spec: TrainSpec,
    /// What it learns from, with labels.
    pub train: Dataset,
    /// What its progress is measured on.
    pub test: Option<Dataset>,
    /// Where noise is added, if not to the values.
    pub projection: Option<UsedProjection>,
    /// How the network sees inputs.
    pub codec: InputCodec,
    /// Mean and deviation per channel, taken off after noise and decoding.
    pub normalisation: (Vec<f64>, Vec<f64>),
    /// The network without its weights.
    pub architecture: Architecture,
    /// σ; 0 without noise.
    pub sigma: f64,
    /// Between which values attacks on values stay: those of pixels, where the data are bytes.
    pub range: Option<(f32, f32)>,
    /// What a batch may take in memory, with everything that training keeps. No limit unless the caller sets one.
    pub memory: MemoryLimit,
}

/// A projection and, where it is at hand, the certificate of its κ.
#[derive(Clone, Debug)]
pub struct UsedProjection {
    /// The projection.
    pub projection: Projection,
    /// Evidence for its κ.
    pub certificate: Option<ProjectionCertificate>,
}

/// Why nothing can be trained.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The spec itself.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Nothing to learn.
    #[error("{data}: the data have no labels")]
    NoLabels {
        /// Name of the data.
        data: String,
    },
    /// Nothing to tell apart.
    #[error("{data}: the data have {classes} class; training needs two or more")]
    Classes {
        /// Name of the data.
        data: String,
        /// How many.
        classes: usize,
    },
    /// The two parts of the data differ.
    #[error("the training data are {train}, the test data {test}")]
    Parts {
        /// Shape of a training sample.
        train: Shape,
        /// Shape of a test sample.
        test: Shape,
    },
    /// Fewer samples than a batch.
    #[error("optimiser.batch = {batch}: there are only {samples} samples")]
    Batch {
        /// What was asked for.
        batch: usize,
        /// What there is.
        samples: usize,
    },
    /// A shift that leaves nothing of an image.
    #[error("data.crop = {crop}: images of {shape} are not that large")]
    Crop {
        /// What was asked for.
        crop: usize,
        /// Shape of a sample.
        shape: Shape,
    },
    /// All values of a channel are the same.
    #[error("{data}: all values of channel {channel} (counting from 0) are the same")]
    Constant {
        /// Name of the data.
        data: String,
        /// Which.
        channel: usize,
    },
    /// A projection for other inputs.
    #[error("the projection is for inputs of {projection}, but the data are {data}")]
    Shape {
        /// What it takes.
        projection: Shape,
        /// What there is.
        data: Shape,
    },
    /// No such network.
    #[error(transparent)]
    Model(#[from] ModelSizeError),
    /// No such projection.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// A certificate that cannot be read.
    #[error(transparent)]
    Certificate(#[from] CertificateFileError),
    /// No such fit.
    #[error(transparent)]
    Fit(#[from] FitProjectionError),
    /// Data that no projection can be fitted to.
    #[error(transparent)]
    Energies(#[from] DataEnergiesError),
    /// The network cannot be shown what the projection keeps.
    #[error(transparent)]
    InputCodec(#[from] InputCodecError),
    /// An observer ended the fit: a projection that it cuts short is not the one of the spec.
    #[error("stopped")]
    Stopped,
}

/// Observers of what is made ready. `Break` ends it with an error.
pub struct SetupObservers<'a> {
    /// Sees data as they are read, and their moments as they are added up.
    pub load: &'a mut dyn Observer<LoadProgress>,
    /// Sees the fit of a projection.
    pub fit: &'a mut (dyn Observer<FitProgress> + Send),
}

impl TrainSetup {
    /// Puts everything together. `test` may be missing; then nothing is measured on it. `projection` is
    /// [`projection`] of the same spec and data.
    pub fn new(
        spec: &TrainSpec,
        train: Dataset,
        test: Option<Dataset>,
        projection: Option<UsedProjection>,
    ) -> Result<Self, SetupError> {
        spec.validate()?;
        let (shape, classes) = (train.shape(), train.classes().len());
        if train.labels().is_none() {
            return Err(SetupError::NoLabels { data: train.name().to_owned() });
        }
        if classes < 2 {
            return Err(SetupError::Classes { data: train.name().to_owned(), classes });
        }
        if let Some(test) = &test
            && test.shape() != shape
        {
            return Err(SetupError::Parts { train: shape, test: test.shape() });
        }
        if spec.optimiser.batch > train.len() {
            return Err(SetupError::Batch { batch: spec.optimiser.batch, samples: train.len() });
        }
        let side = if shape.height == 1 { shape.width } else { shape.height.min(shape.width) };
        if spec.data.crop >= side {
            return Err(SetupError::Crop { crop: spec.data.crop, shape });
        }
        let statistics = channel_statistics(&train);
        if let Some(channel) = statistics.iter().position(|of| !(of.deviation > 0.0)) {
            return Err(SetupError::Constant { data: train.name().to_owned(), channel });
        }
        let mean = statistics.iter().map(|of| of.mean).collect();
        let normalisation = (mean, statistics.iter().map(|of| of.deviation).collect());
        let codec = match (&projection, &spec.projection) {
            (Some(used), Some(ProjectionSpec { grid, .. })) => {
                let own = used.projection.shape();
                if own != shape {
                    return Err(SetupError::Shape { projection: own, data: shape });
                }
                let onto = match grid {
                    Grid::Full => (shape.height, shape.width),
                    Grid::Native => used.projection.native_grid(),
                };
                InputCodec::projected(&used.projection, onto, Some(&normalisation))?
            }
            _ => InputCodec::values(shape, Some(&normalisation))?,
        };
        let architecture = spec.model.architecture(codec.output(), classes)?;
        let sigma = match &spec.noise {
            Some(noise) if spec.objective.has_noise() => noise.level(shape.len(), codec.rank()),
            _ => 0.0,
        };
        let mut spec = spec.clone();
        // A run has its projection beside it, wherever that was before.
        if let Some(file) = spec.projection.as_mut().and_then(|own| own.file.as_mut()) {
            *file = PathBuf::from(PROJECTION);
        }
        let range = value_range(&train);
        let memory = MemoryLimit::NONE;
        Ok(Self { spec, train, test, projection, codec, normalisation, architecture, sigma, range, memory })
    }

    /// Numbers that are trained.
    pub fn parameters(&self) -> Result<usize, ArchitectureError> {
        Ok(ParameterLayout::new(&self.architecture)?.parameters)
    }

    /// The spec as a run keeps it: with hashes of data and projection, so that a run goes on with these only.
    pub fn identity(&self) -> String {
        let mut text = self.spec.to_toml();
        let _ = writeln!(text, "# data sha256 {}", self.train.sha256()); // a string takes everything
        if let Some(used) = &self.projection {
            let _ = writeln!(text, "# projection sha256 {}", sha256(&used.projection.to_bytes()));
        }
        text
    }
}

/// The file of a run's projection.
pub const PROJECTION: &str = "projection.safetensors";

/// Between which values inputs lie by their nature: pixels stored as bytes between 0 and 1; of other data nothing is known.
pub fn value_range(data: &Dataset) -> Option<(f32, f32)> {
    matches!(data.values(), Values::U8(_)).then_some((0.0, 1.0))
}

/// The training samples of a spec: so many, evenly chosen, since data may be sorted by class.
pub fn samples(spec: &TrainSpec, train: Dataset) -> Dataset {
    match spec.data.samples {
        Some(count) if count < train.len() => {
            let chosen: Vec<usize> = (0..count).map(|at| at * train.len() / count).collect();
            let name = format!("{}, {count} of them", train.name());
            train.select(&chosen).unwrap_or(train).renamed(name) // a spec asks for at least one
        }
        _ => train,
    }
}

/// The projection of a spec: from its file, with the certificate beside it if there is one (not checked here), or fitted to
/// the training data (line 2 of Algorithm 1), with its κ proven.
pub fn projection(
    spec: &TrainSpec,
    train: &Dataset,
    memory: MemoryLimit,
    threads: usize,
    observers: &mut SetupObservers<'_>,
) -> Result<Option<UsedProjection>, SetupError> {
    let Some(ProjectionSpec { file, fit, .. }) = &spec.projection else { return Ok(None) };
    if let Some(path) = file {
        let projection = Projection::read(path, memory)?;
        let certificate = Some(certificate_path(path)).filter(|path| path.exists());
        let certificate = certificate
            .map(|path| ProjectionCertificate::read_for(&projection, &path, memory))
            .transpose()?;
        return Ok(Some(UsedProjection { projection, certificate }));
    }
    fit.as_ref().map(|fit| fitted(fit, train, memory, threads, observers)).transpose()
}

fn fitted(
    fit: &FitSpec,
    train: &Dataset,
    memory: MemoryLimit,
    threads: usize,
    observers: &mut SetupObservers<'_>,
) -> Result<UsedProjection, SetupError> {
    let params = EnergyParams { basis: fit.basis, grid: fit.grid, centre: false, memory };
    let energies = DataEnergies::new(train, &params, observers.load)?;
    let method = match fit.method {
        FitMethodName::Robust => FitMethod::Robust,
        FitMethodName::Axis => FitMethod::Axis,
        FitMethodName::Pca => FitMethod::Pca,
        FitMethodName::Algorithm3 => FitMethod::Algorithm3 {
            rank: None, // the target's
            error: None,
            splits: Vec::new(),
            sparse: SparseParams::default(),
        },
    };
    let target = match (fit.rank, fit.error) {
        (Some(rank), _) => Target::Rank(rank),
        (None, error) => Target::Error(error.unwrap_or_default()), // one of them is there
    };
    let bound = BoundParams { threads, ..BoundParams::default() };
    let mut stopped = false;
    let fit_observer = &mut *observers.fit;
    let mut observer = |progress: &FitProgress| {
        stopped |= fit_observer.observe(progress).is_break();
        if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let fitted = fit_projection(&energies.fit_data(), target, &method, &bound, &mut observer);
    if stopped {
        return Err(SetupError::Stopped);
    }
    let fitted = fitted?;
    Ok(UsedProjection { projection: fitted.projection, certificate: Some(fitted.certificate) })
}
