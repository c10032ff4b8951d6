//! Why inputs could not be attacked.

use gambeson_checker::StatisticsError;
use gambeson_learn::attack::inputs;
use gambeson_learn::attack::pgd::PgdParamsError;
use gambeson_learn::smoothed::SmoothedError;
use gambeson_lowrank::projection::representation::EmptyGrid;
use gambeson_smooth::clean::CleanError;
use gambeson_smooth::record::RecordError;
use gambeson_smooth::smoother::{SmoothingError, SmoothingParamsError};
use std::convert::Infallible;
use thiserror::Error;

/// Why inputs could not be attacked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AttackError {
    /// A sparse change of no number of coefficients.
    #[error("sparsity is missing: the sparse method needs the number of coefficients")]
    NoSparsity,
    /// A number of coefficients for another method.
    #[error("sparsity goes with the sparse method")]
    UnusedSparsity,
    /// Nothing to follow the gradient of.
    #[error("model is missing: only the sparse method needs none")]
    NoModel,
    /// Certified radii for another method.
    #[error("certified inputs are attacked by pgd")]
    CertifiedMethod,
    /// The fast gradient sign method in another norm.
    #[error("the method fgsm is in l_inf: the norm must be linf")]
    FgsmNorm,
    /// A basis for certified radii.
    #[error("basis: certified radii in l_inf are of the projection's own coordinates; leave it out")]
    CertifiedBasis,
    /// Certified radii without the noise that they are about.
    #[error("sigma is missing: certificates are about a smoothed classifier")]
    NoSigma,
    /// No class to lead away from.
    #[error("{data}: the data have no labels to lead away from")]
    NoLabels {
        /// Name of the data.
        data: String,
    },
    /// A class that no answer can be.
    #[error("input {index} is of class {class}, which the network does not have")]
    Class {
        /// The input.
        index: usize,
        /// Its class.
        class: u16,
    },
    /// Records are of another classifier or of other data.
    #[error("{records}: its {what} is {recorded}, not {given}")]
    OtherRun {
        /// What the records are called.
        records: String,
        /// What differs.
        what: &'static str,
        /// In the records.
        recorded: String,
        /// Here.
        given: String,
    },
    /// Records have no radius for any of the inputs.
    #[error("{records}: certifies none of the chosen inputs")]
    NothingCertified {
        /// What the records are called.
        records: String,
    },
    /// Records could not be read.
    #[error(transparent)]
    Records(#[from] Box<RecordError>),
    /// The network could not be opened.
    #[error(transparent)]
    Model(#[from] Box<SmoothedError>),
    /// Inputs without values.
    #[error(transparent)]
    Grid(#[from] EmptyGrid),
    /// The attack itself.
    #[error(transparent)]
    Perturb(#[from] Box<inputs::PerturbError>),
    /// `alpha` is no probability.
    #[error("alpha: {0}")]
    Alpha(StatisticsError),
    /// `sigma` is no level of noise.
    #[error("sigma: {0}")]
    Sigma(StatisticsError),
    /// The smoothed classifier cannot be asked.
    #[error(transparent)]
    Smoothing(#[from] SmoothingParamsError),
    /// The smoothed classifier has no answer.
    #[error("input {index}: {reason}")]
    Predict {
        /// The input.
        index: u64,
        /// Why not.
        reason: SmoothingError<Infallible>,
    },
    /// The network has no answer.
    #[error(transparent)]
    Classify(#[from] CleanError<Infallible>),
}

impl AttackError {
    /// The parameter that is wrong, where one is.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::NoSparsity | Self::UnusedSparsity => Some("sparsity"),
            Self::NoModel => Some("model"),
            Self::CertifiedMethod => Some("method"),
            Self::FgsmNorm => Some("norm"),
            Self::CertifiedBasis => Some("basis"),
            Self::NoSigma | Self::Sigma(_) => Some("sigma"),
            Self::Alpha(_) => Some("alpha"),
            Self::Perturb(error) => match **error {
                inputs::PerturbError::Params(PgdParamsError::NoSteps) => Some("steps"),
                inputs::PerturbError::Noise { .. } => Some("draws"),
                _ => None,
            },
            _ => None,
        }
    }
}
