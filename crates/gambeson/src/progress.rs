//! Progress of work that is put together in this crate.

use gambeson_lowrank::projection::fit::BasisConstruction;
use serde::Serialize;

/// How far an attack is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttackProgress {
    /// What is done with the inputs.
    pub stage: AttackStage,
    /// Inputs done.
    pub done: usize,
    /// Inputs of the stage.
    pub total: usize,
}

/// What an attack does with its inputs, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttackStage {
    /// They are perturbed.
    Perturb,
    /// The smoothed classifier predicts their classes as they were.
    PredictBefore,
    /// The smoothed classifier predicts the classes of the perturbed ones.
    PredictAfter,
}

/// How far a sweep is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SweepProgress {
    /// A fit begins.
    Fit {
        /// Counting from 1.
        number: usize,
        /// Fits of the sweep.
        total: usize,
        /// Name of the method.
        method: &'static str,
        /// The error asked for.
        budget: f64,
        /// By estimate, for all that is left; none until every method was timed once.
        seconds_left: Option<f64>,
    },
    /// A projection was found.
    Found(SweepPoint),
    /// A method has no projection with this error.
    Failed {
        /// Name of the method.
        method: &'static str,
        /// The error asked for.
        budget: f64,
        /// Why not.
        reason: String,
    },
}

/// One point of a sweep: what a line of `project sweep --json` says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepPoint {
    /// Name of the method.
    pub method: &'static str,
    /// The error asked for.
    pub budget: f64,
    /// Fraction of the energy lost.
    pub error: f64,
    /// Dimensions.
    pub rank: usize,
    /// Proven.
    pub kappa: f64,
    /// √ of the rank PCA needs for that error, rounded down.
    pub limit: f64,
    /// How it was found, for people.
    pub how: String,
    /// How it was found.
    #[serde(skip)]
    pub construction: BasisConstruction,
}
