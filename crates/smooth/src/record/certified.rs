//! The record of CERTIFY for one input.

use super::entry::{Entry, Sealed};
use super::error::RecordProblem;
use super::run::{Law, Rule, Run, VERSION, first_runtime};
use super::valid::{Common, not_negative, positive, total};
use crate::smoother::{Certification, Certified, Counts, Errors};
use serde::{Deserialize, Serialize};

/// What was counted for one input, and what followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`VERSION`], or 1.
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
    /// Selection draws that the sampler could not decide.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub selection_undecided: u64,
    /// Estimation draws that the sampler could not decide: they count for no class, and against all others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimation_undecided: u64,
    /// What all records of the run have in common.
    #[serde(flatten)]
    pub run: Run,
    /// A proven bound on the distance of what noise was added to from Uᵀu, or without a projection from the input itself:
    /// taken off the radius in z.
    pub encoding_error: f64,
    /// A proven bound on the same distance for every input that the radius can be about: taken off as well. 0 in records
    /// of earlier generators, whose radii hold for exact coordinates of such inputs only.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub perturbed_error: f64,
    /// What the counts proved when the record was written. Not to be believed.
    #[serde(flatten)]
    pub derived: Derived,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// SHA-256 of the line without it, in a file of version 2. Files put it there when they are written to and take it
    /// away when they are read, once it has been compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
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
            selection_undecided: found.selection.undecided,
            estimation_undecided: found.estimation.undecided,
            run,
            encoding_error: found.errors.encoding,
            perturbed_error: found.errors.perturbed,
            derived: found.certified.map(Derived::from).unwrap_or_default(),
            seconds,
            digest: None,
        }
    }

    /// Estimation draws made, with or without a class, undecided ones included.
    pub fn draws(&self) -> u64 {
        let others = self.estimation_none.saturating_add(self.estimation_undecided);
        self.estimation.iter().fold(others, |sum, &count| sum.saturating_add(count))
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
    pub(crate) fn with_fixed_rule(mut self) -> Self {
        self.run.n = self.draws();
        (self.run.rule, self.run.goal) = (Rule::Fixed, None);
        self
    }

    /// What is taken off the radius in z.
    pub fn errors(&self) -> Errors {
        Errors { encoding: self.encoding_error, perturbed: self.perturbed_error }
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
        let counts = |record: &Self| {
            let none = (record.selection_none, record.estimation_none);
            (none, record.selection_undecided, record.estimation_undecided)
        };
        self.index == other.index
            && self.label == other.label
            && self.selection == other.selection
            && self.estimation == other.estimation
            && counts(self) == counts(other)
            && self.errors() == other.errors()
    }

    /// What is wrong with the counts and parameters, if anything is.
    pub fn validate(&self) -> Result<(), RecordProblem> {
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
            classes: self.estimation.len(),
            seconds: self.seconds,
        };
        common.validate()?;
        for (field, value) in [("kappa", run.kappa), ("spectral", run.spectral)] {
            value.map_or(Ok(()), |value| positive(field, value))?;
        }
        not_negative("encoding_error", self.encoding_error)?;
        not_negative("perturbed_error", self.perturbed_error)?;
        if run.projection.is_some() != run.kappa.is_some() || run.kappa.is_some() != run.spectral.is_some() {
            return Err(RecordProblem::Projection);
        }
        if run.projection.is_some() != run.representation.is_some() {
            return Err(RecordProblem::Projection);
        }
        // A change of length 1 in the direction that is stretched most has no entry above 1.
        if let (Some(kappa), Some(spectral)) = (run.kappa, run.spectral)
            && kappa < spectral * (1.0 - 1e-6)
        {
            return Err(RecordProblem::Kappa { kappa, spectral });
        }
        if run.dimension == 0 {
            return Err(RecordProblem::Empty);
        }
        // |Uᵀd|₂ ≤ s·|d|₂ ≤ s·√n for |d|_inf ≤ 1: no proof needs a larger κ, but for its margin.
        if let (Some(kappa), Some(spectral)) = (run.kappa, run.spectral)
            && kappa > 1.001 * spectral * (run.dimension as f64).sqrt()
        {
            return Err(RecordProblem::Dimension { dimension: run.dimension, kappa, spectral });
        }
        self.validate_rule()?;
        self.validate_counts()
    }

    fn validate_rule(&self) -> Result<(), RecordProblem> {
        let Run { rule, goal, .. } = &self.run;
        if *rule == Rule::Fixed && goal.is_some() {
            return Err(RecordProblem::Goal);
        }
        if self.version == 1 && matches!(rule, Rule::MixtureAndLast { .. }) {
            return Err(RecordProblem::LaterRule);
        }
        let Some(goal) = goal else { return Ok(()) };
        goal.targets.iter().try_for_each(|&target| not_negative("a target of the goal", target))?;
        goal.tolerance.map_or(Ok(()), |tolerance| not_negative("the tolerance of the goal", tolerance))
    }

    fn validate_counts(&self) -> Result<(), RecordProblem> {
        let run = &self.run;
        if self.selection.len() != self.estimation.len() {
            let (selection, estimation) = (self.selection.len(), self.estimation.len());
            return Err(RecordProblem::Classes { selection, estimation });
        }
        let selected = total(&self.selection, [self.selection_none, self.selection_undecided]);
        if selected != Some(run.n0) {
            let counted = selected.unwrap_or(u64::MAX);
            return Err(RecordProblem::Selection { counted, n0: run.n0 });
        }
        let estimated = total(&self.estimation, [self.estimation_none, self.estimation_undecided]);
        let counted = estimated.unwrap_or(u64::MAX);
        let fits = match &run.rule {
            Rule::Fixed => counted == run.n,
            Rule::Staged { looks } => {
                let planned = looks.last().is_some_and(|&(trials, _)| trials == run.n);
                planned && looks.iter().any(|&(trials, _)| trials == counted)
            }
            Rule::Anytime => counted <= run.n,
            Rule::MixtureAndLast { last } => counted <= run.n && *last <= run.n,
        };
        if estimated.is_none() || counted == 0 || !fits {
            return Err(RecordProblem::Estimation { counted, n: run.n });
        }
        Ok(())
    }
}

impl Sealed for Record {}

impl Entry for Record {
    type Run = Run;
    const START: &'static [u8] = b"{\"version\":";
    #[rustfmt::skip] // as a record has them
    const KEYS: &'static [&'static str] = &[
        "version", "index", "label", "selection", "estimation", "selection_none", "estimation_none", "rule", "goal", "n0",
        "n", "sigma", "alpha", "seed", "generator", "model", "data", "projection", "representation", "noise", "kappa",
        "spectral", "dimension", "encoding_error", "class", "latent", "l2", "linf", "seconds",
    ];
    #[rustfmt::skip]
    const LATER_KEYS: &'static [&'static str] = &[
        "selection_undecided", "estimation_undecided", "law", "nonce", "assumed", "grid", "runtime", "perturbed_error",
        "digest",
    ];

    fn index(&self) -> u64 {
        self.index
    }

    fn label(&self) -> Option<u32> {
        self.label
    }

    fn classes(&self) -> usize {
        self.estimation.len()
    }

    fn run(&self) -> &Run {
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
        self.validate()
    }

    fn check_claim(&self) -> Result<(), RecordProblem> {
        self.check_claim()
    }

    fn same_counts(&self, other: &Self) -> bool {
        self.same_counts(other)
    }
}
