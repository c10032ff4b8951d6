//! How to smooth, and why not like that.

use crate::noise::GridError;
use crate::sequential::Goal;
use gambeson_checker::{FailureProbability, NoiseLevel, StatisticsError};
use thiserror::Error;

/// How to smooth.
#[derive(Clone, Debug, PartialEq)]
pub struct SmoothingParams {
    /// σ, in every coordinate of z; 1 in a space with levels.
    pub noise: NoiseLevel,
    /// n₀: draws that choose the class.
    pub selection: u64,
    /// n: draws that are counted, at most.
    pub estimation: u64,
    /// α.
    pub failure: FailureProbability,
    /// Draws given to the classifier at once.
    pub batch: usize,
    /// Seed of all noise.
    pub seed: u64,
    /// When to stop before n draws; without a goal, never.
    pub goal: Option<Goal>,
    /// The last look of an earlier run with a goal, of fewer draws, that this one goes on from: [`Smoother::extend`](crate::smoother::Smoother::extend).
    pub extended_from: Option<u64>,
    /// e of the grid h = quantum·2^e; by default the one with σ/h in [128, 256).
    pub grid_exponent: Option<i32>,
}

impl SmoothingParams {
    /// n₀ = 100, n = 100,000, α = 0.001, batches of 64 draws, seed 0, no goal, the default grid.
    pub fn new(noise: NoiseLevel) -> Result<Self, StatisticsError> {
        Ok(Self {
            noise,
            selection: 100,
            estimation: 100_000,
            failure: FailureProbability::new(0.001)?,
            batch: 64,
            seed: 0,
            goal: None,
            extended_from: None,
            grid_exponent: None,
        })
    }
}

/// Why inputs cannot be smoothed like that.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SmoothingParamsError {
    /// A count of 0.
    #[error("{what} must be at least 1")]
    Zero {
        /// Which.
        what: &'static str,
    },
    /// A target or tolerance that is negative or not finite.
    #[error("{what} {value}: it must be finite and not negative")]
    Goal {
        /// Which.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A goal that asks for nothing.
    #[error("a sequential run needs a target radius or a tolerance")]
    NoGoal,
    /// The classifier does not take what the space gives.
    #[error("the classifier takes {classifier} numbers, but is given {space}")]
    Dimension {
        /// Of the classifier.
        classifier: usize,
        /// Of the space.
        space: usize,
    },
    /// Only a sequential run can be extended, and only to more draws.
    #[error("a run of {from} draws cannot be extended to {to}: it needs a goal, and more draws")]
    Extended {
        /// Of the earlier run.
        from: u64,
        /// Asked for.
        to: u64,
    },
    /// There is no such grid for such noise.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// The classifier and its input map differ in the length of rows.
    #[error("the classifier takes {classifier} numbers, but its input map gives {map}")]
    InputMap {
        /// Of the classifier.
        classifier: usize,
        /// Of its input map.
        map: usize,
    },
    /// The checker has no limits for such numbers.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
}
