//! What `certify` and `predict` have in common: the model, the data, the space of the noise, the choice of inputs.

use super::model::{self, Loaded, Model};
use crate::args::SmoothArguments;
use crate::commands::data::data_dir;
use crate::live_data::LiveData;
use crate::screen::shown;
use anyhow::{Context, bail};
use gambeson_checker::{FailureProbability, NoiseLevel};
use gambeson_data::dataset::{Dataset, Shape};
use gambeson_data::format::audio::FrameParams;
use gambeson_data::source::{self, LoadOptions};
use gambeson_learn::runtime::Runtime;
use gambeson_lowrank::projection::proven::ProvenProjection;
use gambeson_smooth::classifier::Classifier;
use gambeson_smooth::record::Names;
use gambeson_smooth::runs::{Row, RunParams};
use gambeson_smooth::space::Space;
use std::path::Path;

pub(super) struct Setup {
    pub(super) model: Model,
    pub(super) model_name: String,
    /// What computes it; none for toys.
    pub(super) runtime: Option<&'static str>,
    pub(super) space: Space,
    data: Dataset,
    /// Inputs asked for, rising.
    pub(super) indices: Vec<usize>,
    title: String,
}

impl Setup {
    /// Loads everything, cheap and likely mistakes first.
    pub(super) fn load(arguments: &SmoothArguments, threads: usize) -> anyhow::Result<Self> {
        let options = LoadOptions {
            split: arguments.split.into(),
            frames: FrameParams { window_ms: arguments.window_ms, hop_ms: arguments.hop_ms },
            ..LoadOptions::new(data_dir()?)
        };
        let data = LiveData::watch(|progress| source::load(&arguments.data, &options, progress))?;
        if arguments.tsv.is_some() && data.labels().is_none() {
            bail!("{}: the data have no labels, which --tsv needs; leave it out", data.name());
        }
        let indices = indices(arguments, data.len())?;
        let shape = data.shape();
        let Loaded { model, name, runtime, shape: taken } = model::load(arguments, shape, threads)?;
        let classes = data.classes().len();
        if classes > model.classes() {
            crate::progress::say(&format!(
                "{} has {} classes, but the data have {classes}: it never answers the others",
                arguments.model.display(),
                model.classes()
            ));
        }
        let mut setup = Self {
            model,
            model_name: name,
            runtime,
            space: Space::identity(shape.len()),
            data,
            indices,
            title: String::new(),
        };
        match &arguments.projection {
            Some(path) => setup.project(path, arguments, taken, threads)?,
            None if taken != shape => bail!(
                "{}: takes images of {taken}, but the data are {shape}; a --projection can decode smaller ones",
                arguments.model.display()
            ),
            None => {}
        }
        setup.title =
            format!("{} on {}", shown(&arguments.model.to_string_lossy()), shown(setup.data.name()));
        Ok(setup)
    }

    /// Puts the noise into the coordinates of a projection.
    fn project(
        &mut self,
        path: &Path,
        arguments: &SmoothArguments,
        taken: Shape,
        threads: usize,
    ) -> anyhow::Result<()> {
        let levels = arguments.noise_levels.as_deref().map(model::vector).transpose()?;
        let certificate = arguments.certificate.as_deref();
        let proven = ProvenProjection::open(path, certificate, levels.as_deref(), threads)?;
        let (own, shape) = (proven.projection().shape(), self.data.shape());
        if own != shape {
            bail!("{}: a projection of {own} inputs, but the data are {shape}", path.display());
        }
        self.space = Space::projected(&proven, Some((taken.height, taken.width)))
            .with_context(|| path.display().to_string())?;
        Ok(())
    }

    /// What the run over the inputs asked for is about.
    pub(super) fn run_params(&self, arguments: &SmoothArguments) -> RunParams {
        RunParams {
            names: Names {
                model: self.model_name.clone(),
                runtime: self.runtime.map(ToOwned::to_owned),
                data: format!("{} sha256:{}", self.data.name(), self.data.sha256()),
            },
            classes: self.data.classes().len(),
            indices: self.indices.iter().map(|&index| index as u64).collect(),
            out: arguments.out.clone(),
        }
    }

    /// Input `index`, one of those asked for.
    pub(super) fn row(&self, index: u64) -> Row {
        let index = usize::try_from(index).unwrap_or(usize::MAX); // it was a usize before
        let mut values = vec![0.0; self.data.shape().len()];
        self.data.sample_f64(index, &mut values);
        Row { values, label: self.data.labels().map(|labels| labels[index].into()) }
    }

    pub(super) fn labelled(&self) -> bool {
        self.data.labels().is_some()
    }

    /// What is asked about what, and by which program.
    pub(super) fn computed(&self) -> String {
        match self.runtime {
            None => self.title.clone(),
            Some(name) if name == Runtime::Onnx.name() => format!("{}, by ONNX Runtime", self.title),
            Some(_) => format!("{}, by our engine", self.title),
        }
    }

    /// One line on what is done.
    pub(super) fn describe(&self) -> String {
        let noise = match self.space.kappa() {
            None => format!("noise in all {} coordinates", self.space.rank()),
            Some(kappa) => format!(
                "noise in {} coordinates of a projection, kappa {}",
                self.space.rank(),
                crate::report::decimal::up(kappa.value(), 7)
            ),
        };
        format!("{}, {noise}", self.computed())
    }
}

pub(super) fn failure(arguments: &SmoothArguments) -> anyhow::Result<FailureProbability> {
    FailureProbability::new(arguments.alpha).context("--alpha")
}

pub(super) fn noise(arguments: &SmoothArguments) -> anyhow::Result<NoiseLevel> {
    NoiseLevel::new(arguments.sigma.unwrap_or(1.0)).context("--sigma")
}

/// The inputs of --start, --stop, --every and --shard.
fn indices(arguments: &SmoothArguments, len: usize) -> anyhow::Result<Vec<usize>> {
    let stop = arguments.stop.unwrap_or(len);
    if stop > len {
        bail!("--stop {stop}: the data have only {len} inputs");
    }
    let shard = arguments.shard;
    let all = (arguments.start..stop).step_by(arguments.every);
    let chosen: Vec<usize> = all.skip(shard.index).step_by(shard.count).collect();
    if chosen.is_empty() {
        bail!("--start, --stop, --every and --shard select none of the {len} inputs");
    }
    Ok(chosen)
}
