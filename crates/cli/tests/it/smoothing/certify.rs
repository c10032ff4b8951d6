//! `certify` and `predict`: records, resumption, bad input.

use crate::records::{head, lines};
use crate::support::{Bench, Run, npy};
use gambeson_learn::onnx::library;
use gambeson_testing::{interrupt, skipped};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Mean brightness of Fashion-MNIST is about .29: both answers occur.
pub(crate) const TOY: &str = "--model toy:half-space,offset=0.3 --data fashion --sigma 0.5";

/// The file without its times: what must be the same, byte for byte.
pub(super) fn without_times(bench: &Bench, name: &str) -> String {
    let cut = |line: &str| match line.split_once(",\"seconds\":") {
        Some((start, _)) => format!("{start}}}\n"),
        None => format!("{line}\n"), // the head
    };
    bench.read(name).lines().map(cut).collect()
}

pub(crate) fn ok(run: Run) -> Run {
    assert_eq!(run.code, 0, "{run:?}");
    run
}

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn records_hold_what_the_half_space_makes_of_the_images() {
    let bench = Bench::new();
    let line = format!(
        "certify {TOY} --n 4000 --start 3 --stop 40 --every 3 --out run.jsonl --tsv run.tsv --force --json"
    );
    let summary = ok(bench.run(&line)).json();
    let records = lines(&bench, "run.jsonl");
    assert_eq!((&summary["inputs"], records.len()), (&13.into(), 13));
    assert_eq!(summary["draws"], 13 * 4100);
    let info = ok(bench.run("data info fashion --split test --json")).json();
    assert!(info.is_object());
    let table = bench.read("run.tsv");
    let mut rows = table.lines();
    assert_eq!(rows.next(), Some("idx\tlabel\tpredict\tradius\tcorrect\ttime"));
    let mut answers = BTreeMap::new();
    for (k, (record, row)) in records.iter().zip(rows).enumerate() {
        assert_eq!(record["index"], 3 + 3 * k);
        let counts: Vec<u64> = record["estimation"]
            .as_array()
            .expect("counts")
            .iter()
            .map(|c| c.as_u64().expect("one"))
            .collect();
        assert_eq!((counts.iter().sum::<u64>(), counts.len()), (4000, 10), "ten classes of data");
        let columns: Vec<&str> = row.split('\t').collect();
        assert_eq!(columns[..2], [record["index"].to_string(), record["label"].to_string()]);
        match record["class"].as_u64() {
            None => assert_eq!(columns[2..5], ["-1", "0.0", "0"]),
            Some(class) => {
                *answers.entry(class).or_insert(0) += 1;
                let l2 = number(&record["l2"]);
                let printed: f64 = columns[3].parse().expect("a radius");
                assert!(printed <= l2 && printed > l2 * 0.999, "{printed} for {l2}");
                assert!((number(&record["linf"]) - l2 / 28.0).abs() < 1e-9);
                assert_eq!(columns[4] == "1", record["class"] == record["label"]);
            }
        }
        assert_eq!(columns[5].split(':').count(), 3, "h:mm:ss");
    }
    assert_eq!(answers.len(), 2, "both classes: {answers:?}");
    let head = head(&bench, "run.jsonl");
    assert!(head["run"]["kappa"].is_null() && head["plan"] == summary["plan"], "{head}");
    let selection = serde_json::json!({
        "start": 3, "stop": 40, "every": 3, "count": 13, "inputs": 1000, "shard": { "index": 0, "count": 1 }
    });
    assert_eq!(head["selection"], selection);
    // What others make of the records.
    let analysed = ok(bench.run("analyze run.jsonl --json")).json();
    assert_eq!(analysed["images"], 13);
    let printed = ok(bench.run(&line.replace(" --json", "")));
    assert!(printed.stdout.contains("13 of them before"), "{printed:?}");
    assert_eq!(lines(&bench, "run.jsonl"), records, "nothing was drawn again");
}

