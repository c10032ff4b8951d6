//! Logs beside each other: whether they have the same inputs, and two of them input by input.

use super::log::AnalysedLog;
use crate::error::analyze::{AnalyzeError, Difference, DifferentInputs};
use gambeson_learn::inputs::data_parts;
use gambeson_report::text::shown;
use gambeson_smooth::analysis::{Evidence, Input, Paired, Question, paired};
use gambeson_smooth::selection::Selection;
use std::collections::{BTreeMap, BTreeSet};

/// The two logs, compared on the inputs that both have or planned.
pub(super) fn pair(
    logs: &[AnalysedLog],
    mixed: bool,
    question: &Question,
    radii: &[f64],
) -> Result<Vec<Paired>, AnalyzeError> {
    // Other inputs may be missing from one of them, but those paired must be the same.
    if let Some(difference) = other_data(logs).filter(|_| !mixed) {
        return Err(AnalyzeError::Incomparable { field: "paired", difference });
    }
    let [first, second] = logs else { return Err(AnalyzeError::PairOf { logs: logs.len() }) };
    Ok(paired(&first.source, &second.source, question, radii)?)
}

/// All pairs of logs.
fn pairs(logs: &[AnalysedLog]) -> impl Iterator<Item = (&AnalysedLog, &AnalysedLog)> {
    logs.iter().enumerate().flat_map(|(at, log)| logs[..at].iter().map(move |other| (other, log)))
}

/// Two logs of different data, if there are any. What a log does not say is taken to be the same.
fn other_data(logs: &[AnalysedLog]) -> Option<Difference> {
    pairs(logs).find_map(|(one, other)| {
        let (first, second) = (one.source.data.as_deref()?, other.source.data.as_deref()?);
        let what = || DifferentInputs::Data { first: shown(first), second: shown(second) };
        (data_parts(first).1 != data_parts(second).1).then(|| between(one, other, what()))
    })
}

fn between(one: &AnalysedLog, other: &AnalysedLog, what: DifferentInputs) -> Difference {
    Difference { first: one.label.clone(), second: other.label.clone(), what }
}

/// What makes accuracies of two of the logs incomparable: other data, other images.
pub(crate) fn difference(logs: &[AnalysedLog]) -> Option<Difference> {
    let images = |(one, other)| Some(between(one, other, other_images(one, other)?));
    other_data(logs).or_else(|| pairs(logs).find_map(images))
}

fn other_images(one: &AnalysedLog, other: &AnalysedLog) -> Option<DifferentInputs> {
    if let (Some(first), Some(second)) = (one.scores.images(), other.scores.images())
        && first != second
    {
        return Some(DifferentInputs::Count { first, second });
    }
    let (Evidence::Inputs(first), Evidence::Inputs(second)) = (&one.source.evidence, &other.source.evidence)
    else {
        return None;
    };
    let images = |inputs: &[Input]| inputs.iter().map(|input| input.index).collect::<BTreeSet<_>>();
    let all_in =
        |planned: &Selection, inputs: &[Input]| inputs.iter().all(|input| planned.contains(input.index));
    // The images of a run are those planned, whichever of them have a record; there are as many of both.
    let same = match (&one.source.planned, &other.source.planned) {
        (Some(one), Some(other)) => one.in_common(other) == one.count,
        (Some(planned), None) => all_in(planned, second),
        (None, Some(planned)) => all_in(planned, first),
        (None, None) => images(first) == images(second),
    };
    if !same {
        return Some(DifferentInputs::Images);
    }
    let labels: BTreeMap<u64, u32> =
        first.iter().filter_map(|input| Some((input.index, input.label?))).collect();
    let contradicts = |input: &&Input| {
        input.label.is_some_and(|label| labels.get(&input.index).is_some_and(|&other| other != label))
    };
    let index = second.iter().find(contradicts)?.index;
    Some(DifferentInputs::Label { index })
}
