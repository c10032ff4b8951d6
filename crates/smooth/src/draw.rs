//! The draws themselves: noise, decoding, the classifier, counting, one batch at a time on all threads.
//!
//! A batch is the draws between two multiples of its size, cut at the looks of a sequential run, so which draws share a
//! batch depends on nothing else; counts are integers, so their sum does not depend on which thread adds first.

use crate::classifier::Classifier;
use crate::noise::{Centre, Draw, Noise};
use crate::space::Space;
use gambeson_lowrank::observe::Observer;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often each class was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// By class.
    pub classes: Vec<u64>,
    /// Draws without a class.
    pub none: u64,
}

impl Counts {
    /// No draws yet.
    pub fn new(classes: usize) -> Self {
        Self { classes: vec![0; classes], none: 0 }
    }

    /// Draws of a class.
    pub fn of(&self, class: u32) -> u64 {
        self.classes.get(class as usize).copied().unwrap_or(0)
    }

    /// All draws.
    pub fn draws(&self) -> u64 {
        self.classes.iter().sum::<u64>() + self.none
    }

    /// The most frequent class, the lowest of equals; none where draws without a class are more frequent, or there are
    /// no draws.
    pub fn most(&self) -> Option<u32> {
        let highest = self.classes.iter().copied().max().filter(|&count| count > 0 && count >= self.none)?;
        let class = self.classes.iter().position(|&count| count == highest)?;
        u32::try_from(class).ok()
    }

    /// How frequent the second is, draws without a class counted as one.
    pub fn second(&self) -> u64 {
        let mut all: Vec<u64> = self.classes.iter().copied().chain([self.none]).collect();
        all.sort_unstable();
        all.iter().rev().nth(1).copied().unwrap_or(0)
    }

    /// Adds other draws.
    pub fn add(&mut self, other: &Self) {
        self.classes.iter_mut().zip(&other.classes).for_each(|(sum, count)| *sum += count);
        self.none += other.none;
    }

    fn answer(&mut self, class: u32) {
        // Beyond the classes lies what has no class: [`crate::classifier::NONE`].
        match self.classes.get_mut(class as usize) {
            Some(count) => *count += 1,
            None => self.none += 1,
        }
    }
}

/// A batch was drawn and classified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Draws of this batch.
    pub draws: u64,
}

/// What the draws are for.
#[derive(Clone, Copy)]
pub(crate) enum Series {
    Selection,
    Estimation,
}

/// Why draws were not counted.
pub(crate) enum Halt<E> {
    Stopped,
    Failed(E),
}

/// Draws around inputs, for one classifier and one kind of noise.
pub(crate) struct Sampler<'a, C> {
    pub(crate) classifier: &'a C,
    pub(crate) space: &'a Space,
    /// σ.
    sigma: f64,
    /// Draws given to the classifier at once.
    batch: usize,
    /// Memory of batches that are done.
    idle: Mutex<Vec<Scratch>>,
}

/// Memory of one batch, used again.
#[derive(Default)]
struct Scratch {
    codes: Vec<f32>,
    values: Vec<f32>,
    mapped: Vec<f32>,
    answers: Vec<u32>,
}

impl<'a, C: Classifier> Sampler<'a, C> {
    /// The classifier takes what the space gives; a batch has at least one draw.
    pub(crate) fn new(classifier: &'a C, space: &'a Space, sigma: f64, batch: usize) -> Self {
        Self { classifier, space, sigma, batch, idle: Mutex::new(Vec::new()) }
    }

    /// What noise is added to: a code, as the classifier takes it where nothing is decoded.
    pub(crate) fn centre(&self, code: &[f64]) -> Centre {
        let map = if self.space.is_identity() { self.classifier.input_map() } else { None };
        Centre::new(code, self.sigma, map)
    }

    /// Counts of a range of draws around a centre. The observer is asked after every batch, by one thread at a time.
    pub(crate) fn counts(
        &self,
        centre: &Centre,
        noise: Noise,
        series: Series,
        draws: Range<u64>,
        observer: &mut (impl Observer<Drawn> + Send),
    ) -> Result<Counts, Halt<C::Error>> {
        let size = self.batch as u64;
        let batches = draws.start / size..draws.end.div_ceil(size);
        let observer = Mutex::new(observer);
        let one = |batch: u64| {
            let draws = (batch * size).max(draws.start)..((batch + 1) * size).min(draws.end);
            let mut scratch = lock(&self.idle).pop().unwrap_or_default();
            let drawn = Drawn { draws: draws.end - draws.start };
            let counts = self.batch(centre, noise, series, draws, &mut scratch).map_err(Halt::Failed);
            lock(&self.idle).push(scratch);
            if lock(&observer).observe(&drawn).is_break() { Err(Halt::Stopped) } else { counts }
        };
        let add = |mut sum: Counts, counts: Counts| {
            sum.add(&counts);
            Ok(sum)
        };
        batches.into_par_iter().map(one).try_reduce(|| Counts::new(self.classifier.classes()), add)
    }

    fn batch(
        &self,
        centre: &Centre,
        noise: Noise,
        series: Series,
        draws: Range<u64>,
        scratch: &mut Scratch,
    ) -> Result<Counts, C::Error> {
        let Scratch { codes, values, mapped, answers } = scratch;
        let rows = usize::try_from(draws.end - draws.start).unwrap_or(0); // at most a batch
        let rank = self.space.rank();
        codes.resize(rows * rank, 0.0);
        answers.resize(rows, 0);
        for (draw, row) in draws.zip(codes.chunks_exact_mut(rank)) {
            let draw = match series {
                Series::Selection => Draw::Selection(draw),
                Series::Estimation => Draw::Estimation(draw),
            };
            noise.perturb(draw, centre, row);
        }
        let batch = if self.space.is_identity() {
            &codes[..]
        } else {
            let width = self.space.output_dim();
            values.resize(rows * width, 0.0);
            self.space.decode(codes, rows, values);
            match self.classifier.input_map() {
                None => &values[..],
                Some(map) => {
                    mapped.resize(rows * width, 0.0);
                    let rows = values.chunks_exact(width).zip(mapped.chunks_exact_mut(width));
                    rows.for_each(|(row, mapped)| map.apply(row, mapped));
                    &mapped[..]
                }
            }
        };
        self.classifier.classify(batch, rows, answers)?;
        let mut counts = Counts::new(self.classifier.classes());
        answers.iter().for_each(|&class| counts.answer(class));
        Ok(counts)
    }
}

/// What a panic elsewhere left behind is as good as before: memory to overwrite, or an observer.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