#[test]
fn shards_are_parts_of_the_whole_and_seeds_differ() {
    let bench = Bench::new();
    let line = format!("certify {TOY} --n 300 --stop 10 --seed 4");
    ok(bench.run(&format!("{line} --out whole.jsonl")));
    let parts = ["1.jsonl", "2.jsonl", "3.jsonl"];
    for (shard, name) in (1..).zip(parts) {
        ok(bench.run(&format!("{line} --shard {shard}/3 --out {name} --threads 1")));
    }
    let records = |name: &str| -> Vec<String> {
        without_times(&bench, name).lines().skip(1).map(str::to_owned).collect()
    };
    let mut joined: Vec<String> = parts.iter().flat_map(|name| records(name)).collect();
    let index = |line: &String| serde_json::from_str::<Value>(line).expect("JSON")["index"].as_u64();
    joined.sort_by_key(index);
    assert_eq!(joined, records("whole.jsonl"));
    // Joined into one file, they are still the run.
    bench.write("joined.jsonl", parts.map(|name| bench.read(name)).concat());
    for logs in ["1.jsonl 3.jsonl 2.jsonl", "joined.jsonl"] {
        let analysed = ok(bench.run(&format!("analyze {logs} --json"))).json();
        assert_eq!((&analysed["images"], &analysed["missing"]), (&10.into(), &0.into()));
    }
    let counts = |name| lines(&bench, name).iter().map(|r| r["estimation"].clone()).collect::<Vec<Value>>();
    for (change, same) in [("--seed 4 --batch 17", true), ("--seed 5", false)] {
        let line = line.replace("--seed 4", change);
        bench.write("other.jsonl", "");
        ok(bench.run(&format!("{line} --out other.jsonl")));
        assert_eq!(counts("other.jsonl") == counts("whole.jsonl"), same, "{change}");
    }
    // A file of another run is left alone.
    let before = bench.read("whole.jsonl");
    let run = bench.run(&format!("{} --out whole.jsonl", line.replace("--seed 4", "--seed 5")));
    assert!(run.code == 2 && run.stderr.contains("whole.jsonl") && run.stderr.contains("seed"), "{run:?}");
    assert_eq!(bench.read("whole.jsonl"), before);
}

/// Kills a run five times and lets it end; the records must be those of a run that nobody killed.
fn survives_kills(bench: &Bench, line: &str, name: &str) {
    ok(bench.run(&format!("{line} --threads 2 --out {name}.whole")));
    let whole = without_times(bench, &format!("{name}.whole"));
    let total = whole.lines().count() - 1;
    for threads in [1, 2] {
        let out = format!("{name}.{threads}");
        let line = format!("{line} --threads {threads} --out {out}");
        let mut seen = Vec::new();
        let done = || {
            let written = if bench.path(&out).exists() { bench.read(&out) } else { String::new() };
            written.lines().filter(|line| line.ends_with('}')).count().saturating_sub(1)
        };
        // Each time when some more records are there, and then at any moment: not by the clock, which says nothing of
        // how far a busy machine has come.
        for kill in 1..=5 {
            let mut child = bench.spawn(&line, Stdio::null());
            while done() < total * kill / 7 && child.try_wait().expect("a child").is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            child.kill().expect("killed, or gone already");
            child.wait().expect("gone");
            seen.push(done());
        }
        assert!(seen.windows(2).all(|pair| pair[0] <= pair[1]), "{name}: {seen:?}");
        // A last line as a kill in the middle of writing leaves it.
        let mut torn = bench.read(&out);
        torn.truncate(torn.len() - 30.min(torn.len()));
        bench.write(&out, &torn);
        ok(bench.run(&line));
        assert_eq!(without_times(bench, &out), whole, "{name}, {threads} threads; {seen:?} of {total}");
        assert!(seen[0] < total && seen[4] > 0, "{name}: {seen:?} of {total}: it was killed on its way");
    }
}

#[test]
fn a_run_that_was_killed_goes_on_where_it_was() {
    let bench = Bench::new();
    survives_kills(&bench, &format!("certify {TOY} --n 8000 --stop 50"), "fixed");
    let goal = "--sequential --target 0,0.5 --tolerance 0.002 --batch 100";
    survives_kills(&bench, &format!("certify {TOY} --n 30000 --stop 50 {goal}"), "sequential");
}

