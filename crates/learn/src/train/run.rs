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
use super::setup::{PROJECTION, TrainSetup};
use super::trainer::{StepReport, Trainer};
use crate::net::architecture::ArchitectureError;
use crate::net::parameters::{ParameterLayout, Weights};
use crate::weights::network::{Network, NetworkError};
use gambeson_lowrank::file::{lock, write_file};
use gambeson_lowrank::observe::Observer;
use gambeson_lowrank::projection::ProjectionError;
use gambeson_lowrank::projection::certificate::certificate_path;
use gambeson_lowrank::sdp::certificate::CertificateFileError;
use serde::{Deserialize, Serialize};
use std::fs::File;
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
pub enum TrainError {
    /// The system.
    #[error("{}: {reason}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What it said.
        reason: io::Error,
    },
    /// Another process trains in the folder.
    #[error("{}: another process is training there", folder.display())]
    Locked {
        /// Of the run.
        folder: PathBuf,
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
        /// The file.
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
    setup: &TrainSetup,
    folder: &Path,
    every: Duration,
    observer: &mut dyn Observer<TrainProgress>,
) -> Result<Outcome, TrainError> {
    let spec = setup.identity();
    claim(folder, &spec)?;
    let until_the_end = File::open(folder.join(SPEC)).map_err(failed(folder.join(SPEC)))?;
    if !lock(&until_the_end) {
        return Err(TrainError::Locked { folder: folder.to_path_buf() });
    }
    write_projection(setup, folder)?;
    let mut run = Run::open(setup, folder, spec, observer)?;
    let steps = run.trainer.steps();
    while run.progress.step < steps {
        let stop = run.step(every, observer)?;
        if stop && run.progress.step < steps {
            return Ok(run.ended(None));
        }
    }
    let network = run.write_network()?;
    Ok(run.ended(Some(network)))
}

fn failed(path: PathBuf) -> impl FnOnce(io::Error) -> TrainError {
    |reason| TrainError::Io { path, reason }
}

/// Makes the folder one of this spec, unless it is one of another, or somebody else's.
fn claim(folder: &Path, spec: &str) -> Result<(), TrainError> {
    let at = |name: &str| folder.join(name);
    std::fs::create_dir_all(folder).map_err(failed(folder.to_path_buf()))?;
    match std::fs::read_to_string(at(SPEC)) {
        Ok(own) if own == spec => Ok(()),
        Ok(_) => Err(TrainError::AnotherSpec { path: at(SPEC) }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // What stands there without a spec is not of this run, and is not ours to replace.
            let ours = [NETWORK, METRICS, CHECKPOINT, PREVIOUS, NEW, PROJECTION];
            if let Some(path) = ours.map(at).into_iter().find(|path| path.exists()) {
                return Err(TrainError::Foreign { path });
            }
            // Before all else: whatever is written from now on is of this run, also after a kill.
            write_file(&at(SPEC), spec.as_bytes()).map_err(failed(at(SPEC)))
        }
        Err(reason) => Err(failed(at(SPEC))(reason)),
    }
}

/// The projection stands behind its certificate: where it is, both are.
fn write_projection(setup: &TrainSetup, folder: &Path) -> Result<(), TrainError> {
    let path = folder.join(PROJECTION);
    let Some(used) = setup.projection.as_ref().filter(|_| !path.exists()) else { return Ok(()) };
    if let Some(certificate) = &used.certificate {
        certificate.write(&certificate_path(&path))?;
    }
    Ok(used.projection.write(&path)?)
}

/// A run under way.
struct Run<'a> {
    setup: &'a TrainSetup,
    folder: &'a Path,
    /// As its `spec.toml` has it.
    spec: String,
    trainer: Trainer<'a>,
    progress: Progress,
    metrics: Vec<Metrics>,
    /// Whether the last checkpoint can be read: a broken one must not push out the good one before it.
    last_is_good: bool,
    /// Measures training since the last checkpoint.
    clock: Clock,
    /// When the last checkpoint was written.
    saved: Instant,
}

