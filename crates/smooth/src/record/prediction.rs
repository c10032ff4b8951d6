//! Records of PREDICT: one set of counts, a class or an abstention, and no radius.
//!
//! Their files have heads of a kind of their own, so that they cannot be mistaken for records of CERTIFY. The class is
//! derived again from the counts and never believed.

use super::certified::{is_zero, padded};
use super::entry::{Entry, Parts, Sealed};
use super::error::RecordProblem;
use super::head::{DigestedRun, RunContent};
use super::log::Log;
use super::run::{CommonRun, Names};
use super::valid::{total, validate_input};
use crate::smoother::{Counts, Prediction, SmoothingPlan, predicted};
use gambeson_checker::FailureProbability;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What all predictions of a run have in common; see [`Run`](super::Run).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictionRun {
    /// What the run would share with one of CERTIFY.
    #[serde(flatten)]
    pub common: CommonRun,
    /// Hash of the noise levels.
    pub noise: Option<String>,
}

/// What was counted for one input, and the class that followed. `R` is as in [`Record`](super::Record).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictionRecord<R = Arc<DigestedRun<PredictionRun>>> {
    /// What all records of the file share.
    pub run: R,
    /// Which input, from 0.
    pub index: u64,
    /// Its class, if known.
    pub label: Option<u32>,
    /// Draws by class.
    pub counts: Vec<u64>,
    /// Draws without a class.
    pub none: u64,
    /// Draws that the sampler could not decide.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub undecided: u64,
    /// What the counts proved when the record was written; null for an abstention. Not to be believed.
    pub class: Option<u32>,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// SHA-256 of the line without it; see [`Record::digest`](super::Record::digest).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
}

impl PredictionRun {
    /// The run of a plan, on things with these names.
    pub fn new(plan: &SmoothingPlan, names: &Names) -> Self {
        let noise = plan.space().levels_sha256().map(ToOwned::to_owned);
        Self { common: CommonRun::new(plan, names), noise }
    }
}

impl PredictionRecord {
    /// The record of what was found for input `index`. Counts have at least `classes` classes: those that the classifier
    /// lacks were never answered.
    pub fn new(
        index: u64,
        label: Option<u32>,
        classes: usize,
        run: Arc<DigestedRun<PredictionRun>>,
        found: &Prediction,
        seconds: f64,
    ) -> Self {
        Self {
            run,
            index,
            label,
            counts: padded(&found.counts, classes),
            none: found.counts.none,
            undecided: found.counts.undecided,
            class: found.class,
            seconds,
            digest: None,
        }
    }
}

impl Sealed for PredictionRecord {}

impl RunContent for PredictionRun {
    const KIND: &'static str = "prediction";

    fn validate(&self) -> Result<(), RecordProblem> {
        self.common.validate(self.noise.is_some())
    }
}

impl<R> PredictionRecord<R> {
    /// The same of a run that is given in another way.
    fn with_run<S>(self, run: S) -> PredictionRecord<S> {
        PredictionRecord {
            run,
            index: self.index,
            label: self.label,
            counts: self.counts,
            none: self.none,
            undecided: self.undecided,
            class: self.class,
            seconds: self.seconds,
            digest: self.digest,
        }
    }
}

impl Entry for PredictionRecord {
    type Run = PredictionRun;
    type Content = PredictionRecord<String>;

    fn to_content(&self) -> PredictionRecord<String> {
        self.clone().with_run(self.run.digest().to_owned())
    }

    fn named_run(content: &PredictionRecord<String>) -> &str {
        &content.run
    }

    fn take_digest(content: &mut PredictionRecord<String>) -> Option<String> {
        content.digest.take()
    }

    fn of_run(content: PredictionRecord<String>, run: &Arc<DigestedRun<PredictionRun>>) -> Self {
        content.with_run(Arc::clone(run))
    }

    fn parts(&self) -> Parts<'_, PredictionRun> {
        Parts { index: self.index, label: self.label, classes: self.counts.len(), run: &self.run }
    }

    fn validate(&self) -> Result<(), RecordProblem> {
        let common = &self.run.common;
        validate_input(self.label, self.counts.len(), self.seconds)?;
        let drawn = total(&self.counts, [self.none, self.undecided]);
        if drawn.is_none_or(|drawn| drawn == 0 || drawn != common.n) {
            return Err(RecordProblem::Estimation { counted: drawn.unwrap_or(u64::MAX), n: common.n });
        }
        Ok(())
    }

    fn check_claim(&self) -> Result<(), RecordProblem> {
        let counts = Counts { classes: self.counts.clone(), none: self.none, undecided: self.undecided };
        let proven = predicted(&counts, FailureProbability::new(self.run.common.alpha)?)?;
        if self.class == proven { Ok(()) } else { Err(RecordProblem::class(self.class, proven)) }
    }

    fn same_counts(&self, other: &Self) -> bool {
        let all = |record: &Self| (record.index, record.label, record.none, record.undecided);
        all(self) == all(other) && self.counts == other.counts
    }
}

/// A file of predictions.
pub type PredictionLog = Log<PredictionRecord>;
