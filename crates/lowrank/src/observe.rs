//! How long work reports, and how it is stopped: one vocabulary for solvers, fits, loading and drawing.
//!
//! Whatever takes long takes an [`Observer`] of its own kind of progress and asks it at every step. `Break` is a request
//! to end with what there is; stopping is not an error. Nothing here prints.

use std::ops::ControlFlow;

/// Sees progress of kind `P` and may end the work.
pub trait Observer<P> {
    /// Called at every step; `Break` ends the work with what it has.
    fn observe(&mut self, progress: &P) -> ControlFlow<()>;
}

/// Watches nothing.
impl<P> Observer<P> for () {
    fn observe(&mut self, _: &P) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Any function will do.
impl<P, F: FnMut(&P) -> ControlFlow<()>> Observer<P> for F {
    fn observe(&mut self, progress: &P) -> ControlFlow<()> {
        self(progress)
    }
}
