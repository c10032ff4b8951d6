//! How often each class was answered.

use crate::limit::ClassDraws;

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

    /// The same, borrowed.
    pub fn draws_by_class(&self) -> ClassDraws<'_> {
        ClassDraws { classes: &self.classes, none: self.none, undecided: self.undecided }
    }

    /// Draws of a class.
    pub fn of(&self, class: u32) -> u64 {
        self.draws_by_class().of(class)
    }

    /// All draws.
    pub fn draws(&self) -> u64 {
        self.classes.iter().sum::<u64>() + self.none + self.undecided
    }

    /// The most frequent class, the lowest of equals; none where draws without a class are more frequent, or there are
    /// no draws.
    pub fn most(&self) -> Option<u32> {
        self.draws_by_class().most()
    }

    /// Adds other draws; of the two, the larger number of classes is that of the sum.
    pub fn add(&mut self, other: &Self) {
        self.classes.resize(self.classes.len().max(other.classes.len()), 0);
        self.classes.iter_mut().zip(&other.classes).for_each(|(sum, count)| *sum += count);
        self.none += other.none;
        self.undecided += other.undecided;
    }

    /// One more draw: its answer, if the sampler decided it.
    pub(crate) fn count(&mut self, class: u32, decided: bool) {
        if !decided {
            self.undecided += 1;
            return;
        }
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
