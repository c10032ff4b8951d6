//! Records of PREDICT: one set of counts, a class or an abstention, and no radius.
//!
//! Lines begin with `{"kind":"prediction"`, so that they cannot be mistaken for records of CERTIFY. The class is derived
//! again from the counts and never believed.

use super::certified::{is_zero, padded};
use super::entry::{Entry, Sealed};
use super::error::RecordProblem;
use super::log::Log;
use super::run::{Law, Names, Run, VERSION, first_runtime};
use super::valid::{Common, total};
use crate::classifier::Classifier;
use crate::noise::Grid;
use crate::smoother::{Counts, Prediction, Smoother, predicted};
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
    /// Draws per input.
    pub n: u64,
    /// The law of the noise; see [`Run::law`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<Law>,
    /// σ; 1 where `noise` gives levels.
    pub sigma: f64,
    /// α, the failure probability of one record.
    pub alpha: f64,
    /// Seed of the noise.
    pub seed: u64,
    /// The nonce of a derived seed; see [`Run::nonce`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<u64>,
    /// What made the noise of that seed: [`GENERATOR`](crate::noise::GENERATOR) when it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<String>,
    /// What the prediction rests on; see [`Run::assumed`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assumed: Option<String>,
    /// What noisy inputs are rounded to; see [`Run::grid`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<Grid>,
    /// The classifier.
    pub model: String,
    /// What computed the network; see [`Run::runtime`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
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
    /// The run of a smoother on things with these names.
    pub fn new<C: Classifier>(smoother: &Smoother<C>, names: &Names) -> Self {
        let run = Run::new(smoother, names);
        Self {
            n: run.n,
            law: run.law,
            sigma: run.sigma,
            alpha: run.alpha,
            seed: run.seed,
            nonce: run.nonce,
            generator: run.generator,
            assumed: run.assumed,
            grid: run.grid,
            model: run.model,
            runtime: run.runtime,
            data: run.data,
            projection: run.projection,
            noise: run.noise,
        }
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
    #[rustfmt::skip] // as a record has them
    const KEYS: &'static [&'static str] = &[
        "kind", "version", "index", "label", "counts", "none", "n", "sigma", "alpha", "seed", "generator", "model", "data",
        "projection", "noise", "class", "seconds",
    ];
    const LATER_KEYS: &'static [&'static str] =
        &["undecided", "law", "nonce", "assumed", "grid", "runtime", "digest"];

    fn index(&self) -> u64 {
        self.index
    }

    fn label(&self) -> Option<u32> {
        self.label
    }

    fn classes(&self) -> usize {
        self.counts.len()
    }

    fn run(&self) -> &PredictionRun {
        &self.run
    }

    fn version(&self) -> u32 {
        self.version
    }

    fn digest(&mut self) -> &mut Option<String> {
        &mut self.digest
    }

    fn complete(&mut self) {
        if self.version == 1 {
            self.run.runtime = first_runtime(&self.run.model);
            self.run.law = Some(Law::Gaussian);
        }
    }

    fn validate(&self) -> Result<(), RecordProblem> {
        let run = &self.run;
        let common = Common {
            version: self.version,
            law: run.law,
            sigma: run.sigma,
            alpha: run.alpha,
            generator: run.generator.as_deref(),
            grid: run.grid,
            projected: run.projection.is_some(),
            levelled: run.noise.is_some(),
            label: self.label,
            classes: self.counts.len(),
            seconds: self.seconds,
        };
        common.validate()?;
        let drawn = total(&self.counts, [self.none, self.undecided]);
        if drawn.is_none_or(|drawn| drawn == 0 || drawn != run.n) {
            return Err(RecordProblem::Estimation { counted: drawn.unwrap_or(u64::MAX), n: run.n });
        }
        Ok(())
    }

    fn check_claim(&self) -> Result<(), RecordProblem> {
        let counts = Counts { classes: self.counts.clone(), none: self.none, undecided: self.undecided };
        let proven = predicted(&counts, FailureProbability::new(self.run.alpha)?)?;
        if self.class == proven { Ok(()) } else { Err(RecordProblem::class(self.class, proven)) }
    }

    fn same_counts(&self, other: &Self) -> bool {
        let all = |record: &Self| (record.index, record.label, record.none, record.undecided);
        all(self) == all(other) && self.counts == other.counts
    }
}

/// A file of predictions.
pub type PredictionLog = Log<PredictionRecord>;