/// 40 images of 2 x 3 x 2.
fn save_images(bench: &Bench) {
    let images: Vec<f64> = (0..40 * 12).map(|k| f64::from(k * 71 % 255) / 255.0).collect();
    let mut bytes = npy(40, 12, &images);
    // The header has room to say of which shape.
    let place = bytes.windows(18).position(|text| text == b"(40, 12), }       ").expect("a header");
    bytes[place..place + 18].copy_from_slice(b"(40, 2, 3, 2), }  ");
    bench.write("images.npy", bytes);
}

/// A network of `crates/learn/tests/fixtures`, and images for it.
pub(super) fn network(bench: &Bench, name: &str) -> Option<String> {
    save_images(bench);
    let path = format!("{}/../learn/tests/fixtures/{name}.onnx", env!("CARGO_MANIFEST_DIR"));
    bench.write(&format!("{name}.onnx"), std::fs::read(path).expect("the fixture"));
    let line = format!("--model {name}.onnx --data images.npy --sigma 0.3");
    let run = bench.run(&format!("predict {line} --n 10 --stop 1"));
    if run.code == 2 && library::find().is_err() {
        skipped(&format!("{name}.onnx needs ONNX Runtime, which was not found"));
        return None;
    }
    assert_eq!(run.code, 0, "{run:?}");
    Some(line)
}

#[test]
fn networks_are_certified_and_survive_kills() {
    let bench = Bench::new();
    let Some(line) = network(&bench, "reshape_raw") else { return };
    survives_kills(&bench, &format!("certify {line} --n 20000"), "network");
    // No labels: no accuracy, and no table that needs them.
    let summary = ok(bench.run(&format!("certify {line} --n 50 --stop 2 --json"))).json();
    assert!(summary["correct"].is_null());
    let run = bench.run(&format!("certify {line} --n 50 --stop 2 --tsv table.tsv"));
    assert!(run.code == 2 && run.stderr.contains("labels") && !bench.path("table.tsv").exists(), "{run:?}");
}

#[test]
fn no_class_is_a_class_of_its_own() {
    let bench = Bench::new();
    let Some(line) = network(&bench, "nan") else { return };
    ok(bench.run(&format!("certify {line} --n 400 --out nan.jsonl")));
    let records = lines(&bench, "nan.jsonl");
    assert!(records.iter().any(|record| record["estimation_none"].as_u64() > Some(0)));
    assert!(records.iter().any(|record| record["class"].is_null()));
}

#[test]
fn without_the_library_a_message_says_how_to_get_it() {
    let bench = Bench::new();
    let path = format!("{}/../learn/tests/fixtures/nan.onnx", env!("CARGO_MANIFEST_DIR"));
    bench.write("nan.onnx", std::fs::read(path).expect("the fixture"));
    save_images(&bench);
    bench.write("libonnxruntime.so", "not a library");
    for (variable, words) in [
        ("", vec!["was not found"]),
        ("missing.so", vec!["missing.so"]),
        ("libonnxruntime.so", vec!["libonnxruntime.so", "not a shared library"]),
        (".", vec!["not a shared library"]),
    ] {
        let child = std::process::Command::new(env!("CARGO_BIN_EXE_gambeson"))
            .args("predict --model nan.onnx --data images.npy --sigma 0.1".split(' '))
            .current_dir(bench.path(""))
            .env("ORT_DYLIB_PATH", variable)
            .env("PATH", bench.path("")) // no python either
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let run = Bench::finish("predict", child);
        if variable.is_empty() && !run.stderr.contains("was not found") {
            skipped("in part: the system has ONNX Runtime in a folder of its own");
            continue;
        }
        assert_eq!(run.code, 2, "{variable}: {run:?}");
        for word in words.iter().chain(&["pip install onnxruntime", "ORT_DYLIB_PATH"]) {
            assert!(run.stderr.contains(word), "{variable}: `{word}` is not in {}", run.stderr);
        }
    }
}

