//! Files of certification records.

/// What stands beside counts, and whether all readers ask for its proof.
mod claims;
/// What a kill leaves behind, what is refused, what is merged.
mod files;
/// Heads: which runs and inputs a file is about, and several of them in one file.
mod heads;
/// What a line may say.
mod lines;
/// What counts prove.
mod radii;

use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::projection::representation::Representation;
use gambeson_smooth::noise::{GENERATOR, Grid, Quantum};
use gambeson_smooth::record::{
    ASSUMED, CommonRun, DigestedRun, Entry, FileNames, Head, Law, Record, RecordError, RecordLog, Recorded,
    Rule, Run, RunContent, to_line,
};
use gambeson_smooth::selection::Selection;
use gambeson_smooth::smoother::{Certification, Counts, Errors};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Inputs of the data that records are about.
pub(crate) const INPUTS: u64 = 60;

pub(crate) fn common() -> CommonRun {
    CommonRun {
        n: 1000,
        law: Law::Gaussian,
        sigma: 0.25,
        alpha: 0.001,
        seed: 7,
        nonce: None,
        generator: GENERATOR.to_owned(),
        assumed: ASSUMED.to_owned(),
        grid: Grid { quantum: Quantum::Byte, exponent: -2 },
        model: "toy".to_owned(),
        runtime: None,
        batch: 64,
        data: "toy-test".to_owned(),
        projection: None,
    }
}

pub(crate) fn run() -> Run {
    Run {
        rule: Rule::Fixed,
        goal: None,
        n0: 10,
        common: common(),
        representation: None,
        noise: None,
        kappa: None,
        spectral: None,
        dimension: 3072,
    }
}

/// A run in the coordinates of a projection.
fn projected(kappa: f64, spectral: f64) -> Run {
    Run {
        common: CommonRun { projection: Some("p".to_owned()), ..common() },
        representation: Some(Representation::Dct2),
        kappa: Some(kappa),
        spectral: Some(spectral),
        ..run()
    }
}

pub(crate) fn digested<R: RunContent>(run: R) -> Arc<DigestedRun<R>> {
    DigestedRun::new(run).expect("JSON")
}

/// The head of a run over all inputs.
pub(crate) fn head_of<R: RunContent>(run: &Arc<DigestedRun<R>>) -> Head<R> {
    Head { run: Arc::clone(run), selection: Selection::all(INPUTS), files: FileNames::default() }
}

/// That of another run.
fn head(run: Run) -> Head<Run> {
    head_of(&digested(run))
}

/// A record of three classes, with what its counts prove filled in.
pub(crate) fn record(index: u64, run: Run, selection: [u64; 3], estimation: [u64; 3]) -> Record {
    let counts = |classes: [u64; 3]| Counts { classes: classes.to_vec(), none: 0, undecided: 0 };
    let errors = Errors { encoding: 0.0, perturbed: 0.0 };
    let (selection, estimation) = (counts(selection), counts(estimation));
    let found = Certification { selection, estimation, errors, certified: None };
    Record::new(index, Some(1), 3, digested(run), &found, 0.5).with_derived().expect("valid counts")
}

/// The same record, of a run that was changed.
fn of_changed_run(record: &Record, change: impl FnOnce(&mut Run)) -> Record {
    let (mut record, mut run) = (record.clone(), Run::clone(&record.run));
    change(&mut run);
    record.run = digested(run);
    record
}

fn three() -> Vec<Record> {
    let counts = [[5, 990, 5], [400, 300, 300], [0, 1000, 0]];
    (0..3).map(|at| record(20 * at as u64, run(), [1, 9, 0], counts[at])).collect()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Lines with digests that fit: a head wherever the run is another than before.
pub(crate) fn text<E: Entry>(entries: &[E]) -> String {
    text_of(Selection::all(INPUTS), entries)
}

/// The same of other inputs.
pub(crate) fn text_of<E: Entry>(selection: Selection, entries: &[E]) -> String {
    let (mut text, mut last) = (String::new(), None);
    for entry in entries {
        let run = entry.parts().run;
        if last != Some(run.digest()) {
            let head = Head { selection, ..head_of(run) };
            text += &(head.to_line().expect("JSON") + "\n");
            last = Some(run.digest());
        }
        text += &(to_line(entry).expect("JSON") + "\n");
    }
    text
}

fn write(path: &Path, records: &[Record]) {
    std::fs::write(path, text(records)).expect("written");
}

/// Opens the file of a run to append to it.
fn open(path: &Path, run: Run) -> Result<(RecordLog, Vec<u64>), RecordError> {
    let opened = RecordLog::open_to_append(path, &head(run), MemoryLimit::NONE);
    opened.map(|(log, present)| (log, present.into_keys().collect()))
}

/// All records of some files, by rising index.
fn merged(paths: &[PathBuf]) -> Result<Vec<Record>, RecordError> {
    let recorded = Recorded::<Record>::read(paths, MemoryLimit::NONE)?;
    Ok(recorded.into_entries().into_values().collect())
}
