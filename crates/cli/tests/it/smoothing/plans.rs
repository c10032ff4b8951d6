//! Plans, published beforehand and demanded afterwards; heads, and limits of time.

use super::certify::{TOY, ok, without_times};
use super::replay::{SOURCES, rejected};
use crate::records::{derived, head, lines, write};
use crate::support::{Bench, unwrapped};
use gambeson_testing::interrupt;
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn a_plan_is_published_before_the_run_and_demanded_after_it() {
    let bench = Bench::new();
    let line = format!("certify {TOY} --n 400 --every 50");
    let planned = ok(bench.run(&format!("{line} --plan-only --out run.jsonl --json"))).json();
    let plan = planned["plan"].as_str().expect("a digest");
    assert_eq!((plan.len(), &planned["draws"], &planned["out"]), (64, &500.into(), &"run.jsonl".into()));
    assert_eq!(bench.read("run.jsonl").lines().count(), 1, "a head, and nothing drawn");
    assert_eq!(head(&bench, "run.jsonl")["selection"], planned["selection"]);
    // Without a file, the same digest.
    let text = ok(bench.run(&format!("{line} --plan-only"))).stdout;
    assert!(text.contains(&format!("plan         {plan}")) && text.contains("none made yet"), "{text}");
    // Twice is as good as once, and the run goes on to the bytes of one that was not planned.
    ok(bench.run(&format!("{line} --plan-only --out run.jsonl")));
    let summary = ok(bench.run(&format!("{line} --out run.jsonl --json"))).json();
    assert_eq!((&summary["plan"], &summary["resumed"]), (&planned["plan"], &0.into()));
    ok(bench.run(&format!("{line} --out other.jsonl")));
    assert_eq!(without_times(&bench, "run.jsonl"), without_times(&bench, "other.jsonl"));
    // Another plan is refused, and the file is left alone.
    let before = bench.read("run.jsonl");
    for more in ["--alpha 0.01", "--n0 50", "--nonce 1", "--start 50", "--batch 32"] {
        let run = bench.run(&format!("{line} {more} --plan-only --out run.jsonl"));
        assert!(run.code == 2 && bench.read("run.jsonl") == before, "{more}: {run:?}");
    }
    let check = |plan: &str| bench.run(&format!("check run.jsonl {SOURCES} --all --plan {plan}"));
    assert!(ok(check(plan)).stdout.contains(plan));
    rejected(&check(&"0".repeat(64)), &["the digest of its plan is", plan]);
    // What is decided after the draws is another plan, although it has the same draws.
    let (mut chosen, records) = (head(&bench, "run.jsonl"), lines(&bench, "run.jsonl"));
    chosen["run"]["alpha"] = 0.05.into();
    let larger: Vec<Value> = records.iter().map(|record| derived(&chosen, record)).collect();
    write(&bench, "run.jsonl", &chosen, &larger);
    rejected(&check(plan), &["the digest of its plan is"]);
    let json = ok(bench.run(&format!("check run.jsonl {SOURCES} --all --json"))).json();
    assert_eq!(json["claim"]["alpha"], 0.05, "without a plan that was published, it claims just that");
    assert!(json["claim"]["assumed"].to_string().contains("This plan was the only one tried"), "{json}");
}

/// Whatever is analysed otherwise than planned was chosen afterwards.
#[test]
fn what_is_chosen_afterwards_is_marked() {
    let bench = Bench::new();
    ok(bench.run(&format!("certify {TOY} --n 400 --every 100 --out run.jsonl")));
    for (more, afterwards) in
        [("", false), ("--alpha 0.001", false), ("--alpha 0.01", true), ("--method mixture", true)]
    {
        let json = bench.run(&format!("analyze run.jsonl {more} --json")).json();
        assert_eq!(json["chosen_afterwards"], afterwards, "{more}");
        let text = unwrapped(&ok(bench.run(&format!("analyze run.jsonl {more}"))).stdout);
        assert_eq!(text.contains("chosen afterwards: these numbers are no claim"), afterwards, "{text}");
    }
}

