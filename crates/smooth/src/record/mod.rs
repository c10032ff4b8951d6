//! Certification records: what was counted for one input, one JSON object per line, counts first.
//!
//! A line is self-contained: the counts of all classes in the selection and in the estimation draws, how they were
//! drawn, and for what. Radii and the class are there for people to read; readers derive them again from the counts
//! ([`Record::derive`]) and never believe them: a stored radius larger than what the counts prove is an error. Counts
//! cannot be recomputed from themselves: that the draws were independent is the duty of whoever drew.
//!
//! A file of records is appended to one line at a time, each on the disk before the next begins ([`RecordLog`]), so a
//! run that was killed can be resumed ([`crate::runs`]). Shards of a run are merged by [`merge_records`].

mod derive;
mod error;
mod log;
mod prediction;
mod projection;

pub use derive::{LimitChoice, Proven};
pub(crate) use derive::{Sample, latent_radius};
pub use error::{RecordError, RecordProblem};
pub use log::{Entry, Log, RecordLog, merge_records, read_records};
pub(crate) use log::{Line, Merged, parse_records, recognises};
pub(crate) use prediction::START as PREDICTION_START;
pub use prediction::{PredictionLog, PredictionRecord, PredictionRun};
pub use projection::ProjectionMismatch;

use crate::classifier::Classifier;
use crate::noise::GENERATOR;
use crate::sequential::Goal;
use crate::smoother::{Certification, Certified, Counts, Smoother};
use gambeson_checker::{InfToTwoBound, SamplingRule, SpectralBound};
use gambeson_lowrank::projection::representation::Representation;
use serde::{Deserialize, Serialize};

/// The version this code writes and reads.
pub const VERSION: u32 = 1;

/// When the number of estimation draws was decided, and so which limits are valid for the counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Rule {
    /// Beforehand: n draws.
    Fixed,
    /// The counts were looked at only after these numbers of draws.
    Staged {
        /// Draws so far, strictly rising, and the share of α spent on the look.
        looks: Vec<(u64, f64)>,
    },
    /// The counts may have been looked at after every draw.
    Anytime,
}

/// What all records of a run have in common: two records with equal `Run` may stand in one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// When sampling ends.
    pub rule: Rule,
    /// What a sequential run set out to settle; radii beyond that may be far from what more draws would prove.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Goal>,
    /// Selection draws per input.
    pub n0: u64,
    /// Estimation draws per input, at most.
    pub n: u64,
    /// σ, the standard deviation of the noise in each coordinate of z; 1 where `noise` gives levels.
    pub sigma: f64,
    /// α, the failure probability of one record.
    pub alpha: f64,
    /// Seed of the noise.
    pub seed: u64,
    /// What made the noise of that seed: [`GENERATOR`](crate::noise::GENERATOR) when it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<String>,
    /// Hash or name of the classifier.
    pub model: String,
    /// Name of the data.
    pub data: String,
    /// Hash of the projection; none where noise is added to the input itself.
    pub projection: Option<String>,
    /// The coordinates in which the projection works: radii in ℓ∞ are for changes of these; none where noise is added to
    /// the input itself.
    pub representation: Option<Representation>,
    /// Hash of the noise levels of the coordinates, where they differ. κ and s are then those of the basis with its
    /// columns divided by the levels.
    pub noise: Option<String>,
    /// κ ≥ ‖Uᵀ‖_{∞→2}, proven when the record was written; none without a projection.
    pub kappa: Option<f64>,
    /// s ≥ σ_max(U), proven when the record was written; none without a projection.
    pub spectral: Option<f64>,
    /// Coordinates per input.
    pub dimension: u64,
}

/// What was counted for one input, and what followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`VERSION`].
    pub version: u32,
    /// Which input, from 0.
    pub index: u64,
    /// Its class, if known.
    pub label: Option<u32>,
    /// Selection draws by class.
    pub selection: Vec<u64>,
    /// Estimation draws by class.
    pub estimation: Vec<u64>,
    /// Selection draws without a class, as of a classifier that answers NaN.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub selection_none: u64,
    /// Estimation draws without a class: they count against every class.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimation_none: u64,
    /// What all records of the run have in common.
    #[serde(flatten)]
    pub run: Run,
    /// A proven bound on the distance of what noise was added to from Uᵀu, or without a projection from the input itself:
    /// taken off the radius in z.
    pub encoding_error: f64,
    /// What the counts proved when the record was written. Not to be believed.
    #[serde(flatten)]
    pub derived: Derived,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// What counts prove: a class with radii, or nothing (all `None`: the smoothed classifier abstains).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Derived {
    /// The class of the smoothed classifier.
    pub class: Option<u32>,
    /// Radius in the coordinates z, encoding error taken off.
    pub latent: Option<f64>,
    /// Radius in the ℓ2 norm of inputs.
    pub l2: Option<f64>,
    /// Radius in the ℓ∞ norm of inputs.
    pub linf: Option<f64>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl From<&SamplingRule> for Rule {
    fn from(rule: &SamplingRule) -> Self {
        match rule {
            SamplingRule::Fixed => Self::Fixed,
            SamplingRule::Staged { looks } => {
                Self::Staged { looks: looks.iter().map(|look| (look.trials, look.share)).collect() }
            }
            SamplingRule::Anytime => Self::Anytime,
        }
    }
}

