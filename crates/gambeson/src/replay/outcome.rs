//! What a check of records comes to.

use super::sample::{MissedForgery, missed};
use crate::error::Error;
use gambeson_smooth::claim::{Claim, claim};
use gambeson_smooth::record::{Record, Recorded};
use serde::Serialize;

/// What was found wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordFinding {
    /// The file, where there are several; null where it is about the whole run.
    pub file: Option<String>,
    /// Line of the file, from 1; null likewise.
    pub line: Option<usize>,
    /// Which input; null likewise.
    pub index: Option<u64>,
    /// What is wrong.
    pub reason: String,
}

impl RecordFinding {
    pub(crate) fn whole_run(reason: String) -> Self {
        Self { file: None, line: None, index: None, reason }
    }
}

/// A last line that a kill broke off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BrokenLine {
    /// The file.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
}

/// How a check of records ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordsVerdict {
    /// All draws were made again, and their counts are those recorded, or prove as much.
    Redrawn,
    /// The same of some records.
    Sampled,
    /// Fresh draws do not contradict what is claimed.
    NotRefuted,
    /// Nothing is wrong with the records, but draws made here prove less.
    NotReproduced,
    /// Nothing is wrong with what was looked at, but no draw was made again: a part is missing, or the check was stopped
    /// before.
    NotRedrawn,
    /// Inputs planned have no record.
    Incomplete,
    /// Something is wrong.
    #[default]
    Rejected,
}

impl RecordsVerdict {
    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Redrawn => "REDRAWN",
            Self::Sampled => "SAMPLED",
            Self::NotRefuted => "NOT REFUTED",
            Self::NotReproduced => "NOT REPRODUCED",
            Self::NotRedrawn => "NOT REDRAWN",
            Self::Incomplete => "INCOMPLETE",
            Self::Rejected => "REJECTED",
        }
    }

    /// Whether nothing speaks against the records.
    pub fn is_good(self) -> bool {
        matches!(self, Self::Redrawn | Self::Sampled | Self::NotRefuted)
    }
}

/// What `check --json` prints about records. Keys are only ever added.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RecordsCheck {
    /// How it ended.
    pub verdict: RecordsVerdict,
    /// What the records claim together; null where they are rejected, or not all of them were examined.
    pub claim: Option<Claim>,
    /// Inputs that have a record.
    pub records: usize,
    /// Inputs planned that have none.
    pub missing: u64,
    /// The first of them.
    pub first_missing: Option<u64>,
    /// Lines that say again what another line said; each input counts once.
    pub repeated: usize,
    /// Last lines that were broken off, and left out.
    pub broken_off: Vec<BrokenLine>,
    /// Inputs of the data.
    pub inputs: usize,
    /// Digest of the plan.
    pub plan: String,
    /// What the records call the data, where the verifier calls them otherwise.
    pub other_name: Option<String>,
    /// Whether head, labels, errors and radii of all records were checked.
    pub examined: bool,
    /// Records drawn again, or certified afresh.
    pub checked: usize,
    /// Chances that a sample misses forged records; empty where all were drawn again, or one that was chosen.
    pub missed: Vec<MissedForgery>,
    /// Draws made for that.
    pub draws: u64,
    /// Draws that had another answer, at least.
    pub differing: u64,
    /// By how much radii are smaller with the counts as drawn now, at most.
    pub smaller_by: f64,
    /// Whether the seed is the one that network, projection, data, sigma, grid and numbers of draws give with the nonce.
    pub seed_derived: bool,
    /// The nonce of the run; null where its seed was given.
    pub nonce: Option<u64>,
    /// What fresh draws say; null where the run's own were made again.
    pub fresh: Option<FreshComparison>,
    /// What chose the order in which records were drawn again; null where none or all were, or one that was chosen.
    pub sample_seed: Option<u64>,
    /// What is wrong.
    pub findings: Vec<RecordFinding>,
    /// Records that draws made here do not prove, near-ties having fallen otherwise.
    pub not_reproduced: Vec<RecordFinding>,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Whether it ended before all that was asked for was done.
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
    /// Rejects the records for what was found elsewhere.
    pub(crate) fn reject(&mut self, findings: impl IntoIterator<Item = String>) {
        self.findings.extend(findings.into_iter().map(RecordFinding::whole_run));
        if !self.findings.is_empty() {
            (self.verdict, self.claim) = (RecordsVerdict::Rejected, None);
        }
    }

    /// Whether nothing speaks against the records, and all that was asked for was done.
    pub fn passed(&self) -> bool {
        self.verdict.is_good() && !self.stopped
    }

    /// The verdict that follows from what was found, and the claim unless the records are rejected.
    pub(super) fn conclude(&mut self, recorded: &Recorded<Record>, data: String) -> Result<(), Error> {
        // In which order all were drawn says nothing.
        self.sample_seed = self.sample_seed.filter(|_| self.checked < self.records);
        self.verdict = if !self.findings.is_empty() {
            RecordsVerdict::Rejected
        } else if self.missing > 0 {
            RecordsVerdict::Incomplete
        } else if !self.not_reproduced.is_empty() {
            RecordsVerdict::NotReproduced
        } else if self.checked == 0 {
            RecordsVerdict::NotRedrawn
        } else if self.fresh.is_some() {
            RecordsVerdict::NotRefuted
        } else if self.checked == self.records {
            RecordsVerdict::Redrawn
        } else {
            RecordsVerdict::Sampled
        };
        if self.verdict == RecordsVerdict::Rejected || !self.examined {
            return Ok(());
        }
        // An input that the verifier chose is no sample.
        if self.sample_seed.is_some() && (1..self.records).contains(&self.checked) {
            self.missed = missed(self.records as u64, self.checked as u64);
        }
        let (head, plan) = (recorded.head(), self.plan.clone());
        self.claim = Some(claim(head, plan, data, &recorded.entries())?);
        Ok(())
    }
}
