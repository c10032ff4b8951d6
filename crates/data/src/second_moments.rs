//! From a data set to the moments that projections are fitted to.

use crate::dataset::{Dataset, Values};
use crate::progress::{LoadProgress, Stage};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::observe::Observer;
use gambeson_lowrank::projection::moments::{Moments, MomentsAccumulator, MomentsError, Samples};
use thiserror::Error;

/// Samples between two looks at the observer.
const CHUNK: usize = 2048;

/// Why there are no moments.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SecondMomentsError {
    /// The values have none.
    #[error(transparent)]
    Moments(#[from] MomentsError),
    /// The observer asked to stop.
    #[error("stopped")]
    Stopped,
}

/// First and second moments of all samples, one per channel: one pass over the data, without a copy of them. Sums beyond
/// `memory` are refused.
pub fn second_moments(
    data: &Dataset,
    memory: MemoryLimit,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<Vec<Moments>, SecondMomentsError> {
    let shape = data.shape();
    let (length, total) = (shape.len(), data.len());
    let mut sums = MomentsAccumulator::new(shape.channels, shape.height * shape.width, data.scale(), memory)?;
    for from in (0..total).step_by(CHUNK) {
        let progress = LoadProgress::new(Stage::Sum, from as u64, Some(total as u64));
        if observer.observe(&progress).is_break() {
            return Err(SecondMomentsError::Stopped);
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
