//! A page as a result, and what is on it as data.

use gambeson_report::page::SectionRecord;
use serde::Serialize;
use std::path::PathBuf;

/// A page, and what is on it. It serialises to what `report --json` prints.
#[derive(Clone, Debug)]
pub struct Report {
    /// The file.
    pub html: String,
    /// Where it was written.
    pub out: Option<PathBuf>,
    record: ReportRecord,
}

/// What `report --json` prints. Keys are only ever added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportRecord {
    /// The file that was written.
    pub out: Option<String>,
    /// Its size.
    pub bytes: usize,
    /// Heading of the page.
    pub title: String,
    /// In the order of the page.
    pub sections: Vec<SectionRecord>,
    /// The runs on it.
    pub runs: Vec<ReportedRun>,
    /// What was left out, and why.
    pub problems: Vec<String>,
    /// What is worth knowing and leaves nothing out.
    pub remarks: Vec<String>,
}

/// A run on a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportedRun {
    /// Its name there.
    pub label: String,
    /// Its files or its folder.
    pub source: String,
    /// `certification` or `training`.
    pub kind: &'static str,
    /// Inputs with a record; null for training.
    pub inputs: Option<usize>,
}

impl Report {
    pub(super) fn new(html: String, out: Option<PathBuf>, record: ReportRecord) -> Self {
        Self { html, out, record }
    }

    /// What it says, as data.
    pub fn record(&self) -> &ReportRecord {
        &self.record
    }

    /// Whether everything that was named is on the page.
    pub fn is_complete(&self) -> bool {
        self.record.problems.is_empty()
    }
}

impl Serialize for Report {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.record.serialize(serializer)
    }
}
