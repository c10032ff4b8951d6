//! What a check of records comes to, as text for people.

use crate::report::decimal::up;
use crate::screen::{proven, rejected, shown, wrapped};
use gambeson::RecordsCheck;
use gambeson::replay::{FreshComparison, NO_PROJECTION, RecordFinding, RecordsVerdict};
use std::io::Write;

/// Findings printed.
const SHOWN: usize = 5;

pub(super) fn print(check: &RecordsCheck, stdout: &mut impl Write) -> std::io::Result<()> {
    let RecordsCheck { records, checked, findings, .. } = check;
    match check.verdict {
        RecordsVerdict::Proven => {
            let what = if check.differing > 0 {
                "drawn again; some near-ties fell otherwise, and what is claimed is proven by the draws as they fell here"
            } else {
                "drawn again, their counts are the same"
            };
            let text = format!("{}: {checked} of {records} records: {what}", proven());
            writeln!(stdout, "{}", wrapped(&text, 2))?;
        }
        RecordsVerdict::NotRefuted => {
            let what = "certified afresh, their claims are not contradicted";
            writeln!(
                stdout,
                "{}",
                wrapped(&format!("NOT REFUTED: {checked} of {records} records: {what}"), 2)
            )?;
        }
        RecordsVerdict::NotReproduced => list(stdout, "NOT REPRODUCED", &check.not_reproduced)?,
        RecordsVerdict::Rejected if findings.is_empty() => {
            writeln!(stdout, "{}: no record was checked", rejected())?;
        }
        RecordsVerdict::Rejected => list(stdout, &rejected(), findings)?,
    }
    if check.inputs > 0 {
        let RecordsCheck { inputs, first, last, .. } = check;
        let text = format!(
            "records      {records} of the {inputs} inputs, {first} to {last}: labels, errors and radii of all of them \
             were checked"
        );
        writeln!(stdout, "{}", wrapped(&text, 13))?;
    }
    if *checked > 0 {
        writeln!(stdout, "draws        {} in {:.1} s", check.draws, check.seconds)?;
    }
    if check.differing > 0 && check.fresh.is_none() {
        let by = up(check.smaller_by, 3);
        let text = format!(
            "differing    {} draws; with the counts as drawn now, radii in z are up to {by} smaller",
            check.differing
        );
        writeln!(stdout, "{}", wrapped(&text, 13))?;
    }
    if let Some(seed) = check.sample_seed {
        writeln!(stdout, "sample       --sample-seed {seed}; --all draws every record again")?;
    }
    if let Some(FreshComparison { nonce, refuted, tolerated, recorded_accuracy, fresh_accuracy }) =
        &check.fresh
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
    if !check.proven {
        return Ok(());
    }
    let seed = match check.nonce {
        Some(nonce) => format!(
            "its seed is hashed from network, projection, data, sigma and grid (nonce {nonce}): whoever tried M \
             variants has a failure probability of up to M * alpha. Only a nonce of your own excludes that: --nonce"
        ),
        None => {
            "its seed was given by hand: whoever made the run may have tried others, which multiplies alpha. \
                 Certify afresh with a nonce of your own: --nonce"
                .to_owned()
        }
    };
    writeln!(stdout, "{}", wrapped(&format!("assumed      ChaCha8's words are random; {seed}"), 13))
}

/// The first few, each with its place.
fn list(stdout: &mut impl Write, what: &str, places: &[RecordFinding]) -> std::io::Result<()> {
    for place in places.iter().take(SHOWN) {
        let at = match (place.line, place.index) {
            (Some(line), Some(index)) => format!("line {line}, input {index}: "),
            _ => String::new(),
        };
        let way_out = if place.reason == NO_PROJECTION { ": give it with --projection" } else { "" };
        writeln!(stdout, "{}", wrapped(&format!("{what}: {at}{}{way_out}", shown(&place.reason)), 2))?;
    }
    if places.len() > SHOWN {
        writeln!(stdout, "  and {} more", places.len() - SHOWN)?;
    }
    Ok(())
}
