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
    /// The keys that a line of version 1 may have.
    const KEYS: &'static [&'static str];
    /// Those that came with version 2.
    const LATER_KEYS: &'static [&'static str];
    /// Which input, from 0.
    fn index(&self) -> u64;
    /// Its class, if known.
    fn label(&self) -> Option<u32>;
    /// How many classes are counted.
    fn classes(&self) -> usize;
    /// What all entries of the run have in common.
    fn run(&self) -> &Self::Run;
    /// The version of its format.
    fn version(&self) -> u32;
    /// Where the digest of the line stands.
    fn digest(&mut self) -> &mut Option<String>;
    /// Fills in what its version leaves unsaid.
    fn complete(&mut self);
    /// What is wrong with it in itself.
    fn validate(&self) -> Result<(), RecordProblem>;
    /// Whether its counts prove what is stored beside them.
    fn check_claim(&self) -> Result<(), RecordProblem>;
    /// Whether the two say the same of one input, times aside.
    fn same_counts(&self, other: &Self) -> bool;
}

/// Entries are those of this crate.
pub trait Sealed {}
