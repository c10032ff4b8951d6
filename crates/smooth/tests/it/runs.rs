//! Runs over inputs: stopped, resumed, refused.

use crate::smoothing::params;
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::classifier::{Classifier, ClassifierSpec};
use gambeson_smooth::record::{
    Derived, Entry, Names, PredictionRecord, PredictionRun, ProjectionMismatch, Record, RecordProblem, Run,
    read_records,
};
use gambeson_smooth::replay::replay;
use gambeson_smooth::runs::{
    Finished, Row, RunError, RunParams, RunProgress, certify_inputs, extend_inputs, predict_inputs,
};
use gambeson_smooth::sequential::{Goal, RadiusNorm};
use gambeson_smooth::session::{Batch, BatchCallback, Rows, SessionParams};
use gambeson_smooth::smoother::{
    Certified, Counts, SessionError, Smoother, SmoothingError, SmoothingParams, SmoothingPlan,
};
use gambeson_smooth::space::{Space, WrongLength};
use gambeson_smooth::toys::HalfSpace;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

const INPUTS: u64 = 7;

fn half_space() -> HalfSpace {
    HalfSpace::new(vec![1.0, 1.0], 0.1).expect("a half-space")
}

fn row(index: u64) -> Row {
    // Not numbers of single precision, so that storing them has an error.
    let values = vec![index as f64 / 7.0 - 0.4, 0.123_456_789_012_345];
    Row { values, label: Some(u32::try_from(index % 3).expect("small")) }
}

fn names() -> Names {
    Names { model: "toy".to_owned(), runtime: None, data: "points".to_owned(), nonce: None }
}

fn run_params(out: Option<&Path>) -> RunParams {
    RunParams {
        names: names(),
        classes: 3,
        indices: (0..INPUTS).rev().collect(),
        out: out.map(Path::to_path_buf),
        memory: MemoryLimit::NONE,
    }
}

fn with_smoother<T>(work: impl FnOnce(&Smoother<&HalfSpace>) -> T) -> T {
    let (toy, space) = (half_space(), Space::identity(2));
    let params = SmoothingParams { batch: 50, ..params(0.5, 400, 0.01) };
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
    records.records.values().map(|record| Record { seconds: 0.0, ..record.clone() }).collect()
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
            assert_eq!((record.index, record.label, &record.run), (*index, label, &run));
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
    // Nine batches per input.
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
fn a_record_with_too_small_an_encoding_error_ends_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.jsonl");
    certified(Some(&path), never_stop).expect("a run");
    let text = std::fs::read_to_string(&path).expect("text");
    let mut record: Record = serde_json::from_str(text.lines().nth(3).expect("a line")).expect("a record");
    let proven = record.encoding_error;
    assert!(proven > 0.0);
    record.encoding_error = 0.0;
    let forged = record.with_derived().expect("valid");
    std::fs::write(&path, gambeson_smooth::record::to_line(&forged).expect("JSON") + "\n").expect("written");
    let before = std::fs::read(&path).expect("bytes");
    let mut drawn = 0;
    let run = certified(Some(&path), |progress| {
        drawn += u64::from(matches!(progress, RunProgress::Drawn(_)));
        ControlFlow::Continue(())
    });
    let error = run.expect_err("refused");
    let index = forged.index;
    assert!(
        matches!(error, RunError::EncodingError { index: at, recorded: 0.0, proven: p } if at == index && p == proven),
        "{error}"
    );
    assert_eq!((drawn, std::fs::read(&path).expect("bytes")), (0, before), "before anything is drawn");
}

/// Entries as a forger writes them: changed, with digests that fit.
fn forge<E: Entry>(path: &Path, entries: impl IntoIterator<Item = E>, change: impl Fn(&mut E)) {
    let line = |mut entry: E| {
        change(&mut entry);
        gambeson_smooth::record::to_line(&entry).expect("JSON") + "\n"
    };
    std::fs::write(path, entries.into_iter().map(line).collect::<String>()).expect("written");
}

/// Labels and numbers of classes are in records for people to read; a run knows them from its data.
#[test]
fn records_with_other_labels_or_classes_are_not_resumed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.jsonl");
    let whole = timeless(&certified(None, never_stop).expect("a run"));
    let records = |change: &dyn Fn(&mut Record)| {
        forge(&path, whole.clone(), change);
        certified(Some(&path), never_stop).map(|finished| finished.resumed)
    };
    assert!(matches!(records(&|_| ()), Ok(7)));
    let label = records(&|record| record.label = record.derived.class).expect_err("another label");
    assert!(matches!(label, RunError::Label { index: 6, recorded: Some(1), found: Some(0) }), "{label}");
    assert_eq!(label.to_string(), "the record of input 6 has label 1, but that of the data is 0");
    assert!(records(&|record| record.label = None).is_err());
    let more = records(&|record| {
        record.selection.push(0);
        record.estimation.push(0);
    });
    let more = more.expect_err("more classes");
    assert!(matches!(more, RunError::Classes { index: 6, recorded: 4, expected: 3 }), "{more}");
    let fewer = records(&|record| {
        record.label = None;
        record.selection.truncate(2);
        record.estimation.truncate(2);
    });
    assert!(matches!(fewer, Err(RunError::Classes { index: 6, recorded: 2, expected: 3 })), "{fewer:?}");

    let predicted = |change: &dyn Fn(&mut PredictionRecord)| {
        forge(&path, predictions(), change);
        with_smoother(|smoother| predict_inputs(smoother, &run_params(Some(&path)), row, &mut ()))
            .map(|finished| finished.resumed)
    };
    assert!(matches!(predicted(&|_| ()), Ok(7)));
    let label = predicted(&|record| record.label = record.class).expect_err("another label");
    assert!(matches!(label, RunError::Label { index: 6, recorded: Some(1), found: Some(0) }), "{label}");
    let more = predicted(&|record| record.counts.push(0)).expect_err("more classes");
    assert!(matches!(more, RunError::Classes { index: 6, recorded: 4, expected: 3 }), "{more}");
}

