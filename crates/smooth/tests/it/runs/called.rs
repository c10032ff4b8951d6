//! Classifiers that only their caller may ask.

use super::{BATCH, INPUTS, certified, half_space, never_stop, row, run_params, timeless};
use crate::smoothing::params;
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::classifier::{Classifier, ClassifierSpec};
use gambeson_smooth::record::{Entry, Record, read_records};
use gambeson_smooth::replay::replay;
use gambeson_smooth::runs::{Finished, RunError, RunProgress, certify_inputs, extend_inputs, predict_inputs};
use gambeson_smooth::sequential::{Goal, RadiusNorm};
use gambeson_smooth::session::{Batch, BatchCallback, Rows, SessionParams};
use gambeson_smooth::smoother::{SessionError, Smoother, SmoothingError, SmoothingParams, SmoothingPlan};
use gambeson_smooth::space::Space;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Answers that a caller may give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Nothing,
    Failure,
    TooFew,
    Unknown,
}

/// The same run by a function that is called by one thread; it goes wrong in a batch, counting from 0.
fn called(
    (out, batch): (Option<&Path>, usize),
    (fault, at): (Fault, usize),
    mut observe: impl FnMut(&RunProgress) -> ControlFlow<()> + Send,
) -> Result<Finished<Record>, RunError<std::io::Error>> {
    let toy = half_space();
    let params = SmoothingParams { batch, ..params(0.5, 400, 0.01) };
    let plan = SmoothingPlan::new(ClassifierSpec::of(&toy), Space::identity(2), params).expect("it fits");
    let (mut batches, thread) = (0, std::thread::current().id());
    let mut callback = BatchCallback::new(plan, SessionParams::default(), |batch: &Batch<'_>| {
        assert_eq!(std::thread::current().id(), thread, "the caller's own");
        let Rows::F32(rows) = batch.rows else { panic!("values were asked for") };
        let mut classes = vec![0; batch.count];
        let Ok(()) = toy.classify(rows, batch.count, &mut classes);
        batches += 1;
        if batches == at + 1 {
            match fault {
                Fault::Nothing => {}
                Fault::Failure => return Err(std::io::Error::other("the device is gone")),
                Fault::TooFew => drop(classes.pop()),
                Fault::Unknown => classes[17] = 2,
            }
        }
        Ok(classes)
    });
    certify_inputs(&mut callback, &run_params(out), row, &mut observe)
}

#[test]
fn a_function_makes_the_same_records() {
    let whole = timeless(&certified(None, never_stop).expect("a run"));
    let by_function = called((None, BATCH), (Fault::Nothing, 0), never_stop).expect("a run");
    assert_eq!((by_function.draws, timeless(&by_function)), (INPUTS * 410, whole.clone()));
    // In batches of another size, of which the head speaks, they have the same counts.
    let others = called((None, 128), (Fault::Nothing, 0), never_stop).expect("a run");
    assert_eq!((others.draws, others.records.len()), (INPUTS * 410, whole.len()));
    for (other, record) in timeless(&others).iter().zip(&whole) {
        assert!(other.same_counts(record) && other.derived == record.derived, "{other:?}");
        assert_ne!(other.run.digest(), record.run.digest());
    }
}

/// Four batches an input: 128 and 26 rows at the end.
#[test]
fn a_function_that_goes_wrong_ends_the_run_and_records_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    for (fault, at) in [(Fault::Failure, 9), (Fault::TooFew, 8), (Fault::Unknown, 11)] {
        let path = folder.path().join(format!("{at}.jsonl"));
        let error = called((Some(&path), 128), (fault, at), never_stop).expect_err("it goes wrong");
        let RunError::Input { index: 2, reason } = error else { panic!("another error: {error}") };
        match (fault, reason) {
            (Fault::Failure, SmoothingError::Classifier(error)) => {
                assert_eq!(error.to_string(), "the device is gone");
            }
            (Fault::TooFew, SmoothingError::Session(error)) => {
                assert_eq!(error, SessionError::Length { rows: 128, answers: 127 });
            }
            (Fault::Unknown, SmoothingError::Session(error)) => {
                assert_eq!(error, SessionError::Class { row: 17, class: 2, classes: 2 });
            }
            (_, other) => panic!("another error: {other}"),
        }
        assert_eq!(read_records(&path, MemoryLimit::NONE).expect("records").len(), 2);
        let resumed = called((Some(&path), 128), (Fault::Nothing, 0), never_stop).expect("a run");
        assert_eq!((resumed.resumed, resumed.draws), (2, 5 * 410));
    }
}

/// A run that one mode began is ended by the other.
#[test]
fn a_run_of_one_mode_is_resumed_in_the_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = timeless(&certified(None, never_stop).expect("a run"));
    for by_function_first in [false, true] {
        // Also between the batches of an input.
        for stop_after in [1, 4, 9, 13, 20] {
            let path = folder.path().join(format!("{by_function_first}{stop_after}.jsonl"));
            let mut batches = 0;
            let stop = |progress: &RunProgress| {
                batches += u64::from(matches!(progress, RunProgress::Drawn(_)));
                if batches >= stop_after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let function = (Fault::Nothing, 0);
            let (stopped, records, whole_run) = if by_function_first {
                let first = called((Some(&path), BATCH), function, stop).expect("a run");
                (first.stopped, first.records.len(), certified(Some(&path), never_stop).expect("a run"))
            } else {
                let first = certified(Some(&path), stop).expect("a run");
                let second = called((Some(&path), BATCH), function, never_stop).expect("a run");
                (first.stopped, first.records.len(), second)
            };
            assert!(stopped && (records as u64) < INPUTS);
            assert_eq!((whole_run.resumed, timeless(&whole_run)), (records, whole.clone()));
        }
    }
}

#[test]
fn records_are_extended_and_drawn_again_by_a_function() {
    let toy = half_space();
    let params = |n, extended_from| {
        let goal = Some(Goal { targets: vec![0.3], tolerance: None, norm: RadiusNorm::L2 });
        SmoothingParams { goal, extended_from, batch: 300, ..params(0.5, n, 0.01) }
    };
    let smoother = |params| Smoother::new(&toy, Space::identity(2), params).expect("it fits");
    let (short, long) = (smoother(params(200, None)), smoother(params(1000, Some(200))));
    let earlier = certify_inputs(&short, &run_params(None), row, &mut ()).expect("a run").records;
    let expected = extend_inputs(&long, &run_params(None), &earlier, row, &mut ()).expect("a run");
    let classify = |batch: &Batch<'_>| {
        let Rows::F32(rows) = batch.rows else { panic!("values were asked for") };
        let mut classes = vec![0; batch.count];
        toy.classify(rows, batch.count, &mut classes).map(|()| classes)
    };
    let mut callback = BatchCallback::new(Arc::clone(long.plan()), SessionParams::default(), classify);
    let found = extend_inputs(&mut callback, &run_params(None), &earlier, row, &mut ()).expect("a run");
    assert_eq!(timeless(&found), timeless(&expected));
    let predicted = predict_inputs(&mut callback, &run_params(None), row, &mut ()).expect("a run").records;
    let all = predict_inputs(&long, &run_params(None), row, &mut ()).expect("a run").records;
    assert!(predicted.values().zip(all.values()).all(|(one, all)| one.same_counts(all)));
    let (index, record) = found.records.iter().next().expect("records");
    let replayed = replay(&mut callback, record, &row(*index), 3, &mut ()).expect("drawn");
    let replayed = replayed.expect("not stopped");
    assert_eq!((replayed.findings, replayed.differing), (Vec::new(), 0));
}
