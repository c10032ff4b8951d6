//! What each run claims, and what it was made of.

use super::data::NamedData;
use super::made_with::KappaProof;
use super::params::CommandLine;
use super::recheck::{MadeWith, Recheck};
use super::sources::{CertifiedSource, TrainedSource};
use super::training::about;
use crate::error::report::ReportError;
use crate::replay::ClaimWords;
use gambeson_learn::train::run::SPEC;
use gambeson_report::decimal::up;
use gambeson_report::page::{Fact, FactCard};
use gambeson_report::text::{shown, shown_path};
use gambeson_smooth::claim::{claim, grouped};
use gambeson_smooth::limit::LimitRule;
use gambeson_smooth::record::{Head, Record, Recorded, Rule, Run, VERSION};

/// Digits of κ and s.
const DIGITS: usize = 7;

/// The claim of records in the words of `check`; `None` for logs of other programs.
pub(super) fn claim_card(
    source: &CertifiedSource,
    made_with: Option<&MadeWith>,
    command_line: Option<CommandLine>,
) -> Result<Option<FactCard>, ReportError> {
    let Some(recorded) = &source.recorded else { return Ok(None) };
    let head = recorded.head();
    let plan = head.plan_digest().map_err(|reason| ReportError::Encoding { reason })?;
    let claim = claim(head, plan, head.run.common.data.clone(), &recorded.entries())?;
    let words = ClaimWords(&claim);
    let facts = words.subject().into_iter().map(|(name, text)| fact(name, text)).collect();
    let (mut notes, mut last) = (Vec::new(), "");
    for (name, text) in words.basis() {
        last = if name.is_empty() { last } else { name };
        notes.push(fact(last, text));
    }
    let lines = command_line.zip(made_with).map(|(line, made_with)| {
        let what = "Draw all records again and compare every count".to_owned();
        (what, vec![line(&Recheck::Records { made_with, input: None })])
    });
    Ok(Some(FactCard {
        run: Some(source.label.clone()),
        lead: words.sentence().into_iter().chain([standing(recorded)]).collect::<Vec<_>>().join(" "),
        facts,
        tables: words.tables(),
        notes,
        commands: lines.into_iter().collect(),
        ..FactCard::default()
    }))
}

fn fact(name: &str, text: String) -> Fact {
    if matches!(name, "network" | "data" | "projection" | "plan") {
        Fact::exact(name, text)
    } else {
        Fact::new(name, text)
    }
}

/// What is known about the records where this page was made.
fn standing(recorded: &Recorded<Record>) -> String {
    let so_far = match recorded.missing() {
        0 => "",
        _ => "The records are not complete: inputs planned without a record count as not certified. ",
    };
    format!(
        "{so_far}Classes and radii were derived again from the counts; the draws were not made again here."
    )
}

/// What a run was made of.
pub(super) fn provenance_card(
    source: &CertifiedSource,
    kappa: &KappaProof,
    data: Option<&NamedData>,
    made_with: Option<&MadeWith>,
    command_line: Option<CommandLine>,
) -> Result<FactCard, ReportError> {
    let files = source.logged.paths.iter().map(|path| Fact::exact("records", shown_path(path)));
    let mut card =
        FactCard { run: Some(source.label.clone()), facts: files.collect(), ..FactCard::default() };
    let Some(recorded) = &source.recorded else {
        card.facts.push(Fact::new(
            "format",
            format!("{:?}, by another program: radii as written there", source.logged.dialect),
        ));
        return Ok(card);
    };
    let head = recorded.head();
    card.facts.extend(of_run(head, recorded)?);
    card.facts.extend(of_projection(&head.run, kappa));
    if let Some(Ok(found)) = data.map(|data| &data.found) {
        let text = format!("opened here as {}, {} part", found.name.to_string_lossy(), found.split.name());
        card.facts.push(Fact::new("data", text));
    }
    let Some((line, made_with)) = command_line.zip(made_with) else { return Ok(card) };
    if let (Some(projection), KappaProof::Proven(_)) = (&made_with.projection, kappa) {
        let line = line(&Recheck::Projection { projection });
        card.commands.push(("Prove κ again from its certificate".to_owned(), vec![line]));
    }
    if !made_with.missing.is_empty() {
        let names = made_with.missing.join(", ");
        let text =
            format!("{names}: not found beside the records with the hash above; lines to copy need its path");
        card.facts.push(Fact::new("not found", text));
    }
    if made_with.has_levels {
        card.facts.push(Fact::new(
            "not recorded",
            "the file of the noise levels, which lines to copy call levels.npy",
        ));
    }
    Ok(card)
}

