//! One of the two networks: its run folder, its training, its certification.

use crate::args::QuickstartArguments;
use crate::commands::certify::{Draws, Live};
use crate::commands::train::{self, LiveTraining};
use crate::machine::Resources;
use anyhow::Context;
use gambeson_checker::{FailureProbability, NoiseLevel};
use gambeson_data::dataset::Dataset;
use gambeson_learn::inputs::{quantum, row};
use gambeson_learn::smoothed::{NoiseParams, SmoothedParams, WhiteBoxModel};
use gambeson_learn::train::run::NETWORK;
use gambeson_learn::train::setup::{PROJECTION, Setup};
use gambeson_learn::train::{Outcome, TrainSpec, train as learn};
use gambeson_smooth::record::Record;
use gambeson_smooth::runs::{RunParams, certify_inputs};
use gambeson_smooth::smoother::{Smoother, SmoothingParams};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub(super) const ALPHA: f64 = 0.001;
const SELECTION: u64 = 100;
const BATCH: usize = 64;
const CHECKPOINT: Duration = Duration::from_secs(20);

pub(super) struct Contender {
    pub(super) folder: PathBuf,
    pub(super) setup: Setup,
    resources: Resources,
}

impl Contender {
    pub(super) fn prepare(
        name: &str,
        toml: &str,
        arguments: &QuickstartArguments,
        resources: Resources,
    ) -> anyhow::Result<Self> {
        // The baseline has no projection that could be changed.
        let has_projection = toml.contains("[projection]");
        let fits = |text: &&String| has_projection || !text.trim_start().starts_with("projection");
        let overrides: Vec<String> = arguments.set.iter().filter(fits).cloned().collect();
        let spec = TrainSpec::parse(toml, &overrides)?;
        let setup = train::prepare(&spec, Path::new("."), resources)?;
        Ok(Self { folder: arguments.out.join(name), setup, resources })
    }

    /// Trains, or goes on; none if interrupted.
    pub(super) fn train(&self) -> anyhow::Result<Option<Outcome>> {
        let mut live = LiveTraining::new(&self.setup, None, false);
        let outcome = learn(&self.setup, &self.folder, CHECKPOINT, &mut live);
        live.finish();
        let outcome = outcome?;
        train::draw(&outcome.metrics, &self.folder)?;
        Ok(outcome.network.is_some().then_some(outcome))
    }

    pub(super) fn test(&self) -> anyhow::Result<&Dataset> {
        self.setup.test.as_ref().with_context(|| format!("{}: no test part", self.setup.train.name()))
    }

    /// Where its records are.
    pub(super) fn records(&self) -> PathBuf {
        self.folder.join("certified.jsonl")
    }

    /// The trained network and the space of its noise, from the files of the run.
    pub(super) fn open(&self) -> anyhow::Result<WhiteBoxModel> {
        let (network, projection) = (self.folder.join(NETWORK), self.folder.join(PROJECTION));
        let test = self.test()?;
        let noise = NoiseParams {
            projection: self.setup.projection.as_ref().map(|_| &*projection),
            quantum: quantum(test),
            ..NoiseParams::default()
        };
        let Resources { threads, memory } = self.resources;
        let params = SmoothedParams { noise, threads, memory, ..SmoothedParams::new(&network, test.shape()) };
        Ok(WhiteBoxModel::open(&params)?)
    }

    /// Certifies test images, evenly chosen; none if interrupted.
    pub(super) fn certify(&self, arguments: &QuickstartArguments) -> anyhow::Result<Option<Vec<Record>>> {
        let test = self.test()?;
        let smoothed = self.open()?.smoothed;
        let noise = NoiseLevel::new(self.setup.sigma)?;
        let params = SmoothingParams {
            selection: SELECTION,
            estimation: arguments.n,
            failure: FailureProbability::new(ALPHA)?,
            batch: BATCH,
            seed: smoothed.seed(test, noise, None, 0)?,
            ..SmoothingParams::new(noise)?
        };
        let smoother = Smoother::new(&smoothed.classifier, Arc::clone(&smoothed.space), params)?;
        let images = arguments.images.min(test.len());
        let run = RunParams {
            names: smoothed.names(test, Some(0)),
            classes: test.classes().len(),
            indices: (0..test.len() as u64).step_by(test.len() / images).take(images).collect(),
            out: Some(self.records()),
            memory: self.resources.memory,
        };
        let row = |index: u64| row(test, usize::try_from(index).unwrap_or(0)); // below the number of images
        let draws = Draws { count: SELECTION + arguments.n, at_most: false };
        let mut live = Live::quiet(run.indices.len(), draws);
        let finished = certify_inputs(&smoother, &run, row, &mut live);
        live.finish();
        let finished = finished?;
        Ok((!finished.stopped).then(|| finished.records.into_values().collect()))
    }
}
