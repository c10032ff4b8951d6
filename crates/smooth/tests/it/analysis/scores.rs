//! Certified accuracy and what else is counted of a run.

use super::{inputs, read, read_with};
use crate::record::{INPUTS, record, run, text, text_of};
use gambeson_smooth::analysis::{
    AnalysisError, LoggedRun, Question, RadiusNorm, RunAccuracy, Scale, Settings, best_at, paired, read_logs,
};
use gambeson_smooth::record::Record;
use gambeson_smooth::selection::{InputSelection, Selection, Shard};
use gambeson_smooth::space::Space;

#[test]
fn scores_are_what_counting_by_hand_gives() {
    let log = read(
        "idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t3\t3\t0.5\t1\t1\n1\t3\t4\t0.9\t0\t1\n2\t3\t-1\t0.0\t0\t1\n\
         3\t1\t1\t0.25\t1\t1\n",
    );
    let scores = log.scores(&Question::default()).expect("scores");
    assert_eq!(scores.certified_accuracy(&[0.0, 0.25, 0.26, 0.5, 0.51]), Ok(vec![0.5, 0.5, 0.25, 0.25, 0.0]));
    assert_eq!(
        (scores.images(), scores.average_radius(), scores.abstained()),
        (Some(4), Some(0.1875), Some(0.25))
    );
    assert_eq!(scores.largest_radius(), 0.5);
    assert_eq!(scores.limit_quantile(0.5), None);
    let any = log.scores(&Question { any_class: true, ..Question::default() }).expect("scores");
    assert_eq!(any.certified_accuracy(&[0.0, 0.6]), Ok(vec![0.75, 0.25]));
    let linf = |scale| log.scores(&Question { norm: RadiusNorm::Linf, scale, any_class: false });
    let by_kappa = linf(Scale::Kappa(2.0)).expect("scores");
    assert_eq!(by_kappa.certified_accuracy(&[0.125, 0.25, 0.2501]), Ok(vec![0.5, 0.25, 0.0]));
    let by_dimension = linf(Scale::Dimension(4)).expect("scores");
    assert_eq!(by_dimension, by_kappa);
    // √3072 is not a number of binary64: rounded up, so that the radius is rounded down.
    let root = linf(Scale::Dimension(3072)).expect("scores").largest_radius();
    assert!(root <= 0.5 / 3072_f64.sqrt() && root > 0.5 / 3072_f64.sqrt() * (1.0 - 1e-15));
    assert!(matches!(linf(Scale::Own), Err(AnalysisError::NoRadii { .. })));

    let predictions = read("idx\tlabel\tpredict\tcorrect\ttime\n0\t3\t-1\t0\t1.0\n20\t7\t7\t1\t1.0\n");
    let scores = predictions.scores(&Question::default()).expect("scores");
    assert_eq!(scores.certified_accuracy(&[0.0]), Ok(vec![0.5]));
    assert_eq!((scores.average_radius(), scores.abstained()), (None, Some(0.5)));
    assert!(scores.certified_accuracy(&[0.1]).expect_err("no radii").to_string().contains("radius 0 only"));

    let curve = read("0.0\t0.8\n0.5\t0.5\n").scores(&Question::default()).expect("scores");
    assert_eq!(curve.certified_accuracy(&[0.0, 0.1, 0.5, 0.6]), Ok(vec![0.8, 0.5, 0.5, 0.0]));

    let unlabelled = read("idx\tpredict\tradius\ttime\n5\t1\t0.5\t1\n");
    let error = unlabelled.scores(&Question::default()).expect_err("no labels").to_string();
    assert!(error.contains("no label for input 5"), "{error}");
    let any = unlabelled.scores(&Question { any_class: true, ..Question::default() }).expect("scores");
    assert_eq!(any.certified_accuracy(&[0.5]), Ok(vec![1.0]));

    let sure = read_with(
        "idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t3\t3\t0.5\t1\t1\n1\t3\t-1\t0.0\t0\t1\n",
        &Settings { sigma: Some(0.5), ..Settings::default() },
    );
    let sure = sure.expect("a log").scores(&Question::default()).expect("scores");
    let limit = sure.limit_quantile(1.0);
    assert_eq!(sure.limit_quantile(0.0), Some(0.0), "of an abstention");
    // Φ(1), as any table has it.
    assert!((limit.expect("a limit") - 0.841_344_746_068_542_9).abs() < 1e-14);
}