/// What a run is extended from is looked at like what it is resumed from.
#[test]
fn only_what_is_right_is_extended() {
    let (toy, space) = (half_space(), Space::identity(2));
    let smoother = |n, extended_from| {
        let goal = Some(Goal { targets: vec![0.3], tolerance: None, norm: RadiusNorm::L2 });
        let params = SmoothingParams { goal, extended_from, ..params(0.5, n, 0.01) };
        Smoother::new(&toy, space.clone(), params).expect("it fits")
    };
    let (short, long) = (smoother(200, None), smoother(1000, Some(200)));
    let earlier = certify_inputs(&short, &run_params(None), row, &mut ()).expect("a run").records;
    let extended = |change: &dyn Fn(&mut Record)| {
        let mut earlier = earlier.clone();
        earlier.values_mut().for_each(change);
        let mut drawn = 0;
        let mut observer = |progress: &RunProgress| {
            drawn += u64::from(matches!(progress, RunProgress::Drawn(_)));
            ControlFlow::Continue(())
        };
        let finished = extend_inputs(&long, &run_params(None), &earlier, row, &mut observer);
        assert!(finished.is_ok() || drawn == 0, "before anything is drawn");
        finished
    };
    let more = extended(&|_| ()).expect("a longer run");
    for (index, record) in &more.records {
        assert!(record.draws() >= earlier[index].draws());
        assert_eq!(record.validate(), Ok(()), "no draws are lost");
    }
    let label = extended(&|record| record.label = Some(2)).expect_err("another label");
    assert!(matches!(label, RunError::Label { index: 6, recorded: Some(2), found: Some(0) }), "{label}");
    let error = extended(&|record| record.perturbed_error = 0.0).expect_err("nothing taken off");
    assert!(matches!(error, RunError::EncodingError { index: 6, recorded: 0.0, .. }), "{error}");
    let one = extended(&|record| {
        record.selection = vec![record.selection.iter().sum()];
        record.estimation = vec![record.estimation.iter().sum()];
    });
    assert!(matches!(one, Err(RunError::Classes { index: 6, recorded: 1, expected: 3 })), "{one:?}");
}

#[test]
fn counts_of_fewer_classes_lose_no_draws() {
    let mut sum = Counts { classes: vec![5], none: 1, undecided: 0 };
    sum.add(&Counts { classes: vec![1, 2, 3], none: 0, undecided: 1 });
    assert_eq!(sum, Counts { classes: vec![6, 2, 3], none: 1, undecided: 1 });
}

#[test]
fn inputs_that_do_not_fit_are_refused_and_leave_no_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.jsonl");
    let run = |row: &dyn Fn(u64) -> Row| {
        with_smoother(|smoother| certify_inputs(smoother, &run_params(Some(&path)), row, &mut ()))
    };
    let long = run(&|index| Row { values: vec![0.0; 3], ..row(index) }).expect_err("refused");
    let wrong = WrongLength { index: 6, expected: 2, found: 3 };
    assert!(matches!(long, RunError::Length(length) if length == wrong), "{long}");
    let label = run(&|index| Row { label: Some(3), ..row(index) }).expect_err("refused");
    let expected = RecordProblem::Label { label: 3, classes: 3 };
    assert!(matches!(&label, RunError::Invalid { index: 6, problem } if *problem == expected), "{label}");
    let huge = run(&|index| Row { values: vec![1e39, 0.0], ..row(index) }).expect_err("refused");
    assert!(matches!(huge, RunError::Input { index: 6, .. }), "{huge}");
    assert_eq!(std::fs::read(&path).expect("bytes"), b"");
}

