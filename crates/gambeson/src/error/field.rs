//! Which parameter an error is about, so that a program can print its own name for it.

use super::Error;
use gambeson_checker::StatisticsError;
use gambeson_data::energies::DataEnergiesError;
use gambeson_learn::train::check::SpecFileProblem;
use gambeson_learn::train::{SetupError, SpecError};
use gambeson_lowrank::projection::fit::{FitError, FitProjectionError};
use gambeson_lowrank::projection::kappa::KappaError;
use gambeson_lowrank::projection::method::sparse_pca::SparsePcaError;
use gambeson_lowrank::sdp::bracket::BoundError;
use gambeson_smooth::smoother::SmoothingParamsError;

impl Error {
    pub(crate) fn field_of(field: &'static str, reason: StatisticsError) -> Self {
        Self::Field { field, reason }
    }

    /// The parameter that is wrong, where one is.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::Parameter(error) | Self::Bound { reason: BoundError::Parameter(error), .. } => {
                Some(error.name)
            }
            Self::Energies(error) => match **error {
                DataEnergiesError::PixelGrid | DataEnergiesError::Grid { .. } => Some("grid"),
                _ => None,
            },
            Self::Fit { reason, .. } => match &**reason {
                FitProjectionError::Channel { reason, .. } => of_fit(reason),
                _ => None,
            },
            Self::FitChannel { reason, .. } => of_fit(reason),
            Self::Channel { .. } => Some("channel"),
            Self::Grid(_) | Self::Smoothing(SmoothingParamsError::Grid(_)) => Some("grid_exponent"),
            Self::Field { field, .. } => Some(field),
            Self::Selection(error) => error.field(),
            Self::Smoothing(SmoothingParamsError::Zero { field, .. }) => Some(match *field {
                "selection" => "n0",
                "estimation" => "n",
                field => field,
            }),
            Self::Smoothing(SmoothingParamsError::SequentialLimits { .. }) => Some("limits"),
            Self::Smoothing(SmoothingParamsError::Goal { what: "tolerance", .. }) => Some("tolerance"),
            Self::Smoothing(SmoothingParamsError::Goal { .. }) => Some("targets"),
            Self::Smoothing(SmoothingParamsError::NoGoal) => Some("sequential"),
            Self::Smoothing(SmoothingParamsError::Extended { .. }) | Self::NotExtendable { .. } => {
                Some("extend")
            }
            Self::Analyze(error) => error.field(),
            Self::Report(error) => error.field(),
            Self::Spec(error) => match &error.problem {
                SpecFileProblem::Spec(error) => key(error),
                _ => None,
            },
            Self::TrainSetup(error) => match &**error {
                SetupError::Spec(error) => key(error),
                _ => None,
            },
            Self::Attack(error) => error.field(),
            Self::Normalisation(_) | Self::NormalisedByCaller => Some("mean"),
            Self::Bundle(error) => error.field(),
            _ => None,
        }
    }
}

/// The parameter of a fit that is wrong.
fn of_fit(error: &FitError) -> Option<&'static str> {
    match error {
        FitError::Rank { .. }
        | FitError::FewSamples { .. }
        | FitError::Error { .. }
        | FitError::ErrorOutOfReach { .. }
        | FitError::KappaTooSmall { .. }
        | FitError::KappaOutOfReach { .. }
        | FitError::NoKappaTarget => Some("target"),
        FitError::Split { .. } => Some("splits"),
        FitError::Kappa(KappaError::Bound(BoundError::Parameter(error)))
        | FitError::SparsePca(SparsePcaError::Parameter(error)) => Some(error.name),
        _ => None,
    }
}

/// The key of a spec that has a wrong value.
fn key(error: &SpecError) -> Option<&'static str> {
    match error {
        SpecError::Value { key, .. } => Some(key),
        _ => None,
    }
}
