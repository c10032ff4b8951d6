//! The parts of the evidence, from a bundle or from whoever checks it.

use super::content::Bundle;
use super::make::stored_values;
use super::manifest::{CERTIFICATE, DATA, DataEntry, NetworkEntry, PROJECTION};
use super::outcome::PartOrigin;
use crate::context::Context;
use crate::data::{DataParams, open_data};
use crate::error::Error;
use crate::model::{ClassifierSource, Model, ModelParams, open_proven};
use crate::replay::CheckRecordsParams;
use crate::toy::ToyText;
use gambeson_data::dataset::{Dataset, Shape};
use gambeson_data::store;
use gambeson_learn::runtime::{Runtime, network_name};
use gambeson_learn::smoothed::{NamedClassifier, SmoothedModel};
use gambeson_lowrank::projection::proven::ProvenProjection;
use gambeson_smooth::classifier::ClassifierSpec;
use gambeson_smooth::record::Run;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Parameters of [`check_bundle`](super::check_bundle): what is left out of the bundle, or is to be used in place of what is in it.
#[derive(Clone, Debug, Default)]
pub struct CheckBundleParams {
    /// The network or toy.
    pub model: Option<OsString>,
    /// The data.
    pub data: Option<OsString>,
    /// How `data` are read.
    pub data_params: DataParams,
    /// The projection and its certificate, and how the network is read.
    pub model_params: ModelParams,
    /// How the records are checked.
    pub records: CheckRecordsParams,
}

/// A part and where it is from; or what is wrong with that of the bundle.
pub(super) struct Part<T> {
    pub(super) origin: PartOrigin,
    pub(super) found: Option<T>,
    pub(super) wrong: Option<String>,
}

impl<T> Part<T> {
    fn new(origin: PartOrigin, found: T) -> Self {
        Self { origin, found: Some(found), wrong: None }
    }

    fn none(origin: PartOrigin) -> Self {
        Self { origin, found: None, wrong: None }
    }

    /// Of the bundle: an error is evidence against it.
    fn of_bundle(found: Result<T, String>) -> Self {
        let (found, wrong) = found.map_or_else(|wrong| (None, Some(wrong)), |found| (Some(found), None));
        Self { origin: PartOrigin::Bundle, found, wrong }
    }
}

/// The projection, proven from the very bytes.
pub(super) fn projection(
    context: &Context,
    bundle: &Bundle,
    params: &ModelParams,
) -> Result<Part<(ProvenProjection, PathBuf)>, Error> {
    let levels = params.noise_levels.as_deref().or(bundle.manifest().noise_levels.as_deref());
    let threads = context.threads();
    if let Some(path) = &params.projection {
        let certificate = params.certificate.as_deref();
        let memory = context.memory_limit();
        let proven =
            context.run(|| Ok(ProvenProjection::open(path, certificate, levels, memory, threads)?))?;
        return Ok(Part::new(PartOrigin::Given, (proven, path.clone())));
    }
    let (Some(basis), Some(evidence)) = (bundle.file(PROJECTION), bundle.file(CERTIFICATE)) else {
        return Ok(Part::none(PartOrigin::None));
    };
    let proven = context.run(|| {
        let files = ((Path::new(PROJECTION), basis), (Path::new(CERTIFICATE), evidence));
        Ok(ProvenProjection::parse(files.0, files.1, levels, threads).map_err(|error| error.to_string()))
    })?;
    Ok(Part::of_bundle(proven.map(|proven| (proven, PathBuf::from(PROJECTION)))))
}