#[test]
fn a_time_limit_keeps_what_is_finished() {
    let bench = Bench::new();
    let line = format!("certify {TOY} --n 20000 --stop 400 --out run.jsonl");
    let run = bench.run(&format!("{line} --time-limit 1 --json"));
    assert_eq!(run.code, 1, "{run:?}");
    let summary = run.json();
    let done = summary["done"].as_u64().expect("a number");
    assert!(summary["stopped"] == true && done < 400, "{summary}");
    assert_eq!(lines(&bench, "run.jsonl").len() as u64, done);
    let run = bench.run(&format!("{line} --time-limit 0 --json"));
    assert!(run.code == 1 && run.json()["done"].as_u64() == Some(done), "{run:?}");
}

/// Stored radii are never believed, not even by the run that goes on.
#[test]
fn a_forged_radius_ends_the_run() {
    let bench = Bench::new();
    let line = format!("certify {TOY} --n 400 --stop 8 --out run.jsonl --tsv run.tsv --force");
    ok(bench.run(&line));
    let whole = bench.read("run.jsonl");
    let (start, rest) = whole.split_once("\"l2\":").expect("a radius");
    let (_, end) = rest.split_once(',').expect("more fields");
    bench.write("run.jsonl", format!("{start}\"l2\":99.0,{end}"));
    let forged = bench.read("run.jsonl");
    let run = bench.run(&line);
    assert!(run.code == 2 && run.stderr.contains("digest"), "{run:?}");
    assert_eq!(bench.read("run.jsonl"), forged, "left as it was");
    // A whole line of nonsense is no line broken off by a kill.
    bench.write("run.jsonl", format!("{whole}{{\"run\":\"1\",\"index\":GARBAGE}}\n"));
    let run = bench.run(&line);
    assert!(run.code == 2 && run.stderr.contains("run.jsonl, line 10"), "{run:?}");
    let run = bench.run(&format!("certify {TOY} --n 400 --stop 1 --out same --tsv ./same"));
    assert!(run.code == 2 && run.stderr.contains("two files"), "{run:?}");
}

/// Without a target: the radii 0, σ, 2σ, 3σ. Another goal is another run.
#[test]
fn a_sequential_run_says_what_it_settles() {
    let bench = Bench::new();
    let line = format!("certify {TOY} --n 20000 --sequential --stop 12 --out run.jsonl");
    ok(bench.run(&line));
    let own = head(&bench, "run.jsonl");
    let targets = own["run"]["goal"]["targets"].as_array().expect("targets");
    assert_eq!(targets.iter().map(number).collect::<Vec<_>>(), [0.0, 0.5, 1.0, 1.5]);
    let run = bench.run(&format!("{line} --target 0.5"));
    assert!(run.code == 2 && run.stderr.contains("goal"), "{run:?}");
    // In l_inf the same radii, by the root of the dimension.
    let line = format!("certify {TOY} --n 20000 --sequential --norm linf --stop 1 --out linf.jsonl");
    ok(bench.run(&line));
    let one = &head(&bench, "linf.jsonl")["run"]["goal"];
    assert!(one["norm"] == "linf" && (number(&one["targets"][1]) * 28.0 - 0.5).abs() < 1e-12, "{one}");
    let run = bench.run("analyze run.jsonl --norm linf --by-dimension 4");
    assert!(run.code == 2 && run.stderr.contains("784"), "{run:?}");
}

