//! Heads: which runs and inputs a file is about, several of them in one file, and the inputs that are missing.

use super::{INPUTS, digested, folder, head, head_of, merged, record, run, text, three};
use crate::runs::predictions;
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::record::{
    CommonRun, FileNames, Head, PredictionLog, Record, RecordError, RecordLog, RecordProblem, Recorded, Run,
    read_records, to_line,
};
use gambeson_smooth::selection::{InputSelection, Selection, Shard};
use std::fmt::Write;
use std::path::Path;

/// Every tenth input from the fifth on, of which a shard takes a part.
fn tenths(index: u64, count: u64) -> Selection {
    let shard = Shard { index, count };
    InputSelection { start: 5, stop: None, every: 10, shard }.of(INPUTS).expect("some")
}

fn head_for(selection: Selection) -> Head<Run> {
    Head { selection, ..head(run()) }
}

fn certain(index: u64) -> Record {
    record(index, run(), [1, 9, 0], [0, 1000, 0])
}

/// A file of these heads and records.
fn file(heads: &[Head<Run>], records: &[Record]) -> String {
    let mut text = String::new();
    heads.iter().for_each(|head| writeln!(text, "{}", head.to_line().expect("JSON")).expect("text"));
    records.iter().for_each(|record| writeln!(text, "{}", to_line(record).expect("JSON")).expect("text"));
    text
}

fn read(path: &Path) -> Result<Recorded<Record>, RecordError> {
    read_records(path, MemoryLimit::NONE)
}

#[test]
fn joined_shards_are_one_file_of_one_plan() {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    // 5, 35; 15, 45; 25, 55.
    let mut named = head_for(tenths(1, 3));
    named.files = FileNames { network: Some("net.onnx".to_owned()), projection: None };
    let parts = [
        file(&[head_for(tenths(0, 3))], &[certain(5), certain(35)]),
        file(&[named.clone()], &[certain(45), certain(15)]),
        file(&[head_for(tenths(2, 3))], &[certain(25)]),
    ];
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let joined: String = order.into_iter().map(|at| parts[at].as_str()).collect();
        std::fs::write(&path, &joined).expect("written");
        let recorded = read(&path).expect("one plan");
        assert_eq!(recorded.planned(), tenths(0, 1));
        let indices: Vec<u64> = recorded.entries().map(|record| record.index).collect();
        assert_eq!(indices, [5, 15, 25, 35, 45]);
        assert_eq!((recorded.missing(), recorded.missing_inputs().collect::<Vec<_>>()), (1, vec![55]));
        assert_eq!((recorded.repeated(), recorded.broken_off().len()), (0, 0));
        // Whoever made one of the shards goes on with the file, and nobody else.
        for index in 0..3 {
            let head = head_for(tenths(index, 3));
            let (log, present) = RecordLog::open_to_append(&path, &head, MemoryLimit::NONE).expect("its own");
            assert_eq!((present.len(), log.cut_off()), (5, None));
        }
        let other = head_for(tenths(0, 1));
        match RecordLog::open_to_append(&path, &other, MemoryLimit::NONE) {
            Err(RecordError::OtherSelection { line: 1, field, .. }) => assert_eq!(field, "shard"),
            unexpected => panic!("{unexpected:?}"),
        }
        assert_eq!(std::fs::read_to_string(&path).expect("text"), joined, "left as it was");
    }
    // The names of files belong to the file.
    std::fs::write(&path, &parts[1]).expect("written");
    assert_eq!(read(&path).expect("a shard").head(), &named);
}

#[test]
fn a_head_that_was_joined_and_torn_is_cut_off() {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    let first = file(&[head_for(tenths(0, 3))], &[certain(5), certain(35)]);
    let second = file(&[head_for(tenths(1, 3))], &[]);
    for kept in [1, 13, 100, second.len() - 2] {
        std::fs::write(&path, first.clone() + &second[..kept]).expect("written");
        let recorded = read(&path).expect("whole records before");
        assert_eq!((recorded.len(), recorded.broken_off()), (2, &[(path.clone(), 4)][..]), "{kept}");
        let head = head_for(tenths(0, 3));
        let (log, _) = RecordLog::open_to_append(&path, &head, MemoryLimit::NONE).expect("its own");
        assert_eq!(log.cut_off(), Some(4));
        drop(log);
        assert_eq!(std::fs::read_to_string(&path).expect("text"), first, "{kept}");
    }
}

