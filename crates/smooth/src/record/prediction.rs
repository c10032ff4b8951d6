//! Records of PREDICT: one set of counts, a class or an abstention, and no radius.
//!
//! Lines begin with `{"kind":"prediction"`, so that they cannot be mistaken for records of CERTIFY. The class is derived
//! again from the counts and never believed.

use super::certified::{is_zero, padded};
use super::entry::{Entry, Parts, Sealed};
use super::error::RecordProblem;
use super::log::Log;
use super::run::{CommonRun, Names, VERSION};
use super::valid::{Counted, total};
use crate::smoother::{Counts, Prediction, SmoothingPlan, predicted};
use gambeson_checker::FailureProbability;
use serde::{Deserialize, Serialize};

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
    /// What the run would share with one of CERTIFY.
    #[serde(flatten)]
    pub common: CommonRun,
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
    /// Draws that the sampler could not decide.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub undecided: u64,
    /// What all records of the run have in common.
    #[serde(flatten)]
    pub run: PredictionRun,
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
        run: PredictionRun,
        found: &Prediction,
        seconds: f64,
    ) -> Self {
        Self {
            kind: Kind::Prediction,
            version: VERSION,
            index,
            label,
            counts: padded(&found.counts, classes),
            none: found.counts.none,
            undecided: found.counts.undecided,
            run,
            class: found.class,
            seconds,
            digest: None,
        }
    }
}

impl Sealed for PredictionRecord {}

impl Entry for PredictionRecord {
    type Run = PredictionRun;
    const START: &'static [u8] = START;
    const OPTIONAL_KEYS: &'static [&'static str] = &["undecided", "nonce", "runtime", "digest"];

    fn parts(&self) -> Parts<'_, PredictionRun> {
        Parts { index: self.index, label: self.label, classes: self.counts.len(), run: &self.run }
    }

    fn digest(&mut self) -> &mut Option<String> {
        &mut self.digest
    }

    fn validate(&self) -> Result<(), RecordProblem> {
        let PredictionRun { common, noise } = &self.run;
        let Self { label, seconds, .. } = *self;
        let levelled = noise.is_some();
        Counted { run: common, levelled, label, classes: self.counts.len(), seconds }.validate()?;
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
