//! Memory of one batch, and how it is filled.

use super::params::RowFormat;
use crate::idle::Idle;
use crate::noise::Draw;
use crate::smoother::{DrawPurpose, NoisyInput, Procedure, RowMemory, SmoothingPlan, room};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rows made together on one thread: they stay in its cache while they are decoded.
const TOGETHER: usize = 32;

/// Rows to be classified.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batch<'a> {
    /// Which input they are draws of.
    pub index: u64,
    /// How many are to be classified; rows beyond are padding.
    pub count: usize,
    /// How many of them, the first ones, are draws that choose the class; the others are counted.
    pub selection: usize,
    /// Numbers in a row.
    pub width: usize,
    /// The rows, one after the other.
    pub rows: Rows<'a>,
}

/// The numbers of rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rows<'a> {
    /// Values.
    F32(&'a [f32]),
    /// Whole numbers.
    I16(&'a [i16]),
    /// Whole numbers of an input with some that need more than 16 bits.
    I32(&'a [i32]),
}

/// The draws of an input as one sequence: those that choose the class, then those that are counted.
#[derive(Clone, Copy, Debug)]
struct Sequence {
    /// Draws that choose the class.
    selection: u64,
    /// The first of the others.
    first: u64,
    /// All of them.
    length: u64,
}

impl Sequence {
    fn draw(self, position: u64) -> Draw {
        if position < self.selection {
            DrawPurpose::Selection.draw(position)
        } else {
            DrawPurpose::Estimation.draw(position - self.selection + self.first)
        }
    }
}

/// The types that rows can have.
#[derive(Clone, Copy, Debug)]
enum NumberType {
    F32,
    I16,
    I32,
}

/// The draws of one input, and how their rows are made.
pub(super) struct DrawSource {
    plan: Arc<SmoothingPlan>,
    input: Arc<NoisyInput>,
    sequence: Sequence,
    numbers: NumberType,
    width: usize,
    /// Rows are no longer needed.
    stopped: AtomicBool,
}

impl DrawSource {
    /// All draws that a procedure may need.
    pub(super) fn new<T>(procedure: &Procedure<T>, format: RowFormat) -> Self {
        let (plan, input) = (Arc::clone(procedure.plan()), procedure.input());
        let (selection, most) = procedure.most();
        let sequence = match procedure.next() {
            None => Sequence { selection: 0, first: 0, length: 0 },
            Some((DrawPurpose::Selection, _)) => Sequence { selection, first: 0, length: selection + most },
            Some((DrawPurpose::Estimation, first)) => Sequence { selection: 0, first, length: most - first },
        };
        let (input, numbers, width) = match format {
            RowFormat::Values => (Arc::clone(input), NumberType::F32, plan.space().output_dim()),
            RowFormat::WholeNumbers => {
                let centre = input.centre.clone().in_steps();
                let fits = centre.most_steps() <= f32::from(i16::MAX);
                let numbers = if fits { NumberType::I16 } else { NumberType::I32 };
                (Arc::new(NoisyInput { centre, noise: input.noise }), numbers, plan.space().rank())
            }
        };
        Self { plan, input, sequence, numbers, width, stopped: AtomicBool::new(false) }
    }

    /// How many draws there may be.
    pub(super) fn len(&self) -> u64 {
        self.sequence.length
    }

    /// What is being made is no longer needed.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// The rows of some draws, on all threads, a few rows at a time; `make` makes them.
    fn each_part<N: Send>(
        &self,
        draws: &Range<u64>,
        (numbers, decided): (&mut [N], &mut [bool]),
        memory: &Idle<RowMemory>,
        make: impl Fn(&mut dyn ExactSizeIterator<Item = Draw>, &mut RowMemory, &mut [N], &mut [bool]) + Sync,
    ) {
        let numbers = numbers.par_chunks_mut((TOGETHER * self.width).max(1));
        let parts = numbers.zip(decided.par_chunks_mut(TOGETHER)).enumerate();
        parts.for_each(|(part, (numbers, decided))| {
            if self.is_stopped() {
                return;
            }
            let first = draws.start + (part * TOGETHER) as u64;
            let mut draws = (0..decided.len()).map(|row| self.sequence.draw(first + row as u64));
            let mut own = memory.take();
            make(&mut draws, &mut own, numbers, decided);
            memory.give(own);
        });
    }

    /// The same for whole numbers.
    fn whole_numbers<N: Send>(
        &self,
        draws: &Range<u64>,
        out: (&mut [N], &mut [bool]),
        memory: &Idle<RowMemory>,
        convert: impl Fn(f32) -> N + Sync,
    ) {
        self.each_part(draws, out, memory, |draws, memory, numbers, decided| {
            let codes = room(&mut memory.codes, numbers.len());
            self.input.codes(draws, codes, decided);
            numbers.iter_mut().zip(codes).for_each(|(number, code)| *number = convert(*code));
        });
    }
}

/// Memory of one batch.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    numbers: Numbers,
    decided: Vec<bool>,
    width: usize,
}

#[derive(Debug)]
enum Numbers {
    F32(Vec<f32>),
    I16(Vec<i16>),
    I32(Vec<i32>),
}

impl Default for Numbers {
    fn default() -> Self {
        Self::F32(Vec::new())
    }
}

impl Numbers {
    /// Of a type, with the memory there is if it has it.
    fn with_type(self, wanted: NumberType) -> Self {
        match (wanted, self) {
            (NumberType::F32, same @ Self::F32(_))
            | (NumberType::I16, same @ Self::I16(_))
            | (NumberType::I32, same @ Self::I32(_)) => same,
            (NumberType::F32, _) => Self::F32(Vec::new()),
            (NumberType::I16, _) => Self::I16(Vec::new()),
            (NumberType::I32, _) => Self::I32(Vec::new()),
        }
    }
}

impl Buffer {
    /// Makes the rows of some draws, with room for at least `rows`; those beyond the draws are zeros.
    pub(super) fn fill(
        &mut self,
        source: &DrawSource,
        draws: &Range<u64>,
        rows: usize,
        memory: &Idle<RowMemory>,
    ) {
        let count = usize::try_from(draws.end - draws.start).unwrap_or(0); // at most a batch
        self.decided.resize(count, false);
        self.width = source.width;
        self.numbers = std::mem::take(&mut self.numbers).with_type(source.numbers);
        let (all, used) = (rows.max(count) * self.width, count * self.width);
        let decided = &mut self.decided[..];
        match &mut self.numbers {
            Numbers::F32(numbers) => {
                let out = (sized(numbers, all, used), decided);
                source.each_part(draws, out, memory, |draws, memory, rows, decided| {
                    source.plan.rows(&source.input, draws, memory, rows, decided);
                });
            }
            Numbers::I16(numbers) => {
                source.whole_numbers(draws, (sized(numbers, all, used), decided), memory, small);
            }
            #[allow(clippy::cast_possible_truncation)]
            Numbers::I32(numbers) => {
                source.whole_numbers(draws, (sized(numbers, all, used), decided), memory, |code| code as i32);
            }
        }
    }

    /// Which draws were decided: one for each row that is to be classified.
    pub(super) fn decided(&self) -> &[bool] {
        &self.decided
    }

    /// A draw as if the sampler could not have decided it.
    #[cfg(test)]
    pub(super) fn leave_open(&mut self, row: usize) {
        self.decided[row] = false;
    }

    /// The rows as the caller sees them.
    pub(super) fn batch(&self, index: u64, selection: usize) -> Batch<'_> {
        let rows = match &self.numbers {
            Numbers::F32(numbers) => Rows::F32(numbers),
            Numbers::I16(numbers) => Rows::I16(numbers),
            Numbers::I32(numbers) => Rows::I32(numbers),
        };
        Batch { index, count: self.decided.len(), selection, width: self.width, rows }
    }
}

/// A whole number of 16 bits; anything for numbers of undecided draws, which mean nothing. Added to 1.5·2²³ it stands in the
/// last bits of a single: compilers vectorise this, but not a conversion that saturates.
#[allow(clippy::cast_possible_truncation)]
fn small(number: f32) -> i16 {
    (number + 12_582_912.0).to_bits() as i16
}

/// A buffer of `all` numbers, zeros beyond the first `used`: those.
fn sized<N: Clone + Default>(numbers: &mut Vec<N>, all: usize, used: usize) -> &mut [N] {
    numbers.truncate(all);
    let kept = used.min(numbers.len());
    numbers[kept..].fill(N::default());
    numbers.resize(all, N::default());
    &mut numbers[..used]
}
