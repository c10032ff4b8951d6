//! What is known about one log.

use super::dimension::Dimension;
use super::names::sigma_of;
use gambeson_checker::FailureProbability;
use gambeson_smooth::analysis::{
    AnalysisError, LoggedRun, Question, Scores, bernstein_bound, false_certificates,
};

/// What is known about one log.
#[derive(Clone, Debug)]
pub struct AnalysedLog {
    pub(super) source: LoggedRun,
    pub(super) label: String,
    pub(super) scores: Scores,
    /// At each radius.
    pub(super) accuracy: Vec<f64>,
    pub(super) high_probability: Option<HighProbability>,
    /// The projection that proves its κ.
    pub(super) proven_by: Option<String>,
    /// The number of coordinates that its ℓ∞ radii rest on, if they do.
    pub(super) dimension: Option<Dimension>,
    /// The noise level, as recorded or as the path says.
    pub(super) sigma: Option<f64>,
    /// Certified accuracy at radius 0.
    pub(super) clean: Option<f64>,
    /// By class, if asked for.
    pub(super) classes: Option<Vec<ByClass>>,
}

/// Accuracy of the inputs of one class.
#[derive(Clone, Debug)]
pub(super) struct ByClass {
    pub(super) label: u32,
    pub(super) images: usize,
    /// At each radius.
    pub(super) accuracy: Vec<f64>,
}

/// Certified accuracy from below.
#[derive(Clone, Debug)]
pub(super) struct HighProbability {
    pub(super) rho: f64,
    pub(super) alpha: f64,
    /// How many certificates may be false.
    pub(super) false_certificates: u64,
    /// By the binomial distribution.
    pub(super) exact: Vec<f64>,
    /// By Bernstein's inequality.
    pub(super) bernstein: Vec<f64>,
}

impl AnalysedLog {
    pub(crate) fn new(
        source: LoggedRun,
        label: String,
        scores: Scores,
        radii: &[f64],
    ) -> Result<Self, AnalysisError> {
        Ok(Self {
            accuracy: scores.certified_accuracy(radii)?,
            clean: scores.certified_accuracy(&[0.0]).ok().and_then(|at| at.first().copied()),
            sigma: sigma_of(&source),
            source,
            label,
            scores,
            high_probability: None,
            proven_by: None,
            dimension: None,
            classes: None,
        })
    }

    /// A short name that no other log has, escaped for people.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// What the log says.
    pub fn source(&self) -> &LoggedRun {
        &self.source
    }

    /// What follows from it, at any radius.
    pub fn scores(&self) -> &Scores {
        &self.scores
    }

    /// Certified accuracy at each radius asked for.
    pub fn accuracy(&self) -> &[f64] {
        &self.accuracy
    }

    /// Bounds that hold with probability 1 − ρ.
    pub(super) fn high_probability(
        &self,
        rho: FailureProbability,
        log_alpha: Option<f64>,
    ) -> Result<HighProbability, AnalysisError> {
        let (log, accuracy) = (|| self.source.name(), &self.accuracy);
        let images = self.scores.images().ok_or_else(|| AnalysisError::NoInputs { log: log() })? as u64;
        let alpha = self.source.alpha.or(log_alpha).ok_or_else(|| AnalysisError::NoAlpha { log: log() })?;
        let false_certificates = false_certificates(images, alpha, rho)?;
        let exact = |&accuracy: &f64| (accuracy - false_certificates as f64 / images as f64).max(0.0);
        Ok(HighProbability {
            rho: rho.value(),
            alpha,
            false_certificates,
            exact: accuracy.iter().map(exact).collect(),
            bernstein: accuracy.iter().map(|&part| bernstein_bound(part, images, alpha, rho)).collect(),
        })
    }

    /// Certified accuracy by class, of labels that rise.
    pub(super) fn by_class(&self, question: &Question, radii: &[f64]) -> Result<Vec<ByClass>, AnalysisError> {
        let one = |label: u32| {
            let scores = self.source.of_label(label).scores(question)?;
            let images = scores.images().unwrap_or(0);
            Ok(ByClass { label, images, accuracy: scores.certified_accuracy(radii)? })
        };
        self.source.labels().into_iter().map(one).collect()
    }
}
