//! What several tests need.

use gambeson::{Context, ContextParams, MemoryLimit};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) fn context(threads: usize, memory_limit: MemoryLimit) -> Context {
    Context::new(ContextParams { threads: NonZeroUsize::new(threads), memory_limit }).expect("threads")
}

/// A context that ends its work once the flag is set.
pub(crate) fn interruptible(context: Context) -> (Arc<AtomicBool>, Context) {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    (stop, context.with_interrupt(move || asked.load(Ordering::SeqCst)))
}
