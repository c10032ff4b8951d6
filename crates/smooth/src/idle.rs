//! Memory that is used again.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Memory that nobody uses now.
#[derive(Debug, Default)]
pub(crate) struct Idle<T> {
    idle: Mutex<Vec<T>>,
}

impl<T> Idle<T> {
    /// Some of it, or else new.
    pub(crate) fn take(&self) -> T
    where
        T: Default,
    {
        lock(&self.idle).pop().unwrap_or_default()
    }

    /// What is no longer needed.
    pub(crate) fn give(&self, memory: T) {
        lock(&self.idle).push(memory);
    }
}

/// What a panic elsewhere left behind is as good as before: memory to overwrite, or an observer.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
