//! Handing independent pieces of work to a few threads.

use std::sync::Mutex;

/// Asked now and then whether to stop.
pub(crate) type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// Hands out the items to `threads` threads, each taking the next when it is free. Results must not depend on which
/// thread that is.
pub(crate) fn share<T: Send>(threads: usize, items: impl Iterator<Item = T> + Send, work: impl Fn(T) + Sync) {
    if threads <= 1 {
        return items.for_each(work);
    }
    let queue = Mutex::new(items);
    let next = || queue.lock().ok()?.next();
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| {
                while let Some(item) = next() {
                    work(item);
                }
            });
        }
        while let Some(item) = next() {
            work(item);
        }
    });
}

/// Threads worth starting for `operations` floating-point operations: none beyond this one for small work.
pub(crate) fn worthwhile(threads: usize, operations: usize) -> usize {
    if operations < 4_000_000 { 1 } else { threads.max(1) }
}
