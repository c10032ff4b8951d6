//! Training: a network from a spec, in the folder of a run.
//!
//! [`train`] does everything. [`prepare`] reads the data and fits the projection, and [`run`] and [`cost`] go on from there:
//! for callers who look at what is to be trained first.

mod figure;

use crate::context::{Context, Limited};
use crate::data::data_folder;
use crate::error::Error;
use crate::event::Event;
pub use figure::training_figure;
pub use gambeson_learn::train::clock::Spent;
use gambeson_learn::train::cost::{self as timing, Timed};
pub use gambeson_learn::train::run::{METRICS, Metrics, NETWORK, SPEC};
use gambeson_learn::train::setup::{SetupObservers, TrainSetup};
use gambeson_learn::train::{self as learn, TrainError, TrainProgress, TrainSpec, load};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long steps are timed to tell what a run would cost.
const TIMED: Duration = Duration::from_secs(4);

/// Parameters of [`train`], beside the spec.
#[derive(Clone, Debug)]
pub struct TrainParams {
    /// Where relative files of the spec are looked for first: the folder of the spec's own file.
    pub beside: Option<PathBuf>,
    /// Where installed and imported data sets live: `$GAMBESON_DATA`, or the data directory of the platform, if `None`.
    pub data_folder: Option<PathBuf>,
    /// Time between two checkpoints. There is also one at the end of every epoch, and one when the run is stopped.
    pub checkpoint: Duration,
    /// When to stop, at the end of a step. The run can go on later.
    pub time_limit: Option<Duration>,
}

impl Default for TrainParams {
    /// A checkpoint every minute, no time limit.
    fn default() -> Self {
        Self { beside: None, data_folder: None, checkpoint: Duration::from_secs(60), time_limit: None }
    }
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Trained {
    /// Folder of the run.
    pub folder: PathBuf,
    /// SHA-256 of the network's file; `None` if the run was stopped before its end.
    pub network: Option<String>,
    /// Numbers that are trained.
    pub parameters: usize,
    /// σ; 0 without noise.
    pub sigma: f64,
    /// Numbers that noise is added to.
    pub rank: usize,
    /// channels, height, width of what the network is shown.
    pub grid: [usize; 3],
    /// Wall and CPU time of training, evaluation excluded, earlier calls included.
    pub spent: Spent,
    /// Of every epoch that is done.
    pub metrics: Vec<Metrics>,
}

impl Trained {
    /// Whether the run came to its end. If not, the same call goes on with it.
    pub fn finished(&self) -> bool {
        self.network.is_some()
    }

    /// What it says, as data.
    pub fn record(&self) -> TrainRecord {
        TrainRecord {
            run: self.folder.to_string_lossy().into_owned(),
            finished: self.finished(),
            network: self.network.clone(),
            parameters: self.parameters,
            sigma: self.sigma,
            rank: self.rank,
            grid: self.grid,
            spent: self.spent,
            last: self.metrics.last().cloned(),
        }
    }
}

impl Serialize for Trained {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.record().serialize(serializer)
    }
}

/// What a run would cost.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainCost {
    /// The size of the steps that were timed, if they were smaller than those of the run.
    pub extrapolated: Option<Timed>,
    record: TrainCostRecord,
}

impl TrainCost {
    /// What it says, as data.
    pub fn record(&self) -> &TrainCostRecord {
        &self.record
    }
}

impl Serialize for TrainCost {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.record.serialize(serializer)
    }
}

/// Reads a spec from a TOML file, with overrides `table.key=value`.
pub fn open_spec(context: &Context, path: &Path, overrides: &[String]) -> Result<TrainSpec, Error> {
    context.run(|| Ok(TrainSpec::read(path, overrides, context.memory_limit())?))
}

/// Trains a network into a folder, or goes on with the run that is there.
///
/// An interrupt, `Break` of the observer or the time limit ends the run after the step under way, with a checkpoint: the same
/// call goes on with it, and ends with the same network to the bit. While data are read and a projection is fitted there is
/// nothing to keep yet: then an interrupt ends in an error for which [`Error::is_stopped`] holds.
pub fn train(
    context: &Context,
    spec: &TrainSpec,
    folder: &Path,
    params: &TrainParams,
) -> Result<Trained, Error> {
    run(context, &prepare(context, spec, params)?, folder, params)
}

