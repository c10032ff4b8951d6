//! Classifiers to be smoothed: networks from files and toys, with the space that noise is added in.

use crate::context::Context;
use crate::error::Error;
use crate::event::{Event, Note};
use crate::toy::{Toy, ToyText};
use gambeson_data::dataset::{Dataset, Shape};
use gambeson_learn::inputs::quantum;
use gambeson_learn::onnx::{Batching, Normalisation, OnnxError};
use gambeson_learn::runtime::{NetworkContent, NetworkModel, RuntimeChoice};
use gambeson_learn::smoothed::{
    NamedClassifier, NoiseParams, OpenedModel, SmoothedError, SmoothedModel, SmoothedParams,
};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::projection::proven::ProvenProjection;
use gambeson_smooth::classifier::Classifier;
use gambeson_smooth::input_map::InputMap;
use gambeson_smooth::noise::Quantum;
use gambeson_smooth::record::{Run, recorded_runtime};
use gambeson_smooth::toys::{Ball, HalfSpace};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Parameters of [`open_model`] and [`smoothed_model`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelParams {
    /// File of a projection in whose coordinates noise is added; in those of the inputs if `None`.
    pub projection: Option<PathBuf>,
    /// Certificate of the projection; the file beside it if `None`.
    pub certificate: Option<PathBuf>,
    /// Relative level of the noise in each coordinate of the projection, channel by channel; the same in all if `None`.
    pub noise_levels: Option<Vec<f64>>,
    /// What computes a network.
    pub runtime: RuntimeChoice,
    /// Mean of the inputs, for a network that does not normalise by itself: one number or one per channel.
    pub mean: Vec<f32>,
    /// Standard deviation of the inputs, likewise.
    pub std: Vec<f32>,
    /// What a unit of the grid means that noisy inputs are rounded to; that of the data if `None`.
    pub quantum: Option<Quantum>,
}

impl ModelParams {
    /// With what computed the network of earlier records, unless a runtime is asked for.
    #[must_use]
    pub fn resuming(mut self, records: &Path) -> Self {
        if self.runtime == RuntimeChoice::Auto {
            let recorded = recorded_runtime(records).and_then(|name| RuntimeChoice::recorded(&name));
            self.runtime = recorded.unwrap_or_default();
        }
        self
    }

    /// With the runtime and the grid of a run whose draws are to be made again, unless a runtime is asked for.
    #[must_use]
    pub fn replaying(mut self, run: &Run) -> Self {
        if self.runtime == RuntimeChoice::Auto {
            let recorded = run.common.runtime.as_deref().and_then(RuntimeChoice::recorded);
            self.runtime = recorded.unwrap_or_default();
        }
        self.quantum = run.common.projection.is_none().then_some(run.common.grid.quantum);
        self
    }

    /// The space of the noise, for inputs of a data set.
    fn noise(&self, data: &Dataset) -> NoiseParams<'_> {
        NoiseParams {
            projection: self.projection.as_deref(),
            certificate: self.certificate.as_deref(),
            levels: self.noise_levels.as_deref(),
            quantum: self.quantum.unwrap_or_else(|| quantum(data)),
        }
    }

    pub(crate) fn normalisation(&self, channels: usize) -> Result<Option<Normalisation>, Error> {
        if self.mean.is_empty() && self.std.is_empty() {
            return Ok(None);
        }
        Normalisation::new(&self.mean, &self.std, channels).map(Some).map_err(Error::Normalisation)
    }
}

/// What [`open_model`] opens: a network or a toy.
pub enum BaseClassifier {
    /// A network.
    Network(NetworkModel),
    /// A toy: which side of a plane an input lies on.
    HalfSpace(HalfSpace),
    /// A toy: whether an input lies in a ball.
    Ball(Ball),
}

