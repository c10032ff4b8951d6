//! A run: a folder that holds everything, and the loop over epochs.
//!
//! | file | what |
//! |---|---|
//! | `spec.toml` | what was asked for, whole |
//! | `projection.safetensors`, `projection.cert.json` | where noise is added, with the proof of its κ |
//! | `metrics.jsonl` | one object per epoch |
//! | `checkpoint.safetensors`, `checkpoint.previous.safetensors` | to go on from |
//! | `network.safetensors` | what came out |

use super::checkpoint::{CHECKPOINT, Checkpoint, CheckpointProblem, NEW, PREVIOUS, Progress};
use super::clock::{Clock, Spent};
use super::setup::{PROJECTION, Setup};
use super::trainer::{StepReport, Trainer};
use crate::net::architecture::ArchitectureError;
use crate::net::parameters::{Places, Weights};
use crate::weights::network::{Network, NetworkError};
use gambeson_lowrank::file::write_file;
use gambeson_lowrank::observe::Observer;
use gambeson_lowrank::projection::ProjectionError;
use gambeson_lowrank::projection::certificate::certificate_path;
use gambeson_lowrank::sdp::certificate::CertificateFileError;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use thiserror::Error;

/// What to train.
pub const SPEC: &str = "spec.toml";
/// One object per epoch.
pub const METRICS: &str = "metrics.jsonl";
/// What came out.
pub const NETWORK: &str = "network.safetensors";

/// What an epoch came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Counting from 1.
    pub epoch: usize,
    /// Steps done.
    pub step: usize,
    /// The mean loss of its inputs.
    pub loss: f64,
    /// Share of its inputs that were answered rightly, as they were shown: varied, noisy, perturbed.
    pub accuracy: f64,
    /// Share of the test samples that the network answers rightly under one draw of noise; null without any.
    pub test_accuracy: Option<f64>,
    /// Step size of its last step.
    pub learning_rate: f64,
    /// Radius of the attack in its last step.
    pub epsilon: f64,
    /// Time of training since the beginning of the run.
    #[serde(flatten)]
    pub spent: Spent,
}

/// What an observer of training sees.
#[derive(Clone, Debug, PartialEq)]
pub enum TrainProgress {
    /// A run goes on from here.
    Resumed {
        /// Steps done.
        step: usize,
    },
    /// The last checkpoint could not be read, so the one before is used.
    CheckpointLost {
        /// Why.
        reason: String,
    },
    /// A step was done.
    Step {
        /// Steps done.
        step: usize,
        /// Steps of the run.
        steps: usize,
        /// What it did.
        report: StepReport,
    },
    /// An epoch was done.
    Epoch(Metrics),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Hash of the network's file; none where the run was stopped before its end.
    pub network: Option<String>,
    /// Of all epochs that are done.
    pub metrics: Vec<Metrics>,
    /// Time of training, of earlier calls too.
    pub spent: Spent,
}

