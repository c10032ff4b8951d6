//! Runs over inputs: stopped, resumed, refused.

/// Classifiers that only their caller may ask.
mod called;
/// Records that nobody goes on from.
mod refused;

use crate::record::digested;
use crate::smoothing::params;
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::classifier::Classifier as _;
use gambeson_smooth::record::{
    Derived, Entry, Names, PredictionRecord, PredictionRun, Record, Run, read_records,
};
use gambeson_smooth::runs::{
    Finished, Row, RunError, RunParams, RunProgress, certify_inputs, predict_inputs,
};
use gambeson_smooth::selection::Selection;
use gambeson_smooth::smoother::{Certified, Smoother, SmoothingParams};
use gambeson_smooth::space::Space;
use gambeson_smooth::toys::HalfSpace;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

const INPUTS: u64 = 7;
/// Nine batches per input.
const BATCH: usize = 50;

fn half_space() -> HalfSpace {
    HalfSpace::new(vec![1.0, 1.0], 0.1).expect("a half-space")
}

fn row(index: u64) -> Row {
    // Not numbers of single precision, so that storing them has an error.
    let values = vec![index as f64 / 7.0 - 0.4, 0.123_456_789_012_345];
    Row { values, label: Some(u32::try_from(index % 3).expect("small")) }
}

fn names() -> Names {
    Names { model: "toy".to_owned(), data: "points".to_owned(), ..Names::default() }
}

fn run_params(out: Option<&Path>) -> RunParams {
    RunParams {
        names: names(),
        classes: 3,
        selection: Selection::all(INPUTS),
        out: out.map(Path::to_path_buf),
        memory: MemoryLimit::NONE,
    }
}

fn with_smoother<T>(work: impl FnOnce(&Smoother<&HalfSpace>) -> T) -> T {
    let (toy, space) = (half_space(), Space::identity(2));
    let params = SmoothingParams { batch: BATCH, ..params(0.5, 400, 0.01) };
    work(&Smoother::new(&toy, space.clone(), params).expect("it fits"))
}

fn certified(
    out: Option<&Path>,
    observe: impl FnMut(&RunProgress) -> ControlFlow<()> + Send,
) -> Result<Finished<Record>, RunError<Infallible>> {
    let mut observe = observe;
    with_smoother(|smoother| certify_inputs(smoother, &run_params(out), row, &mut observe))
}