#[test]
fn accuracy_at_the_end_of_a_run_is_that_of_its_log() {
    let counts = [[0, 1000, 0], [5, 990, 5], [600, 400, 0], [990, 5, 5]];
    let records: Vec<Record> = (0..4).map(|at| record(at as u64, run(), [1, 9, 0], counts[at])).collect();
    let accuracy = RunAccuracy::of_records(&records.iter(), &Space::identity(3072), 0.25, true);
    // All of label 1 and selected class 1: two are certified, and one of the others has another class more often.
    assert_eq!((accuracy.clean, accuracy.l2.radii.clone()), (Some(0.5), vec![0.0, 0.125, 0.25, 0.5]));
    let four = text_of(Selection::all(4), &records);
    let scores = read_with(&four, &Settings::default()).expect("a log").scores(&Question::default());
    assert_eq!(
        scores.expect("scores").certified_accuracy(&accuracy.l2.radii),
        Ok(accuracy.l2.accuracy.clone())
    );
    assert_eq!(accuracy.l2.accuracy, [0.5, 0.5, 0.5, 0.25]);
    let unlabelled = RunAccuracy::of_records(&records.iter(), &Space::identity(3072), 0.25, false);
    assert_eq!((unlabelled.clean, unlabelled.l2), (None, accuracy.l2));
    let nothing = RunAccuracy::of_records(&[].iter(), &Space::identity(2), 0.25, true);
    assert_eq!((nothing.clean, nothing.l2.accuracy), (Some(0.0), vec![0.0; 4]));
}

/// Whoever deletes the records that failed must not do better for it.
#[test]
fn inputs_without_a_record_are_not_certified() {
    let counts = [[0, 1000, 0], [5, 990, 5], [600, 400, 0], [990, 5, 5]];
    let records: Vec<Record> = (0..4).map(|at| record(at as u64, run(), [1, 9, 0], counts[at])).collect();
    let log = |records: &[Record]| read_with(&text(records), &Settings::default()).expect("a log");
    let (whole, part) = (log(&records), log(&records[..2]));
    assert_eq!((whole.missing(), part.missing(), inputs(&part).len()), (INPUTS - 4, INPUTS - 2, 2));
    let scores = |log: &LoggedRun| log.scores(&Question::default()).expect("scores");
    let (whole, part) = (scores(&whole), scores(&part));
    let radii = [0.0, 0.5, 1.0];
    assert_eq!(whole.certified_accuracy(&radii), Ok(vec![2.0 / 60.0, 1.0 / 60.0, 0.0]));
    assert_eq!(part.certified_accuracy(&radii), whole.certified_accuracy(&radii));
    assert_eq!((part.images(), part.average_radius()), (Some(60), whole.average_radius()));
    // Abstentions are answers; p_A of what is missing may be anything.
    assert_eq!((whole.abstained(), part.abstained()), (Some(2.0 / 60.0), Some(0.0)));
    assert_eq!((part.limits().len(), part.limit_quantile(0.9)), (60, Some(0.0)));
    let missing = log(&records[..2]).of_label(1);
    assert_eq!((missing.missing(), scores(&missing).images()), (0, Some(2)), "their labels are not known");
}

/// The number of inputs paired, of those certified by both and by one, and the difference, at radius 0.
fn pairs(first: &LoggedRun, second: &LoggedRun) -> (u64, [u64; 3], f64) {
    let found = paired(first, second, &Question::default(), &[0.0]).expect("pairs");
    (found[0].inputs, [found[0].both, found[0].first, found[0].second], found[0].difference)
}

