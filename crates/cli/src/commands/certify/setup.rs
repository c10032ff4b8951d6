//! What `certify` and `predict` have in common: the model, the data, the space of the noise, the choice of inputs.

use super::model::{self, Loaded, Model};
use super::sources::Sources;
use crate::args::SmoothArguments;
use crate::commands::data::data_dir;
use crate::live_data::LiveData;
use crate::screen::shown;
use anyhow::{Context, bail};
use gambeson_checker::{FailureProbability, NoiseLevel};
use gambeson_data::dataset::{Dataset, Shape};
use gambeson_data::source::{self, LoadOptions};
use gambeson_learn::inputs::{data_name, quantum, row_for};
use gambeson_learn::runtime::Runtime;
use gambeson_lowrank::projection::proven::ProvenProjection;
use gambeson_smooth::classifier::Classifier;
use gambeson_smooth::record::Names;
use gambeson_smooth::runs::{Row, RunParams};
use gambeson_smooth::seed::seed_in;
use gambeson_smooth::space::Space;
use std::path::Path;

pub(crate) struct Setup {
    pub(crate) model: Model,
    pub(crate) model_name: String,
    /// What computes it; none for toys.
    pub(crate) runtime: Option<&'static str>,
    pub(crate) space: Space,
    /// Where noise is in the coordinates of one.
    pub(crate) projection: Option<ProvenProjection>,
    pub(crate) data: Dataset,
    /// Inputs asked for, rising.
    pub(crate) indices: Vec<usize>,
    title: String,
}

impl Setup {
    /// Loads everything, cheap and likely mistakes first.
    pub(super) fn load(arguments: &SmoothArguments, threads: usize) -> anyhow::Result<Self> {
        let mut setup = Self::open(&arguments.into(), threads, |data| {
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
        threads: usize,
        choose: impl FnOnce(&Dataset) -> anyhow::Result<Vec<usize>>,
    ) -> anyhow::Result<Self> {
        let options = LoadOptions {
            split: sources.split.into(),
            frames: sources.frames,
            ..LoadOptions::new(data_dir()?)
        };
        let data = LiveData::watch(|progress| source::load(sources.data, &options, progress))?;
        let indices = choose(&data)?;
        let shape = data.shape();
        let Loaded { model, name, runtime, shape: taken } = model::load(sources, shape, threads)?;
        let classes = data.classes().len();
        if classes > model.classes() {
            crate::progress::say(&format!(
                "{} has {} classes, but the data have {classes}: it never answers the others",
                sources.model.display(),
                model.classes()
            ));
        }
        let mut setup = Self {
            model,
            model_name: name,
            runtime,
            space: Space::identity(shape.len()).of(sources.quantum.unwrap_or_else(|| quantum(&data))),
            projection: None,
            data,
            indices,
            title: String::new(),
        };
        match sources.projection {
            Some(path) => setup.project(path, sources, taken, threads)?,
            None if taken != shape => bail!(
                "{}: takes images of {taken}, but the data are {shape}; a --projection can decode smaller ones",
                sources.model.display()
            ),
            None => {}
        }
        Ok(setup)
    }

    /// Puts the noise into the coordinates of a projection.
    fn project(
        &mut self,
        path: &Path,
        sources: &Sources<'_>,
        taken: Shape,
        threads: usize,
    ) -> anyhow::Result<()> {
        let levels = sources.noise_levels.map(model::vector).transpose()?;
        let proven = ProvenProjection::open(path, sources.certificate, levels.as_deref(), threads)?;
        let (own, shape) = (proven.projection().shape(), self.data.shape());
        if own != shape {
            bail!("{}: a projection of {own} inputs, but the data are {shape}", path.display());
        }
        self.space = Space::projected(&proven, Some((taken.height, taken.width)))
            .with_context(|| path.display().to_string())?
            .of(sources.quantum.unwrap_or_else(|| quantum(&self.data)));
        self.projection = Some(proven);
        Ok(())
    }

    /// The seed that network, projection, data, σ and grid give with a nonce.
    pub(crate) fn derived_seed(
        &self,
        noise: NoiseLevel,
        grid_exponent: Option<i32>,
        nonce: u64,
    ) -> anyhow::Result<u64> {
        let names = (self.model_name.as_str(), self.data.sha256());
        Ok(seed_in(&self.space, names, noise, grid_exponent, nonce)?)
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
        Names {
            model: self.model_name.clone(),
            runtime: self.runtime.map(ToOwned::to_owned),
            data: data_name(&self.data),
            nonce,
        }
    }

    /// What the run over the inputs asked for is about.
    pub(super) fn run_params(&self, arguments: &SmoothArguments, nonce: Option<u64>) -> RunParams {
        RunParams {
            names: self.names(nonce),
            classes: self.data.classes().len(),
            indices: self.indices.iter().map(|&index| index as u64).collect(),
            out: arguments.out.clone(),
        }
    }

    /// Input `index`, one of those asked for.
    pub(crate) fn row(&self, index: u64) -> Row {
        row_for(&self.data, usize::try_from(index).unwrap_or(usize::MAX), &self.space) // it was a usize before
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
    let shard = arguments.shard;
    let chosen: Vec<usize> = arguments.range.of(len)?.skip(shard.index).step_by(shard.count).collect();
    if chosen.is_empty() {
        bail!("--start, --stop, --every and --shard select none of the {len} inputs");
    }
    Ok(chosen)
}
