//! What is attacked: a network with gradients, and inputs with classes to lead away from.

use super::params::{AttackMethod, AttackParams, AttackRadius, BallBasis, CertifiedInputs};
use crate::context::Context;
use crate::error::Error;
use crate::error::attack::AttackError;
use gambeson_data::dataset::Dataset;
use gambeson_learn::attack::BallNorm;
use gambeson_learn::attack::challenge::certified_victims;
use gambeson_learn::attack::inputs::Victim;
use gambeson_learn::inputs::{data_name, data_parts, quantum};
use gambeson_learn::onnx::Normalisation;
use gambeson_learn::smoothed::{NoiseParams, SmoothedParams, WhiteBoxModel};
use gambeson_lowrank::projection::representation::Representation;
use gambeson_smooth::record::{Record, read_records};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What is attacked.
#[derive(Clone, Copy)]
pub struct AttackTarget<'a> {
    /// The data.
    pub data: &'a Dataset,
    /// The network, opened for these data by [`open_white_box`]; only the sparse method needs none.
    pub model: Option<&'a WhiteBoxModel>,
}

/// Parameters of [`open_white_box`].
#[derive(Clone, Debug, Default)]
pub struct WhiteBoxParams {
    /// The network sees inputs through this projection.
    pub projection: Option<PathBuf>,
    /// Certificate of the projection; the file beside it if `None`.
    pub certificate: Option<PathBuf>,
    /// Subtracted from noisy inputs, for networks that do not normalise: one number, or one per channel; or none.
    pub mean: Vec<f32>,
    /// What they are divided by then: as many.
    pub std: Vec<f32>,
}

/// Opens a network of layers that our engine has, for inputs of a data set: with gradients, and the space of its noise.
pub fn open_white_box(
    context: &Context,
    path: &Path,
    data: &Dataset,
    params: &WhiteBoxParams,
) -> Result<WhiteBoxModel, Error> {
    let shape = data.shape();
    let normalisation = match (&params.mean[..], &params.std[..]) {
        ([], []) => None,
        (mean, std) => Some(Normalisation::new(mean, std, shape.channels).map_err(Error::Normalisation)?),
    };
    let noise = NoiseParams {
        projection: params.projection.as_deref(),
        certificate: params.certificate.as_deref(),
        quantum: quantum(data),
        ..NoiseParams::default()
    };
    context.run(|| {
        let (threads, memory) = (context.threads(), context.memory_limit());
        let params =
            SmoothedParams { normalisation, noise, threads, memory, ..SmoothedParams::new(path, shape) };
        Ok(WhiteBoxModel::open(&params).map_err(|error| AttackError::Model(Box::new(error)))?)
    })
}

/// Reads the records of a certification.
pub fn open_certified(context: &Context, path: &Path) -> Result<CertifiedInputs, Error> {
    context.run(|| {
        let recorded = read_records(path, context.memory_limit());
        let recorded = recorded.map_err(|error| AttackError::Records(Box::new(error)))?;
        for (path, line) in recorded.broken_off() {
            let _ = context.tell_cut_off(path, *line); // what follows asks again
        }
        let records = recorded.into_entries().into_values().collect();
        Ok(CertifiedInputs { records, name: path.display().to_string() })
    })
}