impl From<Toy> for BaseClassifier {
    fn from(toy: Toy) -> Self {
        match toy {
            Toy::HalfSpace(toy) => Self::HalfSpace(toy),
            Toy::Ball(toy) => Self::Ball(toy),
        }
    }
}

/// A network or a toy with the space of its noise.
pub type Model = SmoothedModel<BaseClassifier>;

impl Classifier for BaseClassifier {
    type Error = OnnxError;

    fn classes(&self) -> usize {
        match self {
            Self::Network(model) => model.classes(),
            Self::HalfSpace(toy) => toy.classes(),
            Self::Ball(toy) => toy.classes(),
        }
    }

    fn dim(&self) -> usize {
        match self {
            Self::Network(model) => model.dim(),
            Self::HalfSpace(toy) => toy.dim(),
            Self::Ball(toy) => toy.dim(),
        }
    }

    fn input_map(&self) -> Option<&InputMap> {
        match self {
            Self::Network(model) => model.input_map(),
            Self::HalfSpace(_) | Self::Ball(_) => None,
        }
    }

    fn at_once(&self) -> Option<usize> {
        match self {
            Self::Network(model) => model.at_once(),
            Self::HalfSpace(_) | Self::Ball(_) => None,
        }
    }

    fn classify(&self, batch: &[f32], rows: usize, out: &mut [u32]) -> Result<(), OnnxError> {
        match self {
            Self::Network(model) => return model.classify(batch, rows, out),
            Self::HalfSpace(toy) => toy.classify(batch, rows, out),
            Self::Ball(toy) => toy.classify(batch, rows, out),
        }
        .unwrap_or_else(|never| match never {});
        Ok(())
    }
}

/// Opens the classifier that a text names, for the inputs of a data set: a file of a network (one of ours, a state dict of
/// PyTorch, an ONNX graph), or a toy (`toy:half-space,offset=B` and the like). κ and σ_max of the projection are proven.
pub fn open_model(
    context: &Context,
    name: impl AsRef<OsStr>,
    data: &Dataset,
    params: &ModelParams,
) -> Result<Model, Error> {
    let name = name.as_ref();
    let (input, threads, memory) = (data.shape(), context.threads(), context.memory_limit());
    let noise = params.noise(data);
    let normalisation = params.normalisation(input.channels)?;
    let model = context.run(|| match ToyText::parse(name) {
        None => {
            let network = Path::new(name);
            let runtime = params.runtime;
            let params = SmoothedParams { network, normalisation, runtime, noise, input, threads, memory };
            let opened = SmoothedModel::open(&params)?;
            tell_about(context, network, &opened);
            Ok(opened.smoothed.map(BaseClassifier::Network))
        }
        Some(_) if normalisation.is_some() => Err(Error::NormalisedByCaller),
        Some(toy) => {
            let named = named_toy(&toy, name, input, memory)?;
            Ok(SmoothedModel::new(named, input, &noise, memory, threads)?.map(BaseClassifier::from))
        }
    })?;
    tell_about_classes(context, Path::new(name), &model, data);
    Ok(model)
}

/// A classifier that need not be read any more.
pub(crate) enum ClassifierSource<'a> {
    /// The name of a network's file, and its content.
    Network(&'a Path, NetworkContent),
    /// A toy, and the text that describes it.
    Toy(ToyText<'a>, &'a OsStr),
}

impl<'a> ClassifierSource<'a> {
    /// What a text names, read.
    pub(crate) fn read(context: &Context, name: &'a OsStr) -> Result<Self, Error> {
        if let Some(toy) = ToyText::parse(name) {
            return Ok(Self::Toy(toy, name));
        }
        let path = Path::new(name);
        let content = NetworkContent::read(path, context.memory_limit());
        let content = content.map_err(|reason| SmoothedError::Model(Box::new(reason)))?;
        Ok(Self::Network(path, content))
    }
}

