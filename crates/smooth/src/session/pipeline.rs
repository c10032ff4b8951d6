//! Batches of one input made ahead of the caller, on the threads of a pool.

use super::buffer::{Buffer, DrawSource};
use super::params::SessionParams;
use crate::idle::{Idle, lock};
use crate::smoother::{Procedure, RowMemory, SmoothingPlan};
use rayon::Yield;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long a thread of the pool that waits for other threads of it sleeps before it looks for work again.
const NAP: Duration = Duration::from_micros(200);

/// What all sessions of a plan share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) plan: Arc<SmoothingPlan>,
    params: SessionParams,
    buffers: Idle<Buffer>,
    memory: Idle<RowMemory>,
}

impl Shared {
    pub(super) fn new(plan: Arc<SmoothingPlan>, params: SessionParams) -> Self {
        Self { plan, params, buffers: Idle::default(), memory: Idle::default() }
    }

    /// Runs work on the pool.
    fn spawn(&self, work: impl FnOnce() + Send + 'static) {
        match &self.params.pool {
            Some(pool) => pool.spawn(work),
            None => rayon::spawn(work),
        }
    }

    /// On a thread of the pool, does some of its work.
    fn help(&self) -> Option<Yield> {
        match &self.params.pool {
            Some(pool) => pool.yield_now(),
            None => rayon::yield_now(),
        }
    }
}

/// Batches that were made, by number; `None` for one that was lost by a panic.
#[derive(Default)]
struct Ready {
    batches: Mutex<BTreeMap<u64, Option<Buffer>>>,
    arrived: Condvar,
}

/// A batch being made. It arrives whatever happens.
struct Delivery {
    ready: Arc<Ready>,
    number: u64,
    buffer: Option<Buffer>,
}

impl Delivery {
    /// The batch is made.
    fn arrive(mut self, buffer: Buffer) {
        self.buffer = Some(buffer);
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        lock(&self.ready.batches).insert(self.number, self.buffer.take());
        self.ready.arrived.notify_all();
    }
}

/// The batches of one input, in their order.
pub(super) struct Pipeline {
    shared: Arc<Shared>,
    source: Arc<DrawSource>,
    ready: Arc<Ready>,
    /// Batches that are made, or being made.
    begun: u64,
    /// Batches that the caller had.
    given: u64,
    /// Batches that may be made before the caller is done with the first of them.
    ahead: u64,
}

impl Pipeline {
    /// Begins to make the first batches.
    pub(super) fn new<T>(shared: &Arc<Shared>, procedure: &Procedure<T>) -> Self {
        let mut new = Self {
            source: Arc::new(DrawSource::new(procedure, shared.params.format)),
            ready: Arc::default(),
            begun: 0,
            given: 0,
            ahead: shared.params.buffers.max(2) as u64,
            shared: Arc::clone(shared),
        };
        new.begin();
        new
    }

    /// The next batch, once it is made. `None`: it was lost, or there are no more.
    pub(super) fn next(&mut self) -> Option<Buffer> {
        if self.given == self.begun {
            return None;
        }
        let mut batches = lock(&self.ready.batches);
        loop {
            if let Some(buffer) = batches.remove(&self.given) {
                self.given += 1;
                return buffer;
            }
            // A thread of the pool must not wait idly for work that it may have to do itself.
            drop(batches);
            let helped = self.shared.help();
            batches = lock(&self.ready.batches);
            if batches.contains_key(&self.given) {
                continue;
            }
            batches = match helped {
                Some(Yield::Executed) => batches,
                Some(Yield::Idle) => {
                    let woken = self.ready.arrived.wait_timeout(batches, NAP);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.ready.arrived.wait(batches).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Takes back what the caller is done with, and begins another batch.
    pub(super) fn give(&mut self, buffer: Buffer) {
        self.shared.buffers.give(buffer);
        self.begin();
    }

    /// No more batches are needed.
    pub(super) fn stop(&self) {
        self.source.stop();
    }

    fn begin(&mut self) {
        let size = self.shared.plan.params().batch as u64;
        let most = self.source.len().div_ceil(size);
        while self.begun < most && self.begun < self.given + self.ahead && !self.source.is_stopped() {
            let draws = self.begun * size..((self.begun + 1) * size).min(self.source.len());
            self.make(draws);
            self.begun += 1;
        }
    }

    fn make(&self, draws: Range<u64>) {
        let (shared, source) = (Arc::clone(&self.shared), Arc::clone(&self.source));
        let delivery = Delivery { ready: Arc::clone(&self.ready), number: self.begun, buffer: None };
        self.shared.spawn(move || {
            let mut buffer = shared.buffers.take();
            let rows = if shared.params.padded { shared.plan.params().batch } else { 0 };
            buffer.fill(&source, &draws, rows, &shared.memory);
            delivery.arrive(buffer);
        });
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        self.stop();
        let batches = std::mem::take(&mut *lock(&self.ready.batches));
        batches.into_values().flatten().for_each(|buffer| self.shared.buffers.give(buffer));
    }
}
