//! `analyze --norm linf` of records that say how many coordinates inputs have.

use super::certify::{TOY, number, ok};
use crate::records::{derived, head, lines, write};
use crate::support::{Bench, unwrapped};
use serde_json::json;

#[test]
fn a_smaller_dimension_makes_no_larger_radii() {
    let bench = Bench::new();
    ok(bench.run(&format!("certify {TOY} --n 500 --stop 6 --out run.jsonl")));
    let run = ok(bench.run("analyze run.jsonl --norm linf"));
    assert!(unwrapped(&run.stdout).contains("n = 784, the coordinates of fashion-test."), "{run:?}");
    let (mut head, mut forged) = (head(&bench, "run.jsonl"), lines(&bench, "run.jsonl"));
    let radius = number(&forged[0]["linf"]);
    head["run"]["dimension"] = 1.into();
    forged.iter_mut().for_each(|record| *record = derived(&head, record));
    assert!(number(&forged[0]["linf"]) > 27.9 * radius);
    write(&bench, "forged.jsonl", &head, &forged);
    let run = bench.run("analyze forged.jsonl --norm linf");
    assert!(run.code == 2 && run.stderr.contains("have 1 coordinates, but those of fashion-test"), "{run:?}");
    ok(bench.run("analyze forged.jsonl"));
    // Of data that are not there nothing is known but what the record says.
    head["run"]["data"] = "elsewhere sha256:00".into();
    write(&bench, "elsewhere.jsonl", &head, &forged);
    let run = ok(bench.run("analyze elsewhere.jsonl --norm linf"));
    let said = "n = 1 coordinates is the record's word: gambeson check compares it with the data.";
    assert!(unwrapped(&run.stdout).contains(said), "{run:?}");
    let json = ok(bench.run("analyze elsewhere.jsonl --norm linf --json")).json();
    assert_eq!((&json["dimension"], &json["dimension_from"]), (&json!(1), &json!("recorded")));
}
