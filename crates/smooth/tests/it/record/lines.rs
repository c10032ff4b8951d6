//! What a line may say: the keys of heads and records, values in the form in which lines have them, numbers that can be.

use super::{folder, head_of, of_changed_run, record, run, text, three};
use crate::runs::predictions;
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::record::{
    Entry, PredictionLog, PredictionRecord, PredictionRun, Record, RecordProblem, Rule, Run, RunContent,
    read_records, to_line,
};
use gambeson_smooth::sequential::{Goal, RadiusNorm};
use serde_json::{Value, json};

/// What is said of a file, if it is refused.
fn refusal(text: &str) -> Option<String> {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    std::fs::write(&path, text).expect("written");
    read_records(&path, MemoryLimit::NONE).err().map(|error| error.to_string())
}

fn refused(text: &str, words: &str) {
    let error = refusal(text).unwrap_or_else(|| panic!("{words}: {text}"));
    assert!(error.contains("run.jsonl, line ") && error.contains(words), "{words}: {error}");
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
    let honest = text(&[sequential()]);
    assert_eq!(refusal(&honest), None);
    let grid = "\"grid\":{\"quantum\":\"1/255\",\"exponent\":-2}";
    let goal = "\"goal\":{\"targets\":[0.0,0.5],\"tolerance\":null,\"norm\":\"l2\"}";
    let rule = "\"rule\":{\"kind\":\"mixture-and-last\",\"last\":1000}";
    let shard = "\"shard\":{\"index\":0,\"count\":1}";
    let changes = [
        (grid, grid.replace('}', ",\"note\":1}"), "unknown field `note`"),
        (grid, "\"grid\":[\"1/255\",-2]".to_owned(), "unexpected encoding of run.grid"),
        (grid, grid.replace("\"1/255\"", "{\"1/255\":null}"), "unexpected encoding of run.grid.quantum"),
        (goal, goal.replace('}', ",\"note\":1}"), "unknown field `note`"),
        (goal, "\"goal\":[[0.0,0.5],null,\"l2\"]".to_owned(), "unexpected encoding of run.goal"),
        (rule, rule.replace('}', ",\"note\":1}"), "unknown field `note`"),
        (shard, shard.replace('}', ",\"note\":1}"), "unknown key \"selection.shard.note\""),
        (shard, "\"shard\":[0,1]".to_owned(), "unexpected encoding of selection.shard"),
        ("\"law\":\"gaussian\"", "\"law\":{\"gaussian\":null}".to_owned(), "unexpected encoding of run.law"),
        ("\"seed\":7", "\"seed\":7,\"note\":1".to_owned(), "unknown key \"run.note\""),
        ("\"seed\":7", "\"seed\":7,\"digest\":\"\"".to_owned(), "unknown key \"run.digest\""),
        ("\"seed\":7", "\"seed\":7,\"seed\":7".to_owned(), "duplicate field `seed`"),
        ("\"version\":3", "\"version\":3,\"note\":1".to_owned(), "unknown key \"note\""),
        ("\"version\":3", "\"version\":3,\"files\":{\"note\":1}".to_owned(), "unknown field `note`"),
        ("\"label\":1", "\"label\":1,\"note\":null".to_owned(), "unknown key \"note\""),
        ("\"label\":1", "\"label\":1,\"label\":1".to_owned(), "duplicate field `label`"),
        ("\"class\":1", "\"class\":1,\"class\":1".to_owned(), "duplicate field `class`"),
    ];
    for (part, changed, words) in changes {
        assert!(honest.contains(part), "{part} in {honest}");
        refused(&honest.replace(part, &changed), words);
    }
    // Whoever writes the line anew may write numbers as usual with them, and say where there is nothing.
    for (part, changed) in [
        ("[0.0,0.5]", "[0,5e-1]"),
        ("\"seed\"", "\"nonce\":null,\"seed\""),
        ("\"label\"", "\"estimation_none\":0,\"label\""),
    ] {
        assert!(honest.contains(part), "{part} in {honest}");
        assert_eq!(refusal(&honest.replace(part, changed)), None, "{changed}");
    }
}

/// Something done to a run.
type Change = fn(&mut Run);

