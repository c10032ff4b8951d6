//! A function that classifies batches, called on the thread of whoever runs it.

use super::ask_tell::SessionFactory;
use super::buffer::Batch;
use super::params::SessionParams;
use crate::smoother::{DrawCounter, Drawn, Procedure, SmoothingError, SmoothingPlan};
use gambeson_lowrank::observe::Observer;
use std::sync::Arc;

/// Counts draws by a function from batches to classes, one class per row that is to be classified. It is called on the thread
/// that asks for counts and on no other; noise is made on other threads at the same time.
#[derive(Clone, Debug)]
pub struct BatchCallback<F> {
    sessions: SessionFactory,
    classify: F,
}

impl<F> BatchCallback<F> {
    /// For the classifier of a plan.
    pub fn new(plan: impl Into<Arc<SmoothingPlan>>, params: SessionParams, classify: F) -> Self {
        Self { sessions: SessionFactory::new(plan, params), classify }
    }
}

impl<F, E> DrawCounter for BatchCallback<F>
where
    F: FnMut(&Batch<'_>) -> Result<Vec<u32>, E>,
    E: std::error::Error + 'static,
{
    type Error = E;

    fn plan(&self) -> &Arc<SmoothingPlan> {
        self.sessions.plan()
    }

    fn count<T>(
        &mut self,
        procedure: Procedure<T>,
        observer: &mut (impl Observer<Drawn> + Send),
    ) -> Result<Option<T>, SmoothingError<E>> {
        let mut session = self.sessions.start(procedure);
        while let Some(batch) = session.ask()? {
            let drawn = Drawn { draws: batch.count as u64 };
            let classes = (self.classify)(&batch).map_err(SmoothingError::Classifier)?;
            session.tell(&classes)?;
            if observer.observe(&drawn).is_break() {
                return Ok(None);
            }
        }
        Ok(Some(session.finish()?))
    }
}
