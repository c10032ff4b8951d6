//! What a check of records comes to, and how it is told.

use crate::report::decimal::up;
use crate::screen::{proven, rejected, shown, wrapped};
use gambeson_smooth::record::Record;
use serde::Serialize;
use std::io::Write;

/// Findings printed.
const SHOWN: usize = 5;

/// What was found wrong, and where.
#[derive(Clone, Serialize)]
pub(super) struct Place {
    /// Of the file, from 1; null where it is about the whole run.
    pub(super) line: Option<usize>,
    /// Which input; null likewise.
    pub(super) index: Option<u64>,
    pub(super) reason: String,
}

impl Place {
    pub(super) fn whole_run(reason: String) -> Self {
        Self { line: None, index: None, reason }
    }

    pub(super) fn of(line: usize, record: &Record, reason: String) -> Self {
        Self { line: Some(line), index: Some(record.index), reason }
    }
}

/// How it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    /// The draws were made again, and prove what is claimed.
    Proven,
    /// Fresh draws do not contradict what is claimed.
    NotRefuted,
    /// Nothing is wrong with the records, but draws made here prove less.
    NotReproduced,
    #[default]
    Rejected,
}

/// What `check --json` prints about records.
#[derive(Default, Serialize)]
pub(super) struct Outcome {
    pub(super) verdict: Verdict,
    /// Whether the verdict is that.
    pub(super) proven: bool,
    /// In the file.
    pub(super) records: usize,
    /// The data have as many; a file need not cover all of them.
    pub(super) inputs: usize,
    /// The least and the largest index of the file.
    pub(super) first: u64,
    pub(super) last: u64,
    /// Drawn again, or certified afresh.
    pub(super) checked: usize,
    pub(super) draws: u64,
    /// Draws that had another answer, at least.
    pub(super) differing: u64,
    /// By how much radii are smaller with the counts as drawn now, at most.
    pub(super) smaller_by: f64,
    /// Whether the seed is the one that network, projection, data, sigma and grid give with the nonce.
    pub(super) seed_derived: bool,
    pub(super) nonce: Option<u64>,
    pub(super) fresh: Option<Comparison>,
    /// What chose the sample; null where all were checked.
    pub(super) sample_seed: Option<u64>,
    pub(super) findings: Vec<Place>,
    /// Records that draws made here do not prove, near-ties having fallen otherwise.
    pub(super) not_reproduced: Vec<Place>,
    pub(super) seconds: f64,
}

/// What fresh draws say.
#[derive(Serialize)]
pub(super) struct Comparison {
    /// The verifier's.
    pub(super) nonce: u64,
    /// Claims that fresh draws refute: not each of them is wrong.
    pub(super) refuted: Vec<Place>,
    /// As many may be by chance, but for a probability of 1e-6.
    pub(super) tolerated: u64,
    /// Certified correctly (without labels: certified) in the records, and afresh.
    pub(super) recorded_accuracy: f64,
    pub(super) fresh_accuracy: f64,
}

impl Outcome {
    /// The verdict that follows from what was found.
    pub(super) fn decide(&mut self) {
        self.verdict = match (self.findings.is_empty() && self.checked > 0, &self.fresh) {
            (false, _) => Verdict::Rejected,
            (true, Some(_)) => Verdict::NotRefuted,
            (true, None) if !self.not_reproduced.is_empty() => Verdict::NotReproduced,
            (true, None) => Verdict::Proven,
        };
        self.proven = self.verdict == Verdict::Proven;
    }

    pub(super) fn print(&self, stdout: &mut impl Write) -> std::io::Result<()> {
        let Self { records, checked, findings, .. } = self;
        match self.verdict {
            Verdict::Proven => {
                let what = if self.differing > 0 {
                    "drawn again; some near-ties fell otherwise, and what is claimed is proven by the draws as they fell here"
                } else {
                    "drawn again, their counts are the same"
                };
                let text = format!("{}: {checked} of {records} records: {what}", proven());
                writeln!(stdout, "{}", wrapped(&text, 2))?;
            }
            Verdict::NotRefuted => {
                let what = "certified afresh, their claims are not contradicted";
                writeln!(
                    stdout,
                    "{}",
                    wrapped(&format!("NOT REFUTED: {checked} of {records} records: {what}"), 2)
                )?;
            }
            Verdict::NotReproduced => list(stdout, "NOT REPRODUCED", &self.not_reproduced)?,
            Verdict::Rejected if findings.is_empty() => {
                writeln!(stdout, "{}: no record was checked", rejected())?;
            }
            Verdict::Rejected => list(stdout, &rejected(), findings)?,
        }
        if self.inputs > 0 {
            let Self { inputs, first, last, .. } = self;
            let text = format!(
                "records      {records} of the {inputs} inputs, {first} to {last}: labels, errors and radii of all of them \
                 were checked"
            );
            writeln!(stdout, "{}", wrapped(&text, 13))?;
        }
        if *checked > 0 {
            writeln!(stdout, "draws        {} in {:.1} s", self.draws, self.seconds)?;
        }
        if self.differing > 0 && self.fresh.is_none() {
            let by = up(self.smaller_by, 3);
            let text = format!(
                "differing    {} draws; with the counts as drawn now, radii in z are up to {by} smaller",
                self.differing
            );
            writeln!(stdout, "{}", wrapped(&text, 13))?;
        }
        if let Some(seed) = self.sample_seed {
            writeln!(stdout, "sample       --sample-seed {seed}; --all draws every record again")?;
        }
        if let Some(Comparison { nonce, refuted, tolerated, recorded_accuracy, fresh_accuracy }) = &self.fresh
        {
            let text = format!(
                "fresh        nonce {nonce}: {} claims refuted, up to {tolerated} may be by chance; certified \
                 {:.1} % recorded, {:.1} % afresh",
                refuted.len(),
                100.0 * recorded_accuracy,
                100.0 * fresh_accuracy
            );
            writeln!(stdout, "{}", wrapped(&text, 13))?;
            return if findings.is_empty() { list(stdout, "refuted", refuted) } else { Ok(()) };
        }
        if !self.proven {
            return Ok(());
        }
        let seed = match self.nonce {
            Some(nonce) => format!(
                "its seed is hashed from network, projection, data, sigma and grid (nonce {nonce}): whoever tried M \
                 variants has a failure probability of up to M * alpha. Only a nonce of your own excludes that: --nonce"
            ),
            None => "its seed was given by hand: whoever made the run may have tried others, which multiplies alpha. \
                     Certify afresh with a nonce of your own: --nonce"
                .to_owned(),
        };
        writeln!(stdout, "{}", wrapped(&format!("assumed      ChaCha8's words are random; {seed}"), 13))
    }
}

/// The first few, each with its place.
fn list(stdout: &mut impl Write, what: &str, places: &[Place]) -> std::io::Result<()> {
    for place in places.iter().take(SHOWN) {
        let at = match (place.line, place.index) {
            (Some(line), Some(index)) => format!("line {line}, input {index}: "),
            _ => String::new(),
        };
        writeln!(stdout, "{}", wrapped(&format!("{what}: {at}{}", shown(&place.reason)), 2))?;
    }
    if places.len() > SHOWN {
        writeln!(stdout, "  and {} more", places.len() - SHOWN)?;
    }
    Ok(())
}
