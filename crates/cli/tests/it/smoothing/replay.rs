//! `check RUN.jsonl --model M --data D`: honest records pass, altered ones are rejected at their place.

use super::certify::{TOY, lines, number, ok};
use crate::support::{Bench, Run, npy, unwrapped};
use gambeson_smooth::record::{PredictionRecord, Record, to_line};
use serde_json::Value;

/// What a run on the toy is made with.
pub(super) const SOURCES: &str = "--model toy:half-space,offset=0.3 --data fashion";

/// Records as a forger writes them: with digests that fit.
pub(super) fn write(bench: &Bench, name: &str, records: &[Value]) {
    let line = |record: &Value| {
        let record = Record { digest: None, ..serde_json::from_value(record.clone()).expect("a record") };
        to_line(&record).expect("a line") + "\n"
    };
    bench.write(name, records.iter().map(line).collect::<String>());
}

/// Predictions likewise.
pub(super) fn write_predictions(bench: &Bench, name: &str, records: &[Value]) {
    let line = |record: &Value| {
        let mut record = record.clone();
        record.as_object_mut().expect("an object").remove("digest");
        let record: PredictionRecord = serde_json::from_value(record).expect("a prediction");
        to_line(&record).expect("a line") + "\n"
    };
    bench.write(name, records.iter().map(line).collect::<String>());
}

/// A record whose radii are what its counts prove.
pub(super) fn derived(record: &Value) -> Value {
    let record: Record = serde_json::from_value(record.clone()).expect("a record");
    serde_json::to_value(record.with_derived().expect("radii")).expect("JSON")
}

pub(super) fn rejected(run: &Run, with: &[&str]) {
    let text = unwrapped(&run.stdout);
    assert!(run.code == 1 && text.contains("REJECTED"), "{run:?}");
    assert!(with.iter().all(|part| text.contains(part)), "{with:?} in {run:?}");
}

/// The records of a run over a hundred images, in `run.jsonl`, and how files of records are checked.
fn hundred(bench: &Bench) -> (Vec<Value>, impl Fn(&str, &str) -> Run) {
    ok(bench.run(&format!("certify {TOY} --n 600 --stop 100 --out run.jsonl")));
    let check = |name: &str, more: &str| bench.run(&format!("check {name} {SOURCES} {more}"));
    (lines(bench, "run.jsonl"), check)
}

#[test]
fn a_run_of_a_hundred_images_is_drawn_again() {
    let bench = Bench::new();
    let (records, check) = hundred(&bench);
    assert_eq!(records[0]["generator"], "gambeson noise 3");
    assert_eq!((&records[0]["nonce"], &records[0]["grid"]["quantum"]), (&0.into(), &"1/255".into()));
    assert!(records.iter().all(|record| number(&record["encoding_error"]) == 0.0), "bytes lie on the grid");
    let run = ok(check("run.jsonl", "--all"));
    let text = unwrapped(&run.stdout);
    assert!(text.starts_with("PROVEN: 100 of 100 records") && text.contains("M * alpha"), "{run:?}");
    let json = ok(check("run.jsonl", "--all --json")).json();
    assert_eq!(
        (&json["checked"], &json["differing"], &json["seed_derived"]),
        (&100.into(), &0.into(), &true.into())
    );
    // A sample, whose choice can be repeated.
    let json = ok(check("run.jsonl", "--sample 7 --json")).json();
    let seed = json["sample_seed"].as_u64().expect("a seed");
    assert_eq!((&json["checked"], &json["draws"]), (&7.into(), &(7 * 700).into()));
    ok(check("run.jsonl", &format!("--sample 7 --sample-seed {seed}")));
    // Sequential runs are drawn again like others.
    ok(bench.run(&format!("certify {TOY} --n 3000 --sequential --stop 20 --out fast.jsonl")));
    let fast = lines(&bench, "fast.jsonl");
    assert_eq!(fast[0]["rule"], serde_json::json!({ "kind": "mixture-and-last", "last": 3000 }));
    ok(check("fast.jsonl", "--all"));
}

#[test]
fn an_altered_record_is_found_at_its_line() {
    let bench = Bench::new();
    let (records, check) = hundred(&bench);
    // One altered count, its sum kept: found at its line, whatever the radii say.
    let mut forged = records.clone();
    let at = forged.iter().position(|record| !record["class"].is_null()).expect("a certificate");
    let class = forged[at]["class"].as_u64().expect("a class");
    let (mine, other) = (usize::try_from(class).expect("small"), usize::try_from(1 - class).expect("small"));
    let count = |record: &Value, class: usize| record["estimation"][class].as_u64().expect("a count");
    let moved = (count(&forged[at], mine) - 1, count(&forged[at], other) + 1);
    forged[at]["estimation"][mine] = moved.0.into();
    forged[at]["estimation"][other] = moved.1.into();
    forged[at] = derived(&forged[at]);
    write(&bench, "forged.jsonl", &forged);
    let place = format!("line {}, input {at}:", at + 1);
    rejected(&check("forged.jsonl", "--all"), &[&place, "estimation counts of class", "drawn again"]);
    // Without keeping its sum.
    forged[at]["estimation"][other] = (moved.1 - 1).into();
    write(&bench, "forged.jsonl", &forged);
    rejected(&check("forged.jsonl", "--all"), &[&format!("line {}:", at + 1), "add up to"]);
    // A radius larger than proven.
    let mut forged = records.clone();
    forged[at]["l2"] = (number(&records[at]["l2"]) * 1.01).into();
    write(&bench, "forged.jsonl", &forged);
    rejected(&check("forged.jsonl", "--all"), &[&place, "the counts prove"]);
    // Another label.
    let mut forged = records.clone();
    forged[4]["label"] = ((records[4]["label"].as_u64().expect("a label") + 1) % 10).into();
    write(&bench, "forged.jsonl", &forged);
    rejected(&check("forged.jsonl", "--all"), &["line 5, input 4:", "its label is"]);
}

