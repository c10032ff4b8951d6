//! Smoothing parameters and their errors.

use crate::classifier::ClassifierSpec;
use crate::input_map::InputMap;
use crate::limit::LimitRule;
use crate::noise::{Grid, GridError};
use crate::seed::PlannedDraws;
use crate::sequential::Goal;
use crate::space::Space;
use gambeson_checker::{FailureProbability, NoiseLevel, StatisticsError, Tally};
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
    /// Limits on the probabilities of classes. `None`: chosen on the selection draws, or with a goal one-sided, which is all
    /// that fits one.
    pub limits: Option<LimitRule>,
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
    /// n₀ = 100, n = 100,000, α = 0.001, limits chosen on the selection draws, batches of 64 draws, seed 0, no goal,
    /// the default grid.
    pub fn new(noise: NoiseLevel) -> Result<Self, StatisticsError> {
        Ok(Self {
            noise,
            selection: 100,
            estimation: 100_000,
            failure: FailureProbability::new(0.001)?,
            limits: None,
            batch: 64,
            seed: 0,
            goal: None,
            extended_from: None,
            grid_exponent: None,
        })
    }

    /// The draws of CERTIFY, as a derived seed binds them.
    pub fn planned_draws(&self) -> PlannedDraws {
        PlannedDraws::Certify {
            selection: self.selection,
            estimation: self.extended_from.unwrap_or(self.estimation),
            sequential: self.goal.is_some(),
        }
    }

    /// The limits, where they are left to the rule of sampling too.
    pub fn limit_rule(&self) -> LimitRule {
        let natural = if self.goal.is_some() { LimitRule::OneSided } else { LimitRule::Chosen };
        self.limits.unwrap_or(natural)
    }

    /// Whether a classifier can be smoothed like that in a space: the grid that noisy inputs are then rounded to.
    pub(super) fn validate(
        &self,
        classifier: &ClassifierSpec,
        space: &Space,
    ) -> Result<Grid, SmoothingParamsError> {
        let counts = [
            ("selection", "the number of selection draws", self.selection),
            ("estimation", "the number of estimation draws", self.estimation),
            ("batch", "the size of a batch", self.batch as u64),
        ];
        if let Some(&(field, what, _)) = counts.iter().find(|(_, _, count)| *count == 0) {
            return Err(SmoothingParamsError::Zero { field, what });
        }
        Tally::new(0, self.selection)?;
        Tally::new(0, self.estimation)?;
        let (dim, given) = (classifier.dim, space.output_dim());
        if dim != given {
            return Err(SmoothingParamsError::Dimension { classifier: dim, space: given });
        }
        let map = classifier.input_map.as_ref();
        if let Some(map) = map.map(InputMap::dim).filter(|&mapped| mapped != dim) {
            return Err(SmoothingParamsError::InputMap { classifier: dim, map });
        }
        // Noise in a projection is on the scale of its coordinates; what is decoded from it is mapped later.
        let grid = self.grid(space, map.filter(|_| space.is_identity()))?;
        if let Some(from) = self.extended_from
            && (self.goal.is_none() || from >= self.estimation)
        {
            return Err(SmoothingParamsError::Extended { from, to: self.estimation });
        }
        let limits = self.limit_rule();
        if self.goal.is_some() && limits != LimitRule::OneSided {
            return Err(SmoothingParamsError::SequentialLimits { limits });
        }
        self.goal.as_ref().map_or(Ok(()), validate_goal)?;
        Ok(grid)
    }

    /// The grid, whose steps must be normal numbers on the scale of the classifier, and so must 2²⁴ of them.
    fn grid(&self, space: &Space, map: Option<&InputMap>) -> Result<Grid, GridError> {
        let sigma = self.noise.value();
        let grid = Grid::new(sigma, space.unit(), self.grid_exponent)?;
        for scale in [map.map_or(1.0, InputMap::smallest_scale), map.map_or(1.0, InputMap::largest_scale)] {
            let step = scale * grid.step();
            if !(step >= f64::from(f32::MIN_POSITIVE) && step <= f64::from(f32::MAX) / 33_554_432.0) {
                return Err(GridError::Level { sigma: sigma * scale });
            }
        }
        Ok(grid)
    }
}

fn validate_goal(goal: &Goal) -> Result<(), SmoothingParamsError> {
    let targets = goal.targets.iter().map(|&value| ("target radius", value));
    let tolerance = goal.tolerance.iter().map(|&value| ("tolerance", value));
    let wrong = |(_, value): &(&str, f64)| !(value.is_finite() && *value >= 0.0);
    if let Some((what, value)) = targets.chain(tolerance).find(wrong) {
        return Err(SmoothingParamsError::Goal { what, value });
    }
    if goal.targets.is_empty() && goal.tolerance.is_none() {
        return Err(SmoothingParamsError::NoGoal);
    }
    Ok(())
}

/// Why inputs cannot be smoothed like that.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SmoothingParamsError {
    /// A count of 0.
    #[error("{what} must be at least 1")]
    Zero {
        /// Of [`SmoothingParams`].
        field: &'static str,
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
    /// Limits that need a number of draws set beforehand.
    #[error("limits {}: those of a sequential run are one-sided", .limits.name())]
    SequentialLimits {
        /// Asked for.
        limits: LimitRule,
    },
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
