//! What a running fit reports.

use crate::observe::Observer;
use crate::sdp::progress::Progress;
use std::ops::ControlFlow;

/// A look at a running fit.
#[derive(Clone, Copy, Debug)]
pub enum FitProgress {
    /// The fit turns to another channel.
    Channel {
        /// Counting from 0.
        channel: usize,
        /// How many there are.
        total: usize,
    },
    /// An eigen-decomposition begins.
    Eigen,
    /// Algorithm 3 turns to another r.
    Split {
        /// r.
        split: usize,
        /// How many came before it.
        done: usize,
        /// How many in all.
        total: usize,
    },
    /// The search turns to another candidate.
    Candidate {
        /// Its kind.
        kind: &'static str,
    },
    /// A solver at work.
    Solver(Progress),
}

/// The observer of a fit as that of a solver inside it.
pub(crate) fn relay(
    observer: &mut (dyn Observer<FitProgress> + Send),
) -> impl FnMut(&Progress) -> ControlFlow<()> + Send + '_ {
    |progress: &Progress| observer.observe(&FitProgress::Solver(*progress))
}
