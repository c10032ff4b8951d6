//! One of the two networks: its run folder, its training, its certification.

use crate::args::QuickstartArguments;
use crate::commands::certify::{Draws, LiveInputs};
use crate::commands::train::{self, LiveTraining};
use crate::machine::Resources;
use anyhow::Context as _;
use gambeson::{CertifyParams, Context, DrawParams};
use gambeson_data::dataset::Dataset;
use gambeson_learn::inputs::quantum;
use gambeson_learn::smoothed::{NoiseParams, SmoothedParams, WhiteBoxModel};
use gambeson_learn::train::run::NETWORK;
use gambeson_learn::train::setup::{PROJECTION, TrainSetup};
use gambeson_learn::train::{Outcome, TrainSpec, train as learn};
use gambeson_smooth::record::Record;
use gambeson_smooth::selection::InputSelection;
use std::path::{Path, PathBuf};
use std::time::Duration;

const CHECKPOINT: Duration = Duration::from_secs(20);

pub(super) struct Contender {
    pub(super) folder: PathBuf,
    pub(super) setup: TrainSetup,
    context: Context,
}

impl Contender {
    pub(super) fn prepare(
        name: &str,
        toml: &str,
        arguments: &QuickstartArguments,
        context: &Context,
    ) -> anyhow::Result<Self> {
        // The baseline has no projection that could be changed.
        let has_projection = toml.contains("[projection]");
        let fits = |text: &&String| has_projection || !text.trim_start().starts_with("projection");
        let overrides: Vec<String> = arguments.set.iter().filter(fits).cloned().collect();
        let spec = TrainSpec::parse(toml, &overrides)?;
        let setup = train::prepare(&spec, Path::new("."), Resources::of(context))?;
        Ok(Self { folder: arguments.out.join(name), setup, context: context.clone() })
    }

    /// Trains, or goes on; none if interrupted.
    pub(super) fn train(&self) -> anyhow::Result<Option<Outcome>> {
        let mut live = LiveTraining::new(&self.setup, false);
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
        let Resources { threads, memory } = Resources::of(&self.context);
        let params = SmoothedParams { noise, threads, memory, ..SmoothedParams::new(&network, test.shape()) };
        Ok(WhiteBoxModel::open(&params)?)
    }

    /// Certifies test images, evenly chosen; none if interrupted.
    pub(super) fn certify(&self, arguments: &QuickstartArguments) -> anyhow::Result<Option<Vec<Record>>> {
        let test = self.test()?;
        let model = self.open()?.smoothed;
        let images = arguments.images.min(test.len());
        let every = test.len() / images;
        let inputs = InputSelection {
            stop: Some((every * images) as u64),
            every: every as u64,
            ..InputSelection::default()
        };
        let draws = DrawParams { inputs, out: Some(self.records()), ..DrawParams::new(self.setup.sigma) };
        let params = CertifyParams { draws, n: arguments.n, ..CertifyParams::new(self.setup.sigma) };
        let live = LiveInputs::quiet(Draws { count: params.n0 + params.n, at_most: false });
        let run = gambeson::certify(&live.observed(&self.context), &model, test, &params);
        live.finish();
        let run = run?;
        Ok((!run.stopped).then(|| run.records.into_values().collect()))
    }
}