#[test]
fn deleted_records_are_missed_by_check_and_analyze() {
    let bench = Bench::new();
    ok(bench.run(&format!("certify {TOY} --n 400 --every 5 --out run.jsonl")));
    let (head, records) = (head(&bench, "run.jsonl"), lines(&bench, "run.jsonl"));
    let right = |record: &Value| !record["class"].is_null() && record["class"] == record["label"];
    let certified = records.iter().filter(|record| right(record)).count();
    let mut failed = 0;
    let kept: Vec<Value> = records
        .iter()
        .filter(|record| {
            failed += u32::from(!right(record));
            right(record) || failed > 93
        })
        .cloned()
        .collect();
    assert_eq!((records.len(), kept.len()), (200, 107));
    write(&bench, "part.jsonl", &head, &kept);
    let run = bench.run(&format!("check part.jsonl {SOURCES} --all"));
    let text = unwrapped(&run.stdout);
    assert!(
        run.code == 1 && text.starts_with("INCOMPLETE: 93 of the inputs planned have no record"),
        "{run:?}"
    );
    assert!(text.contains("200 of the data's 1,000 inputs, every 5th; 93 without a record"), "{text}");
    let json = bench.run(&format!("check part.jsonl {SOURCES} --all --json")).json();
    assert_eq!((&json["verdict"], &json["missing"]), (&"incomplete".into(), &93.into()));
    assert_eq!(json["claim"]["l2"][0]["certified"], certified);
    let analysed = ok(bench.run("analyze part.jsonl --radii 0 --json")).json();
    let accuracy = analysed["certified_accuracy"][0].as_f64().expect("a number");
    assert!((accuracy - certified as f64 / 200.0).abs() < 1e-12, "{analysed}");
    assert_eq!((&analysed["images"], &analysed["missing"]), (&200.into(), &93.into()));
    let text = unwrapped(&ok(bench.run("analyze part.jsonl --radii 0")).stdout);
    assert!(
        text.contains("93 of the 200 inputs planned have no record; they count as not certified"),
        "{text}"
    );
    // One record, and another 199 times.
    write(&bench, "often.jsonl", &head, &[&kept[..1], &vec![kept[1].clone(); 199]].concat());
    let run = bench.run(&format!("check often.jsonl {SOURCES} --all"));
    let text = unwrapped(&run.stdout);
    assert!(run.code == 1 && text.starts_with("INCOMPLETE: 198 of the inputs planned"), "{run:?}");
    assert!(text.contains("repeated 198 lines; each input counts once"), "{text}");
    assert_eq!(bench.run("analyze often.jsonl --json").json()["missing"], 198);
}

/// Every reader says that the last line is torn: nobody takes it for deleted, or for nothing.
#[test]
fn a_torn_last_line_is_told_by_every_reader() {
    let bench = Bench::new();
    let sequential = "--sequential --target 0,0.1,0.2,0.4";
    let line = format!("certify {TOY} --n 256 --every 200 {sequential}");
    ok(bench.run(&format!("{line} --out run.jsonl")));
    let whole = bench.read("run.jsonl");
    let tear = || bench.write("run.jsonl", &whole[..whole.len() - 40]);
    tear();
    let told = "run.jsonl, line 6: cut off, ignored";
    let run = ok(bench.run("analyze run.jsonl"));
    assert!(run.stderr.contains(told), "{run:?}");
    let run = bench.run(&format!("check run.jsonl {SOURCES}"));
    assert!(
        run.code == 1 && unwrapped(&run.stdout).contains("broken off run.jsonl, line 6: left out"),
        "{run:?}"
    );
    let json = bench.run(&format!("check run.jsonl {SOURCES} --json")).json();
    assert_eq!(json["broken_off"], json!([{ "file": "run.jsonl", "line": 6 }]));
    let longer = format!(
        "certify {TOY} --n 512 --stop 700 --every 200 {sequential} --extend run.jsonl --out longer.jsonl"
    );
    let run = ok(bench.run(&longer));
    assert!(run.stderr.contains(told), "{run:?}");
    assert_eq!(bench.read("run.jsonl").len(), whole.len() - 40, "read only");
    let run = ok(bench.run(&format!("{line} --plan-only --out run.jsonl")));
    assert!(run.stderr.contains(told), "{run:?}");
    tear();
    let run = ok(bench.run(&format!("{line} --out run.jsonl")));
    assert!(run.stderr.contains(told), "{run:?}");
    let timeless = without_times(&bench, "run.jsonl");
    bench.write("run.jsonl", &whole);
    assert_eq!(timeless, without_times(&bench, "run.jsonl"));
    // A torn head is written again.
    bench.write("run.jsonl", &whole[..300]);
    let run = ok(bench.run(&format!("{line} --out run.jsonl")));
    assert!(run.stderr.contains("run.jsonl, line 1: cut off, ignored"), "{run:?}");
    assert_eq!(timeless, without_times(&bench, "run.jsonl"));
}

