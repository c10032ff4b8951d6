//! How batches are made for a caller.

use rayon::ThreadPool;
use std::sync::Arc;

/// How batches are made for the caller.
#[derive(Clone, Debug)]
pub struct SessionParams {
    /// What rows consist of.
    pub format: RowFormat,
    /// Whether the last batch of an input has as many rows as the others; those that nobody asks about are zeros. Else it
    /// is shorter.
    pub padded: bool,
    /// Batches in memory: one that the caller has, the others made ahead. At least 2; less counts as 2.
    pub buffers: usize,
    /// The threads that make noise. Default: those of the global pool of rayon, or of the pool that the caller is in.
    pub pool: Option<Arc<ThreadPool>>,
}

impl Default for SessionParams {
    /// Values, a shorter last batch, three batches in memory, no pool of its own.
    fn default() -> Self {
        Self { format: RowFormat::Values, padded: false, buffers: 3, pool: None }
    }
}

/// What rows consist of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowFormat {
    /// Numbers of single precision as the classifier takes them: decoded, and its input map applied.
    #[default]
    Values,
    /// The whole numbers K of the noisy coordinates, in steps h of the [grid](crate::smoother::SmoothingPlan::grid): as many as the
    /// [rank](crate::space::Space::rank) of the space, in the order of the input map. 16 bits where all of an input fit,
    /// else 32. Decoding, the input map and the factor h are left to the caller.
    WholeNumbers,
}
