//! What `certify` and `predict` have in common: the model, the data, the space of the noise, the choice of inputs.

use super::model::{self, Model};
use super::sources::Sources;
use crate::args::{SmoothArguments, toy};
use crate::commands::data::data_dir;
use crate::live_data::LiveData;
use crate::machine::Resources;
use crate::screen::shown;
use anyhow::{Context, bail};
use gambeson_checker::{FailureProbability, NoiseLevel};
use gambeson_data::dataset::Dataset;
use gambeson_data::source::{self, LoadOptions};
use gambeson_learn::inputs::{quantum, row_for};
use gambeson_learn::runtime::Runtime;
use gambeson_learn::smoothed::{NoiseParams, SmoothedModel, SmoothedParams};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::matrix_file::npy::read_vector;
use gambeson_smooth::classifier::Classifier;
use gambeson_smooth::record::Names;
use gambeson_smooth::runs::{Row, RunParams};
use std::path::Path;

pub(crate) struct Setup {
    pub(crate) smoothed: SmoothedModel<Model>,
    pub(crate) data: Dataset,
    /// Inputs asked for, rising.
    pub(crate) indices: Vec<usize>,
    title: String,
}

impl Setup {
    /// Loads everything, cheap and likely mistakes first.
    pub(super) fn load(arguments: &SmoothArguments, resources: Resources) -> anyhow::Result<Self> {
        let mut setup = Self::open(&arguments.into(), resources, |data| {
            if arguments.tsv.is_some() && data.labels().is_none() {
                bail!("{}: the data have no labels, which --tsv needs; leave it out", data.name());
            }
            indices(arguments, data.len())
        })?;
        setup.title =
            format!("{} on {}", shown(&arguments.model.to_string_lossy()), shown(setup.data.name()));
        Ok(setup)
    }

    /// Opens the sources; `choose` picks the inputs as soon as the data are there.
    pub(crate) fn open(
        sources: &Sources<'_>,
        resources: Resources,
        choose: impl FnOnce(&Dataset) -> anyhow::Result<Vec<usize>>,
    ) -> anyhow::Result<Self> {
        let options = LoadOptions {
            split: sources.split.into(),
            frames: sources.frames,
            memory: resources.memory,
            ..LoadOptions::new(data_dir()?)
        };
        let data = LiveData::watch(|progress| source::load(sources.data, &options, progress))?;
        let indices = choose(&data)?;
        let smoothed = Self::smoothed(sources, &data, resources)?;
        let classes = data.classes().len();
        if classes > smoothed.classifier.classes() {
            crate::progress::say(&format!(
                "{} has {} classes, but the data have {classes}: it never answers the others",
                sources.model.display(),
                smoothed.classifier.classes()
            ));
        }
        Ok(Self { smoothed, data, indices, title: String::new() })
    }

    /// The model and the noise before it.
    fn smoothed(
        sources: &Sources<'_>,
        data: &Dataset,
        resources: Resources,
    ) -> anyhow::Result<SmoothedModel<Model>> {
        let shape = data.shape();
        let normalisation = model::normalisation(sources.mean, sources.std, shape)?;
        let Resources { threads, memory } = resources;
        let levels = sources.noise_levels.map(|path| read_vector(path, memory)).transpose()?;
        let noise = NoiseParams {
            projection: sources.projection,
            certificate: sources.certificate,
            levels: levels.as_deref(),
            quantum: sources.quantum.unwrap_or_else(|| quantum(data)),
        };
        let Some(toy) = toy(sources.model) else {
            let (network, runtime) = (Path::new(sources.model), sources.runtime);
            let params =
                SmoothedParams { network, normalisation, runtime, noise, input: shape, threads, memory };
            return model::network(&params);
        };
        if normalisation.is_some() {
            bail!("--mean and --std are for networks: a toy takes its inputs unchanged");
        }
        let named = model::toy_classifier(&toy, &sources.model.to_string_lossy(), shape, memory)?;
        Ok(SmoothedModel::new(named, shape, &noise, memory, threads)?)
    }

    /// The seed that network, projection, data, σ and grid give with a nonce.
    pub(crate) fn derived_seed(
        &self,
        noise: NoiseLevel,
        grid_exponent: Option<i32>,
        nonce: u64,
    ) -> anyhow::Result<u64> {
        Ok(self.smoothed.seed(&self.data, noise, grid_exponent, nonce)?)
    }

    /// --seed, or the derived one with its nonce.
    pub(super) fn seed(
        &self,
        arguments: &SmoothArguments,
        noise: NoiseLevel,
    ) -> anyhow::Result<(u64, Option<u64>)> {
        if let Some(seed) = arguments.seed {
            return Ok((seed, None));
        }
        let nonce = arguments.nonce;
        Ok((self.derived_seed(noise, arguments.grid_exponent, nonce)?, Some(nonce)))
    }

    /// What records call everything.
    pub(crate) fn names(&self, nonce: Option<u64>) -> Names {
        self.smoothed.names(&self.data, nonce)
    }

    /// What the run over the inputs asked for is about.
    pub(super) fn run_params(
        &self,
        arguments: &SmoothArguments,
        nonce: Option<u64>,
        memory: MemoryLimit,
    ) -> RunParams {
        RunParams {
            names: self.names(nonce),
            classes: self.data.classes().len(),
            indices: self.indices.iter().map(|&index| index as u64).collect(),
            out: arguments.out.clone(),
            memory,
        }
    }

    /// Input `index`, one of those asked for.
    pub(crate) fn row(&self, index: u64) -> Row {
        row_for(&self.data, usize::try_from(index).unwrap_or(usize::MAX), &self.smoothed.space) // it was a usize before
    }

    pub(super) fn labelled(&self) -> bool {
        self.data.labels().is_some()
    }

    /// What is asked about what, and by which program.
    pub(super) fn computed(&self) -> String {
        match self.smoothed.runtime {
            None => self.title.clone(),
            Some(Runtime::Onnx) => format!("{}, by ONNX Runtime", self.title),
            Some(Runtime::Own) => format!("{}, by our engine", self.title),
        }
    }

    /// One line on what is done.
    pub(super) fn describe(&self) -> String {
        let noise = match self.smoothed.space.kappa() {
            None => format!("noise in all {} coordinates", self.smoothed.space.rank()),
            Some(kappa) => format!(
                "noise in {} coordinates of a projection, kappa {}",
                self.smoothed.space.rank(),
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
    let shard = arguments.shard;
    let chosen: Vec<usize> = arguments.range.of(len)?.skip(shard.index).step_by(shard.count).collect();
    if chosen.is_empty() {
        bail!("--start, --stop, --every and --shard select none of the {len} inputs");
    }
    Ok(chosen)
}
