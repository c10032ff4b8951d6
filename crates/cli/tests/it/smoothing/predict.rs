//! `predict`: files of predictions, and what they are about.

use super::certify::{TOY, number, ok, without_times};
use crate::records::{head, lines};
use crate::support::{Bench, npy, unwrapped};
use serde_json::Value;

#[test]
fn predictions_are_kept_and_resumed() {
    let bench = Bench::new();
    let line = format!("predict {TOY} --n 400 --stop 30 --out run.jsonl --tsv run.tsv --force --json");
    let summary = ok(bench.run(&line)).json();
    let whole = bench.read("run.jsonl");
    assert_eq!(whole.lines().count(), 31);
    assert_eq!(bench.read("run.tsv").lines().next(), Some("idx\tlabel\tpredict\tcorrect\ttime"));
    let timeless = without_times(&bench, "run.jsonl");
    let torn: String = whole.split_inclusive('\n').take(13).collect();
    bench.write("run.jsonl", format!("{torn}{}", &whole.lines().nth(13).expect("a line")[..50]));
    let run = ok(bench.run(&line));
    assert!(run.stderr.contains("run.jsonl, line 14: cut off, ignored"), "{run:?}");
    let again = run.json();
    assert_eq!((&again["resumed"], &again["correct"]), (&12.into(), &summary["correct"]));
    assert_eq!(without_times(&bench, "run.jsonl"), timeless);
    bench.write("run.jsonl", whole.replacen("\"n\":400", "\"n\":401", 1));
    let run = bench.run(&line);
    assert!(run.code == 2 && run.stderr.contains("run.jsonl, line 1"), "{run:?}");
    bench.write("run.jsonl", format!("{{\"kind\":\"prediction\",\n{whole}"));
    let run = bench.run(&line);
    assert!(
        run.code == 2 && unwrapped(&run.stderr).contains("run.jsonl: its first line is not the head"),
        "{run:?}"
    );
    // What the analysis makes of them.
    bench.write("run.jsonl", &whole);
    let analysed = ok(bench.run("analyze run.jsonl --radii 0 --json")).json();
    let correct = number(&summary["correct"]) / 30.0;
    assert_eq!((&analysed["images"], number(&analysed["certified_accuracy"][0])), (&30.into(), correct));
    // A class that its counts do not give.
    let forged = whole.replacen("\"class\":0", "\"class\":7", 1).replacen("\"class\":1", "\"class\":7", 1);
    bench.write("run.jsonl", forged);
    let run = bench.run(&line);
    assert!(run.code == 2 && run.stderr.contains("digest"), "{run:?}");
    // Neither is taken for the other.
    bench.write("run.jsonl", &whole);
    let run = bench.run(&format!("certify {TOY} --n 400 --stop 30 --out run.jsonl"));
    assert!(run.code == 2 && run.stderr.contains("run.jsonl"), "{run:?}");
    assert_eq!(bench.read("run.jsonl"), whole);
}

/// The classifier that was certified on bytes, asked about the same images as real numbers.
#[test]
fn a_classifier_of_bytes_answers_about_real_numbers() {
    let bench = Bench::new();
    let images = gambeson_data::source::load(
        "fashion",
        &gambeson_data::source::LoadOptions {
            split: gambeson_data::dataset::Split::Test,
            ..gambeson_data::source::LoadOptions::new(bench.path(""))
        },
        &mut (),
    )
    .expect("built in");
    let mut values = vec![0.0; 20 * 784];
    values.chunks_exact_mut(784).enumerate().for_each(|(at, out)| images.sample_f64(at, out));
    let mut bytes = npy(20, 784, &values);
    let place = bytes.windows(19).position(|text| text == b"(20, 784), }       ").expect("a header");
    bytes[place..place + 19].copy_from_slice(b"(20, 1, 28, 28), } ");
    bench.write("real.npy", bytes);
    let line = "predict --model toy:half-space,offset=0.3 --sigma 0.5 --n 400 --seed 4 --stop 20";
    ok(bench.run(&format!("{line} --data fashion --out bytes.jsonl")));
    ok(bench.run(&format!("{line} --data real.npy --grid-quantum 1/255 --out real.jsonl")));
    ok(bench.run(&format!("{line} --data real.npy --out other.jsonl")));
    let grid = |name: &str| head(&bench, name)["run"]["grid"].clone();
    assert_eq!(grid("real.jsonl"), grid("bytes.jsonl"));
    assert_ne!(grid("other.jsonl"), grid("bytes.jsonl"));
    // The same noise around nearly the same centres.
    let counts = |lines: &[Value]| -> Vec<[Value; 2]> {
        lines.iter().map(|line| [line["counts"][0].clone(), line["counts"][1].clone()]).collect()
    };
    assert_eq!(counts(&lines(&bench, "real.jsonl")), counts(&lines(&bench, "bytes.jsonl")));
}
