//! What every call is made in: threads, memory, interruption, progress.

use crate::error::Error;
use crate::event::{Event, Note};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::observe::{Interrupt, Observer};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Sees what happens, from the thread that does it; `Break` ends the work.
type Watch = Arc<dyn Fn(&Event<'_>) -> ControlFlow<()> + Send + Sync>;

/// Parameters of a [`Context`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextParams {
    /// Threads; all cores if `None`. Results do not depend on it.
    pub threads: Option<NonZeroUsize>,
    /// What any one file or array may take in memory.
    pub memory_limit: MemoryLimit,
}

/// A thread pool, a memory limit, an interrupt and an observer.
///
/// Several contexts can be used at once, and a clone shares the thread pool. Nothing outside the context is changed or
/// read, except that ONNX Runtime, which a process loads once, is shared by all.
///
/// A child process made by `fork` has no threads of its parent: there, calls with a context of the parent return
/// [`Error::Forked`], and a new context works.
#[derive(Clone)]
pub struct Context {
    pool: Arc<rayon::ThreadPool>,
    /// The process that the threads belong to.
    process: u32,
    memory_limit: MemoryLimit,
    interrupt: Interrupt,
    observer: Option<Watch>,
}

impl Context {
    /// Starts the threads.
    pub fn new(params: ContextParams) -> Result<Self, Error> {
        let threads = params.threads.or_else(|| std::thread::available_parallelism().ok());
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.map_or(1, NonZeroUsize::get))
            .thread_name(|at| format!("gambeson {at}"))
            .build()
            .map_err(|error| Error::Threads { reason: error.to_string() })?;
        Ok(Self {
            pool: Arc::new(pool),
            process: std::process::id(),
            memory_limit: params.memory_limit,
            interrupt: Interrupt::NEVER,
            observer: None,
        })
    }

    /// Work that is under way asks this closure many times a second, and ends once it says yes: with the best proven result
    /// so far, or so that the same call goes on later. Measured on two cores, a bound ends less than 0.1 s later at 1,500 rows
    /// and 0.4 s later at 4,500, the proof of it included; how long one may take is [`BoundParams::grace`](crate::BoundParams::grace).
    #[must_use]
    pub fn with_interrupt(self, interrupt: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { interrupt: Interrupt::new(interrupt), ..self }
    }

    /// Reports progress and notes to a closure, which may end the work as an interrupt does.
    #[must_use]
    pub fn with_observer(
        self,
        observer: impl Fn(&Event<'_>) -> ControlFlow<()> + Send + Sync + 'static,
    ) -> Self {
        Self { observer: Some(Arc::new(observer)), ..self }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// What any one file or array may take in memory.
    pub fn memory_limit(&self) -> MemoryLimit {
        self.memory_limit
    }

    /// Whether the interrupt says that work is to end.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.is_requested()
    }

    /// Does work on the threads of the pool.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        self.pool()?.install(work)
    }

    /// The threads, for work that the caller's own thread leads.
    pub(crate) fn pool(&self) -> Result<Arc<rayon::ThreadPool>, Error> {
        if std::process::id() == self.process { Ok(Arc::clone(&self.pool)) } else { Err(Error::Forked) }
    }

    /// Tells the observer something, also after an interrupt: what was done is seen.
    pub(crate) fn tell(&self, event: &Event<'_>) -> ControlFlow<()> {
        let told = self.observer.as_ref().map_or(ControlFlow::Continue(()), |observer| observer(event));
        if self.is_interrupted() { ControlFlow::Break(()) } else { told }
    }

    /// Tells the observer that the last line of a file, with this number, was broken off.
    pub(crate) fn tell_cut_off(&self, path: &Path, line: usize) -> ControlFlow<()> {
        self.tell(&Event::Note(&Note::LineCutOff { path: path.to_path_buf(), line }))
    }

    /// An observer of one kind of progress that hands it on as events.
    pub(crate) fn watch<P>(&self, event: for<'a> fn(&'a P) -> Event<'a>) -> impl Observer<P> + Send + use<P> {
        let context = self.clone();
        move |progress: &P| context.tell(&event(progress))
    }

    /// The interrupt as libraries take it.
    pub(crate) fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }
}

/// Hands progress on as events, and ends the work at the deadline.
pub(crate) struct Limited<'a, P> {
    context: &'a Context,
    event: for<'b> fn(&'b P) -> Event<'b>,
    deadline: Option<Instant>,
    /// Whether the deadline, an interrupt or the observer ended the work.
    pub(crate) stopped: bool,
}

impl<'a, P> Limited<'a, P> {
    pub(crate) fn new(
        context: &'a Context,
        event: for<'b> fn(&'b P) -> Event<'b>,
        limit: Option<Duration>,
    ) -> Self {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        Self { context, event, deadline, stopped: false }
    }
}

impl<P> Observer<P> for Limited<'_, P> {
    fn observe(&mut self, progress: &P) -> ControlFlow<()> {
        let told = self.context.tell(&(self.event)(progress));
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if late || told.is_break() {
            self.stopped = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("threads", &self.threads())
            .field("memory_limit", &self.memory_limit)
            .field("interrupt", &self.interrupt)
            .field("observer", &self.observer.is_some())
            .finish_non_exhaustive()
    }
}