#[test]
fn another_seed_is_found() {
    let bench = Bench::new();
    let (records, check) = hundred(&bench);
    // Another seed: it is not the one that these things give, and the counts are others.
    let mut forged = records.clone();
    forged.iter_mut().for_each(|record| record["seed"] = 5.into());
    write(&bench, "forged.jsonl", &forged);
    rejected(&check("forged.jsonl", "--all"), &["its seed is 5", "drawn again"]);
    // Given by hand, the seed is what it is: counts must be those of it.
    ok(bench.run(&format!("certify {TOY} --n 300 --stop 5 --seed 3 --out hand.jsonl")));
    let run = ok(check("hand.jsonl", "--all"));
    assert!(unwrapped(&run.stdout).contains("its seed was given by hand"), "{run:?}");
    let mut forged = lines(&bench, "hand.jsonl");
    forged.iter_mut().for_each(|record| record["seed"] = 4.into());
    write(&bench, "forged.jsonl", &forged);
    rejected(&check("forged.jsonl", "--all"), &["line ", "drawn again"]);
}

#[test]
fn other_sources_than_those_of_the_run_are_found() {
    let bench = Bench::new();
    let (records, check) = hundred(&bench);
    // Another classifier, other data, a sigma that was not used.
    let other = SOURCES.replace("0.3", "0.31");
    rejected(&bench.run(&format!("check run.jsonl {other}")), &["its model is"]);
    rejected(&bench.run(&format!("check run.jsonl {SOURCES} --split train")), &["its data is"]);
    let mut forged = records.clone();
    forged.iter_mut().for_each(|record| record["grid"]["exponent"] = 0.into());
    write(&bench, "forged.jsonl", &forged);
    rejected(&check("forged.jsonl", "--all"), &["its seed is"]);
}

#[test]
fn fresh_draws_agree_with_honest_records_and_refute_others() {
    let bench = Bench::new();
    ok(bench.run(&format!("certify {TOY} --n 2000 --stop 30 --out run.jsonl")));
    let line = format!("check run.jsonl {SOURCES} --all --nonce 77 --json");
    let json = ok(bench.run(&line)).json();
    assert_eq!(
        (&json["fresh"]["nonce"], &json["fresh"]["refuted"]),
        (&77.into(), &serde_json::json!([])),
        "{json}"
    );
    assert_eq!((&json["verdict"], &json["proven"]), (&"not-refuted".into(), &false.into()));
    let near = number(&json["fresh"]["recorded_accuracy"]) - number(&json["fresh"]["fresh_accuracy"]);
    assert!(near.abs() < 0.2, "{json}");
    // Counts that were made up: all draws agree. Their radii follow from them, but the claims do not hold.
    let mut forged = lines(&bench, "run.jsonl");
    for record in &mut forged {
        let Some(class) = record["class"].as_u64() else { continue };
        let class = usize::try_from(class).expect("small");
        for other in 0..10 {
            record["estimation"][other] = if other == class { 2000.into() } else { 0.into() };
        }
        *record = derived(record);
    }
    write(&bench, "forged.jsonl", &forged);
    let run = bench.run(&format!("check forged.jsonl {SOURCES} --all --nonce 78"));
    rejected(&run, &["fresh draws prove at most", "claims refuted"]);
}