/// Why a run failed. What was written before stays.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The system.
    #[error("{}: {reason}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What it said.
        reason: io::Error,
    },
    /// A folder of another run.
    #[error("{}: is the run of another spec; choose another folder, or go on with its own spec", path.display())]
    AnotherSpec {
        /// Its spec.
        path: PathBuf,
    },
    /// A file that would be replaced.
    #[error("{}: is there already, but the folder has no spec.toml; choose another folder", path.display())]
    Foreign {
        /// Which.
        path: PathBuf,
    },
    /// Neither checkpoint can be read.
    #[error("{}: cannot go on: {last}; the one before: {previous}", path.display())]
    Checkpoints {
        /// The last one.
        path: PathBuf,
        /// What is wrong with it.
        last: Box<CheckpointProblem>,
        /// What is wrong with the one before.
        previous: Box<CheckpointProblem>,
    },
    /// The weights are no numbers any more.
    #[error(
        "weights or loss are no numbers after step {step}: a smaller optimiser.learning_rate, or less noise, may help"
    )]
    Diverged {
        /// Counting from 1.
        step: usize,
    },
    /// Layers that do not fit together.
    #[error(transparent)]
    Architecture(#[from] ArchitectureError),
    /// The network could not be written.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The projection could not be written.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// Its certificate could not be written.
    #[error(transparent)]
    Certificate(#[from] CertificateFileError),
}

/// Trains into a folder, or goes on with what is there. Checkpoints are written at the end of every epoch and when the last
/// is older than `every`; `Break` of the observer writes one and ends.
pub fn train(
    setup: &Setup,
    folder: &Path,
    every: Duration,
    observer: &mut dyn Observer<TrainProgress>,
) -> Result<Outcome, RunError> {
    let failed = |path: &Path, reason| RunError::Io { path: path.to_path_buf(), reason };
    let at = |name: &str| folder.join(name);
    std::fs::create_dir_all(folder).map_err(|reason| failed(folder, reason))?;
    let spec = setup.identity();
    match std::fs::read_to_string(at(SPEC)) {
        Ok(own) if own == spec => {}
        Ok(_) => return Err(RunError::AnotherSpec { path: at(SPEC) }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // What stands there without a spec is not of this run, and is not ours to replace.
            let ours = [NETWORK, METRICS, CHECKPOINT, PREVIOUS, NEW, PROJECTION];
            if let Some(path) = ours.map(at).into_iter().find(|path| path.exists()) {
                return Err(RunError::Foreign { path });
            }
            // Before all else: whatever is written from now on is of this run, also after a kill.
            write_file(&at(SPEC), spec.as_bytes()).map_err(|reason| failed(&at(SPEC), reason))?;
        }
        Err(reason) => return Err(failed(&at(SPEC), reason)),
    }
    // Behind its certificate: where it is, both are.
    if let Some(used) = setup.projection.as_ref().filter(|_| !at(PROJECTION).exists()) {
        if let Some(certificate) = &used.certificate {
            certificate.write(&certificate_path(&at(PROJECTION)))?;
        }
        used.projection.write(&at(PROJECTION))?;
    }
    let found = last_checkpoint(setup, folder, &spec, observer)?;
    // A broken one is replaced: it must not push out the good one before it.
    let mut last_is_good = found.as_ref().is_none_or(|found| found.from_last);
    let (mut trainer, mut progress) = match found {
        None => (Trainer::new(setup)?, Progress::default()),
        Some(Found { checkpoint: Checkpoint { progress, state, .. }, .. }) => {
            let _ = observer.observe(&TrainProgress::Resumed { step: state.step });
            (Trainer::resume(setup, state)?, progress)
        }
    };
    let mut metrics =
        read_metrics(&at(METRICS), progress.step).map_err(|reason| failed(&at(METRICS), reason))?;
    let (mut clock, mut saved) = (Clock::start(), Instant::now());
    let (steps, per_epoch) = (trainer.steps(), trainer.per_epoch());
    let mut save = |trainer: &Trainer<'_>, progress: &Progress| {
        let Weights { parameters, statistics } = &trainer.state().weights;
        if parameters.iter().chain(statistics).any(|number| !number.is_finite()) {
            return Err(RunError::Diverged { step: progress.step });
        }
        let checkpoint =
            Checkpoint { spec: spec.clone(), progress: progress.clone(), state: trainer.state().clone() };
        checkpoint.write(folder, last_is_good).map_err(|reason| failed(&at(CHECKPOINT), reason))?;
        last_is_good = true;
        Ok(())
    };
    while progress.step < steps {
        let report = trainer.step();
        if !report.loss.is_finite() {
            return Err(RunError::Diverged { step: trainer.state().step });
        }
        progress.step = trainer.state().step;
        let (loss, correct, inputs) = &mut progress.epoch;
        (*loss, *correct, *inputs) =
            (*loss + report.loss, *correct + report.correct, *inputs + report.inputs);
        let step = progress.step;
        let mut stop = observer.observe(&TrainProgress::Step { step, steps, report }).is_break();
        if step.is_multiple_of(per_epoch) {
            clock.add_to(&mut progress.spent);
            let (loss, correct, inputs) = std::mem::take(&mut progress.epoch);
            let tested = setup.test.as_ref().map(|test| trainer.evaluate(test, setup.spec.data.evaluate));
            let epoch = Metrics {
                epoch: step / per_epoch,
                step,
                loss: loss / inputs as f64,
                accuracy: correct as f64 / inputs as f64,
                test_accuracy: tested
                    .filter(|(_, all)| *all > 0)
                    .map(|(right, all)| right as f64 / all as f64),
                learning_rate: report.learning_rate,
                epsilon: report.epsilon,
                spent: progress.spent,
            };
            stop |= observer.observe(&TrainProgress::Epoch(epoch.clone())).is_break();
            metrics.push(epoch);
            // Before the checkpoint: lines beyond it are dropped by whoever goes on, missing ones would be missed.
            write_metrics(&at(METRICS), &metrics).map_err(|reason| failed(&at(METRICS), reason))?;
            save(&trainer, &progress)?;
            (clock, saved) = (Clock::start(), Instant::now());
        } else if stop || saved.elapsed() >= every {
            clock.add_to(&mut progress.spent);
            save(&trainer, &progress)?;
            (clock, saved) = (Clock::start(), Instant::now());
        }
        if stop && step < steps {
            return Ok(Outcome { network: None, metrics, spent: progress.spent });
        }
    }
    let network = Network {
        architecture: setup.architecture.clone(),
        weights: trainer.kept().clone(),
        normalisation: Some(setup.normalisation.clone()),
        training: Some(setup.spec.to_toml()),
    };
    let sha256 = network.write(&at(NETWORK))?;
    Ok(Outcome { network: Some(sha256), metrics, spent: progress.spent })
}

