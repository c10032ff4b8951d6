//! What is smoothed: a classifier of vectors, asked one batch at a time.

use crate::input_map::InputMap;
use std::sync::Arc;

/// The answer of a classifier that has no class to give, such as a network that computes NaN. It counts as a class of
/// its own, against every other.
pub const NONE: u32 = u32::MAX;

/// The class of the highest score, the lowest of equals; [`NONE`] where a score is NaN.
pub fn highest(scores: &[f32]) -> u32 {
    if scores.iter().any(|score| score.is_nan()) {
        return NONE;
    }
    let highest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let place = scores.iter().position(|&score| score == highest);
    place.and_then(|class| u32::try_from(class).ok()).unwrap_or(NONE)
}

/// A function from vectors to classes. What it computes need not be exact, only always the same: a batch of one size
/// gets the same answers whichever thread asks.
pub trait Classifier: Sync {
    /// Why it cannot answer.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Number of classes; answers are below it, or [`NONE`].
    fn classes(&self) -> usize;

    /// Numbers in a row.
    fn dim(&self) -> usize;

    /// What is to be done to rows before [`classify`](Self::classify) is given them; without a map, rows are given as
    /// they are, images in the order channel, row, column.
    fn input_map(&self) -> Option<&InputMap>;

    /// As many rows as it is best asked about at once, of a classifier whose answers do not depend on what shares a batch:
    /// they are made, and asked about, while they are in the cache. `None`: whole batches.
    fn at_once(&self) -> Option<usize> {
        None
    }

    /// The class of every row of a batch: `rows` × [`dim`](Self::dim) numbers, row after row, the
    /// [`input_map`](Self::input_map) already applied. May be called from several threads at once.
    fn classify(&self, batch: &[f32], rows: usize, out: &mut [u32]) -> Result<(), Self::Error>;
}

impl<C: Classifier + ?Sized> Classifier for &C {
    type Error = C::Error;

    fn classes(&self) -> usize {
        (**self).classes()
    }

    fn dim(&self) -> usize {
        (**self).dim()
    }

    fn input_map(&self) -> Option<&InputMap> {
        (**self).input_map()
    }

    fn at_once(&self) -> Option<usize> {
        (**self).at_once()
    }

    fn classify(&self, batch: &[f32], rows: usize, out: &mut [u32]) -> Result<(), Self::Error> {
        (**self).classify(batch, rows, out)
    }
}

impl<C: Classifier + Send + ?Sized> Classifier for Arc<C> {
    type Error = C::Error;

    fn classes(&self) -> usize {
        (**self).classes()
    }

    fn dim(&self) -> usize {
        (**self).dim()
    }

    fn input_map(&self) -> Option<&InputMap> {
        (**self).input_map()
    }

    fn at_once(&self) -> Option<usize> {
        (**self).at_once()
    }

    fn classify(&self, batch: &[f32], rows: usize, out: &mut [u32]) -> Result<(), Self::Error> {
        (**self).classify(batch, rows, out)
    }
}

/// What must be known of a classifier to plan draws for it: all but its answers.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassifierSpec {
    /// Number of classes; answers are below it, or [`NONE`].
    pub classes: usize,
    /// Numbers in a row.
    pub dim: usize,
    /// What is to be done to rows before the classifier is given them; `None`: rows are given as they are.
    pub input_map: Option<InputMap>,
}

impl ClassifierSpec {
    /// Of a classifier.
    pub fn of(classifier: &impl Classifier) -> Self {
        Self {
            classes: classifier.classes(),
            dim: classifier.dim(),
            input_map: classifier.input_map().cloned(),
        }
    }
}