fn of_run(head: &Head<Run>, recorded: &Recorded<Record>) -> Result<Vec<Fact>, ReportError> {
    let (run, common) = (&head.run, &head.run.common);
    let plan = head.plan_digest().map_err(|reason| ReportError::Encoding { reason })?;
    let nonce = common.nonce.map_or("given by hand".to_owned(), |nonce| {
        format!("derived from network, projection, data, σ, grid and numbers of draws, with nonce {nonce}")
    });
    let (most, rule) = match run.rule {
        Rule::Fixed => ("", "a number fixed beforehand"),
        Rule::Anytime | Rule::MixtureAndLast { .. } => ("up to ", "until the answer was settled"),
    };
    let limits = match run.limits {
        LimitRule::OneSided => "one for each input",
        LimitRule::Chosen => "one or two for each input, by its selection draws",
        LimitRule::Randomised => "one or two for each input, by its selection draws, randomised by the seed",
    };
    let mut facts = vec![
        Fact::new(
            "format",
            format!(
                "records of version {VERSION}, {} of {} planned",
                recorded.len(),
                recorded.planned().count
            ),
        ),
        Fact::exact("plan", plan),
        Fact::exact("run", run.digest()),
        Fact::exact("network", common.model.clone()),
    ];
    facts.extend(common.runtime.as_ref().map(|runtime| Fact::new("computed by", runtime.clone())));
    facts.push(Fact::exact("data", common.data.clone()));
    facts.push(Fact::new("σ", common.sigma.to_string()));
    facts.push(Fact::new("α", format!("{} for each certificate", common.alpha)));
    facts.push(Fact::new(
        "draws",
        format!("{} to choose the class, {most}{} counted, {rule}", grouped(run.n0), grouped(common.n)),
    ));
    facts.push(Fact::new("limits", limits));
    facts.push(Fact::exact("seed", common.seed.to_string()));
    facts.push(Fact::new("seed", nonce));
    facts.push(Fact::new("generator", common.generator.clone()));
    let grid = format!("{} · 2^{}", common.grid.quantum.name(), common.grid.exponent);
    facts.push(Fact::new("grid", grid));
    Ok(facts)
}

fn of_projection(run: &Run, kappa: &KappaProof) -> Vec<Fact> {
    let Some(hash) = &run.common.projection else {
        return vec![Fact::new("projection", "none: noise is added to the input itself")];
    };
    let mut facts = vec![Fact::exact("projection", hash.clone())];
    let bound = |value: Option<f64>| value.map_or("?".to_owned(), |value| up(value, DIGITS));
    let proof = match kappa {
        KappaProof::Proven(path) => format!("proven again here from {}", shown_path(path)),
        KappaProof::Recorded(why) => format!("as recorded: {why}"),
        KappaProof::NoProjection => String::new(),
    };
    facts.push(Fact::new("κ, s", format!("κ ≤ {}, s ≤ {}, {proof}", bound(run.kappa), bound(run.spectral))));
    facts
}

/// What was trained in a folder.
pub(super) fn training_card(source: &TrainedSource, command_line: Option<CommandLine>) -> FactCard {
    let mut facts = vec![Fact::exact("folder", shown_path(&source.folder))];
    facts.extend(source.spec.as_ref().map(|spec| Fact::new("trained", about(spec))));
    facts.extend(source.spec.as_ref().map(|spec| Fact::exact("seed", spec.seed.to_string())));
    facts.push(match &source.network {
        Some(hash) => Fact::exact("network", format!("sha256:{hash}")),
        None => Fact::new("network", "none yet: training has not come to its end"),
    });
    if let Some(last) = source.metrics.last() {
        let spent = format!("{} epochs in {:.0} s of the clock", last.epoch, last.spent.seconds);
        facts.push(Fact::new("spent", spent));
    }
    let spec = source.folder.join(SPEC);
    let line = command_line.filter(|_| source.spec.is_some()).map(|line| {
        let what =
            "Train it again: on one version of gambeson the same spec gives the same network, to the bit";
        (what.to_owned(), vec![line(&Recheck::Training { spec: &spec })])
    });
    let text = source
        .spec_text
        .iter()
        .map(|text| ("The spec".to_owned(), text.lines().map(shown).collect::<Vec<_>>().join("\n")));
    FactCard {
        run: Some(source.label.clone()),
        lead: String::new(),
        facts,
        commands: line.into_iter().collect(),
        texts: text.collect(),
        ..FactCard::default()
    }
}
