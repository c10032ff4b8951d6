//! Runs over many inputs: one record per input, kept before the next begins, and resumed where an earlier run ended.
//!
//! **Problem.** Certifying a data set takes hours or days, and is stopped, killed and sharded on the way. Every input
//! asked for must have one record in the end, the same whichever way it went.
//!
//! **Method.** Records that a file already holds are those of this very run (or the file is refused, see
//! [`Log::open_to_append`]) and are not made again; their classes and radii are derived from their counts once more, their
//! encoding errors computed from their inputs once more, and their labels and numbers of classes compared with the data and
//! the classifier, since a record only names them. Records to be extended are looked at in the same way. What remains is
//! drawn, input by input in the order asked for, each record on the disk before the next input begins. Draws depend on the
//! seed and the index of an input alone, so it does not matter who makes them, or when.

use crate::record::{
    DigestedRun, Entry, Head, Log, Names, NotExtendable, Parts, PredictionRecord, PredictionRun, Record,
    RecordError, RecordProblem, Run, RunContent,
};
use crate::selection::Selection;
use crate::smoother::{DrawCounter, Drawn, Procedure, SmoothingError, SmoothingPlan};
use crate::space::{Space, WrongLength};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::observe::Observer;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use thiserror::Error;

/// What a run over inputs is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunParams {
    /// What records call the classifier and the data.
    pub names: Names,
    /// Classes of the data. Counts have at least this many, so that every label is a class.
    pub classes: usize,
    /// The inputs asked for; they are done in rising order.
    pub selection: Selection,
    /// The file that records are appended to, and resumed from; without one they are only returned.
    pub out: Option<PathBuf>,
    /// What that file may take in memory.
    pub memory: MemoryLimit,
}

/// An input: its numbers, channel after channel, and its class if known.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// In units of the space's quantum ([`Space::with_quantum`](crate::space::Space::with_quantum)), as many as the space of the smoother takes.
    pub values: Vec<f64>,
    /// Its class, below the classes of the run.
    pub label: Option<u32>,
}

/// A look at a run. `Break` ends it: what was drawn for an unfinished input is lost, finished ones are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunProgress {
    /// A kill had broken off the last line of the file, with this number from 1: it was cut off, and its input will be done
    /// again.
    CutOff {
        /// Which line.
        line: usize,
    },
    /// An input has a record from an earlier run.
    Resumed {
        /// Which input.
        index: u64,
    },
    /// A batch was drawn.
    Drawn(Drawn),
    /// An input has a new record.
    Recorded {
        /// Which input.
        index: u64,
    },
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished<E> {
    /// By index: records of all inputs asked for that have one, those of earlier runs included.
    pub records: BTreeMap<u64, E>,
    /// How many of them are from earlier runs.
    pub resumed: usize,
    /// Draws of this run, for selection and estimation.
    pub draws: u64,
    /// Wall-clock seconds that the new records took.
    pub seconds: f64,
    /// Whether the observer ended it before every input had a record.
    pub stopped: bool,
}

impl<E> Finished<E> {
    /// Draws per second, noise and forward passes included.
    pub fn rate(&self) -> f64 {
        self.draws as f64 / self.seconds.max(1e-9)
    }
}

/// The head of the records that CERTIFY writes.
pub fn certification_head(plan: &SmoothingPlan, params: &RunParams) -> Result<Head<Run>, RecordError> {
    params.head(Run::new(plan, &params.names))
}

/// The head of the records that PREDICT writes.
pub fn prediction_head(plan: &SmoothingPlan, params: &RunParams) -> Result<Head<PredictionRun>, RecordError> {
    params.head(PredictionRun::new(plan, &params.names))
}

impl RunParams {
    fn head<R: RunContent>(&self, run: R) -> Result<Head<R>, RecordError> {
        if !self.selection.is_consistent() {
            return Err(RecordError::Selected { selection: self.selection });
        }
        let failed = |reason: serde_json::Error| RecordError::Written { reason };
        let run = DigestedRun::new(run).map_err(failed)?;
        Ok(Head { run, selection: self.selection, files: self.names.files.clone() })
    }
}

