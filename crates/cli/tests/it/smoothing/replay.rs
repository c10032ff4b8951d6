//! `check RUN.jsonl --model M --data D`: honest records pass, altered ones are rejected at their place.

use super::certify::{TOY, number, ok};
use crate::records::{derived, head, lines, write};
use crate::support::{Bench, Run, npy, unwrapped};
use serde_json::Value;

/// What a run on the toy is made with.
pub(super) const SOURCES: &str = "--model toy:half-space,offset=0.3 --data fashion";

pub(super) fn rejected(run: &Run, with: &[&str]) {
    let text = unwrapped(&run.stdout);
    assert!(run.code == 1 && text.contains("REJECTED"), "{run:?}");
    assert!(with.iter().all(|part| text.contains(part)), "{with:?} in {run:?}");
}

/// The head and the records of a run over a hundred images, in `run.jsonl`, and how files of records are checked.
fn hundred(bench: &Bench) -> (Value, Vec<Value>, impl Fn(&str, &str) -> Run) {
    ok(bench.run(&format!("certify {TOY} --n 600 --stop 100 --out run.jsonl")));
    let check = |name: &str, more: &str| bench.run(&format!("check {name} {SOURCES} {more}"));
    (head(bench, "run.jsonl"), lines(bench, "run.jsonl"), check)
}

#[test]
fn a_run_of_a_hundred_images_is_drawn_again() {
    let bench = Bench::new();
    let (head_of_run, records, check) = hundred(&bench);
    let run = &head_of_run["run"];
    assert_eq!(run["generator"], "gambeson noise 3");
    assert_eq!((&run["nonce"], &run["grid"]["quantum"]), (&0.into(), &"1/255".into()));
    assert!(records.iter().all(|record| number(&record["encoding_error"]) == 0.0), "bytes lie on the grid");
    let run = ok(check("run.jsonl", "--all"));
    let text = unwrapped(&run.stdout);
    let words = "REDRAWN: all 100 records drawn again, with equal counts";
    assert!(text.starts_with(words) && text.contains("M * alpha") && !text.contains("PROVEN"), "{run:?}");
    assert!(text.contains("inputs 100 of the data's 1,000 inputs, from 0 to 99"), "{text}");
    let json = ok(check("run.jsonl", "--all --json")).json();
    assert_eq!(
        (&json["checked"], &json["differing"], &json["seed_derived"]),
        (&100.into(), &0.into(), &true.into())
    );
    // A sample, whose choice can be repeated.
    let json = ok(check("run.jsonl", "--sample 7 --json")).json();
    let seed = json["sample_seed"].as_u64().expect("a seed");
    assert_eq!((&json["checked"], &json["draws"]), (&7.into(), &(7 * 700).into()));
    assert_eq!((&json["verdict"], &json["missed"][0]["forged"]), (&"sampled".into(), &1.into()));
    let run = ok(check("run.jsonl", &format!("--sample 7 --sample-seed {seed}")));
    let text = unwrapped(&run.stdout);
    assert!(text.starts_with("SAMPLED: 7 of 100 records drawn again, with equal counts"), "{run:?}");
    assert!(text.contains("misses all of k forged records: 1 with 93.1 %"), "rounded up from 93 %: {text}");
    // Sequential runs are drawn again like others.
    ok(bench.run(&format!("certify {TOY} --n 3000 --sequential --stop 20 --out fast.jsonl")));
    let fast = lines(&bench, "fast.jsonl");
    assert_eq!(fast.len(), 20);
    let rule = &head(&bench, "fast.jsonl")["run"]["rule"];
    assert_eq!(*rule, serde_json::json!({ "kind": "mixture-and-last", "last": 3000 }));
    ok(check("fast.jsonl", "--all"));
}

#[test]
fn an_altered_record_is_found_at_its_line() {
    let bench = Bench::new();
    let (head, records, check) = hundred(&bench);
    // One altered count, its sum kept: found at its line, whatever the radii say.
    let mut forged = records.clone();
    let at = forged.iter().position(|record| !record["class"].is_null()).expect("a certificate");
    let class = forged[at]["class"].as_u64().expect("a class");
    let (mine, other) = (usize::try_from(class).expect("small"), usize::try_from(1 - class).expect("small"));
    let count = |record: &Value, class: usize| record["estimation"][class].as_u64().expect("a count");
    let moved = (count(&forged[at], mine) - 1, count(&forged[at], other) + 1);
    forged[at]["estimation"][mine] = moved.0.into();
    forged[at]["estimation"][other] = moved.1.into();
    forged[at] = derived(&head, &forged[at]);
    write(&bench, "forged.jsonl", &head, &forged);
    let place = format!("line {}, input {at}:", at + 2);
    rejected(&check("forged.jsonl", "--all"), &[&place, "estimation counts of class", "drawn again"]);
    // Without keeping its sum.
    forged[at]["estimation"][other] = (moved.1 - 1).into();
    write(&bench, "forged.jsonl", &head, &forged);
    rejected(&check("forged.jsonl", "--all"), &[&format!("line {}:", at + 2), "add up to"]);
    // A radius larger than proven.
    let mut forged = records.clone();
    forged[at]["l2"] = (number(&records[at]["l2"]) * 1.01).into();
    write(&bench, "forged.jsonl", &head, &forged);
    rejected(&check("forged.jsonl", "--all"), &[&place, "the counts prove"]);
    // Another label.
    let mut forged = records.clone();
    forged[4]["label"] = ((records[4]["label"].as_u64().expect("a label") + 1) % 10).into();
    write(&bench, "forged.jsonl", &head, &forged);
    rejected(&check("forged.jsonl", "--all"), &["line 6, input 4:", "its label is"]);
}

