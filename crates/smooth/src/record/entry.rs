//! What certification records and predictions have in common.

use super::error::RecordProblem;
use super::head::{DigestedRun, RunContent};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// What a line of a file says of one input: a [`Record`](super::Record), or a
/// [`PredictionRecord`](super::PredictionRecord).
pub trait Entry: Sealed + Clone {
    /// What all entries of a file share.
    type Run: RunContent;
    /// The entry as a line has it: its run by digest.
    type Content: Serialize + DeserializeOwned;
    /// The entry as a line has it, without the digest of the line.
    fn to_content(&self) -> Self::Content;
    /// The digest of the run that a line names.
    fn named_run(content: &Self::Content) -> &str;
    /// Takes the digest of the line out.
    fn take_digest(content: &mut Self::Content) -> Option<String>;
    /// The entry of a line, whose run this is.
    fn of_run(content: Self::Content, run: &Arc<DigestedRun<Self::Run>>) -> Self;
    /// What both kinds of entries have.
    fn parts(&self) -> Parts<'_, Self::Run>;
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
    /// What all entries of the file share.
    pub run: &'a Arc<DigestedRun<R>>,
}

/// Entries are those of this crate.
pub trait Sealed {}
