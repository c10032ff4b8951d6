//! What a check of records comes to, as text for people.

use crate::report::decimal::up;
use crate::screen::{good, rejected, shown, wrapped};
use gambeson::RecordsCheck;
use gambeson::replay::{
    BrokenLine, ClaimWords, FreshComparison, MissedForgery, NO_PROJECTION, RecordFinding, RecordsVerdict,
};
use gambeson_smooth::claim::{CertifiedShare, Claim, grouped};
use std::io::{self, Write};

/// Findings printed.
const SHOWN: usize = 5;
/// Columns before the text of a line.
const INDENT: usize = 13;

pub(super) fn print(check: &RecordsCheck, stdout: &mut impl Write) -> io::Result<()> {
    verdict(check, stdout)?;
    if check.inputs > 0 {
        about_records(check, stdout)?;
    }
    if check.checked > 0 {
        row(stdout, "draws", &format!("{} in {:.1} s", check.draws, check.seconds))?;
    }
    if check.differing > 0 && check.fresh.is_none() {
        let by = up(check.smaller_by, 3);
        let text = format!(
            "{} draws; with the counts as drawn now, radii in z are up to {by} smaller",
            check.differing
        );
        row(stdout, "differing", &text)?;
    }
    sample(check, stdout)?;
    fresh(check, stdout)?;
    match &check.claim {
        Some(claim) => print_claim(check, claim, stdout),
        None => Ok(()),
    }
}

fn verdict(check: &RecordsCheck, stdout: &mut impl Write) -> io::Result<()> {
    let RecordsCheck { records, checked, findings, .. } = check;
    let name = check.verdict.name();
    let text = match check.verdict {
        RecordsVerdict::Rejected => return list(stdout, &rejected(), findings),
        RecordsVerdict::NotReproduced => return list(stdout, name, &check.not_reproduced),
        RecordsVerdict::Incomplete => {
            let first =
                check.first_missing.map_or(String::new(), |index| format!(", the first of them {index}"));
            format!("{name}: {} of the inputs planned have no record{first}", grouped(check.missing))
        }
        RecordsVerdict::NotRedrawn if check.stopped => {
            format!("{name}: the check was stopped before any record was drawn again")
        }
        RecordsVerdict::NotRedrawn => format!("{name}: no draw was made again"),
        RecordsVerdict::NotRefuted => format!(
            "{}: {checked} of {records} records certified afresh; their claims are not contradicted",
            good(name)
        ),
        RecordsVerdict::Redrawn if check.differing > 0 => format!(
            "{}: all {records} records drawn again; some near-ties fell otherwise, and the draws as they fell here prove \
             what is claimed",
            good(name)
        ),
        RecordsVerdict::Redrawn => {
            format!("{}: all {records} records drawn again, with equal counts", good(name))
        }
        RecordsVerdict::Sampled => {
            let what = if check.differing > 0 { "and as good" } else { "with equal counts" };
            format!("{}: {checked} of {records} records drawn again, {what}", good(name))
        }
    };
    writeln!(stdout, "{}", wrapped(&text, 2))
}

fn about_records(check: &RecordsCheck, stdout: &mut impl Write) -> io::Result<()> {
    let RecordsCheck { records, inputs, .. } = check;
    let examined = if check.examined {
        "head, labels, errors and radii of all of them were checked"
    } else {
        "not all of them were examined"
    };
    let text = format!("{records} of the {} inputs of the data: {examined}", grouped(*inputs as u64));
    row(stdout, "records", &text)?;
    if check.repeated > 0 {
        row(stdout, "repeated", &format!("{} lines; each input counts once", check.repeated))?;
    }
    for BrokenLine { file, line } in &check.broken_off {
        row(stdout, "broken off", &format!("{}, line {line}: left out", shown(file)))?;
    }
    if let Some(name) = &check.other_name {
        row(stdout, "name", &format!("the records call these data {}", shown(name)))?;
    }
    Ok(())
}

/// What a sample leaves open.
fn sample(check: &RecordsCheck, stdout: &mut impl Write) -> io::Result<()> {
    let Some(seed) = check.sample_seed.filter(|_| check.checked < check.records) else { return Ok(()) };
    let missed: Vec<String> = check
        .missed
        .iter()
        .map(|MissedForgery { forged, chance }| format!("{forged} with {} %", up(100.0 * chance, 3)))
        .collect();
    let text = format!(
        "--sample-seed {seed}; --all draws every record again. The chance that a sample misses all of k forged records: {}",
        missed.join(", ")
    );
    row(stdout, "sample", &text)
}

fn fresh(check: &RecordsCheck, stdout: &mut impl Write) -> io::Result<()> {
    let Some(FreshComparison { nonce, refuted, tolerated, recorded_accuracy, fresh_accuracy }) = &check.fresh
    else {
        return Ok(());
    };
    let text = format!(
        "nonce {nonce}: {} claims refuted, up to {tolerated} may be by chance; certified {:.1} % recorded, {:.1} % afresh",
        refuted.len(),
        100.0 * recorded_accuracy,
        100.0 * fresh_accuracy
    );
    row(stdout, "fresh", &text)?;
    if check.findings.is_empty() { list(stdout, "refuted", refuted) } else { Ok(()) }
}

/// The claim, and what stands in its way.
fn print_claim(check: &RecordsCheck, claim: &Claim, stdout: &mut impl Write) -> io::Result<()> {
    writeln!(stdout)?;
    let standing = match check.verdict {
        RecordsVerdict::NotReproduced => "The records claim what the draws made here do not prove:",
        RecordsVerdict::Incomplete => "What the records claim as far as they go:",
        _ => "What the records claim:",
    };
    writeln!(stdout, "{standing}")?;
    let words = ClaimWords(claim);
    let rows = |stdout: &mut _, rows: Vec<(&str, String)>| {
        rows.iter().try_for_each(|(name, text)| row(stdout, name, &shown(text)))
    };
    rows(stdout, words.subject())?;
    for (norm, shares) in words.norms() {
        let cells = |of: &dyn Fn(&CertifiedShare) -> String| -> String {
            shares.iter().fold(String::new(), |text, share| format!("{text}{:>9}", of(share)))
        };
        let heading = format!("{norm} radius");
        writeln!(stdout, "{heading:<26}{}", cells(&ClaimWords::radius))?;
        for (what, share) in words.shares() {
            writeln!(stdout, "  {what:<24}{}", cells(&|one| share(claim, one)))?;
        }
    }
    rows(stdout, words.basis())
}

pub(super) fn row(stdout: &mut impl Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(stdout, "{}", wrapped(&format!("{name:<INDENT$}{text}"), INDENT))
}

/// The first few findings, each with its place.
fn list(stdout: &mut impl Write, verdict: &str, findings: &[RecordFinding]) -> io::Result<()> {
    for RecordFinding { file, line, index, reason } in findings.iter().take(SHOWN) {
        let file = file.as_ref().map_or_else(String::new, |file| format!("{}, ", shown(file)));
        let place = match (line, index) {
            (Some(line), Some(index)) => format!("{file}line {line}, input {index}: "),
            _ => String::new(),
        };
        let way_out = if reason == NO_PROJECTION { ": give it with --projection" } else { "" };
        writeln!(stdout, "{}", wrapped(&format!("{verdict}: {place}{}{way_out}", shown(reason)), 2))?;
    }
    if findings.len() > SHOWN {
        writeln!(stdout, "  and {} more", findings.len() - SHOWN)?;
    }
    Ok(())
}