/// Why a run failed. Records made before are kept.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError<E: std::error::Error + 'static> {
    /// The file of records.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// An input was given with a wrong number of values.
    #[error(transparent)]
    Length(#[from] WrongLength),
    /// An input could not be smoothed.
    #[error("input {index}: {reason}")]
    Input {
        /// Which input.
        index: u64,
        /// Why.
        reason: SmoothingError<E>,
    },
    /// The record of an input would contradict itself: it has a label that is not a class, say.
    #[error("input {index}: {problem}")]
    Invalid {
        /// Which input.
        index: u64,
        /// How.
        problem: RecordProblem,
    },
    /// The earlier run may not go on.
    #[error("the run to be extended: {0}")]
    NotExtendable(#[from] NotExtendable),
    /// The earlier run has no record of an input asked for.
    #[error("the run to be extended has no record of input {index}")]
    Missing {
        /// Which input.
        index: u64,
    },
    /// A record from an earlier run has another label than the input.
    #[error("the record of input {index} has label {}, but that of the data is {}", text(*.recorded), text(*.found))]
    Label {
        /// Which input.
        index: u64,
        /// In the record.
        recorded: Option<u32>,
        /// In the data.
        found: Option<u32>,
    },
    /// A record from an earlier run counts another number of classes.
    #[error("the record of input {index} counts {recorded} classes, but there are {expected}")]
    Classes {
        /// Which input.
        index: u64,
        /// In the record.
        recorded: usize,
        /// Of the classifier, or of the data if they have more.
        expected: usize,
    },
    /// A record from an earlier run names a smaller encoding error than is proven.
    #[error("the record of input {index} has the encoding error {recorded}, but what is proven is {proven}")]
    EncodingError {
        /// Which input.
        index: u64,
        /// In the record.
        recorded: f64,
        /// Computed again from the input.
        proven: f64,
    },
}

/// A label as messages show it.
pub(crate) fn text(label: Option<u32>) -> String {
    label.map_or_else(|| "none".to_owned(), |label| label.to_string())
}

/// CERTIFY for every input asked for that has no record yet, by a [`Smoother`](crate::smoother::Smoother) or a
/// [`BatchCallback`](crate::session::BatchCallback). `row` is asked for inputs by index.
pub fn certify_inputs<S: DrawCounter>(
    counter: S,
    params: &RunParams,
    row: impl Fn(u64) -> Row,
    observer: &mut (impl Observer<RunProgress> + Send),
) -> Result<Finished<Record>, RunError<S::Error>> {
    certify_from(counter, params, None, row, observer)
}

/// The same, going on from the records of an earlier run of fewer draws, by index; its rule must allow it
/// ([`Run::check_extension`]).
pub fn extend_inputs<S: DrawCounter>(
    counter: S,
    params: &RunParams,
    earlier: &BTreeMap<u64, Record>,
    row: impl Fn(u64) -> Row,
    observer: &mut (impl Observer<RunProgress> + Send),
) -> Result<Finished<Record>, RunError<S::Error>> {
    let run = Run::new(counter.plan(), &params.names);
    for record in earlier.values() {
        record.run.check_extension(&run)?;
    }
    match params.selection.indices().find(|index| !earlier.contains_key(index)) {
        Some(index) => Err(RunError::Missing { index }),
        None => certify_from(counter, params, Some(earlier), row, observer),
    }
}

fn certify_from<S: DrawCounter>(
    mut counter: S,
    params: &RunParams,
    earlier: Option<&BTreeMap<u64, Record>>,
    row: impl Fn(u64) -> Row,
    observer: &mut (impl Observer<RunProgress> + Send),
) -> Result<Finished<Record>, RunError<S::Error>> {
    let plan = Arc::clone(counter.plan());
    let head = certification_head(&plan, params)?;
    let task = Task::new(&plan, params, row);
    let accept = |record: &Record, row: &Row| {
        let index = record.index;
        let proven =
            plan.errors(&row.values).map_err(|reason| RunError::Input { index, reason: reason.into() })?;
        let pairs = [(record.encoding_error, proven.encoding), (record.perturbed_error, proven.perturbed)];
        match pairs.into_iter().find(|(recorded, proven)| !(recorded >= proven)) {
            None => Ok(()),
            Some((recorded, proven)) => Err(RunError::EncodingError { index, recorded, proven }),
        }
    };
    for index in params.selection.indices() {
        let Some(record) = earlier.and_then(|earlier| earlier.get(&index)) else { continue };
        task.accept(record, &task.row(index)?, accept)?;
    }
    let make = |index: u64, row: &Row, started: Instant, observer: &mut Batches<'_, _>| {
        let procedure = match earlier.and_then(|earlier| earlier.get(&index)) {
            Some(record) => Procedure::extend(&plan, index, &row.values, record.counts())?,
            None => Procedure::certify(&plan, index, &row.values)?,
        };
        let found = counter.count(procedure, observer)?;
        let seconds = started.elapsed().as_secs_f64();
        Ok(found.map(|found| {
            Record::new(index, row.label, params.classes, Arc::clone(&head.run), &found, seconds)
        }))
    };
    task.run(&head, accept, make, observer)
}

