//! What certification records and predictions have in common.

use super::error::RecordProblem;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What a line of a file says of one input: a [`Record`](super::Record), or a
/// [`PredictionRecord`](super::PredictionRecord).
pub trait Entry: Sealed + Serialize + DeserializeOwned + Clone {
    /// What all entries of a run have in common.
    type Run: Clone + PartialEq + Serialize;
    /// How every line begins.
    const START: &'static [u8];
    /// Keys that are left out of a line where they say nothing.
    const OPTIONAL_KEYS: &'static [&'static str];
    /// What both kinds of entries have.
    fn parts(&self) -> Parts<'_, Self::Run>;
    /// Where the digest of the line stands.
    fn digest(&mut self) -> &mut Option<String>;
    /// What is wrong with it in itself.
    fn validate(&self) -> Result<(), RecordProblem>;
    /// Whether its counts prove what is stored beside them.
    fn check_claim(&self) -> Result<(), RecordProblem>;
    /// Whether the two say the same of one input, times aside.
    fn same_counts(&self, other: &Self) -> bool;
}

/// What both kinds of entries have.
pub struct Parts<'a, R> {
    /// Which input, from 0.
    pub index: u64,
    /// Its class, if known.
    pub label: Option<u32>,
    /// How many classes are counted.
    pub classes: usize,
    /// What all entries of the run have in common.
    pub run: &'a R,
}

/// Entries are those of this crate.
pub trait Sealed {}
