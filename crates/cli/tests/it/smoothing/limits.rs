//! `certify --limits`: what records and summaries say, and what `check` makes of it.

use super::certify::{TOY, number, ok};
use super::replay::{SOURCES, rejected};
use crate::records::{head, lines, write};
use crate::support::{Bench, unwrapped};

#[test]
fn runs_have_the_limits_that_are_asked_for() {
    let bench = Bench::new();
    let mut radii = Vec::new();
    for (options, name) in [
        ("", "chosen"),
        ("--limits one-sided", "one-sided"),
        ("--limits chosen", "chosen"),
        ("--limits randomised", "randomised"),
        ("--sequential --target 0.1", "one-sided"),
        ("--sequential --target 0.1 --limits one-sided", "one-sided"),
    ] {
        let file = format!("run{}.jsonl", radii.len());
        let json = ok(bench.run(&format!("certify {TOY} --n 400 --stop 30 {options} --out {file} --json")));
        assert_eq!(json.json()["limits"], name, "{options}");
        let (head, records) = (head(&bench, &file), lines(&bench, &file));
        let written = (name != "one-sided").then_some(name);
        assert_eq!(head["run"]["limits"].as_str(), written, "{options}");
        ok(bench.run(&format!("check {file} {SOURCES} --all")));
        ok(bench.run(&format!("analyze {file} --markdown {file}.md")));
        assert!(bench.read(&format!("{file}.md")).contains(&format!("{name} limits")), "{options}");
        radii.push(records.iter().filter_map(|record| record["l2"].as_f64()).sum::<f64>());
    }
    // Of two classes, the runner-up has all the rest.
    assert_eq!((radii[0], radii[1]), (radii[1], radii[2]));
    assert!(radii[3] > radii[0], "{radii:?}");
    // Other limits than those of the run prove other radii.
    let mut forged = head(&bench, "run3.jsonl");
    forged["run"]["limits"] = "chosen".into();
    write(&bench, "forged.jsonl", &forged, &lines(&bench, "run3.jsonl"));
    rejected(&bench.run(&format!("check forged.jsonl {SOURCES} --all")), &["line 2", "but the counts prove"]);
    // A run goes on with the limits that it began with.
    let run = bench.run(&format!("certify {TOY} --n 400 --stop 30 --limits one-sided --out run3.jsonl"));
    assert!(run.code == 2 && unwrapped(&run.stderr).contains("its limits is"), "{run:?}");
    let shares = ok(bench.run("analyze run3.jsonl --any-class --method one-sided --json")).json();
    assert!(
        number(&shares["acr"])
            < number(&ok(bench.run("analyze run3.jsonl --any-class --json")).json()["acr"])
    );
}

#[test]
fn sequential_runs_take_no_other_limits() {
    let bench = Bench::new();
    for limits in ["chosen", "randomised"] {
        let run = bench.run(&format!("certify {TOY} --n 400 --sequential --limits {limits}"));
        let message = format!("--limits {limits}: those of a sequential run are one-sided");
        assert!(run.code == 2 && unwrapped(&run.stderr).contains(&message), "{run:?}");
    }
}
