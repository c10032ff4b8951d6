//! The record of CERTIFY for one input.

use super::entry::{Entry, Parts, Sealed};
use super::error::RecordProblem;
use super::head::DigestedRun;
use super::run::{Rule, Run};
use crate::limit::ClassDraws;
use crate::smoother::{Certification, Certified, Counts, Errors};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What was counted for one input, and what followed. `R` is the run that it is of; in a line of a file, the digest of
/// that run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record<R = Arc<DigestedRun<Run>>> {
    /// What all records of the file share.
    pub run: R,
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
    /// Selection draws that the sampler could not decide.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub selection_undecided: u64,
    /// Estimation draws that the sampler could not decide: they count for no class, and against all others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimation_undecided: u64,
    /// A proven bound on the distance of what noise was added to from Uᵀu, or without a projection from the input itself:
    /// taken off the radius in z.
    pub encoding_error: f64,
    /// A proven bound on the same distance for every input that the radius can be about: taken off as well.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub perturbed_error: f64,
    /// What the counts proved when the record was written. Not to be believed.
    #[serde(flatten)]
    pub derived: Derived,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// SHA-256 of the line without it, in a line that is being read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) digest: Option<String>,
}

/// What counts prove: a class with radii, or nothing (all `None`: the smoothed classifier abstains).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Derived {
    /// The class of the smoothed classifier.
    pub class: Option<u32>,
    /// Radius in the coordinates z, both errors taken off.
    pub latent: Option<f64>,
    /// Radius in the ℓ2 norm of inputs.
    pub l2: Option<f64>,
    /// Radius in the ℓ∞ norm of inputs.
    pub linf: Option<f64>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_nothing(error: &f64) -> bool {
    *error == 0.0
}

/// Counts of at least `classes` classes: those that the classifier lacks were never answered.
pub(super) fn padded(counts: &Counts, classes: usize) -> Vec<u64> {
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
        run: Arc<DigestedRun<Run>>,
        found: &Certification,
        seconds: f64,
    ) -> Self {
        Self {
            run,
            index,
            label,
            selection: padded(&found.selection, classes),
            estimation: padded(&found.estimation, classes),
            selection_none: found.selection.none,
            estimation_none: found.estimation.none,
            selection_undecided: found.selection.undecided,
            estimation_undecided: found.estimation.undecided,
            encoding_error: found.errors.encoding,
            perturbed_error: found.errors.perturbed,
            derived: found.certified.map(Derived::from).unwrap_or_default(),
            seconds,
            digest: None,
        }
    }

    /// Estimation draws made, with or without a class, undecided ones included.
    pub fn draws(&self) -> u64 {
        self.estimation_draws().total()
    }

    /// The counts of the draws that chose the class, and of those that were counted.
    pub fn counts(&self) -> (Counts, Counts) {
        let counts = |classes: &[u64], none, undecided| Counts { classes: classes.to_vec(), none, undecided };
        (
            counts(&self.selection, self.selection_none, self.selection_undecided),
            counts(&self.estimation, self.estimation_none, self.estimation_undecided),
        )
    }

    /// The same counts as those of a number of draws that was set beforehand.
    pub(crate) fn with_fixed_rule(mut self) -> Result<Self, serde_json::Error> {
        let mut run = (**self.run).clone();
        run.common.n = self.draws();
        (run.rule, run.goal) = (Rule::Fixed, None);
        self.run = DigestedRun::new(run)?;
        Ok(self)
    }

    /// The draws that chose the class.
    pub(super) fn selection_draws(&self) -> ClassDraws<'_> {
        let (none, undecided) = (self.selection_none, self.selection_undecided);
        ClassDraws { classes: &self.selection, none, undecided }
    }

    /// The draws that were counted.
    pub(super) fn estimation_draws(&self) -> ClassDraws<'_> {
        let (none, undecided) = (self.estimation_none, self.estimation_undecided);
        ClassDraws { classes: &self.estimation, none, undecided }
    }

    /// What is taken off the radius in z.
    pub fn errors(&self) -> Errors {
        Errors { encoding: self.encoding_error, perturbed: self.perturbed_error }
    }

    /// The class chosen on the selection draws: the most frequent one, the lowest of equals; none where draws without a
    /// class are more frequent than any.
    pub fn selected(&self) -> Option<u32> {
        self.selection_draws().most()
    }
}

impl Sealed for Record {}

impl<R> Record<R> {
    /// The same of a run that is given in another way.
    fn with_run<S>(self, run: S) -> Record<S> {
        Record {
            run,
            index: self.index,
            label: self.label,
            selection: self.selection,
            estimation: self.estimation,
            selection_none: self.selection_none,
            estimation_none: self.estimation_none,
            selection_undecided: self.selection_undecided,
            estimation_undecided: self.estimation_undecided,
            encoding_error: self.encoding_error,
            perturbed_error: self.perturbed_error,
            derived: self.derived,
            seconds: self.seconds,
            digest: self.digest,
        }
    }
}

impl Entry for Record {
    type Run = Run;
    type Content = Record<String>;

    fn to_content(&self) -> Record<String> {
        self.clone().with_run(self.run.digest().to_owned())
    }

    fn named_run(content: &Record<String>) -> &str {
        &content.run
    }

    fn take_digest(content: &mut Record<String>) -> Option<String> {
        content.digest.take()
    }

    fn of_run(content: Record<String>, run: &Arc<DigestedRun<Run>>) -> Self {
        content.with_run(Arc::clone(run))
    }

    fn parts(&self) -> Parts<'_, Run> {
        Parts { index: self.index, label: self.label, classes: self.estimation.len(), run: &self.run }
    }

    fn validate(&self) -> Result<(), RecordProblem> {
        self.validate()
    }

    fn check_claim(&self) -> Result<(), RecordProblem> {
        self.check_claim()
    }

    fn same_counts(&self, other: &Self) -> bool {
        (self.index, self.label) == (other.index, other.label)
            && self.counts() == other.counts()
            && self.errors() == other.errors()
    }
}
