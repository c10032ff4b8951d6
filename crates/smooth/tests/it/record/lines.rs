//! What a line may say: the keys of records, values in the form in which records have them, numbers that can be.

use super::{folder, record, run, three};
use crate::runs::predictions;
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::record::{
    PredictionLog, PredictionRecord, Record, RecordProblem, Rule, Run, read_records, to_line,
};
use gambeson_smooth::sequential::{Goal, RadiusNorm};
use serde_json::{Value, json};

/// What is said of a line, if it is refused.
fn refusal(line: &str) -> Option<String> {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    std::fs::write(&path, line.to_owned() + "\n").expect("written");
    read_records(&path, MemoryLimit::NONE).err().map(|error| error.to_string())
}

fn refused(line: &str, words: &str) {
    let error = refusal(line).unwrap_or_else(|| panic!("{words}: {line}"));
    assert!(error.contains("run.jsonl, line 1: ") && error.contains(words), "{words}: {error}");
}

/// A record of a sequential run on a grid.
fn sequential() -> Record {
    let goal = Some(Goal { targets: vec![0.0, 0.5], tolerance: None, norm: RadiusNorm::L2 });
    let run = Run { rule: Rule::MixtureAndLast { last: 1000 }, goal, ..run() };
    record(0, run, [1, 9, 0], [5, 990, 5])
}

/// The digest is one of what was read, so nothing may be overlooked in reading.
#[test]
fn what_the_digest_would_overlook_is_refused() {
    let line = to_line(&sequential()).expect("JSON");
    assert_eq!(refusal(&line), None);
    let grid = "\"grid\":{\"quantum\":\"1/255\",\"exponent\":-2}";
    let goal = "\"goal\":{\"targets\":[0.0,0.5],\"tolerance\":null,\"norm\":\"l2\"}";
    let rule = "\"rule\":{\"kind\":\"mixture-and-last\",\"last\":1000}";
    let changes = [
        (grid, grid.replace('}', ",\"note\":1}"), "unknown field `note`"),
        (grid, "\"grid\":[\"1/255\",-2]".to_owned(), "grid is not written as"),
        (grid, grid.replace("\"1/255\"", "{\"1/255\":null}"), "grid is not written as"),
        (goal, goal.replace('}', ",\"note\":1}"), "unknown field `note`"),
        (goal, "\"goal\":[[0.0,0.5],null,\"l2\"]".to_owned(), "goal is not written as"),
        (rule, rule.replace('}', ",\"note\":1}"), "unknown field `note`"),
        ("\"law\":\"gaussian\"", "\"law\":{\"gaussian\":null}".to_owned(), "law is not written as"),
        ("\"seed\":7", "\"seed\":7,\"note\":1".to_owned(), "unknown key \"note\""),
    ];
    for (part, changed, words) in changes {
        assert!(line.contains(part), "{part} in {line}");
        refused(&line.replace(part, &changed), words);
    }
    // Whoever writes the line anew may write numbers as usual with them, and say where there is nothing.
    for (part, changed) in [("[0.0,0.5]", "[0,5e-1]"), ("\"seed\"", "\"nonce\":null,\"seed\"")] {
        assert_eq!(refusal(&line.replace(part, changed)), None, "{changed}");
    }
}

/// Something done to a record.
type Change = fn(&mut Record);

#[test]
fn numbers_that_no_run_has_are_refused() {
    let changes: [(Change, &str); 6] = [
        (|record| record.run.common.sigma = 1e300, "steps in sigma"),
        (|record| record.run.common.grid.exponent = i32::MAX, "noise of level"),
        (|record| record.run.common.grid.exponent = 20, "steps in sigma"),
        (
            |record| record.run.goal.iter_mut().for_each(|goal| goal.targets[0] = -1.0),
            "a target of the goal is -1",
        ),
        (
            |record| record.run.goal.iter_mut().for_each(|goal| goal.tolerance = Some(-1.0)),
            "tolerance of the goal",
        ),
        (|record| record.seconds = -5.0, "seconds is -5"),
    ];
    for (change, words) in changes {
        let mut changed = sequential();
        change(&mut changed);
        let problem = changed.validate().expect_err(words).to_string();
        assert!(problem.contains(words), "{problem}");
    }
    // Counts whose sum is more than can be counted add up to nothing.
    let mut many = three()[0].clone();
    (many.run.common.n, many.estimation) = (u64::MAX, vec![u64::MAX, u64::MAX, 0]);
    assert_eq!(many.validate(), Err(RecordProblem::Estimation { counted: u64::MAX, n: u64::MAX }));
    let mut many = three()[0].clone();
    (many.run.n0, many.selection) = (u64::MAX, vec![u64::MAX, 1, 0]);
    assert_eq!(many.validate(), Err(RecordProblem::Selection { counted: u64::MAX, n0: u64::MAX }));
}

#[test]
fn predictions_are_looked_at_as_closely() {
    let honest = predictions().pop().expect("a prediction");
    let run = honest.run.clone();
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    // As a forger writes it, with a digest that fits.
    let error = |changes: &Value| {
        let mut value = serde_json::to_value(&honest).expect("JSON");
        for (key, change) in changes.as_object().expect("an object") {
            value[key] = change.clone();
        }
        let forged: PredictionRecord = serde_json::from_value(value).expect("a prediction");
        std::fs::write(&path, to_line(&forged).expect("JSON") + "\n").expect("written");
        PredictionLog::open_to_append(&path, &forged.run, MemoryLimit::NONE)
            .err()
            .map(|error| error.to_string())
    };
    assert_eq!(error(&json!({})), None);
    assert_eq!((honest.class, run.common.n), (Some(1), 400), "sure");
    let counts = |of_first: u64| json!([of_first, 400 - of_first, 0]);
    for (changes, words) in [
        (json!({"sigma": -1.0}), "sigma is -1"),
        (json!({"sigma": 0.0}), "sigma is 0"),
        (json!({"sigma": 1e300}), "steps in sigma"),
        (json!({"alpha": 0.0}), "alpha is 0"),
        (json!({"alpha": 1.5}), "alpha is 1.5"),
        (json!({"seconds": -5.0}), "seconds is -5"),
        (json!({"counts": [], "n": 0, "label": null, "class": null}), "at least one class"),
        (json!({"counts": [0, 0, 0], "n": 0, "class": null}), "add up to 0"),
        (json!({"counts": [u64::MAX, 2, 0], "n": u64::MAX}), "add up to"),
        (json!({"n": 401}), "add up to 400"),
        (json!({"label": 3}), "label 3, but there are 3 classes"),
        (json!({"noise": "levels"}), "need a projection and a sigma of 1"),
        (json!({"class": null}), "class is none, but the counts prove 1"),
        (json!({"class": 2}), "class is 2, but the counts prove 1"),
        (json!({"counts": counts(400)}), "class is 1, but the counts prove 0"),
        (json!({"counts": counts(200)}), "class is 1, but the counts prove none"),
        (json!({"version": 1}), "version 1 of records is unknown"),
        (json!({"generator": "gambeson noise 4"}), "generator is \"gambeson noise 4\""),
    ] {
        let error = error(&changes).unwrap_or_else(|| panic!("{changes} is taken"));
        assert!(error.contains(words), "{changes}: {error}");
    }
}