impl<'a> Run<'a> {
    /// From the last checkpoint in the folder, or from the beginning.
    fn open(
        setup: &'a TrainSetup,
        folder: &'a Path,
        spec: String,
        observer: &mut dyn Observer<TrainProgress>,
    ) -> Result<Self, TrainError> {
        let found = last_checkpoint(setup, folder, &spec, observer)?;
        let last_is_good = found.as_ref().is_none_or(|found| found.from_last);
        let (trainer, progress) = match found {
            None => (Trainer::new(setup)?, Progress::default()),
            Some(Found { checkpoint: Checkpoint { progress, state, .. }, .. }) => {
                let _ = observer.observe(&TrainProgress::Resumed { step: state.step });
                (Trainer::resume(setup, state)?, progress)
            }
        };
        let path = folder.join(METRICS);
        let metrics = read_metrics(&path, progress.step).map_err(failed(path))?;
        let (clock, saved) = (Clock::start(), Instant::now());
        Ok(Self { setup, folder, spec, trainer, progress, metrics, last_is_good, clock, saved })
    }

    /// One step, with what is due after it: metrics at the end of an epoch, a checkpoint. Whether the observer asks to stop.
    fn step(
        &mut self,
        every: Duration,
        observer: &mut dyn Observer<TrainProgress>,
    ) -> Result<bool, TrainError> {
        let report = self.trainer.step();
        let (step, steps) = (self.trainer.state().step, self.trainer.steps());
        if !report.loss.is_finite() {
            return Err(TrainError::Diverged { step });
        }
        self.progress.add(step, &report);
        let mut stop = observer.observe(&TrainProgress::Step { step, steps, report }).is_break();
        if step.is_multiple_of(self.trainer.per_epoch()) {
            self.clock.add_to(&mut self.progress.spent);
            let epoch = self.epoch(&report);
            stop |= observer.observe(&TrainProgress::Epoch(epoch.clone())).is_break();
            self.metrics.push(epoch);
            // Before the checkpoint: lines beyond it are dropped by whoever goes on, missing ones would be missed.
            let path = self.folder.join(METRICS);
            write_metrics(&path, &self.metrics).map_err(failed(path))?;
            self.save()?;
        } else if stop || self.saved.elapsed() >= every {
            self.clock.add_to(&mut self.progress.spent);
            self.save()?;
        }
        Ok(stop)
    }

    /// What the epoch came to whose last step this was; the sums begin anew.
    fn epoch(&mut self, last: &StepReport) -> Metrics {
        let (loss, correct, inputs) = std::mem::take(&mut self.progress.epoch);
        let evaluated = self.setup.spec.data.evaluate;
        let tested = self.setup.test.as_ref().map(|test| self.trainer.evaluate(test, evaluated));
        let step = self.progress.step;
        Metrics {
            epoch: step / self.trainer.per_epoch(),
            step,
            loss: loss / inputs as f64,
            accuracy: correct as f64 / inputs as f64,
            test_accuracy: tested.filter(|(_, all)| *all > 0).map(|(right, all)| right as f64 / all as f64),
            learning_rate: last.learning_rate,
            epsilon: last.epsilon,
            spent: self.progress.spent,
        }
    }

    /// Writes a checkpoint. Time until it is written is none of training.
    fn save(&mut self) -> Result<(), TrainError> {
        let Weights { parameters, statistics } = &self.trainer.state().weights;
        if parameters.iter().chain(statistics).any(|number| !number.is_finite()) {
            return Err(TrainError::Diverged { step: self.progress.step });
        }
        let checkpoint = Checkpoint {
            spec: self.spec.clone(),
            progress: self.progress.clone(),
            state: self.trainer.state().clone(),
        };
        let written = checkpoint.write(self.folder, self.last_is_good);
        written.map_err(failed(self.folder.join(CHECKPOINT)))?;
        self.last_is_good = true;
        (self.clock, self.saved) = (Clock::start(), Instant::now());
        Ok(())
    }

    /// Writes the network; returns the hash of its file.
    fn write_network(&self) -> Result<String, NetworkError> {
        let network = Network {
            architecture: self.setup.architecture.clone(),
            weights: self.trainer.kept().clone(),
            normalisation: Some(self.setup.normalisation.clone()),
            training: Some(self.setup.spec.to_toml()),
        };
        network.write(&self.folder.join(NETWORK))
    }

    fn ended(self, network: Option<String>) -> Outcome {
        Outcome { network, metrics: self.metrics, spent: self.progress.spent }
    }
}

/// A checkpoint, and whether it is the last one or the one before.
struct Found {
    checkpoint: Checkpoint,
    from_last: bool,
}

/// The last checkpoint that can be read; none where there is none.
fn last_checkpoint(
    setup: &TrainSetup,
    folder: &Path,
    spec: &str,
    observer: &mut dyn Observer<TrainProgress>,
) -> Result<Option<Found>, TrainError> {
    let places = ParameterLayout::new(&setup.architecture)?;
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
            Err(TrainError::Checkpoints {
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
            Err(TrainError::Checkpoints {
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