#[test]
fn predictions_are_resumed_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.jsonl");
    let predict = |count: usize| {
        with_smoother(|smoother| {
            let mut params = run_params(Some(&path));
            params.indices.truncate(count);
            predict_inputs(smoother, &params, row, &mut ()).expect("a run")
        })
    };
    assert_eq!(predict(2).records.len(), 2);
    let finished = predict(7);
    assert_eq!((finished.resumed, finished.draws, finished.stopped), (2, 5 * 400, false));
    with_smoother(|smoother| {
        let run = PredictionRun::new(smoother.plan(), &names());
        for (index, record) in &finished.records {
            let Row { values, label } = row(*index);
            let found = smoother.predict(*index, &values, &mut ()).expect("drawn").expect("not stopped");
            let expected = PredictionRecord::new(*index, label, 3, run.clone(), &found, record.seconds);
            assert_eq!(*record, expected);
            assert_eq!((record.class, record.counts.len()), (found.class, 3));
        }
        assert_eq!(smoother.classifier().classes(), 2);
    });
}

#[test]
fn runs_without_a_projection_rest_on_none() {
    let proven = crate::smoothing::example_projection(None);
    let run = with_smoother(|smoother| Run::new(smoother.plan(), &names()));
    let mismatch = run.check_projection(&proven).expect_err("made without");
    assert!(matches!(mismatch, ProjectionMismatch::Projection { recorded: None, .. }), "{mismatch}");
}

/// κ and s that records name are compared with what is proven about the projection they name.
#[test]
fn what_a_run_names_is_proven_by_its_projection_or_refused() {
    let levels = [0.5, 1.0, 2.0];
    let (plain, levelled) =
        (crate::smoothing::example_projection(None), crate::smoothing::example_projection(Some(&levels)));
    let toy = HalfSpace::new(vec![1.0; 12], 0.0).expect("a half-space");
    let run = |proven| {
        let space = Space::projected(proven, None).expect("a space");
        Run::new(
            Smoother::new(&toy, space.clone(), params(1.0, 100, 0.01)).expect("it fits").plan(),
            &names(),
        )
    };
    let (one, many) = (run(&plain), run(&levelled));
    assert_eq!((one.check_projection(&plain), many.check_projection(&levelled)), (Ok(()), Ok(())));
    assert_eq!(one.common.projection, many.common.projection, "one file");
    assert_eq!(one.check_projection(&levelled), Err(ProjectionMismatch::OneLevel));
    let recorded = many.noise.clone().expect("a hash");
    assert_eq!(many.check_projection(&plain), Err(ProjectionMismatch::Levels { recorded }));
    let kappa = one.kappa.expect("proven");
    let better = Run { kappa: Some(kappa.next_down()), ..one.clone() };
    let expected = ProjectionMismatch::Bound { field: "kappa", recorded: kappa.next_down(), proven: kappa };
    assert_eq!(better.check_projection(&plain), Err(expected));
    let worse = Run { kappa: Some(kappa.next_up()), ..one.clone() };
    assert_eq!(worse.check_projection(&plain), Ok(()), "less is no lie");
    let better = Run { spectral: one.spectral.map(|s| s * 0.5), ..one.clone() };
    let refused = better.check_projection(&plain);
    assert!(matches!(refused, Err(ProjectionMismatch::Bound { field: "spectral", .. })), "{refused:?}");
    let larger = Run { dimension: 13, ..one };
    assert_eq!(larger.check_projection(&plain), Err(ProjectionMismatch::Inputs));
}

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
    out: Option<&Path>,
    (fault, at): (Fault, usize),
    mut observe: impl FnMut(&RunProgress) -> ControlFlow<()> + Send,
) -> Result<Finished<Record>, RunError<std::io::Error>> {
    let toy = half_space();
    let params = SmoothingParams { batch: 128, ..params(0.5, 400, 0.01) };
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
    let by_function = called(None, (Fault::Nothing, 0), never_stop).expect("a run");
    assert_eq!(by_function.draws, INPUTS * 410);
    assert_eq!(timeless(&by_function), whole);
}

/// Four batches an input: 128 and 26 rows at the end.
#[test]
fn a_function_that_goes_wrong_ends_the_run_and_records_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    for (fault, at) in [(Fault::Failure, 9), (Fault::TooFew, 8), (Fault::Unknown, 11)] {
        let path = folder.path().join(format!("{at}.jsonl"));
        let error = called(Some(&path), (fault, at), never_stop).expect_err("it goes wrong");
        let RunError::Input { index: 4, reason } = error else { panic!("another error: {error}") };
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
        let resumed = called(Some(&path), (Fault::Nothing, 0), never_stop).expect("a run");
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
        for stop_after in [1, 4, 6, 9] {
            let path = folder.path().join(format!("{by_function_first}{stop_after}.jsonl"));
            let mut batches = 0;
            let stop = |progress: &RunProgress| {
                batches += u64::from(matches!(progress, RunProgress::Drawn(_)));
                if batches >= stop_after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let function = (Fault::Nothing, 0);
            let (stopped, records, whole_run) = if by_function_first {
                let first = called(Some(&path), function, stop).expect("a run");
                (first.stopped, first.records.len(), certified(Some(&path), never_stop).expect("a run"))
            } else {
                let first = certified(Some(&path), stop).expect("a run");
                let second = called(Some(&path), function, never_stop).expect("a run");
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
