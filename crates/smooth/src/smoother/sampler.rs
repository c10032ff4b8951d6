//! Counts of draws by asking a classifier on all threads, one batch at a time.
//!
//! A batch is the draws between two multiples of its size, cut at the rounds of a sequential run, so which draws share a
//! batch depends on nothing else; counts are integers, so their sum does not depend on which thread adds first.

use super::counts::{Counts, Drawn};
use super::draw::{DrawPurpose, NoisyInput, RowMemory, room};
use super::plan::SmoothingPlan;
use crate::classifier::Classifier;
use crate::idle::{Idle, lock};
use gambeson_lowrank::observe::Observer;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Why draws were not counted.
pub(crate) enum Halt<E> {
    Stopped,
    Failed(E),
}

/// Draws around inputs, for one classifier and one kind of noise.
pub(crate) struct Sampler<C> {
    pub(crate) classifier: C,
    pub(crate) plan: Arc<SmoothingPlan>,
    /// Memory of batches that are done.
    idle: Idle<Scratch>,
}

/// Memory of one batch, used again.
#[derive(Default)]
struct Scratch {
    memory: RowMemory,
    rows: Vec<f32>,
    answers: Vec<u32>,
    decided: Vec<bool>,
}

impl<C: Classifier> Sampler<C> {
    /// The plan is one for this classifier.
    pub(crate) fn new(classifier: C, plan: Arc<SmoothingPlan>) -> Self {
        Self { classifier, plan, idle: Idle::default() }
    }

    /// Counts of several ranges of draws around an input, one after the other: from `start` to the first of `ends`, and
    /// so on; they rise. The observer is asked after every batch, by one thread at a time.
    pub(crate) fn counts(
        &self,
        input: &NoisyInput,
        series: DrawPurpose,
        start: u64,
        ends: &[u64],
        observer: &mut (impl Observer<Drawn> + Send),
    ) -> Result<Vec<Counts>, Halt<C::Error>> {
        let size = self.plan.params().batch as u64;
        let end = ends.last().copied().unwrap_or(start);
        let batches = start / size..end.div_ceil(size);
        let observer = Mutex::new(observer);
        let none = || vec![Counts::new(self.plan.classifier().classes); ends.len()];
        let one = |batch: u64| {
            let draws = (batch * size).max(start)..((batch + 1) * size).min(end);
            let mut scratch = self.idle.take();
            let drawn = Drawn { draws: draws.end - draws.start };
            let done = self.batch(input, series, draws.clone(), &mut scratch).map_err(Halt::Failed);
            let mut counts = none();
            if done.is_ok() {
                for (draw, (&class, &decided)) in draws.zip(scratch.answers.iter().zip(&scratch.decided)) {
                    counts[ends.partition_point(|&end| end <= draw)].count(class, decided);
                }
            }
            self.idle.give(scratch);
            if lock(&observer).observe(&drawn).is_break() {
                Err(Halt::Stopped)
            } else {
                done.map(|()| counts)
            }
        };
        let add = |mut sums: Vec<Counts>, counts: Vec<Counts>| {
            sums.iter_mut().zip(&counts).for_each(|(sum, counts)| sum.add(counts));
            Ok(sums)
        };
        batches.into_par_iter().map(one).try_reduce(none, add)
    }

    /// Fills in the answers of a batch, and which of its draws were decided.
    fn batch(
        &self,
        input: &NoisyInput,
        series: DrawPurpose,
        draws: Range<u64>,
        scratch: &mut Scratch,
    ) -> Result<(), C::Error> {
        let Scratch { memory, rows, answers, decided } = scratch;
        let count = usize::try_from(draws.end - draws.start).unwrap_or(0); // at most a batch
        answers.resize(count, 0);
        decided.resize(count, false);
        let width = self.plan.space().output_dim();
        let most = self.classifier.at_once().unwrap_or(count).max(1);
        let mut first = draws.start;
        for (answers, decided) in answers.chunks_mut(most).zip(decided.chunks_mut(most)) {
            let rows = room(rows, answers.len() * width);
            let draws = (0..answers.len()).map(|row| series.draw(first + row as u64));
            self.plan.rows(input, draws, memory, rows, decided);
            // Undecided rows are asked about too, and their answers not looked at.
            self.classifier.classify(rows, answers.len(), answers)?;
            first += answers.len() as u64;
        }
        Ok(())
    }
}