#[test]
fn numbers_that_no_run_has_are_refused() {
    let changes: [(Change, &str); 7] = [
        (|run| run.common.sigma = 1e300, "steps in sigma"),
        (|run| run.common.grid.exponent = i32::MAX, "noise of level"),
        (|run| run.common.grid.exponent = 20, "steps in sigma"),
        (|run| run.goal.iter_mut().for_each(|goal| goal.targets[0] = -1.0), "a target of the goal is -1"),
        (|run| run.goal.iter_mut().for_each(|goal| goal.tolerance = Some(-1.0)), "tolerance of the goal"),
        (|run| run.common.n = 1 << 41, "not a number of draws from 1 to 2^40"),
        (|run| run.rule = Rule::MixtureAndLast { last: 0 }, "last look of its rule is at 0 draws"),
    ];
    for (change, words) in changes {
        let changed = of_changed_run(&sequential(), change);
        let problem = changed.run.validate().expect_err(words).to_string();
        assert!(problem.contains(words), "{problem}");
    }
    let mut backwards = sequential();
    backwards.seconds = -5.0;
    let problem = backwards.validate().expect_err("no time").to_string();
    assert!(problem.contains("seconds is -5"), "{problem}");
    // Counts whose sum is more than can be counted add up to nothing.
    let mut many = of_changed_run(&three()[0], |run| run.common.n = u64::MAX);
    many.estimation = vec![u64::MAX, u64::MAX, 0];
    assert_eq!(many.validate(), Err(RecordProblem::Estimation { counted: u64::MAX, n: u64::MAX }));
    let mut many = of_changed_run(&three()[0], |run| run.n0 = u64::MAX);
    many.selection = vec![u64::MAX, 1, 0];
    assert_eq!(many.validate(), Err(RecordProblem::Selection { counted: u64::MAX, n0: u64::MAX }));
}

/// What keys of an object are changed to.
fn changed(object: &Value, changes: &Value) -> Value {
    let mut object = object.clone();
    for (key, change) in changes.as_object().expect("an object") {
        object[key] = change.clone();
    }
    object
}

#[test]
fn predictions_are_looked_at_as_closely() {
    let honest = predictions().pop().expect("a prediction");
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    // As a forger writes it, with digests that fit.
    let error = |of_run: &Value, of_record: &Value| {
        let run = serde_json::to_value(PredictionRun::clone(&honest.run)).expect("JSON");
        let run: PredictionRun = serde_json::from_value(changed(&run, of_run)).expect("a run");
        let content = serde_json::to_value(honest.to_content()).expect("JSON");
        let content = serde_json::from_value(changed(&content, of_record)).expect("a prediction");
        let forged = PredictionRecord::of_run(content, &super::digested(run));
        std::fs::write(&path, text(std::slice::from_ref(&forged))).expect("written");
        PredictionLog::open_to_append(&path, &head_of(&forged.run), MemoryLimit::NONE)
            .err()
            .map(|error| error.to_string())
    };
    let nothing = json!({});
    assert_eq!(error(&nothing, &nothing), None);
    assert_eq!((honest.class, honest.run.common.n), (Some(1), 400), "sure");
    let counts = |of_first: u64| json!([of_first, 400 - of_first, 0]);
    for (of_run, of_record, words) in [
        (json!({"sigma": -1.0}), json!({}), "sigma is -1"),
        (json!({"sigma": 0.0}), json!({}), "sigma is 0"),
        (json!({"sigma": 1e300}), json!({}), "steps in sigma"),
        (json!({"alpha": 0.0}), json!({}), "alpha is 0"),
        (json!({"alpha": 1.5}), json!({}), "alpha is 1.5"),
        (json!({"batch": 0}), json!({}), "batch is 0"),
        (json!({"n": 0}), json!({"counts": [0, 0, 0], "class": null}), "n is 0"),
        (json!({"n": 401}), json!({}), "add up to 400"),
        (json!({"noise": "levels"}), json!({}), "need a projection and a sigma of 1"),
        (json!({"generator": "gambeson noise 4"}), json!({}), "generator is \"gambeson noise 4\""),
        (json!({}), json!({"seconds": -5.0}), "seconds is -5"),
        (json!({}), json!({"counts": [], "label": null, "class": null}), "at least one class"),
        (json!({}), json!({"counts": [0, 0, 0], "class": null}), "add up to 0"),
        (json!({}), json!({"counts": [u64::MAX, 2, 0]}), "add up to"),
        (json!({}), json!({"label": 3}), "label 3, but there are 3 classes"),
        (json!({}), json!({"class": null}), "class is none, but the counts prove 1"),
        (json!({}), json!({"class": 2}), "class is 2, but the counts prove 1"),
        (json!({}), json!({"counts": counts(400)}), "class is 1, but the counts prove 0"),
        (json!({}), json!({"counts": counts(200)}), "class is 1, but the counts prove none"),
    ] {
        let error = error(&of_run, &of_record).unwrap_or_else(|| panic!("{of_run} {of_record} is taken"));
        assert!(error.contains(words), "{of_run} {of_record}: {error}");
    }
    let whole = text(&[honest.clone()]);
    std::fs::write(&path, whole.replacen("\"version\":3", "\"version\":1", 1)).expect("written");
    let error = PredictionLog::open_to_append(&path, &head_of(&honest.run), MemoryLimit::NONE);
    assert!(error.expect_err("old").to_string().contains("version 1 of records is unknown"));
    // Of another kind, whatever else it says.
    std::fs::write(&path, &whole).expect("written");
    let error = read_records(&path, MemoryLimit::NONE).expect_err("predictions").to_string();
    assert!(error.contains("the file holds \"prediction\" records, not \"certification\""), "{error}");
    assert!(!to_line(&honest).expect("JSON").contains("prediction"), "the head says so");
}
