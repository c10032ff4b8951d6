//! What a check of records comes to.

use gambeson_smooth::record::Record;
use serde::Serialize;

/// What was found wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordFinding {
    /// Line of the file, from 1; null where it is about the whole run.
    pub line: Option<usize>,
    /// Which input; null likewise.
    pub index: Option<u64>,
    /// What is wrong.
    pub reason: String,
}

impl RecordFinding {
    pub(super) fn whole_run(reason: String) -> Self {
        Self { line: None, index: None, reason }
    }

    pub(super) fn of(line: usize, record: &Record, reason: String) -> Self {
        Self { line: Some(line), index: Some(record.index), reason }
    }
}

/// How a check of records ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordsVerdict {
    /// The draws were made again, and prove what is claimed.
    Proven,
    /// Fresh draws do not contradict what is claimed.
    NotRefuted,
    /// Nothing is wrong with the records, but draws made here prove less.
    NotReproduced,
    /// Something is wrong.
    #[default]
    Rejected,
}

/// What `check --json` prints about records. Keys are only ever added.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RecordsCheck {
    /// How it ended.
    pub verdict: RecordsVerdict,
    /// Whether the verdict is that the records are proven.
    pub proven: bool,
    /// Records in the file.
    pub records: usize,
    /// Inputs of the data; a file need not cover all of them.
    pub inputs: usize,
    /// The least index of the file.
    pub first: u64,
    /// The largest.
    pub last: u64,
    /// Records drawn again, or certified afresh.
    pub checked: usize,
    /// Draws made for that.
    pub draws: u64,
    /// Draws that had another answer, at least.
    pub differing: u64,
    /// By how much radii are smaller with the counts as drawn now, at most.
    pub smaller_by: f64,
    /// Whether the seed is the one that network, projection, data, sigma and grid give with the nonce.
    pub seed_derived: bool,
    /// The nonce of the run; null where its seed was given.
    pub nonce: Option<u64>,
    /// What fresh draws say; null where the run's own were made again.
    pub fresh: Option<FreshComparison>,
    /// What chose the sample; null where all were checked.
    pub sample_seed: Option<u64>,
    /// What is wrong.
    pub findings: Vec<RecordFinding>,
    /// Records that draws made here do not prove, near-ties having fallen otherwise.
    pub not_reproduced: Vec<RecordFinding>,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Whether it ended before all records chosen were drawn again.
    #[serde(skip)]
    pub stopped: bool,
}

/// What fresh draws say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FreshComparison {
    /// The verifier's.
    pub nonce: u64,
    /// Claims that fresh draws refute: not each of them is wrong.
    pub refuted: Vec<RecordFinding>,
    /// Chance exceeds this number of refuted claims with probability below 1e-6.
    pub tolerated: u64,
    /// Certified correctly (without labels: certified) in the records.
    pub recorded_accuracy: f64,
    /// The same afresh.
    pub fresh_accuracy: f64,
}

impl RecordsCheck {
    /// Whether nothing speaks against the records, and nothing was left out.
    pub fn passed(&self) -> bool {
        matches!(self.verdict, RecordsVerdict::Proven | RecordsVerdict::NotRefuted) && !self.stopped
    }

    /// The verdict that follows from what was found.
    pub(super) fn decided(mut self) -> Self {
        self.verdict = match (self.findings.is_empty() && self.checked > 0, &self.fresh) {
            (false, _) => RecordsVerdict::Rejected,
            (true, Some(_)) => RecordsVerdict::NotRefuted,
            (true, None) if !self.not_reproduced.is_empty() => RecordsVerdict::NotReproduced,
            (true, None) => RecordsVerdict::Proven,
        };
        self.proven = self.verdict == RecordsVerdict::Proven;
        self
    }
}
