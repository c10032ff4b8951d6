//! What a call is about, and where its files are.

use crate::name::{ObjectName, Scale};
use crate::program::Program;
use crate::rendered::file;
use std::path::PathBuf;
use std::time::Duration;

/// Parameters of [`reproduce`](crate::reproduce()) and [`estimate`](crate::estimate()).
#[derive(Clone, Debug)]
pub struct ReproduceParams {
    /// The table or figure.
    pub name: ObjectName,
    /// How much of the experiment to run.
    pub scale: Scale,
    /// How the runs are started.
    pub program: Program,
    /// Folder for records, tables and figures.
    pub results: PathBuf,
    /// Folder for networks that are trained on the way.
    pub runs: PathBuf,
    /// Folder whose NAME.toml replaces the built-in experiment.
    pub experiments: Option<PathBuf>,
    /// Folder of sound files that replaces those of the experiment.
    pub data: Option<PathBuf>,
    /// Folder of public reference data, where the sound files of the experiment are.
    pub reference_data: Option<PathBuf>,
    /// Run nothing: make the table and figure from existing records.
    pub render_only: bool,
    /// Start no further run after this time.
    pub time_limit: Option<Duration>,
}

impl ReproduceParams {
    /// At the scale of a desk, in the folders `results` and `runs`.
    pub fn new(name: ObjectName, program: Program) -> Self {
        Self {
            name,
            scale: Scale::default(),
            program,
            results: "results".into(),
            runs: "runs".into(),
            experiments: None,
            data: None,
            reference_data: None,
            render_only: false,
            time_limit: None,
        }
    }

    /// Files of results, without an extension.
    pub fn stem(&self) -> PathBuf {
        self.results.join(format!("{}.{}", self.name.name(), self.scale.name()))
    }

    /// The records.
    pub fn records(&self) -> PathBuf {
        file(&self.stem(), "jsonl")
    }
}
