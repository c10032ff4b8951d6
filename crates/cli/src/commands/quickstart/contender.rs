//! One of the two networks: its run folder, its training, its certification, its attack.

use crate::args::QuickstartArguments;
use crate::commands::attack::LiveAttack;
use crate::commands::certify::{Draws, LiveInputs};
use crate::commands::train::{self, LiveTraining};
use crate::live_data::LiveData;
use anyhow::Context as _;
use gambeson::attack::CertifiedInputs;
use gambeson::{
    AttackParams, AttackRadius, AttackTarget, Attacked, CertifyParams, Context, DrawParams, TrainParams,
    Trained, WhiteBoxParams, attack, open_white_box,
};
use gambeson_data::dataset::Dataset;
use gambeson_learn::attack::BallNorm;
use gambeson_learn::smoothed::WhiteBoxModel;
use gambeson_learn::train::TrainSpec;
use gambeson_learn::train::run::NETWORK;
use gambeson_learn::train::setup::{PROJECTION, TrainSetup};
use gambeson_smooth::record::Record;
use gambeson_smooth::selection::InputSelection;
use std::path::PathBuf;
use std::time::Duration;

const CHECKPOINT: Duration = Duration::from_secs(20);
/// Steps of an attack, and noise samples per gradient.
const STEPS: usize = 10;
const DRAWS: usize = 8;

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
        let setup = LiveData::observed(context, |context| {
            gambeson::train::prepare(context, &spec, &TrainParams::default())
        })?;
        Ok(Self { folder: arguments.out.join(name), setup, context: context.clone() })
    }

    /// Trains, or goes on; `None` if interrupted.
    pub(super) fn train(&self) -> anyhow::Result<Option<Trained>> {
        let params = TrainParams { checkpoint: CHECKPOINT, ..TrainParams::default() };
        let trained = LiveTraining::new(&self.setup, false).observed(&self.context, |context| {
            gambeson::train::run(context, &self.setup, &self.folder, &params)
        })?;
        train::draw(&trained.metrics, &self.folder)?;
        Ok(trained.finished().then_some(trained))
    }

    pub(super) fn test(&self) -> anyhow::Result<&Dataset> {
        self.setup.test.as_ref().with_context(|| format!("{}: no test part", self.setup.train.name()))
    }

    /// Where its records are.
    pub(super) fn records(&self) -> PathBuf {
        self.folder.join("certified.jsonl")
    }

    /// Where its projection is, if it has one.
    pub(super) fn projection(&self) -> Option<PathBuf> {
        self.setup.projection.as_ref().map(|_| self.folder.join(PROJECTION))
    }

    /// The trained network and the space of its noise, from the files of the run.
    fn open(&self) -> anyhow::Result<WhiteBoxModel> {
        let params = WhiteBoxParams { projection: self.projection(), ..WhiteBoxParams::default() };
        Ok(open_white_box(&self.context, &self.folder.join(NETWORK), self.test()?, &params)?)
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

    /// Attacks the first `count` certified images within their certified radii; `None` if interrupted.
    pub(super) fn attack(
        &self,
        records: &[Record],
        norm: BallNorm,
        count: usize,
    ) -> anyhow::Result<Option<Attacked>> {
        let radius = |record: &Record| match norm {
            BallNorm::L2 => record.derived.l2,
            BallNorm::Linf => record.derived.linf,
        };
        let certified = records.iter().filter(|record| radius(record).is_some());
        let certified: Vec<Record> = certified.take(count).cloned().collect();
        let name = self.records().display().to_string();
        let radius = AttackRadius::Certified(CertifiedInputs { records: certified, name });
        let params = AttackParams {
            norm,
            steps: STEPS,
            sigma: Some(self.setup.sigma),
            draws: DRAWS,
            seed: 1,
            ..AttackParams::new(radius)
        };
        let (model, test) = (self.open()?, self.test()?);
        let target = AttackTarget { data: test, model: Some(&model) };
        let attacked = LiveAttack::observed(&self.context, |context| attack(context, target, &params))?;
        Ok((!attacked.stopped).then_some(attacked))
    }
}