/// An input that two runs planned counts as not certified where it has no record: in one of them, or in both.
#[test]
fn inputs_without_a_record_are_paired() {
    let sure = |indices: std::ops::Range<u64>| -> Vec<Record> {
        indices.map(|index| record(index, run(), [1, 9, 0], [0, 1000, 0])).collect()
    };
    let log = |start, stop, every, records: &[Record]| {
        let selection = InputSelection { start, stop: Some(stop), every, shard: Shard::WHOLE };
        let text = text_of(selection.of(INPUTS).expect("some"), records);
        read_with(&text, &Settings::default()).expect("a log")
    };
    let ten = |records: &[Record]| log(0, 10, 1, records);
    let whole = ten(&sure(0..10));
    assert_eq!(pairs(&whole, &ten(&sure(2..10))), (10, [8, 2, 0], 0.2));
    // Input 9 is missing of both, which must not make 9 of 9 of it; nor must runs that share no record compare nothing.
    let (nine, eight) = (ten(&sure(0..9)), ten(&sure(1..9)));
    assert_eq!(pairs(&nine, &nine), (10, [9, 0, 0], 0.0));
    assert_eq!(pairs(&nine, &eight), (10, [8, 1, 0], 0.1));
    assert_eq!(pairs(&ten(&sure(0..1)), &ten(&sure(1..4))), (10, [0, 1, 3], -0.2));
    // Of plans that overlap, what both planned: 0, 4, 8; 5 to 9.
    let fourth = log(0, 20, 4, &[sure(4..5), sure(12..13)].concat());
    assert_eq!(pairs(&whole, &fourth), (3, [1, 2, 0], 2.0 / 3.0));
    assert_eq!(pairs(&nine, &log(5, 15, 1, &sure(10..12))), (5, [0, 4, 0], 0.8));
    let none = paired(&whole, &log(10, 20, 1, &sure(10..12)), &Question::default(), &[0.0]);
    assert!(matches!(none, Err(AnalysisError::NothingInCommon { .. })), "{none:?}");
    // A log that does not say what was planned has the inputs that it lists.
    let listed = LoggedRun { planned: None, ..eight };
    assert_eq!((pairs(&nine, &listed), pairs(&listed, &listed)), ((8, [8, 0, 0], 0.0), (8, [8, 0, 0], 0.0)));
}

/// Shards of one plan in several files: inputs that none of them has are missing, whatever each of them lacks.
#[test]
fn inputs_that_no_shard_has_are_not_certified() {
    let folder = tempfile::tempdir().expect("a folder");
    let shard = |index, records: &[u64]| {
        let selection = Selection { shard: Shard { index, count: 2 }, ..Selection::all(INPUTS) };
        let records: Vec<Record> =
            records.iter().map(|&index| record(index, run(), [1, 9, 0], [0, 1000, 0])).collect();
        let path = folder.path().join(format!("shard-{index}"));
        std::fs::write(&path, text_of(selection, &records)).expect("written");
        path
    };
    let paths = [shard(0, &[0, 2, 6]), shard(1, &[3])];
    let logs = read_logs(&paths, &Settings::default()).expect("logs");
    let [log] = logs.as_slice() else { panic!("one plan: {logs:?}") };
    let scores = log.scores(&Question::default()).expect("scores");
    assert_eq!((log.missing(), scores.images()), (INPUTS - 4, Some(60)));
    assert_eq!(scores.certified_accuracy(&[0.0]), Ok(vec![4.0 / 60.0]));
    assert_eq!(pairs(log, log), (60, [4, 0, 0], 0.0));
}

#[test]
fn the_best_of_all_is_the_first_of_equals() {
    let rows = [vec![0.5, 0.2, 0.0], vec![0.5, 0.3, 0.0], vec![0.4, 0.1, 0.0]];
    assert_eq!(best_at(&rows), [(0, 0.5), (1, 0.3), (0, 0.0)]);
    assert_eq!(best_at(&[]), []);
}
