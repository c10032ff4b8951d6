//! How far loading, fetching and storing have come; seen by an
//! [`Observer<LoadProgress>`](gambeson_lowrank::observe::Observer).

use std::sync::Arc;

/// What long work is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Reading files; in bytes, or in files of a set.
    Read,
    /// Decoding audio or images; in files.
    Decode,
    /// Waiting for a server, or for npm; of unknown length.
    Wait,
    /// Downloading; in bytes.
    Download,
    /// Unpacking an archive; in bytes of the archive.
    Unpack,
    /// Turning images into another layout; in files.
    Convert,
    /// Writing; in bytes.
    Write,
    /// Adding up moments; in samples.
    Sum,
}

/// A look at long work.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadProgress {
    /// What it is doing.
    pub stage: Stage,
    /// How much of it is done, in the unit of the stage.
    pub done: u64,
    /// How much there is to do, where that is known.
    pub total: Option<u64>,
    /// Where a set is being fetched from: the name of a [`Provider`](crate::fetch::Provider). `None` where nothing is
    /// being fetched.
    pub provider: Option<Arc<str>>,
    /// Bytes per second of a download, over its last few seconds; `None` in other stages and before the first bytes.
    pub rate: Option<f64>,
}

impl LoadProgress {
    /// A look at work that fetches nothing.
    pub fn new(stage: Stage, done: u64, total: Option<u64>) -> Self {
        Self { stage, done, total, provider: None, rate: None }
    }
}