#[test]
fn another_seed_is_found() {
    let bench = Bench::new();
    let (mut other, records, check) = hundred(&bench);
    // Another seed: it is not the one that these things give, and the counts are others.
    other["run"]["seed"] = 5.into();
    write(&bench, "forged.jsonl", &other, &records);
    rejected(&check("forged.jsonl", "--all"), &["its seed is 5", "drawn again"]);
    // Given by hand, the seed is what it is: counts must be those of it.
    ok(bench.run(&format!("certify {TOY} --n 300 --stop 5 --seed 3 --out hand.jsonl")));
    let run = ok(check("hand.jsonl", "--all"));
    assert!(unwrapped(&run.stdout).contains("The seed was given by hand, and no other was tried"), "{run:?}");
    let mut other = head(&bench, "hand.jsonl");
    other["run"]["seed"] = 4.into();
    write(&bench, "forged.jsonl", &other, &lines(&bench, "hand.jsonl"));
    rejected(&check("forged.jsonl", "--all"), &["line ", "drawn again"]);
}

#[test]
fn other_sources_than_those_of_the_run_are_found() {
    let bench = Bench::new();
    let (mut coarser, records, check) = hundred(&bench);
    // Another classifier, other data, a sigma that was not used.
    let other = SOURCES.replace("0.3", "0.31");
    rejected(&bench.run(&format!("check run.jsonl {other}")), &["its model is"]);
    rejected(&bench.run(&format!("check run.jsonl {SOURCES} --split train")), &["its data is"]);
    coarser["run"]["grid"]["exponent"] = 0.into();
    write(&bench, "forged.jsonl", &coarser, &records);
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
    assert_eq!((&json["verdict"], &json["claim"]["records"]), (&"not-refuted".into(), &30.into()));
    let text = ok(bench.run(&line.replace(" --json", ""))).stdout;
    assert!(text.starts_with("NOT REFUTED: ") && !text.contains("PROVEN"), "{text}");
    let near = number(&json["fresh"]["recorded_accuracy"]) - number(&json["fresh"]["fresh_accuracy"]);
    assert!(near.abs() < 0.2, "{json}");
    // Counts that were made up: all draws agree. Their radii follow from them, but the claims do not hold.
    let (head, mut forged) = (head(&bench, "run.jsonl"), lines(&bench, "run.jsonl"));
    for record in &mut forged {
        let Some(class) = record["class"].as_u64() else { continue };
        let class = usize::try_from(class).expect("small");
        for other in 0..10 {
            record["estimation"][other] = if other == class { 2000.into() } else { 0.into() };
        }
        *record = derived(&head, record);
    }
    write(&bench, "forged.jsonl", &head, &forged);
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
    rejected(&run, &["its data is", "line 5, input 3:"]);
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
    let (head, records) = (head(&bench, "run.jsonl"), lines(&bench, "run.jsonl"));
    for field in ["encoding_error", "perturbed_error", "kappa", "spectral"] {
        let (mut head, mut forged) = (head.clone(), records.clone());
        if head["run"][field].is_number() {
            head["run"][field] = (number(&head["run"][field]) * 0.9).into();
        } else {
            forged.iter_mut().for_each(|record| record[field] = (number(&record[field]) * 0.9).into());
        }
        for with_radii in [false, true] {
            if with_radii {
                forged.iter_mut().for_each(|record| *record = derived(&head, record));
            }
            write(&bench, "forged.jsonl", &head, &forged);
            rejected(&check("forged.jsonl", "--projection p.safetensors"), &[field]);
        }
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
    assert_eq!(head(&bench, "long.jsonl")["run"]["rule"]["last"], 256);
    // The seed is that of the last look, so that the draws are the same.
    assert_eq!(head(&bench, "long.jsonl")["run"]["seed"], head(&bench, "short.jsonl")["run"]["seed"]);
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
    let whole = bench.read("run.jsonl");
    let (first, _) = whole.split_once('\n').expect("a head");
    for (name, text, words) in [
        ("empty.jsonl", String::new(), "its first line is not the head of a file of records"),
        ("old.jsonl", "{\"version\":2,\"index\":0}\n".to_owned(), "files of version 2 and earlier have none"),
        ("torn.jsonl", first[..300].to_owned(), "a kill broke off its head"),
        ("broken.jsonl", format!("{first}\n{{\"run\":\"0\",\"index\":zero}}\n"), "line 2: not a record"),
    ] {
        bench.write(name, text);
        let run = bench.run(&format!("check {name} {SOURCES}"));
        assert!(run.code == 2 && unwrapped(&run.stderr).contains(words), "{run:?}");
    }
}
