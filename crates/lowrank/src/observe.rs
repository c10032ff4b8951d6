//! How long work reports and how it is stopped: one vocabulary for solvers, fits, loading and drawing.
//!
//! Work that takes long takes an [`Observer`] of its own kind of progress and calls it at every step. `Break` is a request
//! to end with what has been found so far; stopping is not an error. Nothing here prints.

use std::ops::ControlFlow;

/// Sees progress of kind `P` and may end the work. Solvers take it as `&mut dyn`, since they call it once per round.
pub trait Observer<P> {
    /// Called at every step; `Break` ends the work with what it has so far.
    fn observe(&mut self, progress: &P) -> ControlFlow<()>;
}

/// Watches nothing.
impl<P> Observer<P> for () {
    fn observe(&mut self, _: &P) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Any function of the progress.
impl<P, F: FnMut(&P) -> ControlFlow<()>> Observer<P> for F {
    fn observe(&mut self, progress: &P) -> ControlFlow<()> {
        self(progress)
    }
}
