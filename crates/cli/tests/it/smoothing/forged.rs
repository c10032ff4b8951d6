//! Forged records that `check` must not pass: where nobody draws, in single lines, and behind the name of ONNX Runtime.

use super::certify::{TOY, lines, network, number, ok};
use super::replay::{SOURCES, derived, rejected, write};
use crate::support::{Bench, unwrapped};
use gambeson_learn::onnx::library;
use serde_json::Value;

#[test]
fn records_that_are_not_drawn_again_are_looked_at_too() {
    let bench = Bench::new();
    ok(bench.run(&format!("certify {TOY} --n 600 --stop 40 --out run.jsonl")));
    let records = lines(&bench, "run.jsonl");
    let at = records.iter().rposition(|record| !record["class"].is_null()).expect("a certificate");
    let place = format!("line {}, input {at}:", at + 1);
    // The seed of the sample is chosen so that the line is not drawn.
    let check =
        |more: &str| bench.run(&format!("check forged.jsonl {SOURCES} --sample 1 --sample-seed 5 {more}"));
    let mut forged = records.clone();
    for radius in ["latent", "l2", "linf"] {
        forged[at][radius] = (number(&records[at][radius]) * 10.0).into();
    }
    write(&bench, "forged.jsonl", &forged);
    rejected(&check(""), &[&place, "the counts prove"]);
    rejected(&check("--nonce 77"), &[&place, "the counts prove"]);
    let mut forged = records.clone();
    forged[at]["label"] = ((records[at]["label"].as_u64().expect("a label") + 1) % 10).into();
    write(&bench, "forged.jsonl", &forged);
    rejected(&check(""), &[&place, "its label is"]);
    rejected(&check("--nonce 77"), &[&place, "its label is"]);
    // What the file covers is said.
    let text = unwrapped(&ok(bench.run(&format!("check run.jsonl {SOURCES}"))).stdout);
    assert!(text.contains("40 of the 1000 inputs, 0 to 39"), "{text}");
}

#[test]
fn errors_are_proven_again_beside_fresh_draws() {
    let bench = Bench::new();
    ok(bench.run("project fit --data fashion --rank 20 --out p.safetensors"));
    ok(bench.run(&format!("certify {TOY} --n 500 --stop 6 --projection p.safetensors --out run.jsonl")));
    let mut forged = lines(&bench, "run.jsonl");
    for record in &mut forged {
        (record["encoding_error"], record["perturbed_error"]) = (0.0.into(), 0.0.into());
        *record = derived(record);
    }
    write(&bench, "forged.jsonl", &forged);
    let check = format!("check forged.jsonl {SOURCES} --projection p.safetensors --all --nonce 77");
    rejected(&bench.run(&check), &["encoding_error is 0", "perturbed_error is 0"]);
}

/// Three of thirty have the other class: fewer than may be refuted by chance, but none of them can be.
#[test]
fn a_few_made_up_records_are_told_from_chance() {
    let bench = Bench::new();
    ok(bench.run(&format!("certify {TOY} --n 600 --stop 30 --out run.jsonl")));
    let mut forged = lines(&bench, "run.jsonl");
    for record in &mut forged[..3] {
        let counts = |total: u64, other: usize| -> Vec<Value> {
            (0..10).map(|class| if class == other { total.into() } else { 0.into() }).collect()
        };
        let count = |class: usize| record["estimation"][class].as_u64().expect("a count");
        let other = usize::from(count(0) > count(1));
        (record["selection"], record["estimation"]) = (counts(100, other).into(), counts(600, other).into());
        *record = derived(record);
    }
    write(&bench, "forged.jsonl", &forged);
    let run = bench.run(&format!("check forged.jsonl {SOURCES} --all --nonce 77"));
    rejected(&run, &["line 1, input 0:", "line 2, input 1:", "line 3, input 2:", "once in a million runs"]);
}

/// A few draws may fall otherwise in another version, but then what is claimed must follow from them as they fall.
#[test]
fn near_ties_excuse_no_larger_radius() {
    let bench = Bench::new();
    if library::find().is_err() {
        return;
    }
    let Some(line) = network(&bench, "reshape_raw") else { return };
    ok(bench.run(&format!("certify {line} --runtime onnx --n 10000 --stop 40 --out run.jsonl")));
    let records = lines(&bench, "run.jsonl");
    let (sources, _) = line.split_once(" --sigma").expect("a line");
    let check = format!("check forged.jsonl {sources} --all");
    // The surest one that is not quite sure: two more draws for its class, or two fewer.
    let missing = |record: &Value| {
        let class = usize::try_from(record["class"].as_u64()?).ok()?;
        let other = (0..4)
            .filter(|&other| other != class)
            .find(|&other| record["estimation"][other].as_u64().is_some_and(|count| count >= 2))?;
        Some((class, other))
    };
    let (at, (class, other)) =
        (0..).zip(&records).find_map(|(at, record)| Some((at, missing(record)?))).expect("a record");
    let moved = |more: i64| {
        let mut forged = records.clone();
        for (class, by) in [(class, more), (other, -more)] {
            let count = records[at]["estimation"][class].as_i64().expect("a count");
            forged[at]["estimation"][class] = (count + by).into();
        }
        forged[at] = derived(&forged[at]);
        write(&bench, "forged.jsonl", &forged);
        bench.run(&check)
    };
    let run = moved(2);
    let text = unwrapped(&run.stdout);
    assert!(
        run.code == 1 && text.starts_with(&format!("NOT REPRODUCED: line {}, input {at}:", at + 1)),
        "{run:?}"
    );
    assert!(text.contains("at least 2 draws differ") && !text.contains("PROVEN"), "{run:?}");
    let run = moved(-2);
    let text = unwrapped(&run.stdout);
    assert!(run.code == 0 && text.starts_with("PROVEN") && text.contains("near-ties"), "{run:?}");
}

/// Records of our engine before its rounding changed are drawn again by this one; those of a later one are not.
#[test]
fn records_of_an_earlier_engine_are_drawn_again() {
    let bench = Bench::new();
    let Some(line) = network(&bench, "reshape_raw") else { return };
    ok(bench.run(&format!("certify {line} --runtime own --n 1000 --stop 5 --out run.jsonl")));
    let (sources, _) = line.split_once(" --sigma").expect("a line");
    let named = |name: &str| {
        let mut records = lines(&bench, "run.jsonl");
        records.iter_mut().for_each(|record| record["runtime"] = name.into());
        let records: Vec<Value> = records.iter().map(derived).collect();
        write(&bench, "named.jsonl", &records);
        bench.run(&format!("check named.jsonl {sources} --all"))
    };
    let run = named("gambeson 1");
    assert!(run.code == 0 && run.stdout.starts_with("PROVEN"), "{run:?}");
    rejected(&named("gambeson 99"), &["its runtime is gambeson 99"]);
    // It is not gone on with.
    named("gambeson 1");
    let run = bench.run(&format!("certify {line} --n 1000 --stop 6 --out named.jsonl"));
    assert!(run.code == 2 && run.stderr.contains("its runtime is \"gambeson 1\""), "{run:?}");
}