impl Run {
    /// The run of a smoother on named data: `model` names the classifier, by its hash or a text that says all.
    pub fn new<C: Classifier>(smoother: &Smoother<C>, model: &str, data: &str) -> Self {
        let (params, space) = (smoother.params(), smoother.space());
        Self {
            rule: Rule::from(&smoother.rule()),
            goal: params.goal.clone(),
            n0: params.selection,
            n: params.estimation,
            sigma: params.noise.value(),
            alpha: params.failure.value(),
            seed: params.seed,
            generator: Some(GENERATOR.to_owned()),
            model: model.to_owned(),
            data: data.to_owned(),
            projection: space.projection_sha256().map(ToOwned::to_owned),
            representation: space.representation(),
            noise: space.levels_sha256().map(ToOwned::to_owned),
            kappa: space.kappa().map(InfToTwoBound::value),
            spectral: space.spectral().map(SpectralBound::value),
            dimension: space.input_dim() as u64,
        }
    }
}

/// Counts of at least `classes` classes: those that the classifier lacks were never answered.
fn padded(counts: &Counts, classes: usize) -> Vec<u64> {
    let mut padded = counts.classes.clone();
    padded.resize(classes.max(padded.len()), 0);
    padded
}

impl From<Certified> for Derived {
    fn from(certified: Certified) -> Self {
        Self {
            class: Some(certified.class),
            latent: Some(certified.latent.value()),
            l2: Some(certified.l2.value()),
            linf: Some(certified.linf.value()),
        }
    }
}

impl Record {
    /// The record of what was found for input `index`. Counts have at least `classes` classes: those that the classifier
    /// lacks were never answered.
    pub fn new(
        index: u64,
        label: Option<u32>,
        classes: usize,
        run: Run,
        found: &Certification,
        seconds: f64,
    ) -> Self {
        Self {
            version: VERSION,
            index,
            label,
            selection: padded(&found.selection, classes),
            estimation: padded(&found.estimation, classes),
            selection_none: found.selection.none,
            estimation_none: found.estimation.none,
            run,
            encoding_error: found.encoding_error,
            derived: found.certified.map(Derived::from).unwrap_or_default(),
            seconds,
        }
    }

    /// Estimation draws made, with or without a class.
    pub fn draws(&self) -> u64 {
        self.estimation.iter().fold(self.estimation_none, |sum, &count| sum.saturating_add(count))
    }

    /// The class chosen on the selection draws: the most frequent one, the lowest of equals; none where draws without a
    /// class are more frequent than any.
    pub fn selected(&self) -> Option<u32> {
        let (class, count) = self
            .selection
            .iter()
            .enumerate()
            .max_by_key(|&(class, &count)| (count, std::cmp::Reverse(class)))?;
        (*count > 0 && *count >= self.selection_none).then(|| u32::try_from(class).ok()).flatten()
    }

    /// Whether the two say the same of one input, times aside.
    pub fn same_counts(&self, other: &Self) -> bool {
        let counts = |record: &Self| (record.selection_none, record.estimation_none);
        self.index == other.index
            && self.label == other.label
            && self.selection == other.selection
            && self.estimation == other.estimation
            && counts(self) == counts(other)
            && self.encoding_error == other.encoding_error
    }

    /// What is wrong with the counts and parameters, if anything is.
    pub fn validate(&self) -> Result<(), RecordProblem> {
        let run = &self.run;
        for (field, value) in [("sigma", Some(run.sigma)), ("kappa", run.kappa), ("spectral", run.spectral)] {
            if let Some(value) = value.filter(|value| !(value.is_finite() && *value > 0.0)) {
                return Err(RecordProblem::NotPositive { field, value });
            }
        }
        if !(run.alpha > 0.0 && run.alpha < 1.0) {
            return Err(RecordProblem::Alpha { value: run.alpha });
        }
        for (field, value) in [("encoding_error", self.encoding_error), ("seconds", self.seconds)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(RecordProblem::Negative { field, value });
            }
        }
        if run.projection.is_some() != run.kappa.is_some() || run.kappa.is_some() != run.spectral.is_some() {
            return Err(RecordProblem::Projection);
        }
        if run.projection.is_some() != run.representation.is_some() {
            return Err(RecordProblem::Projection);
        }
        // Levels belong to the coordinates of a projection, in which σ is then 1.
        if run.noise.is_some() && (run.projection.is_none() || run.sigma != 1.0) {
            return Err(RecordProblem::Levels { sigma: run.sigma });
        }
        // A change of length 1 in the direction that is stretched most has no entry above 1.
        if let (Some(kappa), Some(spectral)) = (run.kappa, run.spectral)
            && kappa < spectral * (1.0 - 1e-6)
        {
            return Err(RecordProblem::Kappa { kappa, spectral });
        }
        if run.dimension == 0 || self.estimation.is_empty() {
            return Err(RecordProblem::Empty);
        }
        if self.selection.len() != self.estimation.len() {
            let (selection, estimation) = (self.selection.len(), self.estimation.len());
            return Err(RecordProblem::Classes { selection, estimation });
        }
        if let Some(label) = self.label.filter(|&label| label as usize >= self.estimation.len()) {
            return Err(RecordProblem::Label { label, classes: self.estimation.len() });
        }
        let selected =
            self.selection.iter().fold(self.selection_none, |sum, &count| sum.saturating_add(count));
        if selected != run.n0 {
            return Err(RecordProblem::Selection { counted: selected, n0: run.n0 });
        }
        let counted = self.draws();
        let fits = match &run.rule {
            Rule::Fixed => counted == run.n,
            Rule::Staged { looks } => {
                let planned = looks.last().is_some_and(|&(trials, _)| trials == run.n);
                planned && looks.iter().any(|&(trials, _)| trials == counted)
            }
            Rule::Anytime => counted <= run.n,
        };
        if counted == 0 || !fits {
            return Err(RecordProblem::Estimation { counted, n: run.n });
        }
        Ok(())
    }
}
