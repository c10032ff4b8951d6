//! What can be wrong with records.

use super::run::VERSION;
use crate::noise::{Grid, GridError};
use crate::selection::Selection;
use gambeson_checker::StatisticsError;
use std::path::PathBuf;
use thiserror::Error;

/// Why records could not be read, merged or added to.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// Reading or writing failed.
    #[error("{}: {reason}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: std::io::Error,
    },
    /// Another process is appending to the file.
    #[error("{}: another process is appending to it", path.display())]
    Locked {
        /// Which file.
        path: PathBuf,
    },
    /// Not a record.
    #[error("{}, line {line}: not a record: {reason}", path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What the parser said.
        reason: serde_json::Error,
    },
    /// A record that contradicts itself.
    #[error("{}, line {line}: {problem}", path.display())]
    Invalid {
        /// Which file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// In which way.
        problem: RecordProblem,
    },
    /// A record whose counts do not prove what stands beside them.
    #[error("{}, line {line}: input {index}: {problem}", path.display())]
    Unproven {
        /// Which file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// The input.
        index: u64,
        /// In which way.
        problem: RecordProblem,
    },
    /// A record of another run.
    #[error(
        "{}, line {line}: a record of another run: its {field} is {found}, not {expected}; use another file or the \
         same settings",
        path.display()
    )]
    OtherRun {
        /// Which file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What differs.
        field: String,
        /// As the run at hand has it, in JSON.
        expected: String,
        /// As the record has it, in JSON.
        found: String,
    },
    /// Records of another selection of inputs.
    #[error(
        "{}, line {line}: records of other inputs: their {field} is {found}, not {expected}; use another file or the \
         same selection",
        path.display()
    )]
    OtherSelection {
        /// Which file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What differs.
        field: String,
        /// As the selection at hand has it, in JSON.
        expected: String,
        /// As the head has it, in JSON.
        found: String,
    },
    /// The first line is not a head.
    #[error(
        "{}: its first line is not the head of a file of records (files of version 2 and earlier have none: certify again)",
        path.display()
    )]
    NoHead {
        /// Which file.
        path: PathBuf,
    },
    /// All there is is a head that a kill broke off.
    #[error("{}: a kill broke off its head, and there is no record; the run writes it again when it resumes", path.display())]
    BrokenHead {
        /// Which file.
        path: PathBuf,
    },
    /// A selection whose numbers do not fit each other.
    #[error("the selection {selection:?} contradicts itself")]
    Selected {
        /// As given.
        selection: Selection,
    },
    /// A run cannot be written.
    #[error("the run cannot be written: {reason}")]
    Written {
        /// What the writer said.
        reason: serde_json::Error,
    },
    /// No file was named.
    #[error("no file of records")]
    NoFiles,
    /// A record of an input that its head does not select.
    #[error("{}, line {line}: input {index} is not one of those that the head selects", path.display())]
    NotSelected {
        /// Which file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// The input.
        index: u64,
    },
    /// Two records of one input with different counts.
    #[error(
        "{}, line {line}: input {index} has other counts in {}, line {other_line}",
        path.display(), other.display()
    )]
    Conflict {
        /// Which file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// The input.
        index: u64,
        /// The file read before.
        other: PathBuf,
        /// Its line, from 1.
        other_line: usize,
    },
}