#[test]
fn another_selection_into_the_same_file_is_refused() {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    let own = head_for(tenths(0, 3));
    let text = file(&[own], &[certain(5)]);
    let of = |selection: InputSelection, inputs| selection.of(inputs).expect("some");
    let base = InputSelection { start: 5, stop: None, every: 10, shard: Shard { index: 0, count: 3 } };
    let others = [
        ("count", of(InputSelection { start: 15, ..base }, INPUTS)),
        ("start", of(InputSelection { start: 4, ..base }, INPUTS)),
        ("stop", of(InputSelection { stop: Some(56), ..base }, INPUTS)),
        ("count", of(InputSelection { every: 5, ..base }, INPUTS)),
        ("count", of(base, 2 * INPUTS)),
        ("inputs", of(InputSelection { stop: Some(60), ..base }, INPUTS + 1)),
        ("shard", tenths(1, 3)),
        ("shard", tenths(0, 2)),
    ];
    for (name, selection) in others {
        std::fs::write(&path, &text).expect("written");
        let other = head_for(selection);
        match RecordLog::open_to_append(&path, &other, MemoryLimit::NONE) {
            Err(RecordError::OtherSelection { line: 1, field, .. }) => assert_eq!(field, name),
            unexpected => panic!("{name}: {unexpected:?}"),
        }
        assert_eq!(std::fs::read_to_string(&path).expect("text"), text, "left as it was");
        // Joined with it, it is refused by every reader, unless it is another shard of the plan.
        std::fs::write(&path, text.clone() + &file(&[other], &[])).expect("written");
        match read(&path) {
            Err(RecordError::OtherSelection { line: 3, field, .. }) => assert_eq!(field, name),
            Ok(_) => assert_eq!(name, "shard"),
            unexpected => panic!("{name}: {unexpected:?}"),
        }
    }
    // Of another run, what differs is named as well.
    let other = head(Run { common: CommonRun { seed: 8, ..super::common() }, ..run() });
    std::fs::write(&path, text + &file(&[other], &[])).expect("written");
    let error = read(&path).expect_err("two runs").to_string();
    assert!(error.contains("run.jsonl, line 3") && error.contains("its seed is 8, not 7"), "{error}");
}

#[test]
fn records_that_no_head_before_them_describes_are_refused() {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    let refusal = |text: &str| {
        std::fs::write(&path, text).expect("written");
        let error = read(&path).expect_err("refused");
        let again = RecordLog::open_to_append(&path, &head_for(tenths(0, 1)), MemoryLimit::NONE);
        assert_eq!(again.expect_err("refused").to_string(), error.to_string());
        assert_eq!(std::fs::read_to_string(&path).expect("text"), text, "left as it was");
        error
    };
    // Before any head, and under the head of another run.
    let (own, line) = (file(&[head_for(tenths(0, 1))], &[]), file(&[], &[certain(5)]));
    assert!(matches!(refusal(&(line.clone() + &own)), RecordError::NoHead { .. }));
    let other = Run { common: CommonRun { seed: 8, ..super::common() }, ..run() };
    let strange = file(&[], &[record(5, other, [1, 9, 0], [0, 1000, 0])]);
    let error = refusal(&(own.clone() + &line + &strange));
    let RecordError::Invalid { line: 3, problem: RecordProblem::UnknownRun { found }, .. } = &error else {
        panic!("{error}")
    };
    assert!(strange.contains(found.as_str()) && found.len() == 40, "{error}");
    // Inputs that the plan leaves out.
    for index in [0, 6, 65, u64::MAX] {
        let error = refusal(&(own.clone() + &line + &file(&[], &[certain(index)])));
        let expected = format!("line 3: input {index} is not one of those that the head selects");
        assert!(error.to_string().contains(&expected), "{error}");
    }
}

/// Whoever changes a head must change both digests, and then all records.
#[test]
fn what_is_changed_in_a_head_is_seen() {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    let honest = file(&[head_for(tenths(0, 1))], &[certain(5)]);
    let refusal = |text: String| {
        std::fs::write(&path, text).expect("written");
        read(&path).expect_err("refused").to_string()
    };
    let digest = "the digest of the line is not that of its content";
    assert!(refusal(honest.replacen("\"start\":5", "\"start\":5.0", 1)).contains("expected u64"));
    assert!(refusal(honest.replacen("\"batch\":64", "\"batch\":65", 1)).contains(digest));
    assert!(
        refusal(honest.replacen("\"version\":3", "\"version\":3,\"files\":{\"network\":\"x\"}", 1))
            .contains(digest)
    );
    for change in ["\"count\":7", "\"count\":0"] {
        let error = refusal(honest.replacen("\"count\":6", change, 1));
        assert!(error.contains("contradicts itself") || error.contains(digest), "{error}");
    }
    // The digest of the line fits, that of the plan does not.
    let plan = head_for(tenths(0, 1)).plan_digest().expect("JSON");
    let other = head_for(tenths(0, 2)).plan_digest().expect("JSON");
    assert_eq!(plan, other, "shards share a plan");
    let other = head_for(Selection::all(INPUTS)).plan_digest().expect("JSON");
    let (content, _) = honest.lines().next().expect("a head").split_once(",\"digest\"").expect("a digest");
    let content = content.replacen(&plan, &other, 1) + "}";
    let sealed = gambeson_lowrank::file::sha256(content.as_bytes());
    let error = refusal(format!("{},\"digest\":\"{sealed}\"}}\n", content.trim_end_matches('}')));
    assert!(error.contains("the digest of the plan"), "{error}");
    // A selection that no data have.
    let mut strange = head_for(tenths(0, 1));
    strange.selection.count = 7;
    assert!(refusal(file(&[strange], &[certain(5)])).contains("contradicts itself"));
}

