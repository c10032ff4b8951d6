//! Forged records that `check` must not pass, and nobody go on from: where nobody draws, in single lines, and behind the name
//! of ONNX Runtime.

use super::certify::{TOY, network, number, ok};
use super::replay::{SOURCES, rejected};
use crate::records::{derived, head, lines, write};
use crate::support::{Bench, unwrapped};
use gambeson_learn::onnx::library;
use gambeson_testing::skipped;
use serde_json::Value;

#[test]
fn records_that_are_not_drawn_again_are_looked_at_too() {
    let bench = Bench::new();
    ok(bench.run(&format!("certify {TOY} --n 600 --stop 40 --out run.jsonl")));
    let (head, records) = (head(&bench, "run.jsonl"), lines(&bench, "run.jsonl"));
    let at = records.iter().rposition(|record| !record["class"].is_null()).expect("a certificate");
    let place = format!("line {}, input {at}:", at + 2);
    // The seed of the sample is chosen so that the line is not drawn.
    let check =
        |more: &str| bench.run(&format!("check forged.jsonl {SOURCES} --sample 1 --sample-seed 5 {more}"));
    let mut forged = records.clone();
    for radius in ["latent", "l2", "linf"] {
        forged[at][radius] = (number(&records[at][radius]) * 10.0).into();
    }
    write(&bench, "forged.jsonl", &head, &forged);
    rejected(&check(""), &[&place, "the counts prove"]);
    rejected(&check("--nonce 77"), &[&place, "the counts prove"]);
    let mut forged = records.clone();
    forged[at]["label"] = ((records[at]["label"].as_u64().expect("a label") + 1) % 10).into();
    write(&bench, "forged.jsonl", &head, &forged);
    rejected(&check(""), &[&place, "its label is"]);
    rejected(&check("--nonce 77"), &[&place, "its label is"]);
    // What the file covers is said.
    let text = unwrapped(&ok(bench.run(&format!("check run.jsonl {SOURCES}"))).stdout);
    assert!(text.contains("40 of the data's 1,000 inputs, from 0 to 39"), "{text}");
}

#[test]
fn errors_are_proven_again_beside_fresh_draws() {
    let bench = Bench::new();
    ok(bench.run("project fit --data fashion --rank 20 --out p.safetensors"));
    ok(bench.run(&format!("certify {TOY} --n 500 --stop 6 --projection p.safetensors --out run.jsonl")));
    let (head, mut forged) = (head(&bench, "run.jsonl"), lines(&bench, "run.jsonl"));
    for record in &mut forged {
        (record["encoding_error"], record["perturbed_error"]) = (0.0.into(), 0.0.into());
        *record = derived(&head, record);
    }
    write(&bench, "forged.jsonl", &head, &forged);
    let check = format!("check forged.jsonl {SOURCES} --projection p.safetensors --all --nonce 77");
    rejected(&bench.run(&check), &["encoding_error is 0", "perturbed_error is 0"]);
}

/// Three of thirty have the other class: fewer than may be refuted by chance, but none of them can be.
#[test]
fn a_few_made_up_records_are_told_from_chance() {
    let bench = Bench::new();
    ok(bench.run(&format!("certify {TOY} --n 600 --stop 30 --out run.jsonl")));
    let (head, mut forged) = (head(&bench, "run.jsonl"), lines(&bench, "run.jsonl"));
    for record in &mut forged[..3] {
        let counts = |total: u64, other: usize| -> Vec<Value> {
            (0..10).map(|class| if class == other { total.into() } else { 0.into() }).collect()
        };
        let count = |class: usize| record["estimation"][class].as_u64().expect("a count");
        let other = usize::from(count(0) > count(1));
        (record["selection"], record["estimation"]) = (counts(100, other).into(), counts(600, other).into());
        *record = derived(&head, record);
    }
    write(&bench, "forged.jsonl", &head, &forged);
    let run = bench.run(&format!("check forged.jsonl {SOURCES} --all --nonce 77"));
    rejected(&run, &["line 2, input 0:", "line 3, input 1:", "line 4, input 2:", "once in a million runs"]);
}