/// How a record contradicts itself.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RecordProblem {
    /// A stored number claims more than the counts prove, or another class.
    #[error("{field} is {}, but the counts prove {}", number(*claimed), number(*proven))]
    Claim {
        /// Which number.
        field: &'static str,
        /// As stored.
        claimed: Option<f64>,
        /// As the checker has it.
        proven: Option<f64>,
    },
    /// A stored number claims less than the counts prove: one of the two was changed.
    #[error("{field} is {}, but the counts prove {proven}: the record was changed", number(*claimed))]
    Smaller {
        /// Which number.
        field: &'static str,
        /// As stored.
        claimed: Option<f64>,
        /// As the checker has it.
        proven: f64,
    },
    /// A key that records do not have.
    #[error("unknown key {key:?}")]
    UnknownKey {
        /// The key, clipped.
        key: String,
    },
    /// A value in another form than records have it in, such as a rule with a key too many.
    #[error("unexpected encoding of {key}")]
    Form {
        /// Its key.
        key: String,
    },
    /// Noise or assumptions that this program does not know, as of a newer one.
    #[error("{key} is {found:?}, but this program reads only records with {expected:?}")]
    Unknown {
        /// `generator` or `assumed`.
        key: &'static str,
        /// As stored, clipped.
        found: String,
        /// As this program writes it.
        expected: &'static str,
    },
    /// A grid that noise of such a level cannot have been rounded to.
    #[error("sigma is {sigma}, and the grid {} * 2^{}: {reason}", grid.quantum.name(), grid.exponent)]
    Grid {
        /// As stored.
        sigma: f64,
        /// As stored.
        grid: Grid,
        /// Why not.
        reason: GridError,
    },
    /// A line without a digest.
    #[error("the digest is missing, which every record has")]
    NoDigest,
    /// The content is not that of which the digest was taken.
    #[error("the digest of the line is not that of its content: it was changed after it was written")]
    Digest,
    /// A goal goes with drawing until it is reached.
    #[error("a goal of sequential sampling, but the rule is fixed: which limits hold cannot be told")]
    Goal,
    /// No draws, or more than the checker has limits for.
    #[error("{field} is {draws}, not a number of draws from 1 to 2^40")]
    Draws {
        /// `n` or `n0`.
        field: &'static str,
        /// As stored.
        draws: u64,
    },
    /// A last look at no number of draws, or at more than are planned.
    #[error("the last look of its rule is at {last} draws, but n is {n}")]
    LastLook {
        /// As stored.
        last: u64,
        /// As stored.
        n: u64,
    },
    /// κ or its absence does not go with that many coordinates.
    #[error("dimension is {dimension}, which does not fit kappa {kappa} and spectral {spectral}")]
    Dimension {
        /// As stored.
        dimension: u64,
        /// As stored.
        kappa: f64,
        /// As stored.
        spectral: f64,
    },
    /// κ is never below the largest singular value.
    #[error("kappa is {kappa}, which cannot be below the spectral bound {spectral}")]
    Kappa {
        /// As stored.
        kappa: f64,
        /// As stored.
        spectral: f64,
    },
    /// The checker refuses the limit.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
    /// A head of records where predictions are expected, or the other way round.
    #[error("the file holds {found:?} records, not {expected:?}")]
    Kind {
        /// As stored.
        found: String,
        /// As this reader has it.
        expected: &'static str,
    },
    /// A record that names a run of which the file has no head before it.
    #[error("the record is of a run {found:?} that no head before it describes")]
    UnknownRun {
        /// Its digest, clipped.
        found: String,
    },
    /// A selection whose numbers do not fit each other.
    #[error("the selection {selection:?} contradicts itself")]
    Selected {
        /// As stored.
        selection: Selection,
    },
    /// The digest of the plan is not that of run and selection.
    #[error(
        "the digest of the plan is not that of its run and selection: it was changed after it was written"
    )]
    PlanDigest,
    /// Another version, of a newer program for example.
    #[error("version {found} of records is unknown; this program reads version {VERSION}: certify again")]
    Version {
        /// Its version.
        found: u32,
    },
    /// A number that must be positive and finite.
    #[error("{field} is {value}, not a positive number")]
    NotPositive {
        /// Which.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// A number that must not be negative.
    #[error("{field} is {value}, not a number of at least 0")]
    Negative {
        /// Which.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// A failure probability outside (0, 1).
    #[error("alpha is {value}, not between 0 and 1")]
    Alpha {
        /// Its value.
        value: f64,
    },
    /// Some of `projection`, `representation`, `kappa` and `spectral` are missing.
    #[error("projection, representation, kappa and spectral: a record has all four, or none of them")]
    Projection,
    /// Noise levels without a projection, or with a σ besides them.
    #[error("noise levels need a projection and a sigma of 1, but sigma is {sigma}")]
    Levels {
        /// The level.
        sigma: f64,
    },
    /// No classes or no coordinates.
    #[error("a record needs at least one class and one coordinate")]
    Empty,
    /// Counts of different numbers of classes.
    #[error("{selection} classes in selection, {estimation} in estimation")]
    Classes {
        /// In selection.
        selection: usize,
        /// In estimation.
        estimation: usize,
    },
    /// A label that is not a class.
    #[error("label {label}, but there are {classes} classes, counting from 0")]
    Label {
        /// The label.
        label: u32,
        /// The number of classes.
        classes: usize,
    },
    /// Selection counts do not add up.
    #[error("selection counts add up to {counted}, but n0 is {n0}")]
    Selection {
        /// Their sum.
        counted: u64,
        /// What it should be.
        n0: u64,
    },
    /// Estimation counts do not fit the rule.
    #[error("estimation counts add up to {counted}, a number that the rule does not plan (n is {n})")]
    Estimation {
        /// Their sum.
        counted: u64,
        /// The largest planned.
        n: u64,
    },
}

impl RecordProblem {
    /// Another class than the counts prove.
    pub(super) fn class(claimed: Option<u32>, proven: Option<u32>) -> Self {
        let (claimed, proven) = (claimed.map(f64::from), proven.map(f64::from));
        Self::Claim { field: "class", claimed, proven }
    }
}

/// As shown: null is none.
fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}