#[test]
fn a_swapped_image_and_a_changed_weight_are_found() {
    let bench = Bench::new();
    let image = |k: usize| (0..16).map(|i| ((i * 7 + k * 31) % 97) as f64 / 97.0).collect::<Vec<f64>>();
    let images = |order: &[usize]| order.iter().flat_map(|&k| image(k)).collect::<Vec<f64>>();
    let order: Vec<usize> = (0..12).collect();
    let mut swapped = order.clone();
    swapped.swap(3, 8);
    bench.write("data.npy", npy(12, 16, &images(&order)));
    bench.write("swapped.npy", npy(12, 16, &images(&swapped)));
    let weights =
        |k: f64| (0..16).map(|i| f64::from(i % 5) - 1.9 + if i == 6 { k } else { 0.0 }).collect::<Vec<_>>();
    bench.write("w.npy", npy(1, 16, &weights(0.0)));
    bench.write("v.npy", npy(1, 16, &weights(0.01)));
    let sources = "--model toy:half-space,normal=w.npy,offset=0.6";
    let certify = format!("certify {sources} --data data.npy --sigma 0.4 --n 500 --out run.jsonl");
    ok(bench.run(&certify));
    ok(bench.run(&format!("check run.jsonl {sources} --data data.npy --all")));
    let run = bench.run(&format!("check run.jsonl {sources} --data swapped.npy --all"));
    rejected(&run, &["its data is", "line 4, input 3:"]);
    let other = sources.replace("w.npy", "v.npy");
    let run = bench.run(&format!("check run.jsonl {other} --data data.npy --all"));
    rejected(&run, &["its model is", "drawn again"]);
}

#[test]
fn a_projection_is_proven_again_too() {
    let bench = Bench::new();
    ok(bench.run("project fit --data fashion --rank 20 --out p.safetensors"));
    ok(bench.run("project fit --data fashion --rank 19 --out q.safetensors"));
    ok(bench.run(&format!("certify {TOY} --n 500 --stop 12 --projection p.safetensors --out run.jsonl")));
    let check = |name: &str, more: &str| bench.run(&format!("check {name} {SOURCES} --all {more}"));
    ok(check("run.jsonl", "--projection p.safetensors"));
    rejected(&check("run.jsonl", ""), &["give it with --projection"]);
    rejected(&check("run.jsonl", "--projection q.safetensors"), &["made with the projection"]);
    // Smaller errors or a smaller kappa than proven.
    let records = lines(&bench, "run.jsonl");
    for field in ["encoding_error", "perturbed_error", "kappa"] {
        let mut forged = records.clone();
        forged.iter_mut().for_each(|record| record[field] = (number(&record[field]) * 0.9).into());
        write(&bench, "forged.jsonl", &forged);
        rejected(&check("forged.jsonl", "--projection p.safetensors"), &[field]);
    }
}

#[test]
fn sequential_runs_are_extended_and_fixed_ones_refuse() {
    let bench = Bench::new();
    let line = format!("certify {TOY} --stop 15 --sequential --target 0,0.1,0.2,0.4");
    ok(bench.run(&format!("{line} --n 256 --out short.jsonl")));
    ok(bench.run(&format!("{line} --n 4000 --extend short.jsonl --out long.jsonl")));
    let (short, long) = (lines(&bench, "short.jsonl"), lines(&bench, "long.jsonl"));
    assert_eq!(long.len(), 15);
    assert_eq!(long[0]["rule"]["last"], 256);
    let draws = |record: &Value| {
        record["estimation"].as_array().expect("counts").iter().map(|c| c.as_u64().expect("one")).sum::<u64>()
    };
    assert!(short.iter().zip(&long).all(|(short, long)| draws(long) >= draws(short)));
    assert!(long.iter().any(|record| draws(record) > 256), "some needed more");
    ok(bench.run(&format!("check long.jsonl {SOURCES} --all")));
    ok(bench.run("analyze long.jsonl"));
    // The same command goes on where it stopped.
    let run = ok(bench.run(&format!("{line} --n 4000 --extend short.jsonl --out long.jsonl --json"))).json();
    assert_eq!((&run["resumed"], &run["draws"]), (&15.into(), &0.into()));
    ok(bench.run(&format!("certify {TOY} --stop 15 --n 256 --out fixed.jsonl")));
    let run = bench.run(&format!("{line} --n 4000 --extend fixed.jsonl --out more.jsonl"));
    assert!(run.code == 2 && unwrapped(&run.stderr).contains("spent all of alpha"), "{run:?}");
    let run = bench.run(&format!("{line} --n 256 --extend short.jsonl --out more.jsonl"));
    assert_eq!(run.code, 2, "{run:?}");
}

#[test]
fn what_is_asked_for_wrongly_is_said() {
    let bench = Bench::new();
    ok(bench.run(&format!("certify {TOY} --n 100 --stop 2 --out run.jsonl")));
    let run = bench.run("check run.jsonl run.jsonl");
    assert!(run.code == 2 && run.stderr.contains("--model"), "{run:?}");
    let run = bench.run("check run.jsonl --model toy:half-space,offset=0.3");
    assert!(run.code == 2 && run.stderr.contains("--data"), "{run:?}");
    let run = bench.run(&format!("check run.jsonl {SOURCES} --gram"));
    assert!(run.code == 2 && run.stderr.contains("do not apply"), "{run:?}");
    bench.write("empty.jsonl", "");
    let run = bench.run(&format!("check empty.jsonl {SOURCES}"));
    assert!(run.code == 2 && run.stderr.contains("holds no records"), "{run:?}");
    bench.write("broken.jsonl", "{\"version\":2,\"index\":zero}\n");
    let run = bench.run(&format!("check broken.jsonl {SOURCES}"));
    assert!(run.code == 2 && run.stderr.contains("line 1"), "{run:?}");
}