/// The same as [`open_model`] with a network that was read and a projection that is proven already.
pub(crate) fn open_proven(
    context: &Context,
    source: ClassifierSource<'_>,
    projection: Option<(ProvenProjection, &Path)>,
    data: &Dataset,
    params: &ModelParams,
) -> Result<Model, Error> {
    let (input, threads, memory) = (data.shape(), context.threads(), context.memory_limit());
    let quantum = params.quantum.unwrap_or_else(|| quantum(data));
    let normalisation = params.normalisation(input.channels)?;
    let (model, name) = context.run(|| match source {
        ClassifierSource::Network(network, content) => {
            let (projection, place) = projection.unzip();
            let noise = NoiseParams { projection: place, quantum, ..NoiseParams::default() };
            let runtime = params.runtime;
            let params = SmoothedParams { network, normalisation, runtime, noise, input, threads, memory };
            let opened = SmoothedModel::of_content(content, projection, &params)?;
            tell_about(context, network, &opened);
            Ok((opened.smoothed.map(BaseClassifier::Network), network))
        }
        ClassifierSource::Toy(..) if normalisation.is_some() => Err(Error::NormalisedByCaller),
        ClassifierSource::Toy(toy, name) => {
            let named = named_toy(&toy, name, input, memory)?;
            let model = SmoothedModel::with_noise(named, input, projection, quantum)?;
            Ok((model.map(BaseClassifier::from), Path::new(name)))
        }
    })?;
    tell_about_classes(context, name, &model, data);
    Ok(model)
}

fn named_toy(
    toy: &ToyText<'_>,
    name: &OsStr,
    input: Shape,
    memory: MemoryLimit,
) -> Result<NamedClassifier<Toy>, Error> {
    let text = name.to_string_lossy();
    toy.classifier(&text, input, memory)
        .map_err(|reason| Error::Toy { text: text.into_owned(), reason: Box::new(reason) })
}

fn tell_about_classes(context: &Context, name: &Path, model: &Model, data: &Dataset) {
    let (classes, in_data) = (model.classifier.classes(), data.classes().len());
    if in_data > classes {
        let model = name.display().to_string();
        let _ = context.tell(&Event::Note(&Note::FewerClasses { model, classes, in_data }));
    }
}

/// Adds noise before a classifier that the caller has: one of its own type, or the [`ClassifierSpec`] of one that only the
/// caller can ask, for [`certify_by`](crate::certify_by) and the like. κ and σ_max of the projection are proven.
///
/// The caller names the classifier, by what it computes: a hash of its weights, say. `runtime` of the parameters is not read.
///
/// [`ClassifierSpec`]: crate::ClassifierSpec
pub fn smoothed_model<C: Send>(
    context: &Context,
    named: NamedClassifier<C>,
    data: &Dataset,
    params: &ModelParams,
) -> Result<SmoothedModel<C>, Error> {
    if !(params.mean.is_empty() && params.std.is_empty()) {
        return Err(Error::NormalisedByCaller);
    }
    let (noise, memory, threads) = (params.noise(data), context.memory_limit(), context.threads());
    context.run(|| Ok(SmoothedModel::new(named, data.shape(), &noise, memory, threads)?))
}

/// What is worth knowing about a network that can be used all the same.
fn tell_about(context: &Context, path: &Path, opened: &OpenedModel) {
    let OpenedModel { smoothed, unsupported, not_compared } = opened;
    let network = path.display().to_string();
    let tell = |note: Note| {
        let _ = context.tell(&Event::Note(&note));
    };
    if let Some(reason) = unsupported {
        tell(Note::ByOnnxRuntime { network: network.clone(), missing: reason.to_string() });
    }
    if let Some(reason) = not_compared {
        tell(Note::NotCompared { reason: reason.to_string() });
    }
    if let NetworkModel::Onnx(model) = &smoothed.classifier
        && let Batching::Fixed(rows) = model.batching()
    {
        tell(Note::FixedBatch { network, rows });
    }
}