fn never_stop(_: &RunProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn timeless(records: &Finished<Record>) -> Vec<Record> {
    let mut records: Vec<Record> = records.records.values().cloned().collect();
    records.iter_mut().for_each(|record| record.seconds = 0.0);
    records
}

/// Predictions for all inputs; that of the last is sure.
pub(crate) fn predictions() -> Vec<PredictionRecord> {
    let finished =
        with_smoother(|smoother| predict_inputs(smoother, &run_params(None), row, &mut ()).expect("a run"));
    finished.records.into_values().collect()
}

#[test]
fn records_are_those_of_one_input_at_a_time() {
    let finished = certified(None, never_stop).expect("a run");
    assert_eq!((finished.resumed, finished.stopped), (0, false));
    assert_eq!(finished.draws, INPUTS * 410);
    with_smoother(|smoother| {
        let run = Run::new(smoother.plan(), &names());
        assert_eq!(
            (run.n0, run.common.n, run.common.sigma, run.common.alpha, run.dimension),
            (10, 400, 0.5, 0.01, 2)
        );
        assert!(run.common.projection.is_none() && run.kappa.is_none() && run.noise.is_none());
        for (index, record) in &finished.records {
            let Row { values, label } = row(*index);
            let found = smoother.certify(*index, &values, &mut ()).expect("drawn").expect("not stopped");
            assert_eq!((record.index, record.label, Run::clone(&record.run)), (*index, label, run.clone()));
            assert_eq!(record.selection[..2], found.selection.classes);
            assert_eq!(record.estimation[..2], found.estimation.classes);
            assert_eq!((record.estimation.len(), record.estimation[2]), (3, 0), "never answered");
            assert_eq!(record.encoding_error, found.errors.encoding);
            assert_eq!(record.perturbed_error, found.errors.perturbed);
            // What stands beside the counts is what was found, and they prove it.
            let radii = |found: Certified| (found.latent.value(), found.l2.value(), found.linf.value());
            let Derived { class, latent, l2, linf } = record.derived;
            assert_eq!(class, found.certified.map(|found| found.class));
            assert_eq!(latent.zip(l2).zip(linf).map(|((a, b), c)| (a, b, c)), found.certified.map(radii));
            assert_eq!(Entry::check_claim(record), Ok(()));
            assert_eq!(record.validate(), Ok(()));
        }
    });
}

/// Wherever a run is stopped, the next one ends with the records of a run that was not.
#[test]
fn a_stopped_run_is_resumed() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = timeless(&certified(None, never_stop).expect("a run"));
    for stop_after in [1, 5, 12, 20, 40, 57] {
        let path = folder.path().join(format!("{stop_after}.jsonl"));
        let mut batches = 0;
        let first = certified(Some(&path), |progress| {
            batches += u64::from(matches!(progress, RunProgress::Drawn(_)));
            if batches >= stop_after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let first = first.expect("a run");
        assert!(first.stopped && (first.records.len() as u64) < INPUTS, "{first:?}");
        let kept = read_records(&path, MemoryLimit::NONE).expect("records");
        assert_eq!(kept.len(), first.records.len(), "what is returned is on the disk");
        let (mut resumed, mut recorded, mut draws) = (0, 0, 0);
        let second = certified(Some(&path), |progress| {
            match progress {
                RunProgress::CutOff { .. } => panic!("nothing was torn"),
                RunProgress::Resumed { .. } => resumed += 1,
                RunProgress::Recorded { .. } => recorded += 1,
                RunProgress::Drawn(drawn) => draws += drawn.draws,
            }
            ControlFlow::Continue(())
        });
        let second = second.expect("a run");
        assert_eq!((resumed, second.resumed), (kept.len(), kept.len()));
        assert_eq!((recorded, draws), (whole.len() - kept.len(), second.draws));
        assert_eq!(draws, 410 * recorded as u64);
        assert!(!second.stopped);
        assert_eq!(timeless(&second), whole);
        // Ended between two inputs, nothing is lost; asked for nothing more, nothing is stopped.
        let third = certified(Some(&path), |_| ControlFlow::Break(())).expect("a run");
        assert_eq!((third.resumed, third.stopped), (1, true), "not all were looked at");
        let fourth = certified(Some(&path), never_stop).expect("a run");
        assert_eq!((fourth.resumed, fourth.draws, fourth.stopped), (whole.len(), 0, false));
    }
}

#[test]
fn a_torn_line_is_told_and_its_input_done_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.jsonl");
    let whole = certified(Some(&path), never_stop).expect("a run");
    let bytes = std::fs::read(&path).expect("bytes");
    let head = bytes.iter().position(|&byte| byte == b'\n').expect("a head");
    for (kept, line) in [(bytes.len() - 20, 8), (head + 30, 2), (head - 30, 1)] {
        std::fs::write(&path, &bytes[..kept]).expect("written");
        let mut seen = Vec::new();
        let resumed = certified(Some(&path), |progress| {
            seen.extend((!matches!(progress, RunProgress::Drawn(_))).then_some(*progress));
            ControlFlow::Continue(())
        });
        let resumed = resumed.expect("a run");
        assert_eq!(seen[0], RunProgress::CutOff { line }, "first of all");
        assert_eq!(seen.len() as u64, INPUTS + 1);
        assert_eq!((resumed.resumed, timeless(&resumed)), (line.saturating_sub(2), timeless(&whole)));
    }
    // Whoever is told may end the run, before anything is drawn.
    std::fs::write(&path, &bytes[..bytes.len() - 20]).expect("written");
    let ended = certified(Some(&path), |_| ControlFlow::Break(())).expect("a run");
    assert_eq!((ended.records.len(), ended.draws, ended.stopped), (0, 0, true));
}

#[test]
fn predictions_are_resumed_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.jsonl");
    let predict = |count: usize| {
        let mut recorded = 0;
        let mut observe = |progress: &RunProgress| {
            recorded += usize::from(matches!(progress, RunProgress::Recorded { .. }));
            if recorded == count { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        with_smoother(|smoother| {
            predict_inputs(smoother, &run_params(Some(&path)), row, &mut observe).expect("a run")
        })
    };
    assert_eq!(predict(2).records.len(), 2);
    let finished = predict(7);
    assert_eq!((finished.resumed, finished.draws, finished.stopped), (2, 5 * 400, false));
    with_smoother(|smoother| {
        let run = digested(PredictionRun::new(smoother.plan(), &names()));
        for (index, record) in &finished.records {
            let Row { values, label } = row(*index);
            let found = smoother.predict(*index, &values, &mut ()).expect("drawn").expect("not stopped");
            let expected = PredictionRecord::new(*index, label, 3, Arc::clone(&run), &found, record.seconds);
            assert_eq!(*record, expected);
            assert_eq!((record.class, record.counts.len()), (found.class, 3));
        }
        assert_eq!(smoother.classifier().classes(), 2);
    });
}
