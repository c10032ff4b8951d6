//! What can be wrong with logs, and with questions to them.

use crate::record::RecordError;
use gambeson_checker::StatisticsError;
use std::path::PathBuf;
use thiserror::Error;

/// Why a log could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LogError {
    /// Reading failed.
    #[error("{}: {reason}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: std::io::Error,
    },
    /// A folder without files, or a pattern that nothing fits.
    #[error("{}: no files there", path.display())]
    NothingFound {
        /// The folder or pattern.
        path: PathBuf,
    },
    /// A problem with our own records.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// It has no inputs.
    #[error("{}: no inputs in it", path.display())]
    Empty {
        /// Which file.
        path: PathBuf,
    },
    /// The file begins like no known log.
    #[error(
        "{}: not a known log, starting with \"{start}\": expected our records, a table that begins with idx, votes, \
         intervals or radii of DSRS, or a curve of radius and accuracy",
        path.display()
    )]
    Unknown {
        /// Which file.
        path: PathBuf,
        /// The first letters.
        start: String,
    },
    /// A table lacks a column.
    #[error("{}, line {line}: a log of certificates or predictions needs a column {column}", path.display())]
    Column {
        /// Which file.
        path: PathBuf,
        /// Line of the header, from 1.
        line: usize,
        /// Its name.
        column: &'static str,
    },
    /// A broken line.
    #[error("{}, line {line}: {problem}", path.display())]
    Line {
        /// Which file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong with it.
        problem: LineProblem,
    },
    /// Counts without a noise level.
    #[error("{}: votes without a noise level: sigma is missing", path.display())]
    NoSigma {
        /// Which file.
        path: PathBuf,
    },
    /// Counts without a failure probability.
    #[error("{}: votes without a failure probability: alpha is missing", path.display())]
    NoAlpha {
        /// Which file.
        path: PathBuf,
    },
    /// Another failure probability or other limits were asked for, which needs counts.
    #[error(
        "{}: it has no counts, so it cannot be certified again with another alpha or other limits",
        path.display()
    )]
    NoCounts {
        /// Which file.
        path: PathBuf,
    },
    /// Intervals for noise other than Gaussian.
    #[error("{}: intervals for noise \"{noise}\": radii are known for gaussian noise only", path.display())]
    Noise {
        /// Which file.
        path: PathBuf,
        /// As the file says.
        noise: String,
    },
    /// The checker refuses the limit.
    #[error("{}, line {line}: {reason}", path.display())]
    Statistics {
        /// Which file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What the checker says.
        reason: StatisticsError,
    },
}

/// What is wrong with a line of a log.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// Too few or too many fields.
    #[error("{found} fields, {expected} expected")]
    Fields {
        /// Fields of the header.
        expected: usize,
        /// Fields of the line.
        found: usize,
    },
    /// A column that stands twice: which of them counts?
    #[error("column \"{column}\" stands twice")]
    RepeatedColumn {
        /// Its name, clipped.
        column: String,
    },
    /// A field that cannot be read.
    #[error("{column} is \"{text}\", not {expected}")]
    Value {
        /// Which column.
        column: String,
        /// What it says, clipped.
        text: String,
        /// What it should say.
        expected: &'static str,
    },
    /// The columns do not agree.
    #[error("predict is {predicted} and label {label}, but correct is {correct}")]
    Contradiction {
        /// −1 for an abstention.
        predicted: i64,
        /// The label.
        label: u32,
        /// As claimed.
        correct: u8,
    },
    /// An input that occurs twice.
    #[error("input {index} is already in line {first}")]
    Duplicate {
        /// Which input.
        index: u64,
        /// From 1.
        first: usize,
    },
    /// A negative radius of an input with a class.
    #[error("radius {radius}, though it is not an abstention")]
    NegativeRadius {
        /// The radius.
        radius: f64,
    },
    /// A curve whose radii do not rise.
    #[error("radius {radius} after {before}: radii of a curve must rise")]
    NotRising {
        /// This one.
        radius: f64,
        /// The one before.
        before: f64,
    },
    /// A curve that rises.
    #[error("accuracy {accuracy} after {before}: certified accuracy does not rise with the radius")]
    Rising {
        /// This one.
        accuracy: f64,
        /// The one before.
        before: f64,
    },
    /// An interval whose ends are in the wrong order.
    #[error("an interval from {low} to {high}: not within 0 and 1 and in order")]
    Interval {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// The numbers of draws differ from those of the lines before.
    #[error("{selection} selection and {estimation} estimation draws, but {n0} and {n} in the lines before")]
    Draws {
        /// In this line.
        selection: u64,
        /// In this line.
        estimation: u64,
        /// Selection draws in the lines before.
        n0: u64,
        /// Estimation draws in the lines before.
        n: u64,
    },
    /// No draws at all.
    #[error("no votes")]
    NoVotes,
    /// Neither header nor interval.
    #[error("\"{text}\" is neither \"x key value\" nor \"o index low high\"")]
    Intervals {
        /// What the line says, clipped.
        text: String,
    },
    /// A header that is needed before the first interval.
    #[error("no line \"x {key} value\" before the first interval")]
    Header {
        /// Its name.
        key: &'static str,
    },
}

/// Why a log does not answer a question.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// Accuracy without labels.
    #[error("{log}: no label for input {index}, so its accuracy is not known")]
    NoLabels {
        /// Which log.
        log: String,
        /// The first input without one.
        index: u64,
    },
    /// Inputs have more coordinates than were given.
    #[error("{log}: its inputs have {own} coordinates, more than the {given} given")]
    Dimension {
        /// Which log.
        log: String,
        /// Coordinates given.
        given: u64,
        /// Coordinates in the records.
        own: u64,
    },
    /// No radii in that norm.
    #[error("{log}: no {norm} radii in it{}", why.text())]
    NoRadii {
        /// Which log.
        log: String,
        /// The norm asked for.
        norm: &'static str,
        /// Why there are none.
        why: MissingRadii,
    },
    /// No failure probability for a bound that needs one.
    #[error("{log}: it does not say its failure probability, which a high-probability bound needs")]
    NoAlpha {
        /// Which log.
        log: String,
    },
    /// A high-probability bound was asked of a curve.
    #[error("{log}: a curve without its inputs has no high-probability bound")]
    NoInputs {
        /// Which log.
        log: String,
    },
    /// Two runs to be compared have no input in common.
    #[error("{first} and {second} have no input in common")]
    NothingInCommon {
        /// One.
        first: String,
        /// The other.
        second: String,
    },
    /// Two runs to be compared are not about the same inputs.
    #[error("{first} and {second} have different labels for input {index}: they are not about the same data")]
    OtherLabel {
        /// One.
        first: String,
        /// The other.
        second: String,
        /// The first such input.
        index: u64,
    },
    /// The checker refuses.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
}

/// Why a log has no radii in a norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingRadii {
    /// Its l2 radii would give them with a scale, which is missing.
    NoScale,
    /// It has radii in linf.
    OtherNorm,
    /// Predictions answer for radius 0 only.
    Predictions,
    /// It has none in any norm.
    None,
}

impl MissingRadii {
    fn text(self) -> &'static str {
        match self {
            Self::NoScale => ": kappa or the number of coordinates would give them from those in l2",
            Self::OtherNorm => ", but in linf",
            Self::Predictions => ": predictions answer for radius 0 only",
            Self::None => "",
        }
    }
}