/// A few draws may fall otherwise in another version, but then what is claimed must follow from them as they fall.
#[test]
fn near_ties_excuse_no_larger_radius() {
    let bench = Bench::new();
    if library::find().inspect_err(skipped).is_err() {
        return;
    }
    let Some(line) = network(&bench, "reshape_raw") else { return };
    ok(bench.run(&format!("certify {line} --runtime onnx --n 10000 --stop 40 --out run.jsonl")));
    let (head, records) = (head(&bench, "run.jsonl"), lines(&bench, "run.jsonl"));
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
        forged[at] = derived(&head, &forged[at]);
        write(&bench, "forged.jsonl", &head, &forged);
        bench.run(&check)
    };
    let run = moved(2);
    let text = unwrapped(&run.stdout);
    assert!(
        run.code == 1 && text.starts_with(&format!("NOT REPRODUCED: line {}, input {at}:", at + 2)),
        "{run:?}"
    );
    assert!(text.contains("at least 2 draws differ") && !text.contains("REDRAWN"), "{run:?}");
    assert!(text.contains("The records claim what the draws made here do not prove"), "{run:?}");
    let run = moved(-2);
    let text = unwrapped(&run.stdout);
    assert!(run.code == 0 && text.starts_with("REDRAWN") && text.contains("near-ties"), "{run:?}");
}

/// Counts that were made up, with the radii that they prove, and the class left out: no claim, as it seems.
#[test]
fn radii_without_a_class_are_claims_too() {
    let bench = Bench::new();
    ok(bench.run(&format!("certify {TOY} --n 600 --stop 12 --out run.jsonl")));
    let (head, mut forged) = (head(&bench, "run.jsonl"), lines(&bench, "run.jsonl"));
    for record in &mut forged {
        let counts = |total: u64| -> Vec<Value> {
            [vec![0, total], vec![0; 8]].concat().into_iter().map(Value::from).collect()
        };
        (record["selection"], record["estimation"]) = (counts(100).into(), counts(600).into());
        *record = derived(&head, record);
        record["class"] = Value::Null;
    }
    write(&bench, "forged.jsonl", &head, &forged);
    let words = "line 2, input 0: class is none, but the counts prove 1";
    rejected(&bench.run(&format!("check forged.jsonl {SOURCES} --all")), &[words]);
    rejected(&bench.run(&format!("check forged.jsonl {SOURCES} --all --nonce 77")), &[words]);
    // An honest record without its class proves as much, but is none that was written.
    let mut forged = lines(&bench, "run.jsonl");
    let at = forged.iter().position(|record| !record["class"].is_null()).expect("a certificate");
    forged[at]["class"] = Value::Null;
    write(&bench, "forged.jsonl", &head, &forged);
    let place = format!("line {}, input {at}:", at + 2);
    rejected(&bench.run(&format!("check forged.jsonl {SOURCES} --all")), &[&place, "class is none"]);
    for line in
        ["analyze forged.jsonl --any-class", &format!("certify {TOY} --n 600 --stop 12 --out forged.jsonl")]
    {
        let run = bench.run(line);
        let place = format!("forged.jsonl, line {}: input {at}: class is none", at + 2);
        assert!(run.code == 2 && unwrapped(&run.stderr).contains(&place), "{run:?}");
    }
}

