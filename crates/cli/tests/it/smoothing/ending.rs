//! What `certify` and `predict` end with: accuracies, against the records.

use super::certify::{TOY, number, ok};
use crate::records::lines;
use crate::support::{Bench, unwrapped};
use serde_json::Value;

/// Of all records, those for which something holds.
fn share(records: &[Value], of: impl Fn(&Value) -> bool) -> f64 {
    records.iter().filter(|record| of(record)).count() as f64 / records.len() as f64
}

/// The class with most draws of both kinds, the first of equals.
fn most_frequent(record: &Value) -> u64 {
    let counts = |key: &str| -> Vec<u64> {
        let counts = record[key].as_array().expect("counts").iter();
        counts.map(|count| count.as_u64().expect("a count")).collect()
    };
    let sums: Vec<u64> = counts("selection").iter().zip(counts("estimation")).map(|(a, b)| a + b).collect();
    let most = sums.iter().max().expect("a class");
    sums.iter().position(|sum| sum == most).expect("the same") as u64
}

#[test]
fn certification_ends_with_clean_and_certified_accuracy() {
    let bench = Bench::new();
    ok(bench.run("project fit --data fashion --method axis --rank 20 --out p.safetensors"));
    for (more, kappa) in [("", None), (" --projection p.safetensors", Some(20_f64.sqrt()))] {
        let line = format!("certify {TOY} --n 500 --stop 400{more} --out run{}.jsonl", kappa.is_some());
        let text = ok(bench.run(&line)).stdout;
        let summary = ok(bench.run(&format!("{line} --json"))).json();
        let records = lines(&bench, &format!("run{}.jsonl", kappa.is_some()));
        let accuracy = &summary["accuracy"];
        let clean = share(&records, |record| record["label"] == most_frequent(record));
        assert_eq!(number(&accuracy["clean"]), clean);
        assert!(
            clean > 0.0 && unwrapped(&text).contains(&format!("clean accuracy {:.1} %", 100.0 * clean)),
            "{text}"
        );
        assert_eq!(accuracy["linf"].is_null(), kappa.is_none());
        let norms = [("l2", Some(1.0)), ("linf", kappa)];
        for (norm, unit) in norms.into_iter().filter_map(|(norm, unit)| Some((norm, unit?))) {
            let radii: Vec<f64> =
                accuracy[norm]["radii"].as_array().expect("radii").iter().map(number).collect();
            for (radius, multiple) in radii.iter().zip([0.0, 0.5, 1.0, 2.0]) {
                assert!((radius - 0.5 * multiple / unit).abs() <= 5e-3 * radius, "{norm}: {radii:?}");
            }
            let parts = radii.iter().map(|radius| {
                share(&records, |record| {
                    record["class"] == record["label"] && record[norm].as_f64().is_some_and(|r| r >= *radius)
                })
            });
            let parts: Vec<f64> = parts.collect();
            assert!(parts[0] > parts[3], "some radii are smaller: {parts:?}");
            let told: Vec<f64> =
                accuracy[norm]["accuracy"].as_array().expect("parts").iter().map(number).collect();
            assert_eq!(told, parts, "{norm}");
            let cells: Vec<String> = parts.iter().map(|part| format!("{:.1} %", 100.0 * part)).collect();
            assert!(unwrapped(&text).contains(&format!("accuracy {}", cells.join(" "))), "{norm}: {text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(text.contains("of cosine coefficients)"), kappa.is_some(), "{text}");
    }
}

#[test]
fn prediction_ends_with_accuracy() {
    let bench = Bench::new();
    let text = ok(bench.run(&format!("predict {TOY} --stop 100 --out p.jsonl"))).stdout;
    let records = lines(&bench, "p.jsonl");
    let right = share(&records, |record| record["class"] == record["label"]);
    let last = text.lines().last().expect("a line");
    assert!(unwrapped(last).starts_with(&format!("accuracy {:.1} %", 100.0 * right)), "{text}");
}
