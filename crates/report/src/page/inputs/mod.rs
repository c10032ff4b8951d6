//! The inputs themselves: picture, label, and what each run answers with which radius; the counts on demand.

pub(super) mod data;
mod html;

use super::certified::RunLabel;
use super::picture::PictureUri;

/// Inputs of a data set, and what runs say of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inputs {
    /// Paragraphs before everything.
    pub notes: Vec<String>,
    /// The runs.
    pub runs: Vec<InputsRun>,
    /// Names of the norms in which answers have radii.
    pub norms: Vec<String>,
    /// Names of the classes, if known: the class with number k is the k-th.
    pub classes: Vec<String>,
    /// By rising index.
    pub inputs: Vec<InputView>,
}

/// A run that answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputsRun {
    /// Its name and colour.
    pub run: RunLabel,
    /// A line for a shell that draws one input again: what comes before its number, and after it. `None` where there is none.
    pub command: Option<(String, String)>,
}

/// An input.
#[derive(Clone, Debug, PartialEq)]
pub struct InputView {
    /// Its number in the data, from 0.
    pub index: u64,
    /// Its class, if known.
    pub label: Option<u32>,
    /// What it looks like.
    pub picture: Option<PictureUri>,
    /// One per run; `None` where the run has no record of it.
    pub answers: Vec<Option<Answer>>,
}

/// What a run says of an input.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The class certified; `None` where the smoothed classifier abstains.
    pub class: Option<u32>,
    /// What that means.
    pub outcome: AnswerOutcome,
    /// The radius in each norm; 0 for an abstention, `None` where the run has none in that norm.
    pub radii: Vec<Option<f64>>,
    /// The lower limit on the probability of the class.
    pub limit: Option<f64>,
    /// The upper limit on the probability of every other class, where the radius rests on two limits.
    pub others_limit: Option<f64>,
    /// What was counted; `None` where the run does not say.
    pub counts: Option<AnswerCounts>,
}

/// Draws by class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerCounts {
    /// Those that chose the class.
    pub selection: Vec<u64>,
    /// Those that were counted.
    pub estimation: Vec<u64>,
    /// Estimation draws without a class or undecided.
    pub others: u64,
}

/// What an answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerOutcome {
    /// Certified for the label.
    Right,
    /// Certified for another class.
    Wrong,
    /// Certified; there is no label.
    Unlabelled,
    /// Not certified.
    Abstained,
}

impl AnswerOutcome {
    /// A word for programs and style sheets.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Unlabelled => "unlabelled",
            Self::Abstained => "abstained",
        }
    }
}

impl Inputs {
    /// The name of a class, or its number.
    fn class_name(&self, class: u32) -> String {
        self.classes.get(class as usize).map_or_else(|| class.to_string(), Clone::clone)
    }
}