/// Times a few steps of a run, on its data.
pub fn train_cost(context: &Context, spec: &TrainSpec, params: &TrainParams) -> Result<TrainCost, Error> {
    cost(context, prepare(context, spec, params)?)
}

/// Reads the data of a spec, fits or reads its projection, and lays out the network.
pub fn prepare(context: &Context, spec: &TrainSpec, params: &TrainParams) -> Result<TrainSetup, Error> {
    let folder = data_folder(params.data_folder.as_deref())?;
    context.run(|| {
        let mut observers = SetupObservers {
            load: &mut context.watch(|step| Event::Load(step)),
            fit: &mut context.watch(|step| Event::Fit(step)),
        };
        let (beside, memory) = (params.beside.as_deref(), context.memory_limit());
        Ok(load::prepare(spec, beside, &folder, memory, context.threads(), &mut observers)?)
    })
}

/// Trains what [`prepare`] made ready; see [`train`].
pub fn run(
    context: &Context,
    setup: &TrainSetup,
    folder: &Path,
    params: &TrainParams,
) -> Result<Trained, Error> {
    context.run(|| {
        let parameters = setup.parameters().map_err(TrainError::from)?;
        let mut limited =
            Limited::<TrainProgress>::new(context, |step| Event::Train(step), params.time_limit);
        let outcome = learn::train(setup, folder, params.checkpoint, &mut limited)?;
        let shown = setup.codec.output();
        Ok(Trained {
            folder: folder.to_path_buf(),
            network: outcome.network,
            parameters,
            sigma: setup.sigma,
            rank: setup.codec.rank(),
            grid: [shown.channels, shown.height, shown.width],
            spent: outcome.spent,
            metrics: outcome.metrics,
        })
    })
}

/// Times a few steps of what [`prepare`] made ready, for some four seconds, and trains nothing.
pub fn cost(context: &Context, setup: TrainSetup) -> Result<TrainCost, Error> {
    context.run(|| {
        let (sigma, rank, epochs) = (setup.sigma, setup.codec.rank(), setup.spec.optimiser.epochs);
        let batch = setup.spec.optimiser.batch;
        let measured = timing::cost(setup, TIMED).map_err(TrainError::from)?;
        let seconds_epoch = measured.seconds_step * measured.per_epoch as f64;
        let record = TrainCostRecord {
            parameters: measured.parameters,
            sigma,
            rank,
            epochs,
            steps: measured.steps,
            rate: batch as f64 / measured.seconds_step,
            seconds_epoch,
            seconds: seconds_epoch * epochs as f64,
            extrapolated: measured.extrapolated.is_some(),
        };
        Ok(TrainCost { extrapolated: measured.extrapolated, record })
    })
}

/// What `train --json` prints. Keys are only ever added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainRecord {
    /// Folder of the run.
    pub run: String,
    /// Whether it came to its end.
    pub finished: bool,
    /// SHA-256 of the network's file; null before the end.
    pub network: Option<String>,
    /// Numbers that are trained.
    pub parameters: usize,
    /// σ; 0 without noise.
    pub sigma: f64,
    /// Numbers that noise is added to.
    pub rank: usize,
    /// channels, height, width of what the network is shown.
    pub grid: [usize; 3],
    /// Wall and CPU time of training, evaluation excluded.
    #[serde(flatten)]
    pub spent: Spent,
    /// The last epoch.
    pub last: Option<Metrics>,
}

/// What `train --dry-run --json` prints. Keys are only ever added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainCostRecord {
    /// Numbers that are trained.
    pub parameters: usize,
    /// σ; 0 without noise.
    pub sigma: f64,
    /// Numbers that noise is added to.
    pub rank: usize,
    /// Walks through the data.
    pub epochs: usize,
    /// Steps of the run.
    pub steps: usize,
    /// Inputs per second.
    pub rate: f64,
    /// Seconds of an epoch.
    pub seconds_epoch: f64,
    /// Seconds of the run.
    pub seconds: f64,
    /// Whether smaller steps than those of the run were timed.
    pub extrapolated: bool,
}
