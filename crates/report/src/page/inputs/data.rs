//! What the script sorts, filters and shows by.

use super::{Answer, Inputs};
use crate::decimal::{down, up};
use serde::Serialize;

/// Significant digits of radii and limits.
const DIGITS: usize = 6;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct InputsData {
    runs: Vec<RunData>,
    norms: Vec<String>,
    classes: Vec<String>,
    inputs: Vec<InputData>,
}

#[derive(Clone, Debug, Serialize)]
struct RunData {
    label: String,
    style: usize,
    command: Option<(String, String)>,
}

#[derive(Clone, Debug, Serialize)]
struct InputData {
    index: u64,
    label: Option<u32>,
    answers: Vec<Option<AnswerData>>,
}

/// Radii and limits are decimals, rounded down, those of other classes up.
#[derive(Clone, Debug, Serialize)]
struct AnswerData {
    class: Option<u32>,
    outcome: &'static str,
    radii: Vec<Option<String>>,
    limit: Option<String>,
    others_limit: Option<String>,
    selection: Option<Vec<u64>>,
    estimation: Option<Vec<u64>>,
    others: u64,
}

impl Inputs {
    pub(crate) fn data(&self) -> InputsData {
        let run = |run: &super::InputsRun| RunData {
            label: run.run.label.clone(),
            style: run.run.style,
            command: run.command.clone(),
        };
        let input = |input: &super::InputView| InputData {
            index: input.index,
            label: input.label,
            answers: input.answers.iter().map(|answer| answer.as_ref().map(Answer::data)).collect(),
        };
        InputsData {
            runs: self.runs.iter().map(run).collect(),
            norms: self.norms.clone(),
            classes: self.classes.clone(),
            inputs: self.inputs.iter().map(input).collect(),
        }
    }
}

impl Answer {
    fn data(&self) -> AnswerData {
        let text = |value: f64| down(value, DIGITS);
        AnswerData {
            class: self.class,
            outcome: self.outcome.key(),
            radii: self.radii.iter().map(|radius| radius.map(text)).collect(),
            limit: self.limit.map(text),
            others_limit: self.others_limit.map(|limit| up(limit, DIGITS)),
            selection: self.counts.as_ref().map(|counts| counts.selection.clone()),
            estimation: self.counts.as_ref().map(|counts| counts.estimation.clone()),
            others: self.counts.as_ref().map_or(0, |counts| counts.others),
        }
    }
}
