//! The inputs of a data set, and what runs say of them.

use super::data::NamedData;
use super::params::CommandLine;
use super::pictures::{are_images, thumbnail};
use super::recheck::{MadeWith, PLACE, Recheck, around};
use super::sources::CertifiedSource;
use gambeson_report::page::{Answer, AnswerCounts, AnswerOutcome, InputView, Inputs, InputsRun, NormView};
use gambeson_smooth::analysis::{Evidence, Input, Predicted, RadiusNorm};
use std::collections::{BTreeMap, BTreeSet};

/// Letters of all pictures of a section, at most.
const PICTURES: usize = 2_000_000;

/// A run and what it was made with.
pub(super) struct InputsSource<'a> {
    pub(super) source: &'a CertifiedSource,
    /// Its number among the curves of each norm.
    pub(super) curve: usize,
    pub(super) made_with: Option<&'a MadeWith>,
}

/// At most so many inputs, evenly chosen; `None` where no run has radii input by input.
pub(super) fn inputs(
    runs: &[InputsSource<'_>],
    norms: &[NormView],
    data: Option<&NamedData>,
    most: usize,
    command_line: Option<CommandLine>,
) -> Option<Inputs> {
    let runs: Vec<&InputsSource<'_>> =
        runs.iter().filter(|run| matches!(run.source.logged.evidence, Evidence::Inputs(_))).collect();
    let found = data.and_then(|data| data.found.as_ref().ok());
    let by_run: Vec<BTreeMap<u64, &Input>> = runs.iter().map(|run| by_index(run.source)).collect();
    let all: Vec<u64> =
        by_run.iter().flat_map(BTreeMap::keys).copied().collect::<BTreeSet<_>>().into_iter().collect();
    if all.is_empty() || most == 0 {
        return None;
    }
    let mut chosen = evenly(&all, most);
    let mut pictures = BTreeMap::new();
    if let Some(found) = found.filter(|found| are_images(&found.data)) {
        let of = |index: &u64| Some((*index, thumbnail(&found.data, *index)?));
        pictures = chosen.iter().filter_map(of).collect();
        let letters: usize = pictures.values().map(gambeson_report::page::PictureUri::len).sum();
        if letters > PICTURES {
            chosen = evenly(&chosen, (chosen.len() * PICTURES / letters).max(1));
        }
    }
    let counts: Vec<BTreeMap<u64, AnswerCounts>> = runs.iter().map(|run| counts(run.source)).collect();
    let view = |&index: &u64| InputView {
        index,
        label: by_run.iter().find_map(|inputs| inputs.get(&index)?.label),
        picture: pictures.remove(&index),
        answers: runs
            .iter()
            .zip(by_run.iter().zip(&counts))
            .map(|(run, (inputs, counts))| {
                Some(answer(inputs.get(&index)?, run.curve, norms, counts.get(&index)))
            })
            .collect(),
    };
    let inputs = chosen.iter().map(view).collect();
    let run = |run: &&InputsSource<'_>| InputsRun {
        run: run.source.label.clone(),
        command: command_line
            .zip(run.made_with)
            .map(|(line, made_with)| around(&line(&Recheck::Records { made_with, input: Some(PLACE) }))),
    };
    Some(Inputs {
        notes: notes(data, chosen.len(), all.len()),
        runs: runs.iter().map(run).collect(),
        norms: norms.iter().map(|norm| norm.name.clone()).collect(),
        classes: found.map(|found| found.data.classes().to_vec()).unwrap_or_default(),
        inputs,
    })
}

fn by_index(source: &CertifiedSource) -> BTreeMap<u64, &Input> {
    match &source.logged.evidence {
        Evidence::Inputs(inputs) => inputs.iter().map(|input| (input.index, input)).collect(),
        Evidence::Curve(_) => BTreeMap::new(),
    }
}

/// So many of the indices, at equal distances.
fn evenly(all: &[u64], most: usize) -> Vec<u64> {
    let count = all.len().min(most);
    (0..count).map(|at| all[at * all.len() / count]).collect()
}

fn counts(source: &CertifiedSource) -> BTreeMap<u64, AnswerCounts> {
    let Some(recorded) = &source.recorded else { return BTreeMap::new() };
    let counts = recorded.entries().map(|record| {
        let others = record.estimation_none.saturating_add(record.estimation_undecided);
        let (selection, estimation) = (record.selection.clone(), record.estimation.clone());
        (record.index, AnswerCounts { selection, estimation, others })
    });
    counts.collect()
}

fn answer(input: &Input, curve: usize, norms: &[NormView], counts: Option<&AnswerCounts>) -> Answer {
    let class = match input.predicted {
        Predicted::Class(class) => Some(class),
        Predicted::Unnamed | Predicted::Abstained => None,
    };
    let outcome = match (input.predicted, input.correct) {
        (Predicted::Abstained, _) => AnswerOutcome::Abstained,
        (_, Some(true)) => AnswerOutcome::Right,
        (_, Some(false)) => AnswerOutcome::Wrong,
        (_, None) => AnswerOutcome::Unlabelled,
    };
    let radius = |norm: &NormView| {
        norm.curves[curve].as_ref()?;
        if norm.key == RadiusNorm::L2.name() { input.l2 } else { input.linf }
    };
    let radii = norms.iter().map(radius).collect();
    let (limit, others_limit) = (input.lower_limit, input.upper_limit);
    Answer { class, outcome, radii, limit, others_limit, counts: counts.cloned() }
}

/// What is shown, and what is not.
fn notes(data: Option<&NamedData>, shown: usize, all: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if shown < all {
        notes.push(format!("{shown} of {all} inputs, evenly chosen: a page has room for no more."));
    }
    notes.push(match data.map(|data| &data.found) {
        None => "Without pictures: the logs do not say which data they are about.".to_owned(),
        Some(Err(reason)) => {
            format!("Without pictures: the data with the content that the records name were not found here ({reason}).")
        }
        Some(Ok(found)) if are_images(&found.data) => {
            "The pictures are those of the data with the hash that the records name. Radii are rounded down.".to_owned()
        }
        Some(Ok(_)) => "Without pictures: these inputs are no images. Radii are rounded down.".to_owned(),
    });
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_even_and_has_each_input_once() {
        let all: Vec<u64> = (0..10).map(|at| 5 * at).collect();
        assert_eq!(evenly(&all, 20), all);
        assert_eq!(evenly(&all, 4), [0, 10, 25, 35]);
        assert_eq!(evenly(&all, 1), [0]);
        assert!(evenly(&[], 4).is_empty());
    }
}
