//! Everything a run needs to go on as if it had never stopped.
//!
//! **File.** Safetensors with the lists `parameters`, `statistics`, `velocity` and, where a running mean is kept,
//! `mean.parameters` and `mean.statistics` (F32); as metadata `format`, `spec` (the run's TOML), `progress` (JSON) and
//! `sha256`, over the same file without that key: a file that was cut or changed is recognised.
//!
//! **Two of them.** The one before the last is kept. A checkpoint is written under a third name first, so that at every
//! moment at least one of the two is whole.

use super::clock::Spent;
use super::trainer::{State, StepReport};
use crate::net::parameters::{ParameterLayout, Weights};
use gambeson_lowrank::file::{sha256, write_file};
use gambeson_lowrank::safetensors::{Content, SafetensorsProblem, Tensor, Tensors};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use thiserror::Error;

const FORMAT: &str = "gambeson checkpoint 1";
/// Inputs of an epoch: more than any data have.
const MOST_INPUTS: u64 = 1 << 48;
/// The last one.
pub const CHECKPOINT: &str = "checkpoint.safetensors";
/// The one before.
pub const PREVIOUS: &str = "checkpoint.previous.safetensors";
/// The next one, until it is whole.
pub const NEW: &str = "checkpoint.new.safetensors";

/// Where a run is, beside its numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Steps done.
    pub step: usize,
    /// Time of training so far.
    #[serde(flatten)]
    pub spent: Spent,
    /// Of the epoch that is under way: the sum of losses, right answers, inputs.
    pub epoch: (f64, usize, usize),
}

impl Progress {
    /// After one more step.
    pub(super) fn add(&mut self, step: usize, report: &StepReport) {
        self.step = step;
        let (loss, correct, inputs) = &mut self.epoch;
        *loss += report.loss;
        *correct += report.correct;
        *inputs += report.inputs;
    }
}

/// A state and its progress.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The run's spec, as TOML.
    pub spec: String,
    /// Where it is.
    pub progress: Progress,
    /// Its numbers.
    pub state: State,
}

/// Why a file is not a checkpoint of this run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointProblem {
    /// The system.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Not safetensors.
    #[error(transparent)]
    Safetensors(#[from] SafetensorsProblem),
    /// Something else, or of another version.
    #[error("not a checkpoint of this version")]
    Format,
    /// Of another spec, or of other data.
    #[error("it is of another spec, or of other data")]
    Spec,
    /// More than an epoch can have.
    #[error("its progress is none: {correct} of {inputs} inputs answered rightly in an epoch")]
    Progress {
        /// Right answers.
        correct: usize,
        /// Inputs.
        inputs: usize,
    },
    /// Cut, or changed.
    #[error("its content is not what was written: its hash differs")]
    Hash,
    /// Of another network.
    #[error("{name} has {found} numbers, the network {expected}")]
    Length {
        /// Which list.
        name: &'static str,
        /// There should be.
        expected: usize,
        /// There are.
        found: usize,
    },
}

impl Checkpoint {
    fn tensors(&self) -> Tensors<f32> {
        let State { weights, velocity, mean, .. } = &self.state;
        let mut file = Tensors::<f32>::default();
        let mut put = |name: &str, values: &[f32]| {
            file.tensors
                .insert(name.to_owned(), Tensor { shape: vec![values.len()], values: values.to_vec() });
        };
        put("parameters", &weights.parameters);
        put("statistics", &weights.statistics);
        put("velocity", velocity);
        if let Some(mean) = mean {
            put("mean.parameters", &mean.parameters);
            put("mean.statistics", &mean.statistics);
        }
        let progress = serde_json::to_string(&self.progress).unwrap_or_default(); // plain numbers
        for (key, value) in [("format", FORMAT), ("spec", &self.spec), ("progress", &progress)] {
            file.metadata.insert(key.to_owned(), value.to_owned());
        }
        file
    }

    /// The bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut file = self.tensors();
        let hash = sha256(&file.to_bytes());
        file.metadata.insert("sha256".to_owned(), hash);
        file.to_bytes()
    }

    /// Reads the bytes of a file for a network with these places.
    pub fn parse(bytes: &[u8], places: &ParameterLayout, with_mean: bool) -> Result<Self, CheckpointProblem> {
        let content = Content::parse(bytes)?;
        let text = |key: &str| content.metadata.get(key).cloned().unwrap_or_default();
        if text("format") != FORMAT {
            return Err(CheckpointProblem::Format);
        }
        let list = |name: &'static str, expected: usize| {
            let array = content.arrays.get(name).ok_or(CheckpointProblem::Format)?;
            let values = array.values::<f32>()?;
            match values.len() {
                found if found == expected => Ok(values),
                found => Err(CheckpointProblem::Length { name, expected, found }),
            }
        };
        let (p, s) = (places.parameters, places.statistics);
        let weights = Weights { parameters: list("parameters", p)?, statistics: list("statistics", s)? };
        let mean = if with_mean {
            let (parameters, statistics) = (list("mean.parameters", p)?, list("mean.statistics", s)?);
            Some(Weights { parameters, statistics })
        } else {
            None
        };
        let progress: Progress =
            serde_json::from_str(&text("progress")).map_err(|_| CheckpointProblem::Format)?;
        let (loss, correct, inputs) = progress.epoch;
        if !loss.is_finite() || correct > inputs || inputs as u64 > MOST_INPUTS {
            return Err(CheckpointProblem::Progress { correct, inputs });
        }
        let state = State { step: progress.step, weights, velocity: list("velocity", p)?, mean };
        let checkpoint = Self { spec: text("spec"), progress, state };
        if sha256(&checkpoint.tensors().to_bytes()) != text("sha256") {
            return Err(CheckpointProblem::Hash);
        }
        Ok(checkpoint)
    }

    /// Writes it into a folder. What was the last becomes the one before, if it is `good`; a broken one is replaced.
    pub fn write(&self, folder: &Path, good: bool) -> io::Result<()> {
        let at = |name: &str| folder.join(name);
        write_file(&at(NEW), &self.to_bytes())?;
        match if good { std::fs::rename(at(CHECKPOINT), at(PREVIOUS)) } else { Ok(()) } {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        std::fs::rename(at(NEW), at(CHECKPOINT))
    }
}
