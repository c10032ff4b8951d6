//! Records of PREDICT: counts of one kind of draws, a class or an abstention, and no radius.
//!
//! Lines begin with `{"kind":"prediction"`, so that they are not taken for records of CERTIFY. The class is derived again
//! from the counts and never believed.

use super::log::{Entry, append, open};
use super::{RecordError, RecordProblem};
use crate::smoother::{Counts, predicted};
use gambeson_checker::FailureProbability;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// How every line begins.
pub(crate) const START: &[u8] = b"{\"kind\":\"prediction\"";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    #[default]
    Prediction,
}

/// What all predictions of a run have in common; see [`Run`](super::Run).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictionRun {
    /// Draws an input.
    pub n: u64,
    /// σ; 1 where `noise` gives levels.
    pub sigma: f64,
    /// α, the failure probability of one record.
    pub alpha: f64,
    /// Seed of the noise.
    pub seed: u64,
    /// What made the noise of that seed: [`GENERATOR`](crate::noise::GENERATOR) when it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<String>,
    /// The classifier.
    pub model: String,
    /// The data.
    pub data: String,
    /// Hash of the projection.
    pub projection: Option<String>,
    /// Hash of the noise levels.
    pub noise: Option<String>,
}

/// What was counted for one input, and the class that followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictionRecord {
    kind: Kind,
    version: u32,
    /// Which input, from 0.
    pub index: u64,
    /// Its class, if known.
    pub label: Option<u32>,
    /// Draws by class.
    pub counts: Vec<u64>,
    /// Draws without a class.
    pub none: u64,
    /// What all records of the run have in common.
    #[serde(flatten)]
    pub run: PredictionRun,
    /// What the counts were found to prove when they were written; null where it abstained. Not to be believed.
    pub class: Option<u32>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

impl PredictionRecord {
    /// A record of these counts.
    pub fn new(
        index: u64,
        label: Option<u32>,
        counts: Counts,
        run: PredictionRun,
        class: Option<u32>,
        seconds: f64,
    ) -> Self {
        let Counts { classes: counts, none } = counts;
        Self {
            kind: Kind::Prediction,
            version: super::VERSION,
            index,
            label,
            counts,
            none,
            run,
            class,
            seconds,
        }
    }
}

impl Entry for PredictionRecord {
    type Run = PredictionRun;
    const START: &'static [u8] = START;

    fn index(&self) -> u64 {
        self.index
    }

    fn run(&self) -> &PredictionRun {
        &self.run
    }

    fn validate(&self) -> Result<(), RecordProblem> {
        let drawn = self.counts.iter().fold(self.none, |sum, &count| sum.saturating_add(count));
        if drawn != self.run.n {
            return Err(RecordProblem::Estimation { counted: drawn, n: self.run.n });
        }
        match self.label.filter(|&label| label as usize >= self.counts.len()) {
            Some(label) => Err(RecordProblem::Label { label, classes: self.counts.len() }),
            None => Ok(()),
        }
    }

    fn check_claim(&self) -> Result<(), RecordProblem> {
        let counts = Counts { classes: self.counts.clone(), none: self.none };
        let proven = predicted(&counts, FailureProbability::new(self.run.alpha)?)?;
        if self.class == proven {
            return Ok(());
        }
        let number = |class: Option<u32>| class.map_or(-1.0, f64::from);
        Err(RecordProblem::Claim { field: "class", claimed: number(self.class), proven: number(proven) })
    }

    fn same_counts(&self, other: &Self) -> bool {
        (self.index, self.label, &self.counts, self.none)
            == (other.index, other.label, &other.counts, other.none)
    }
}

/// A file of predictions of one run, open to append to; nobody else may meanwhile.
#[derive(Debug)]
pub struct PredictionLog {
    path: PathBuf,
    file: File,
}

impl PredictionLog {
    /// As [`RecordLog::open_to_append`](super::RecordLog::open_to_append).
    pub fn open_to_append(
        path: &Path,
        run: &PredictionRun,
    ) -> Result<(Self, BTreeMap<u64, PredictionRecord>), RecordError> {
        let (file, there) = open(path, run)?;
        Ok((Self { path: path.to_path_buf(), file }, there))
    }

    /// One more record; on the disk when this returns.
    pub fn append(&mut self, record: &PredictionRecord) -> Result<(), RecordError> {
        append(&mut self.file, &self.path, record)
    }
}
