//! What goes on a page, and what its lines for a shell are.

use super::recheck::Recheck;
use gambeson_report::page::ReportSection;
use std::ffi::OsString;
use std::path::PathBuf;

/// A line for a shell that checks something again.
pub type CommandLine = fn(&Recheck<'_>) -> String;

/// The name of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunName {
    /// Its folder of training, and its files of records.
    pub paths: Vec<PathBuf>,
    /// The name.
    pub label: String,
}

/// Parameters of [`report`](crate::report()).
#[derive(Clone, Debug)]
pub struct ReportParams {
    /// The file to be written; nothing is written if `None`.
    pub out: Option<PathBuf>,
    /// Heading of the page. If `None`, it is made from the runs.
    pub title: Option<String>,
    /// Paragraphs below the heading.
    pub lead: Vec<String>,
    /// Names of the runs, one each, in the order in which they are found. If empty, they are made from the paths.
    pub labels: Vec<String>,
    /// Names of runs by their paths, in place of `labels`.
    pub names: Vec<RunName>,
    /// What the caller knows to be missing; told beside what is found to be missing.
    pub problems: Vec<String>,
    /// Names or paths of data whose inputs are shown. Data that records or specs name are looked for by that name too.
    pub data: Vec<OsString>,
    /// Where installed and imported data sets live: `$GAMBESON_DATA`, or the data directory of the platform, if `None`.
    pub data_folder: Option<PathBuf>,
    /// Networks that lines for a shell name. Those beside the records are found.
    pub networks: Vec<PathBuf>,
    /// Projections, likewise; κ is proven again from those that are found.
    pub projections: Vec<PathBuf>,
    /// Inputs shown of each data set, at most, evenly chosen.
    pub inputs: usize,
    /// Bytes of the page, at most. Pictures are left out first.
    pub most_bytes: usize,
    /// Sections before those of the runs.
    pub opening: Vec<ReportSection>,
    /// Further sections, before the claims.
    pub sections: Vec<ReportSection>,
    /// Makes lines for a shell; without it the page has none.
    pub command_line: Option<CommandLine>,
}

impl Default for ReportParams {
    /// 400 inputs, 5 MB, no lines for a shell.
    fn default() -> Self {
        Self {
            out: None,
            title: None,
            lead: Vec::new(),
            labels: Vec::new(),
            names: Vec::new(),
            problems: Vec::new(),
            data: Vec::new(),
            data_folder: None,
            networks: Vec::new(),
            projections: Vec::new(),
            inputs: 400,
            most_bytes: 5_000_000,
            opening: Vec::new(),
            sections: Vec::new(),
            command_line: None,
        }
    }
}

impl ReportParams {
    /// Whether there is something to show without runs.
    pub(super) fn has_sections(&self) -> bool {
        !self.opening.is_empty() || !self.sections.is_empty()
    }
}
