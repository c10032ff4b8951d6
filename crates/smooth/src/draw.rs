//! The draws themselves: noise, decoding, the classifier, counting, one batch at a time on all threads.
//!
//! A batch is the draws between two multiples of its size, cut at the rounds of a sequential run, so which draws share a
//! batch depends on nothing else; counts are integers, so their sum does not depend on which thread adds first.

use crate::classifier::Classifier;
use crate::noise::{Centre, CentreError, Draw, Grid, RoundedNoise};
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
    /// Draws to which the classifier gave no class.
    pub none: u64,
    /// Draws that the sampler could not decide: they count for no class, and against every other (`statistics/radius.rs`
    /// of the checker has the proof).
    pub undecided: u64,
}

impl Counts {
    /// No draws yet.
    pub fn new(classes: usize) -> Self {
        Self { classes: vec![0; classes], none: 0, undecided: 0 }
    }

    /// Draws of a class.
    pub fn of(&self, class: u32) -> u64 {
        self.classes.get(class as usize).copied().unwrap_or(0)
    }

    /// All draws.
    pub fn draws(&self) -> u64 {
        self.classes.iter().sum::<u64>() + self.none + self.undecided
    }

    /// The most frequent class, the lowest of equals; none where draws without a class are more frequent, or there are
    /// no draws.
    pub fn most(&self) -> Option<u32> {
        let highest = self.classes.iter().copied().max().filter(|&count| count > 0 && count >= self.none)?;
        let class = self.classes.iter().position(|&count| count == highest)?;
        u32::try_from(class).ok()
    }

    /// How frequent the second may be: draws without a class counted as one, and all undecided draws as its own.
    pub fn second(&self) -> u64 {
        let mut all: Vec<u64> = self.classes.iter().copied().chain([self.none]).collect();
        all.sort_unstable();
        all.iter().rev().nth(1).copied().unwrap_or(0) + self.undecided
    }

    /// Adds other draws; of the two, the larger number of classes is that of the sum.
    pub fn add(&mut self, other: &Self) {
        self.classes.resize(self.classes.len().max(other.classes.len()), 0);
        self.classes.iter_mut().zip(&other.classes).for_each(|(sum, count)| *sum += count);
        self.none += other.none;
        self.undecided += other.undecided;
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
    grid: Grid,
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
    decided: Vec<bool>,
}

impl<'a, C: Classifier> Sampler<'a, C> {
    /// The classifier takes what the space gives; a batch has at least one draw.
    pub(crate) fn new(classifier: &'a C, space: &'a Space, sigma: f64, grid: Grid, batch: usize) -> Self {
        Self { classifier, space, sigma, grid, batch, idle: Mutex::new(Vec::new()) }
    }

    /// What noise is added to: a code, as the classifier takes it where nothing is decoded.
    pub(crate) fn centre(&self, code: &[f64]) -> Result<Centre, CentreError> {
        let map = if self.space.is_identity() { self.classifier.input_map() } else { None };
        Centre::new(code, self.sigma, self.grid, map)
    }

    /// Counts of a range of draws around a centre. The observer is asked after every batch, by one thread at a time.
    pub(crate) fn counts(
        &self,
        centre: &Centre,
        noise: RoundedNoise,
        series: Series,
        draws: Range<u64>,
        observer: &mut (impl Observer<Drawn> + Send),
    ) -> Result<Counts, Halt<C::Error>> {
        let ends = [draws.end];
        let mut counts = self.counts_between(centre, noise, series, draws.start, &ends, observer)?;
        Ok(counts.swap_remove(0))
    }

    /// The same for several ranges, one after the other: from `start` to the first of `ends`, and so on; they rise.
    pub(crate) fn counts_between(
        &self,
        centre: &Centre,
        noise: RoundedNoise,
        series: Series,
        start: u64,
        ends: &[u64],
        observer: &mut (impl Observer<Drawn> + Send),
    ) -> Result<Vec<Counts>, Halt<C::Error>> {
        let (size, end) = (self.batch as u64, ends.last().copied().unwrap_or(start));
        let batches = start / size..end.div_ceil(size);
        let observer = Mutex::new(observer);
        let none = || vec![Counts::new(self.classifier.classes()); ends.len()];
        let one = |batch: u64| {
            let draws = (batch * size).max(start)..((batch + 1) * size).min(end);
            let mut scratch = lock(&self.idle).pop().unwrap_or_default();
            let drawn = Drawn { draws: draws.end - draws.start };
            let done = self.batch(centre, noise, series, draws.clone(), &mut scratch).map_err(Halt::Failed);
            let mut counts = none();
            if done.is_ok() {
                for (draw, (&class, &decided)) in draws.zip(scratch.answers.iter().zip(&scratch.decided)) {
                    let range = ends.partition_point(|&end| end <= draw);
                    if decided { counts[range].answer(class) } else { counts[range].undecided += 1 }
                }
            }
            lock(&self.idle).push(scratch);
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
        centre: &Centre,
        noise: RoundedNoise,
        series: Series,
        draws: Range<u64>,
        scratch: &mut Scratch,
    ) -> Result<(), C::Error> {
        let rows = usize::try_from(draws.end - draws.start).unwrap_or(0); // at most a batch
        scratch.answers.resize(rows, 0);
        scratch.decided.clear();
        let most = self.classifier.at_once().unwrap_or(rows).max(1);
        for first in (0..rows).step_by(most) {
            let part = first..(first + most).min(rows);
            let draws = draws.start + part.start as u64..draws.start + part.end as u64;
            self.part(centre, noise, series, draws, part, scratch)?;
        }
        Ok(())
    }

    /// Some rows of a batch: these draws, and where their answers belong.
    fn part(
        &self,
        centre: &Centre,
        noise: RoundedNoise,
        series: Series,
        draws: Range<u64>,
        part: Range<usize>,
        scratch: &mut Scratch,
    ) -> Result<(), C::Error> {
        let Scratch { codes, values, mapped, answers, decided } = scratch;
        let (rows, answers) = (part.len(), &mut answers[part]);
        let rank = self.space.rank();
        let codes = room(codes, rows * rank);
        for (draw, row) in draws.zip(codes.chunks_exact_mut(rank)) {
            let draw = match series {
                Series::Selection => Draw::Selection(draw),
                Series::Estimation => Draw::Estimation(draw),
            };
            decided.push(noise.perturb(draw, centre, row));
        }
        let batch = if self.space.is_identity() {
            &*codes
        } else {
            let width = self.space.output_dim();
            let values = room(values, rows * width);
            self.space.decode(codes, rows, values);
            match self.classifier.input_map() {
                None => &*values,
                Some(map) => {
                    let mapped = room(mapped, rows * width);
                    let rows = values.chunks_exact(width).zip(mapped.chunks_exact_mut(width));
                    rows.for_each(|(row, mapped)| map.apply(row, mapped));
                    &*mapped
                }
            }
        };
        // Undecided rows are asked about too, and their answers not looked at.
        self.classifier.classify(batch, rows, answers)
    }
}

/// The first numbers of a buffer, which never shrinks: what is in them is not specified.
fn room(buffer: &mut Vec<f32>, length: usize) -> &mut [f32] {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    &mut buffer[..length]
}

/// What a panic elsewhere left behind is as good as before: memory to overwrite, or an observer.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
