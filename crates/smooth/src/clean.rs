//! The classifier itself: what it answers without noise.
//!
//! Inputs take the way that noisy ones take, through the space and the classifier's map, without noise or grid. Nothing is proven
//! here; the answers say what a network is worth before it is smoothed.

use crate::classifier::Classifier;
use crate::space::{Space, WrongLength};
use gambeson_checker::CheckError;
use gambeson_lowrank::observe::Observer;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// Inputs were classified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classified {
    /// How many.
    pub inputs: usize,
}

/// Why inputs could not be classified.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CleanError<E: std::error::Error + 'static> {
    /// The classifier takes other rows than the space gives.
    #[error("the classifier takes {expected} numbers, but is given {found}")]
    Dimension {
        /// What it takes.
        expected: usize,
        /// What the space gives.
        found: usize,
    },
    /// An input was given with a wrong number of values.
    #[error(transparent)]
    Length(#[from] WrongLength),
    /// An input that cannot be encoded.
    #[error("input {index}: {reason}")]
    Input {
        /// Which input.
        index: u64,
        /// Why.
        reason: CheckError,
    },
    /// The classifier failed.
    #[error(transparent)]
    Classifier(E),
}

/// The classes of inputs without noise, in their order, [`NONE`](crate::classifier::NONE) where there is no class;
/// `None` if the observer ended it. Asked `batch` inputs at a time, on all threads.
pub fn classify_inputs<C: Classifier>(
    classifier: &C,
    space: &Space,
    batch: usize,
    indices: &[u64],
    values: impl Fn(u64) -> Vec<f64> + Sync,
    observer: &mut (impl Observer<Classified> + Send),
) -> Result<Option<Vec<u32>>, CleanError<C::Error>> {
    let (expected, found) = (classifier.dim(), space.output_dim());
    if expected != found {
        return Err(CleanError::Dimension { expected, found });
    }
    let observer = Mutex::new(observer);
    let one = |part: &[u64]| -> Result<Option<Vec<u32>>, CleanError<C::Error>> {
        let mut rows = Vec::with_capacity(part.len() * found);
        for &index in part {
            rows.extend(row(classifier, space, index, &values(index))?);
        }
        let mut answers = vec![0; part.len()];
        classifier.classify(&rows, part.len(), &mut answers).map_err(CleanError::Classifier)?;
        let mut observer = observer.lock().unwrap_or_else(PoisonError::into_inner);
        let stopped = observer.observe(&Classified { inputs: part.len() }).is_break();
        Ok((!stopped).then_some(answers))
    };
    // Parts end together: an error or a stop leaves the rest undone.
    let parts: Result<Vec<Option<Vec<u32>>>, _> = indices.par_chunks(batch.max(1)).map(one).collect();
    Ok(parts?.into_iter().collect::<Option<Vec<_>>>().map(|parts| parts.concat()))
}

/// An input as the classifier takes it.
fn row<C: Classifier>(
    classifier: &C,
    space: &Space,
    index: u64,
    values: &[f64],
) -> Result<Vec<f32>, CleanError<C::Error>> {
    space.check_length(index, values)?;
    let code = space.encode(values).map_err(|reason| CleanError::Input { index, reason })?.code;
    let unit = space.unit().inverse();
    #[allow(clippy::cast_possible_truncation)] // a network's numbers are f32
    let code: Vec<f32> = code.into_iter().map(|number| (number / unit) as f32).collect();
    let mut decoded = vec![0.0; space.output_dim()];
    space.decode(&code, 1, &mut decoded);
    let Some(map) = classifier.input_map() else { return Ok(decoded) };
    let mut mapped = vec![0.0; decoded.len()];
    map.apply(&decoded, &mut mapped);
    Ok(mapped)
}