/// The data, and whether they are as the manifest says.
pub(super) fn data(
    context: &Context,
    bundle: &Bundle,
    params: &CheckBundleParams,
) -> Result<Part<Dataset>, Error> {
    let mut part = match (&params.data, bundle.file(DATA)) {
        (Some(name), _) => Part::new(PartOrigin::Given, open_data(context, name, &params.data_params)?),
        (None, Some(bytes)) => {
            let read = store::parse(Path::new(DATA), bytes.to_vec()).map_err(|error| error.to_string());
            Part::of_bundle(read)
        }
        (None, None) => Part::none(PartOrigin::Missing),
    };
    if let Some(data) = &part.found {
        let Shape { channels, height, width } = data.shape();
        let DataEntry { values, shape, .. } = &bundle.manifest().data;
        if *values != stored_values(data) || *shape != [channels, height, width] {
            part.wrong =
                Some("manifest.json: the inputs have another shape, or are stored otherwise".to_owned());
        }
    }
    Ok(part)
}

/// What the network is read with: as the manifest says, unless whoever checks says otherwise.
fn normalised(params: &ModelParams, entry: &NetworkEntry, run: &Run) -> ModelParams {
    let mut params = params.clone().replaying(run);
    if params.mean.is_empty() && params.std.is_empty() {
        (params.mean, params.std) = (entry.mean.clone(), entry.std.clone());
    }
    params
}

/// Where the network is to be taken from, and what is wrong with that of the bundle.
pub(super) fn network<'a>(
    context: &Context,
    bundle: &'a Bundle,
    params: &'a CheckBundleParams,
    run: &'a Run,
) -> Result<Part<ClassifierSource<'a>>, Error> {
    if let Some(name) = &params.model {
        return Ok(Part::new(PartOrigin::Given, ClassifierSource::read(context, name)?));
    }
    let entry = &bundle.manifest().network;
    if let Some((path, content)) = bundle.network() {
        let given =
            ModelParams { mean: entry.mean.clone(), std: entry.std.clone(), ..ModelParams::default() };
        let normalisation = given.normalisation(bundle.manifest().data.shape[0])?;
        let (name, recorded) = (network_name(&content.sha256(), normalisation.as_ref()), &run.common.model);
        let mut part = Part::new(PartOrigin::Bundle, ClassifierSource::Network(path, content));
        if name != *recorded {
            part.wrong = Some(format!(
                "{}: the records are about the network {recorded}, not about {name}",
                path.display()
            ));
        }
        return Ok(part);
    }
    // What a name from a stranger describes must not lead to files.
    let name = OsStr::new(&run.common.model);
    match ToyText::parse(name).filter(|toy| toy.vector_path().is_none()) {
        Some(toy) => Ok(Part::new(PartOrigin::None, ClassifierSource::Toy(toy, name))),
        None => Ok(Part::none(PartOrigin::Missing)),
    }
}

/// The network with the space of its noise.
pub(super) fn model(
    context: &Context,
    bundle: &Bundle,
    params: &CheckBundleParams,
    (source, projection, data): (ClassifierSource<'_>, Option<&(ProvenProjection, PathBuf)>, &Dataset),
    run: &Run,
) -> Result<Model, Error> {
    let params = normalised(&params.model_params, &bundle.manifest().network, run);
    let projection = projection.map(|(proven, path)| (proven.clone(), &**path));
    open_proven(context, source, projection, data, &params)
}

/// What is known of a network that nobody has: enough for all but the draws.
pub(super) fn unknown_network(
    projection: Option<&(ProvenProjection, PathBuf)>,
    classes: usize,
    data: &Dataset,
    run: &Run,
) -> Result<SmoothedModel<ClassifierSpec>, Error> {
    let runtime = run.common.runtime.as_deref();
    let named = NamedClassifier {
        classifier: ClassifierSpec { classes, dim: 0, input_map: None },
        name: run.common.model.clone(),
        runtime: [Runtime::Own, Runtime::Onnx].into_iter().find(|known| Some(known.name()) == runtime),
        file: None,
        images: data.shape(),
    };
    let projection = projection.map(|(proven, path)| (proven.clone(), &**path));
    let quantum = ModelParams::default()
        .replaying(run)
        .quantum
        .unwrap_or_else(|| gambeson_learn::inputs::quantum(data));
    let mut model = SmoothedModel::with_noise(named, data.shape(), projection, quantum)?;
    model.classifier.dim = model.space.output_dim();
    Ok(model)
}