#[test]
fn nothing_that_is_no_file_of_this_plan_is_touched() {
    let bench = Bench::new();
    let certify = format!("certify {TOY} --n 200 --every 250 --out file");
    let predict = format!("predict {TOY} --n 200 --every 250 --out file");
    ok(bench.run(&predict));
    let predictions = bench.read("file");
    let zeros = "\0".repeat(400);
    for text in [&zeros, "{", "{\"gambeson\"", "my notes\n", "{\"a\": 1}\n", "[]", "\n", &predictions] {
        bench.write("file", text);
        for line in [&certify, &predict, &format!("{certify} --plan-only")] {
            if *text == predictions && line == &predict {
                continue; // its own
            }
            let run = bench.run(line);
            assert!(run.code == 2 && run.stderr.contains("file"), "{line}: {run:?}");
            assert_eq!(bench.read("file"), text, "{line}");
        }
    }
    // Other inputs into the file of a run, or of predictions.
    for line in [&certify, &predict] {
        bench.write("file", "");
        ok(bench.run(line));
        let before = bench.read("file");
        for (more, field) in
            [("--start 1", "start"), ("--stop 900", "stop"), ("--shard 1/2", "shard"), ("--stop 400", "stop")]
        {
            let run = bench.run(&format!("{line} {more}"));
            let words = format!("file, line 1: records of other inputs: their {field} is");
            assert!(run.code == 2 && unwrapped(&run.stderr).contains(&words), "{more}: {run:?}");
            assert_eq!(bench.read("file"), before, "{more}");
        }
        let run = bench.run(&line.replace("--every 250", "--every 500"));
        assert!(run.code == 2 && unwrapped(&run.stderr).contains("records of other inputs"), "{run:?}");
    }
}

/// A run that takes a while to draw again.
fn long_run(bench: &Bench) -> String {
    ok(bench.run(&format!("certify {TOY} --n 20000 --every 5 --out run.jsonl")));
    format!("check run.jsonl {SOURCES} --all")
}

#[test]
fn a_time_limit_ends_a_check_with_what_was_drawn() {
    let bench = Bench::new();
    let started = Instant::now();
    let check = long_run(&bench);
    let limit = started.elapsed().as_secs_f64() / 5.0;
    for nonce in ["", " --nonce 7"] {
        let run = bench.run(&format!("{check}{nonce} --time-limit {limit:.2} --json"));
        let json = run.json();
        let checked = json["checked"].as_u64().expect("a number");
        assert!(run.code == 1 && json["stopped"] == true && checked < 200, "{run:?}");
        assert!(run.stderr.contains("stopped before the check was done"), "{run:?}");
        let run = bench.run(&format!("{check}{nonce} --time-limit 0"));
        let words = "NOT REDRAWN: the check was stopped before any record was drawn again";
        assert!(run.code == 1 && unwrapped(&run.stdout).starts_with(words), "{run:?}");
        assert!(!run.stdout.contains("What the records claim"), "{run:?}");
    }
}

#[test]
fn an_interrupt_ends_a_check_soon() {
    let bench = Bench::new();
    let check = long_run(&bench);
    // Fifty times as many draws a record.
    let (mut head, mut records) = (head(&bench, "run.jsonl"), lines(&bench, "run.jsonl"));
    head["run"]["n"] = 1_000_000.into();
    for record in &mut records {
        for count in record["estimation"].as_array_mut().expect("counts") {
            *count = (50 * count.as_u64().expect("a count")).into();
        }
        *record = derived(&head, record);
    }
    write(&bench, "run.jsonl", &head, &records);
    let child = bench.spawn(&check, Stdio::null());
    std::thread::sleep(Duration::from_millis(1500));
    let asked = Instant::now();
    interrupt(&child);
    let run = Bench::finish(&check, child);
    assert!(run.code == 1 && asked.elapsed() < Duration::from_secs(60), "{run:?}");
    assert!(run.stderr.contains("stopp"), "{run:?}");
}