/// The inputs, the classes to lead them away from, and how far they may be moved.
pub(super) fn victims(target: AttackTarget<'_>, params: &AttackParams) -> Result<Vec<Victim>, AttackError> {
    let AttackTarget { data, model } = target;
    let all = || (0..data.len()).collect();
    let indices: Vec<usize> = params.indices.clone().unwrap_or_else(all);
    if indices.is_empty() {
        return Err(AttackError::NoInputs { inputs: data.len() });
    }
    if let Some(&index) = indices.iter().find(|&&index| index >= data.len()) {
        return Err(AttackError::NoSuchInput { index, inputs: data.len() });
    }
    let values = |index: usize| {
        let mut values = vec![0.0; data.shape().len()];
        data.sample_f64(index, &mut values);
        values
    };
    let epsilon = match &params.radius {
        AttackRadius::Epsilon(epsilon) => *epsilon,
        AttackRadius::Certified(certified) => {
            let model = model.ok_or(AttackError::NoModel)?;
            return chosen(certified, (data, model), &indices, params, values);
        }
    };
    let labels = data.labels();
    if labels.is_none() && model.is_some() {
        return Err(AttackError::NoLabels { data: data.name().to_owned() });
    }
    let classes = model.map(|model| model.network.architecture.classes);
    let victim = |index: usize| {
        let class = labels.map_or(0, |labels| labels[index]);
        if classes.is_some_and(|classes| usize::from(class) >= classes) {
            return Err(AttackError::Class { index, class });
        }
        Ok(Victim { index: index as u64, values: values(index), class, epsilon })
    };
    indices.into_iter().map(victim).collect()
}

/// Those among the chosen inputs that have a certified radius, with their certified classes.
fn chosen(
    certified: &CertifiedInputs,
    (data, model): (&Dataset, &WhiteBoxModel),
    indices: &[usize],
    params: &AttackParams,
    values: impl Fn(usize) -> Vec<f64>,
) -> Result<Vec<Victim>, AttackError> {
    let sigma = params.sigma.ok_or(AttackError::NoSigma)?;
    agree(certified, data, model, sigma)?;
    let indices: BTreeSet<u64> = indices.iter().map(|&index| index as u64).collect();
    let records = certified.records.iter().filter(|record| indices.contains(&record.index));
    let values = |index: u64| values(usize::try_from(index).unwrap_or(0)); // one of the chosen
    let victims = certified_victims(records, params.norm, values);
    if victims.is_empty() {
        return Err(AttackError::NothingCertified { records: certified.name.clone() });
    }
    Ok(victims)
}

/// Whether records are about what is attacked.
fn agree(
    certified: &CertifiedInputs,
    data: &Dataset,
    model: &WhiteBoxModel,
    sigma: f64,
) -> Result<(), AttackError> {
    let (given, sigma, space) = (data_name(data), sigma.to_string(), &model.smoothed.space);
    let projection = space.projection_sha256().unwrap_or("none");
    for Record { run, .. } in &certified.records {
        let common = &run.common;
        let recorded_sigma = common.sigma.to_string();
        let same_data = data_parts(&common.data).1 == data.sha256();
        for (what, recorded, given) in [
            ("data", &*common.data, if same_data { &*common.data } else { &given }),
            ("projection", common.projection.as_deref().unwrap_or("none"), projection),
            ("noise", run.noise.as_deref().unwrap_or("one level"), "one level"),
            ("sigma", &recorded_sigma, &sigma),
            ("network", &common.model, &model.smoothed.name),
            ("grid's quantum", common.grid.quantum.name(), space.unit().name()),
        ] {
            if recorded != given {
                let (records, recorded, given) =
                    (certified.name.clone(), recorded.to_owned(), given.to_owned());
                return Err(AttackError::OtherRun { records, what, recorded, given });
            }
        }
    }
    Ok(())
}

/// Coordinates of the ball. Certified radii in ℓ∞ are of the projection's own coordinates.
pub(super) fn basis(model: Option<&WhiteBoxModel>, params: &AttackParams) -> BallBasis {
    let certified = matches!(params.radius, AttackRadius::Certified(_));
    match model {
        Some(model) if certified && params.norm == BallNorm::Linf => {
            match model.smoothed.space.representation() {
                None | Some(Representation::Pixel) => BallBasis::Values,
                Some(Representation::Dct1 | Representation::Dct2) => BallBasis::Dct,
            }
        }
        _ if params.method == AttackMethod::Sparse => BallBasis::Dct,
        None => BallBasis::Values,
        Some(_) => params.basis.unwrap_or(BallBasis::Values),
    }
}