#[test]
fn nobody_goes_on_from_labels_or_classes_that_are_not_those_of_the_data() {
    let bench = Bench::new();
    let certify = format!("certify {TOY} --n 300 --stop 6 --out");
    ok(bench.run(&format!("{certify} run.jsonl")));
    let (head_of_run, records) = (head(&bench, "run.jsonl"), lines(&bench, "run.jsonl"));
    let other = |record: &Value| (record["label"].as_u64().expect("a label") + 1) % 10;
    let mut forged = records.clone();
    forged[4]["label"] = other(&records[4]).into();
    write(&bench, "forged.jsonl", &head_of_run, &forged);
    let run = bench.run(&format!("{certify} forged.jsonl"));
    let words = format!("the record of input 4 has label {}", other(&records[4]));
    assert!(run.code == 2 && unwrapped(&run.stderr).contains(&words), "{run:?}");
    // Predictions alike.
    let predict = format!("predict {TOY} --n 300 --stop 6 --out");
    ok(bench.run(&format!("{predict} predictions.jsonl")));
    let mut forged = lines(&bench, "predictions.jsonl");
    forged[4]["label"] = other(&forged[4]).into();
    write(&bench, "forged.jsonl", &head(&bench, "predictions.jsonl"), &forged);
    let run = bench.run(&format!("{predict} forged.jsonl"));
    assert!(run.code == 2 && unwrapped(&run.stderr).contains(&words), "{run:?}");
    // More classes than there are: nothing else is wrong with them.
    let mut forged = records.clone();
    for counts in ["selection", "estimation"] {
        forged[2][counts].as_array_mut().expect("counts").extend((0..30).map(|_| Value::from(0)));
    }
    write(&bench, "forged.jsonl", &head_of_run, &forged);
    let run = bench.run(&format!("{certify} forged.jsonl"));
    let words = "the record of input 2 counts 40 classes, but there are 10";
    assert!(run.code == 2 && unwrapped(&run.stderr).contains(words), "{run:?}");
    let run = bench.run(&format!("check forged.jsonl {SOURCES} --all"));
    rejected(&run, &["line 4, input 2: it counts 40 classes, but there are 10"]);
    rejected(&bench.run(&format!("check forged.jsonl {SOURCES} --nonce 5")), &["it counts 40 classes"]);
}

#[test]
fn nobody_extends_what_is_not_proven() {
    let bench = Bench::new();
    let line = format!("certify {TOY} --stop 6 --sequential --target 0,0.1,0.2,0.4");
    ok(bench.run(&format!("{line} --n 256 --out short.jsonl")));
    let (head, records) = (head(&bench, "short.jsonl"), lines(&bench, "short.jsonl"));
    let refused = |change: &dyn Fn(&mut Value), words: &str| {
        let mut forged = records.clone();
        forged.iter_mut().for_each(change);
        write(&bench, "forged.jsonl", &head, &forged);
        let run = bench.run(&format!("{line} --n 2000 --extend forged.jsonl --out long.jsonl"));
        assert!(run.code == 2 && unwrapped(&run.stderr).contains(words), "{words}: {run:?}");
        assert!(!bench.path("long.jsonl").exists() || lines(&bench, "long.jsonl").is_empty(), "{words}");
    };
    let radii = |record: &mut Value| {
        if !record["class"].is_null() {
            ["latent", "l2", "linf"].iter().for_each(|radius| record[*radius] = 99.0.into());
        }
    };
    refused(&radii, "latent is 99, but the counts prove");
    let sum =
        |counts: &Value| counts.as_array().expect("counts").iter().filter_map(Value::as_u64).sum::<u64>();
    let one = |record: &mut Value| {
        for counts in ["selection", "estimation"] {
            record[counts] = vec![sum(&record[counts])].into();
        }
        record["label"] = Value::Null;
        *record = derived(&head, record);
    };
    refused(&one, "the record of input 0 counts 1 classes, but there are 10");
    refused(&|record| record["label"] = 1.into(), "the record of input 0 has label 1");
    let errors = |record: &mut Value| {
        record["perturbed_error"] = 0.0.into();
        *record = derived(&head, record);
    };
    refused(&errors, "the record of input 0 has the encoding error 0");
}

