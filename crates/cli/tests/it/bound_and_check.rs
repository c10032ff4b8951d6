//! `bound` and `check` on good input.

use crate::support::Bench;

/// A triangle with unit weights: every cut has at most 2 edges; the relaxation is 9/4.
const TRIANGLE: &str = "3 3\n1 2 1\n2 3 1\n1 3 1\n";

#[test]
fn quickstart_proves_and_rejects() {
    let run = Bench::new().run("quickstart");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("PROVEN") && run.stdout.contains("REJECTED"), "{run:?}");
}

#[test]
fn a_graph_is_bounded_on_the_vertices() {
    let bench = Bench::new();
    bench.write("triangle", TRIANGLE);
    let run = bench.run("bound triangle --certificate c.json --gap 0.01 --json");
    assert_eq!(run.code, 0, "{run:?}");
    let json = run.json();
    let number = |key: &str| json[key].as_f64().unwrap_or_else(|| panic!("{key} in {json}"));
    assert_eq!((json["domain"].as_str(), json["norm"].as_str()), (Some("vertices"), Some("quadratic")));
    assert_eq!((json["n"].as_u64(), json["method"].as_str()), (Some(3), Some("burer-monteiro")));
    assert!((2.25..2.28).contains(&number("upper")), "{json}");
    assert!((1.999_999..=2.0).contains(&number("lower")), "{json}");
    assert!((2.2..=2.25).contains(&number("sdp_lower")) && number("gap") <= 0.01, "{json}");
    assert!(json["kappa"].is_null() && json["stop"].is_string() && number("iterations") >= 1.0);
    assert!(number("seconds_solve") >= 0.0 && number("seconds_check") >= 0.0);
    let run = bench.run("check triangle c.json --json");
    let checked = run.json();
    assert_eq!((run.code, checked["proven"].as_bool()), (0, Some(true)), "{run:?}");
    assert_eq!(checked["bound"], json["upper"], "the certificate alone gives the same number");
    assert!(checked["reason"].is_null());
    let run = bench.run("check triangle c.json --at-most 2.3");
    assert_eq!(run.code, 0, "{run:?}");
    let run = bench.run("check triangle c.json --at-most 2.2 --json");
    assert_eq!((run.code, run.json()["proven"].as_bool()), (1, Some(false)), "{run:?}");
}

#[test]
fn norms_and_factors() {
    let bench = Bench::new();
    // A = [1 2; 3 4; -1 1]: the norms by hand over the four sign vectors.
    let a = [1.0, 2.0, 3.0, 4.0, -1.0, 1.0];
    bench.save_npy("a.npy", 3, 2, &a);
    let image = |x: f64, y: f64| [x + 2.0 * y, 3.0 * x + 4.0 * y, y - x];
    let one = [image(1.0, 1.0), image(1.0, -1.0)].map(|y| y.iter().map(|y| y.abs()).sum::<f64>());
    let two = [image(1.0, 1.0), image(1.0, -1.0)].map(|y| y.iter().map(|y| y * y).sum::<f64>());
    let run = bench.run("bound a.npy --norm inf-to-one --json --certificate one.json");
    let upper = run.json()["upper"].as_f64().expect("a number");
    assert!(one.iter().all(|value| *value <= upper) && upper < 1.8 * one[0].max(one[1]), "{run:?}");
    assert_eq!(bench.run("check a.npy one.json").code, 0);
    let run = bench.run("bound a.npy --norm inf-to-two --json --certificate two.json");
    let json = run.json();
    let (upper, kappa) = (json["upper"].as_f64().expect("upper"), json["kappa"].as_f64().expect("kappa"));
    assert!(two.iter().all(|value| *value <= upper) && kappa * kappa >= upper, "{run:?}");
    let run = bench.run("check a.npy two.json --norm inf-to-two");
    assert!(run.code == 0 && run.stdout.contains("kappa"), "{run:?}");
    assert_eq!(bench.run("check a.npy two.json --norm inf-to-one").code, 1, "another norm is another claim");
    let run = bench.run("bound a.npy --gram --json --certificate gram.json");
    assert_eq!(run.json()["n"].as_u64(), Some(3), "{run:?}");
    assert_eq!(bench.run("check a.npy gram.json").code, 0);
    assert_eq!(bench.run("bound a.npy").code, 2, "not square, and no norm asked for");
}

#[test]
fn random_instances_are_reproducible() {
    let bench = Bench::new();
    for instance in ["psd:40:7", "qp:40:7"] {
        let first = bench.run(&format!("bound --random {instance} --json --certificate a.json --threads 1"));
        let second = bench.run(&format!("bound --random {instance} --json --certificate b.json --threads 2"));
        assert_eq!((first.code, second.code), (0, 0));
        assert_eq!(first.json()["upper"], second.json()["upper"]);
        assert_eq!(
            bench.read("a.json"),
            bench.read("b.json"),
            "the same certificate on any number of threads"
        );
        assert_eq!(bench.run(&format!("check --random {instance} a.json")).code, 0);
        let third = bench.run(&format!("bound --random {instance} --method mwu --json --threads 2"));
        assert_eq!((third.code, third.json()["method"].as_str()), (0, Some("mwu")));
        let other = bench.run(&format!("check --random {} a.json", instance.replace(":7", ":8")));
        assert_eq!(other.code, 1, "another matrix: {other:?}");
    }
}

#[test]
fn a_gap_out_of_reach_is_exit_1_with_a_proven_bracket() {
    let bench = Bench::new();
    let run = bench.run("bound --random psd:60:1 --method mwu --gap 1e-9 --iterations 20 --json");
    assert_eq!(run.code, 1, "{run:?}");
    let json = run.json();
    assert!(
        json["upper"].as_f64() > json["sdp_lower"].as_f64() && json["stop"] == "iteration-limit",
        "{json}"
    );
    let run = bench.run("bound --random psd:900:1 --gap 1e-9 --time-limit 0.02 --json");
    assert_eq!((run.code, run.json()["stop"].as_str()), (1, Some("time-limit")), "{run:?}");
}

#[test]
fn people_get_a_table_and_numbers_rounded_outward() {
    let bench = Bench::new();
    bench.write("triangle", TRIANGLE);
    let run = bench.run("bound triangle");
    assert!(run.code == 0 && run.stderr.is_empty(), "{run:?}");
    let line = run.stdout.lines().find(|line| line.trim_start().starts_with("relaxation")).expect("its line");
    let numbers: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let exact = bench.run("bound triangle --json").json();
    assert!(numbers[0] <= exact["sdp_lower"].as_f64().expect("lower"), "{line}");
    assert!(numbers[1] >= exact["upper"].as_f64().expect("upper"), "{line}");
}

#[test]
fn completions_and_manual_exist() {
    let bench = Bench::new();
    assert!(bench.run("completions bash").stdout.contains("gambeson"));
    assert!(bench.run("man").stdout.contains(".TH gambeson"));
    assert_eq!(bench.run("--version").code, 0);
}
