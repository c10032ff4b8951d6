//! From a data set to the matrices that projections are fitted to.

use crate::dataset::{Dataset, Values};
use crate::error::DataError;
use crate::source::{Stage, Step};
use gambeson_lowrank::projection::moments::{Moments, MomentsAccumulator, MomentsError, Samples};
use std::ops::ControlFlow;
use thiserror::Error;

/// Samples between two looks at the progress.
const CHUNK: usize = 2048;

/// Why there are no moments.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SecondMomentsError {
    /// The values.
    #[error(transparent)]
    Moments(#[from] MomentsError),
    /// Whoever watches ended it.
    #[error(transparent)]
    Stopped(DataError),
}

/// First and second moments, one a channel, of all samples; a pass over the data that needs no copy of them.
pub fn second_moments(
    data: &Dataset,
    progress: &mut dyn FnMut(Step) -> ControlFlow<()>,
) -> Result<Vec<Moments>, SecondMomentsError> {
    let shape = data.shape();
    let (length, total) = (shape.len(), data.len());
    let mut sums = MomentsAccumulator::new(shape.channels, shape.height * shape.width, data.scale())?;
    for from in (0..total).step_by(CHUNK) {
        let step = Step { stage: Stage::Sum, done: from as u64, total: Some(total as u64) };
        if progress(step).is_break() {
            return Err(SecondMomentsError::Stopped(DataError::Stopped));
        }
        let range = from * length..(from + CHUNK).min(total) * length;
        sums.add(match data.values() {
            Values::U8(values) => Samples::U8(&values[range]),
            Values::I16(values) => Samples::I16(&values[range]),
            Values::F32(values) => Samples::F32(&values[range]),
        })?;
    }
    Ok(sums.finish()?)
}
