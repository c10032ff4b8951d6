//! What a check of records comes to, as text for people.

use crate::report::decimal::{down, share_down, up};
use crate::screen::{good, rejected, shown, wrapped};
use gambeson::RecordsCheck;
use gambeson::replay::{
    BrokenLine, FreshComparison, MissedForgery, NO_PROJECTION, RecordFinding, RecordsVerdict,
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
    row(stdout, "network", &shown(&claim.network))?;
    row(stdout, "data", &shown(&claim.data))?;
    if let Some(projection) = &claim.projection {
        row(stdout, "projection", &shown(projection))?;
    }
    row(stdout, "inputs", &claim.inputs())?;
    let kappa = claim.kappa.map_or(String::new(), |kappa| format!(", kappa = {}", up(kappa, 7)));
    let most = if claim.sequential { "up to " } else { "" };
    let text = format!("sigma = {}{kappa}, n0 = {}, n = {most}{}", claim.sigma, claim.n0, grouped(claim.n));
    row(stdout, "noise", &text)?;
    let text = format!(
        "alpha = {} for each certificate: at most {} * {} = {:.2} false ones are expected, and more than {} have a \
         probability of at most {}",
        claim.alpha, claim.records, claim.alpha, claim.expected_false, claim.most_false, claim.rho
    );
    row(stdout, "errors", &text)?;
    table(claim, stdout)?;
    row(stdout, "plan", &claim.plan)?;
    for (at, sentence) in claim.assumed.iter().enumerate() {
        row(stdout, if at == 0 { "assumed" } else { "" }, sentence)?;
    }
    Ok(())
}

/// Certified accuracy at radii.
fn table(claim: &Claim, stdout: &mut impl Write) -> io::Result<()> {
    let what = if claim.labelled { "certified and correct" } else { "certified (no labels)" };
    let percent = |count: u64| share_down(count, claim.selection.count);
    // Three digits, however small: a column has room for eight letters.
    let radius = |share: &CertifiedShare| {
        Some(share.radius.to_string())
            .filter(|text| text.len() <= 8)
            .unwrap_or_else(|| format!("{:.2e}", share.radius))
    };
    for (norm, shares) in [("l2", &claim.l2), ("l_inf", &claim.linf)] {
        let cells = |of: &dyn Fn(&CertifiedShare) -> String| -> String {
            shares.iter().fold(String::new(), |text, share| format!("{text}{:>9}", of(share)))
        };
        let heading = format!("{norm} radius");
        writeln!(stdout, "{heading:<26}{}", cells(&radius))?;
        writeln!(stdout, "  {what:<24}{}", cells(&|share| percent(share.certified)))?;
        writeln!(stdout, "  {:<24}{}", "at least, here", cells(&|share| percent(share.certified_at_least)))?;
        let population = |share: &CertifiedShare| format!("{} %", down(100.0 * share.population_at_least, 3));
        writeln!(stdout, "  {:<24}{}", "at least, population *", cells(&population))?;
    }
    let text = format!(
        "each limit is wrong with a probability of at most {}; * if the inputs are a random sample of the population, for \
         each radius by itself",
        claim.rho
    );
    row(stdout, "limits", &text)
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
