//! Records that nobody goes on from: with errors, labels or classes that are not those of the inputs.

use super::{
    INPUTS, certified, half_space, names, never_stop, predictions, row, run_params, timeless, with_smoother,
};
use crate::record::head_of;
use crate::smoothing::params;
use gambeson_smooth::record::{
    Entry, Head, PredictionRecord, ProjectionMismatch, Record, RecordProblem, Run, to_line,
};
use gambeson_smooth::runs::{Row, RunError, RunProgress, certify_inputs, extend_inputs, predict_inputs};
use gambeson_smooth::selection::Selection;
use gambeson_smooth::sequential::{Goal, RadiusNorm};
use gambeson_smooth::smoother::{Counts, Smoother, SmoothingParams};
use gambeson_smooth::space::{Space, WrongLength};
use gambeson_smooth::toys::HalfSpace;
use std::ops::ControlFlow;
use std::path::Path;

#[test]
fn a_record_with_too_small_an_encoding_error_ends_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.jsonl");
    let whole = timeless(&certified(Some(&path), never_stop).expect("a run"));
    let mut record = whole[3].clone();
    let proven = record.encoding_error;
    assert!(proven > 0.0);
    record.encoding_error = 0.0;
    let forged = record.with_derived().expect("valid");
    forge(&path, vec![forged.clone()], |_| ());
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
fn forge<E: Entry>(path: &Path, mut entries: Vec<E>, change: impl Fn(&mut E)) {
    entries.iter_mut().for_each(change);
    let head = Head { selection: Selection::all(INPUTS), ..head_of(entries[0].parts().run) };
    let lines = entries.iter().map(to_line).collect::<Result<Vec<_>, _>>().expect("JSON");
    let text = format!("{}\n{}\n", head.to_line().expect("JSON"), lines.join("\n"));
    std::fs::write(path, text).expect("written");
}

/// Whether the first input whose label is another one is named.
fn names_label<E: std::error::Error>(
    error: &RunError<E>,
    classes: impl Iterator<Item = Option<u32>>,
) -> bool {
    let (index, class) = (0..)
        .zip(classes)
        .find(|(index, class)| *class != row(*index).label)
        .expect("a class that is not the label");
    let words = format!(
        "the record of input {index} has label {}, but that of the data is {}",
        class.map_or_else(|| "none".to_owned(), |class| class.to_string()),
        index % 3
    );
    matches!(error, RunError::Label { .. }) && error.to_string() == words
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
    assert!(names_label(&label, whole.iter().map(|record| record.derived.class)), "{label}");
    let none = records(&|record| record.label = None).expect_err("no label");
    assert!(matches!(none, RunError::Label { index: 0, recorded: None, found: Some(0) }), "{none}");
    let more = records(&|record| {
        record.selection.push(0);
        record.estimation.push(0);
    });
    let more = more.expect_err("more classes");
    assert!(matches!(more, RunError::Classes { index: 0, recorded: 4, expected: 3 }), "{more}");
    let fewer = records(&|record| {
        record.label = None;
        record.selection.truncate(2);
        record.estimation.truncate(2);
    });
    assert!(matches!(fewer, Err(RunError::Classes { index: 0, recorded: 2, expected: 3 })), "{fewer:?}");

    let predicted = |change: &dyn Fn(&mut PredictionRecord)| {
        forge(&path, predictions(), change);
        with_smoother(|smoother| predict_inputs(smoother, &run_params(Some(&path)), row, &mut ()))
            .map(|finished| finished.resumed)
    };
    assert!(matches!(predicted(&|_| ()), Ok(7)));
    let label = predicted(&|record| record.label = record.class).expect_err("another label");
    assert!(names_label(&label, predictions().iter().map(|record| record.class)), "{label}");
    let more = predicted(&|record| record.counts.push(0)).expect_err("more classes");
    assert!(matches!(more, RunError::Classes { index: 0, recorded: 4, expected: 3 }), "{more}");
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
    assert!(matches!(label, RunError::Label { index: 0, recorded: Some(2), found: Some(0) }), "{label}");
    let error = extended(&|record| record.perturbed_error = 0.0).expect_err("nothing taken off");
    assert!(matches!(error, RunError::EncodingError { index: 0, recorded: 0.0, .. }), "{error}");
    let one = extended(&|record| {
        record.selection = vec![record.selection.iter().sum()];
        record.estimation = vec![record.estimation.iter().sum()];
    });
    assert!(matches!(one, Err(RunError::Classes { index: 0, recorded: 1, expected: 3 })), "{one:?}");
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
    let wrong = WrongLength { index: 0, expected: 2, found: 3 };
    assert!(matches!(long, RunError::Length(length) if length == wrong), "{long}");
    let label = run(&|index| Row { label: Some(3), ..row(index) }).expect_err("refused");
    let expected = RecordProblem::Label { label: 3, classes: 3 };
    assert!(matches!(&label, RunError::Invalid { index: 0, problem } if *problem == expected), "{label}");
    let huge = run(&|index| Row { values: vec![1e39, 0.0], ..row(index) }).expect_err("refused");
    assert!(matches!(huge, RunError::Input { index: 0, .. }), "{huge}");
    let text = std::fs::read_to_string(&path).expect("text");
    assert_eq!((text.lines().count(), text.ends_with('\n')), (1, true), "the head alone");
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