/// A checkpoint, and whether it is the last one or the one before.
struct Found {
    checkpoint: Checkpoint,
    from_last: bool,
}

/// The last checkpoint that can be read; none where there is none.
fn last_checkpoint(
    setup: &Setup,
    folder: &Path,
    spec: &str,
    observer: &mut dyn Observer<TrainProgress>,
) -> Result<Option<Found>, RunError> {
    let places = Places::new(&setup.architecture)?;
    let read = |name: &str| -> Result<Option<Checkpoint>, CheckpointProblem> {
        let bytes = match std::fs::read(folder.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            bytes => bytes?,
        };
        let checkpoint = Checkpoint::parse(&bytes, &places, setup.spec.optimiser.average.is_some())?;
        if checkpoint.spec == spec { Ok(Some(checkpoint)) } else { Err(CheckpointProblem::Spec) }
    };
    let last = match read(CHECKPOINT) {
        Ok(Some(checkpoint)) => return Ok(Some(Found { checkpoint, from_last: true })),
        Ok(None) => None,
        Err(problem) => Some(problem),
    };
    match (last, read(PREVIOUS)) {
        // A moment between two names: there is no last one to push out.
        (None, Ok(found)) => Ok(found.map(|checkpoint| Found { checkpoint, from_last: true })),
        // A moment between two names, and what is left is broken.
        (None, Err(previous)) => {
            let last = CheckpointProblem::Io(io::ErrorKind::NotFound.into());
            Err(RunError::Checkpoints {
                path: folder.join(CHECKPOINT),
                last: last.into(),
                previous: previous.into(),
            })
        }
        (Some(last), Ok(Some(checkpoint))) => {
            let _ = observer.observe(&TrainProgress::CheckpointLost { reason: last.to_string() });
            Ok(Some(Found { checkpoint, from_last: false }))
        }
        (Some(last), previous) => {
            let missing = CheckpointProblem::Io(io::ErrorKind::NotFound.into());
            let previous = previous.err().unwrap_or(missing);
            Err(RunError::Checkpoints {
                path: folder.join(CHECKPOINT),
                last: last.into(),
                previous: previous.into(),
            })
        }
    }
}

/// What epochs came to, as far as a checkpoint goes.
fn read_metrics(path: &Path, step: usize) -> io::Result<Vec<Metrics>> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        text => text?,
    };
    let all = text.lines().filter_map(|line| serde_json::from_str::<Metrics>(line).ok());
    Ok(all.filter(|epoch| epoch.step <= step).collect())
}

fn write_metrics(path: &Path, metrics: &[Metrics]) -> io::Result<()> {
    let lines = metrics.iter().filter_map(|epoch| serde_json::to_string(epoch).ok());
    write_file(path, lines.map(|line| line + "\n").collect::<String>().as_bytes())
}