#[test]
fn bad_input_is_refused() {
    let bench = Bench::new();
    let toy = "certify --model toy:half-space --data fashion --stop 1";
    for (line, words) in [
        (format!("{toy} --sigma 0"), vec!["--sigma", "positive"]),
        (format!("{toy} --sigma -1"), vec!["--sigma"]),
        (format!("{toy} --sigma nan"), vec!["--sigma"]),
        (format!("{toy} --sigma 1 --alpha 0"), vec!["--alpha"]),
        (format!("{toy} --sigma 1 --alpha 1"), vec!["--alpha"]),
        (format!("{toy} --sigma 1 --alpha -0.5"), vec!["--alpha"]),
        (format!("{toy} --sigma 1 --n 0"), vec!["estimation draws"]),
        (format!("{toy} --sigma 1 --n0 0"), vec!["selection draws"]),
        (format!("{toy} --sigma 1 --n 9999999999999999"), vec!["9999999999999999"]),
        (format!("{toy} --sigma 1 --batch 0"), vec!["--batch"]),
        (format!("{toy} --sigma 1 --every 0"), vec!["--every"]),
        (format!("{toy} --sigma 1 --shard 0/2"), vec!["I/K"]),
        (format!("{toy} --sigma 1 --shard 3/2"), vec!["I/K"]),
        (format!("{toy} --sigma 1 --shard 2/2"), vec!["none"]),
        (format!("{toy} --sigma 1 --start 1"), vec!["none"]),
        (format!("{toy}000 --sigma 1"), vec!["--stop 1000", "inputs"]),
        (format!("{toy} --sigma 1 --target 0.5"), vec!["--sequential"]),
        (format!("{toy} --sigma 1 --sequential --target -1"), vec!["target"]),
        (format!("{toy} --sigma 1 --sequential --tolerance nan"), vec!["tolerance"]),
        (format!("{toy} --sigma 1 --mean 0.5"), vec!["--std"]),
        (format!("{toy} --sigma 1 --mean 0.5 --std 0.2"), vec!["toy"]),
        (format!("{toy} --noise-levels x.npy"), vec!["--projection"]),
        (format!("{toy} --sigma 1 --projection none.safetensors"), vec!["none.safetensors"]),
        (format!("{toy} --sigma 1 --out no/such/folder/x.jsonl"), vec!["no/such/folder"]),
        (format!("{toy} --sigma 1 --out ."), vec!["folder"]),
        (toy.to_owned(), vec!["--sigma"]),
        ("certify --model toy:cube --data fashion --sigma 1".into(), vec!["cube", "half-space"]),
        ("certify --model toy:ball --data fashion --sigma 1".into(), vec!["radius"]),
        ("certify --model toy:ball,radius=-1 --data fashion --sigma 1".into(), vec!["radius"]),
        ("certify --model toy:half-space,radius=1 --data fashion --sigma 1".into(), vec!["radius"]),
        ("certify --model toy:half-space,cosine=784 --data fashion --sigma 1".into(), vec!["783"]),
        ("certify --model none.onnx --data fashion --sigma 1".into(), vec!["none.onnx"]),
        ("certify --model toy:half-space --data nothing-such --sigma 1".into(), vec!["nothing-such"]),
    ] {
        let run = bench.run(&line.replace("1000 --sigma", "100000 --sigma"));
        assert!(run.code == 2 && run.stdout.is_empty(), "{line}: {run:?}");
        for word in words {
            assert!(run.stderr.contains(word), "{line}: `{word}` is not in {}", run.stderr);
        }
    }
    // A broken line in the middle of a log is named.
    ok(bench.run(&format!("{toy}0 --sigma 1 --n 100 --out run.jsonl")));
    let whole = bench.read("run.jsonl");
    let broken: Vec<&str> =
        whole.lines().enumerate().map(|(k, line)| if k == 3 { &line[..40] } else { line }).collect();
    bench.write("run.jsonl", broken.join("\n") + "\n");
    let run = bench.run(&format!("{toy}0 --sigma 1 --n 100 --out run.jsonl"));
    assert!(run.code == 2 && run.stderr.contains("run.jsonl") && run.stderr.contains('4'), "{run:?}");
    let run = bench.run("analyze run.jsonl");
    assert!(run.code == 2 && run.stderr.contains("run.jsonl") && run.stderr.contains('4'), "{run:?}");
}

/// Nothing waits for the end of a run that Ctrl-C ended.
#[test]
fn an_interrupt_ends_a_run_soon() {
    let bench = Bench::new();
    let line = format!("certify {TOY} --n 1000000 --stop 400 --out run.jsonl");
    let child = bench.spawn(&line, Stdio::null());
    std::thread::sleep(Duration::from_millis(800));
    let asked = Instant::now();
    interrupt(&child);
    let run = Bench::finish(&line, child);
    assert!(run.code == 1 && asked.elapsed() < Duration::from_secs(60), "{run:?}");
}