/// PREDICT for every input asked for that has no record yet. `row` is asked for inputs by index.
pub fn predict_inputs<S: DrawCounter>(
    mut counter: S,
    params: &RunParams,
    row: impl Fn(u64) -> Row,
    observer: &mut (impl Observer<RunProgress> + Send),
) -> Result<Finished<PredictionRecord>, RunError<S::Error>> {
    let plan = Arc::clone(counter.plan());
    let head = prediction_head(&plan, params)?;
    let task = Task::new(&plan, params, row);
    let make = |index: u64, row: &Row, started: Instant, observer: &mut Batches<'_, _>| {
        let found = counter.count(Procedure::predict(&plan, index, &row.values)?, observer)?;
        let seconds = started.elapsed().as_secs_f64();
        let record = |found| {
            PredictionRecord::new(index, row.label, params.classes, Arc::clone(&head.run), &found, seconds)
        };
        Ok(found.map(record))
    };
    task.run(&head, |_, _| Ok(()), make, observer)
}

/// Passes batches on to the observer of a run, counting draws.
struct Batches<'a, O> {
    observer: &'a mut O,
    draws: u64,
}

impl<O: Observer<RunProgress>> Observer<Drawn> for Batches<'_, O> {
    fn observe(&mut self, drawn: &Drawn) -> std::ops::ControlFlow<()> {
        self.draws += drawn.draws;
        self.observer.observe(&RunProgress::Drawn(*drawn))
    }
}

/// The loop that both kinds of runs share.
struct Task<'a, R> {
    params: &'a RunParams,
    space: &'a Space,
    /// Classes that records count: those of the classifier, or of the data if they have more.
    classes: usize,
    row: R,
}

impl<'a, R: Fn(u64) -> Row> Task<'a, R> {
    fn new(plan: &'a SmoothingPlan, params: &'a RunParams, row: R) -> Self {
        let classes = params.classes.max(plan.classifier().classes);
        Self { params, space: plan.space(), classes, row }
    }

    /// Whether a record of an earlier run is about this input, and `accept` accepts it.
    fn accept<E: Entry, F: std::error::Error>(
        &self,
        record: &E,
        row: &Row,
        accept: impl Fn(&E, &Row) -> Result<(), RunError<F>>,
    ) -> Result<(), RunError<F>> {
        let Parts { index, label, classes: recorded, .. } = record.parts();
        let expected = self.classes;
        if recorded != expected {
            return Err(RunError::Classes { index, recorded, expected });
        }
        if label != row.label {
            return Err(RunError::Label { index, recorded: label, found: row.label });
        }
        accept(record, row)
    }

    /// `accept` looks at records of earlier runs, `make` makes new ones: none where the observer ended it.
    fn run<E: Entry, O: Observer<RunProgress> + Send, F: std::error::Error + 'static>(
        &self,
        head: &Head<E::Run>,
        accept: impl Fn(&E, &Row) -> Result<(), RunError<F>>,
        mut make: impl FnMut(u64, &Row, Instant, &mut Batches<'_, O>) -> Result<Option<E>, SmoothingError<F>>,
        observer: &mut O,
    ) -> Result<Finished<E>, RunError<F>> {
        let (mut log, mut present) = match &self.params.out {
            Some(out) => Log::open_to_append(out, head, self.params.memory)
                .map(|(log, present)| (Some(log), present))?,
            None => (None, BTreeMap::new()),
        };
        let indices = self.params.selection.indices();
        let mut records: BTreeMap<u64, E> = BTreeMap::new();
        let mut batches = Batches { observer, draws: 0 };
        let cut_off = log.as_ref().and_then(Log::cut_off);
        let mut ended =
            cut_off.is_some_and(|line| batches.observer.observe(&RunProgress::CutOff { line }).is_break());
        // All records of earlier runs first: nothing is drawn beside one that is wrong.
        for index in indices.clone() {
            let Some(record) = present.remove(&index).filter(|_| !ended) else { continue };
            self.accept(&record, &self.row(index)?, &accept)?;
            records.insert(index, record);
            ended = batches.observer.observe(&RunProgress::Resumed { index }).is_break();
        }
        let (resumed, started) = (records.len(), Instant::now());
        for index in indices.clone() {
            if records.contains_key(&index) {
                continue;
            }
            if ended {
                break;
            }
            let (begun, row) = (Instant::now(), self.row(index)?);
            let made = make(index, &row, begun, &mut batches);
            let Some(record) = made.map_err(|reason| RunError::Input { index, reason })? else {
                break;
            };
            record.validate().map_err(|problem| RunError::Invalid { index, problem })?;
            if let Some(log) = &mut log {
                log.append(&record)?;
            }
            records.insert(index, record);
            ended = batches.observer.observe(&RunProgress::Recorded { index }).is_break();
        }
        let stopped = indices.clone().any(|index| !records.contains_key(&index));
        let seconds = started.elapsed().as_secs_f64();
        Ok(Finished { records, resumed, draws: batches.draws, seconds, stopped })
    }

    fn row<F: std::error::Error>(&self, index: u64) -> Result<Row, RunError<F>> {
        let row = (self.row)(index);
        self.space.check_length(index, &row.values)?;
        Ok(row)
    }
}