/// One record and another 999 times are two of the inputs.
#[test]
fn an_input_counts_once_however_often_it_stands_there() {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    let mut records = vec![certain(5)];
    records.resize(1000, certain(15));
    std::fs::write(&path, file(&[head_for(tenths(0, 1))], &records)).expect("written");
    let recorded = read(&path).expect("one plan");
    assert_eq!((recorded.len(), recorded.repeated(), recorded.missing()), (2, 998, 4));
    assert_eq!(recorded.missing_inputs().collect::<Vec<_>>(), [25, 35, 45, 55]);
    // In another file as well.
    let again = folder.path().join("again.jsonl");
    std::fs::write(&again, file(&[head_for(tenths(1, 3))], &[certain(15), certain(25)])).expect("written");
    let recorded = Recorded::<Record>::read(&[path, again], MemoryLimit::NONE).expect("one plan");
    assert_eq!((recorded.len(), recorded.repeated(), recorded.missing()), (3, 999, 3));
}

#[test]
fn a_torn_last_line_is_named_with_its_file() {
    let folder = folder();
    let paths = ["a.jsonl", "b.jsonl"].map(|name| folder.path().join(name));
    let whole = text(&three());
    std::fs::write(&paths[0], &whole[..whole.len() - 30]).expect("written");
    std::fs::write(&paths[1], &whole).expect("written");
    let recorded = Recorded::<Record>::read(&paths, MemoryLimit::NONE).expect("one plan");
    assert_eq!(recorded.broken_off(), [(paths[0].clone(), 4)]);
    assert_eq!(merged(&paths).expect("one plan"), three());
    // A line that lacks its end only is whole, and so is a file with a blank line at its end.
    for text in [whole.trim_end().to_owned(), whole.clone() + "\n\n"] {
        std::fs::write(&paths[0], text).expect("written");
        let recorded = read(&paths[0]).expect("records");
        assert_eq!((recorded.len(), recorded.broken_off().len()), (3, 0));
    }
    // Torn in the middle of the file, it is no end.
    std::fs::write(&paths[0], format!("{}\n{whole}", &whole[..whole.len() - 30])).expect("written");
    assert!(matches!(read(&paths[0]), Err(RecordError::Malformed { line: 4, .. })));
}

#[test]
fn predictions_have_heads_of_their_own() {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    let predictions = predictions();
    let whole = text(&predictions);
    let own = head_of(&predictions[0].run);
    std::fs::write(&path, &whole[..whole.len() - 20]).expect("written");
    let (mut log, present) = PredictionLog::open_to_append(&path, &own, MemoryLimit::NONE).expect("its own");
    assert_eq!((present.len(), log.cut_off()), (predictions.len() - 1, Some(predictions.len() + 1)));
    log.append(predictions.last().expect("some")).expect("appended");
    drop(log);
    assert_eq!(std::fs::read_to_string(&path).expect("text"), whole);
    for (field, change) in [("sigma", 0.75), ("alpha", 0.25)] {
        let mut run = gambeson_smooth::record::PredictionRun::clone(&own.run);
        if field == "sigma" {
            run.common.sigma = change
        } else {
            run.common.alpha = change
        }
        match PredictionLog::open_to_append(&path, &head_of(&digested(run)), MemoryLimit::NONE) {
            Err(RecordError::OtherRun { line: 1, field: found, .. }) => assert_eq!(found, field),
            unexpected => panic!("{field}: {unexpected:?}"),
        }
    }
    let error = RecordLog::open_to_append(&path, &head(run()), MemoryLimit::NONE).expect_err("predictions");
    let kind = RecordProblem::Kind { found: "prediction".to_owned(), expected: "certification" };
    assert!(matches!(&error, RecordError::Invalid { line: 1, problem, .. } if *problem == kind), "{error}");
    // A torn head of predictions holds nothing yet.
    std::fs::write(&path, &whole[..200]).expect("written");
    drop(PredictionLog::open_to_append(&path, &own, MemoryLimit::NONE).expect("its own"));
    assert_eq!(std::fs::read_to_string(&path).expect("text"), own.to_line().expect("JSON") + "\n");
}
