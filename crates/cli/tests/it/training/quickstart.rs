//! The tour, with everything small.

use crate::support::Bench;
use serde_json::Value;

const SMALL: &str = "--images 12 --n 200 --set data.samples=512 --set optimiser.epochs=2 --set model.width=8";

#[test]
fn the_tour_runs_proves_and_can_be_taken_again() {
    let bench = Bench::new();
    let run = bench.run(&format!("quickstart --out q {SMALL} --json"));
    assert_eq!(run.code, 0, "{run:?}");
    let found = run.json();
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
    };
    let radii = numbers(&found["radii"]);
    assert!(radii.len() >= 4 && radii[0] == 0.0 && radii.is_sorted());
    for part in [&found, &found["linf"]] {
        for key in ["certified_accuracy", "baseline"] {
            let shares = numbers(&part[key]);
            assert_eq!(shares.len(), numbers(&part["radii"]).len());
            assert!(
                shares.iter().all(|share| (0.0..=1.0).contains(share)) && shares.iter().rev().is_sorted()
            );
        }
    }
    assert!(found["run"] == "q" && found["broken"] == 0 && found["seconds"].as_f64() > Some(0.0));
    // κ is that of the file.
    let check =
        bench.run("check q/algorithm-1/projection.safetensors q/algorithm-1/projection.cert.json --json");
    assert_eq!(check.json()["kappa"], found["kappa"], "{check:?}");
    // The same command finds everything done, and prints it for people.
    let run = bench.run(&format!("quickstart --out q {SMALL}"));
    assert!(run.code == 0 && run.stdout.contains("PROVEN again from the files"), "{run:?}");
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{run:?}");
    let page = bench.read("q/report.html");
    assert!(page.contains("Certified accuracy") && page.contains("<svg "));
    for name in ["certified.png", "algorithm-1/training.png", "baseline/network.safetensors"] {
        assert!(bench.path(&format!("q/{name}")).exists(), "{name}");
    }
    // Accuracies are those of the records.
    let analysed = bench.run("analyze q/algorithm-1/certified.jsonl --radii 0,0.25 --json");
    assert_eq!(analysed.code, 0, "{analysed:?}");
    let run = bench.run("quickstart --out q --images 12 --n 200");
    assert!(run.code == 2 && run.stderr.contains("another spec"), "{run:?}");
}