/// Changes that `analyze` and `check` see in single lines, with digests that fit where that can be.
#[test]
fn what_no_run_has_written_is_refused_by_every_verb() {
    let bench = Bench::new();
    ok(bench.run(&format!("certify {TOY} --n 600 --stop 4 --out run.jsonl")));
    ok(bench.run(&format!("certify {TOY} --n 600 --sequential --stop 4 --out fast.jsonl")));
    ok(bench.run("project fit --data fashion --rank 20 --out p.safetensors"));
    ok(bench
        .run(&format!("certify {TOY} --n 600 --stop 4 --projection p.safetensors --out projected.jsonl")));
    let both = |words: &str| {
        let run = bench.run("analyze forged.jsonl --any-class");
        assert!(run.code == 2 && unwrapped(&run.stderr).contains(words), "{words}: {run:?}");
        rejected(&bench.run(&format!("check forged.jsonl {SOURCES} --all")), &[words]);
    };
    let forge = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut other = head(&bench, name);
        change(&mut other["run"]);
        (other, lines(&bench, name))
    };
    let forged = |(head, records): (Value, Vec<Value>)| write(&bench, "forged.jsonl", &head, &records);
    let (mut other, records) =
        forge("fast.jsonl", &|run| run["rule"] = serde_json::json!({ "kind": "fixed" }));
    other["run"]["n"] = records[0]["estimation"]
        .as_array()
        .expect("counts")
        .iter()
        .filter_map(Value::as_u64)
        .sum::<u64>()
        .into();
    forged((other, records));
    both("a goal of sequential sampling, but the rule is fixed");
    forged(forge("projected.jsonl", &|run| run["dimension"] = 12.into()));
    both("dimension is 12, which does not fit kappa");
    let larger = |run: &mut Value| (run["sigma"], run["grid"]["exponent"]) = (5.0.into(), 2.into());
    forged(forge("run.jsonl", &larger));
    both("the counts prove");
    bench.write("forged.jsonl", bench.read("run.jsonl").replace("\"seed\":", "\"note\":1,\"seed\":"));
    both("unknown key \"run.note\"");
    bench.write("forged.jsonl", bench.read("run.jsonl").replace("\"label\":", "\"note\":1,\"label\":"));
    both("unknown key \"note\"");
    bench.write("forged.jsonl", bench.read("run.jsonl").replace("\"sigma\":0.5", "\"sigma\":5.0"));
    both("the digest of the line is not that of its content");
    // A key too many in a grid is none that the digest is taken of.
    bench.write(
        "forged.jsonl",
        bench.read("run.jsonl").replace("\"exponent\":-1", "\"exponent\":-1,\"note\":1"),
    );
    for line in ["analyze forged.jsonl --any-class", &format!("check forged.jsonl {SOURCES}")] {
        let run = bench.run(line);
        assert!(run.code == 2 && run.stderr.contains("unknown field `note`"), "{run:?}");
    }
    // With radii that follow from it, a record says nothing against another sigma, but its seed does.
    let (head, records) = forge("run.jsonl", &larger);
    let records = records.iter().map(|record| derived(&head, record)).collect();
    forged((head, records));
    ok(bench.run("analyze forged.jsonl --any-class"));
    rejected(&bench.run(&format!("check forged.jsonl {SOURCES} --all")), &["its seed is"]);
}

#[test]
fn records_of_other_noise_assumptions_or_engines_are_rejected() {
    let bench = Bench::new();
    ok(bench.run(&format!("certify {TOY} --n 300 --stop 3 --out run.jsonl")));
    let changed = |key: &str, value: &str| {
        let mut other = head(&bench, "run.jsonl");
        other["run"][key] = value.into();
        write(&bench, "forged.jsonl", &other, &lines(&bench, "run.jsonl"));
        bench.run(&format!("check forged.jsonl {SOURCES} --all"))
    };
    rejected(
        &changed("assumed", "nothing at all"),
        &["assumed is \"nothing at all\"", "ChaCha8's words are random"],
    );
    rejected(&changed("runtime", "gambeson 99"), &["its runtime is gambeson 99"]);
    rejected(&changed("generator", "gambeson noise 2"), &["generator is \"gambeson noise 2\""]);
    for line in ["analyze forged.jsonl", &format!("certify {TOY} --n 300 --stop 3 --out forged.jsonl")] {
        let run = bench.run(line);
        assert!(run.code == 2 && run.stderr.contains("generator"), "{run:?}");
    }
}

/// A device need not end: it is refused before it is read.
#[cfg(target_os = "linux")]
#[test]
fn records_are_not_read_from_devices() {
    let bench = Bench::new();
    for line in [
        format!("check /dev/zero {SOURCES}"),
        format!("certify {TOY} --n 100 --stop 1 --sequential --extend /dev/zero --out long.jsonl"),
    ] {
        let run = bench.run(&line);
        assert!(run.code == 2 && run.stderr.contains("is a device"), "{line}: {run:?}");
    }
}
