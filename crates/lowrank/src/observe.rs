//! How long work reports and how it is stopped: one vocabulary for solvers, fits, loading and drawing.
//!
//! Work that takes long takes an [`Observer`] of its own kind of progress and calls it at every step. `Break` is a request
//! to end with what has been found so far; stopping is not an error. Nothing here prints.
//!
//! Work with long steps on several threads, in which no observer can be called, takes an [`Interrupt`] besides.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A question that any thread may ask: is the work to end? The answer is the caller's, for instance a flag that another of
/// its threads sets.
#[derive(Clone, Default)]
pub struct Interrupt(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Interrupt {
    /// Never ends anything.
    pub const NEVER: Self = Self(None);

    /// Ends the work once the closure says yes. It is called often and must be quick; once it has said yes it should not
    /// say no again.
    pub fn new(is_requested: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(is_requested)))
    }

    /// Whether the work is to end.
    pub fn is_requested(&self) -> bool {
        self.0.as_ref().is_some_and(|is_requested| is_requested())
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Interrupt" } else { "Interrupt::NEVER" })
    }
}

/// Sees progress of kind `P` and may end the work. Solvers take it as `&mut dyn`, since they call it once per round.
pub trait Observer<P> {
    /// Called at every step; `Break` ends the work with what it has so far.
    fn observe(&mut self, progress: &P) -> ControlFlow<()>;

    /// Asked within long steps: whether the present one is to be left unfinished, since nobody waits for its result.
    fn drops_step(&self) -> bool {
        false
    }

    /// Asked within long steps: whether the time for them is over, so that a rough result has to do.
    fn is_late(&self) -> bool {
        false
    }
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
