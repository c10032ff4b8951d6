//! `attack` on the command line.

use super::SPEC;
use crate::records;
use crate::support::Bench;
use serde_json::Value;

fn trained() -> Bench {
    let bench = Bench::new();
    bench.write("s.toml", SPEC);
    let run = bench.run("train s.toml --out run --set optimiser.epochs=8 --set data.samples=2000");
    assert_eq!(run.code, 0, "{run:?}");
    bench
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn attacks_mislead_the_network_but_break_no_certificate() {
    let bench = trained();
    let model = "--model run/network.safetensors --data fashion --projection run/projection.safetensors";
    let run = bench.run(&format!(
        "attack {model} --norm linf --epsilon 0.1 --every 20 --steps 10 --out adv.npy --figure adv --json"
    ));
    assert_eq!(run.code, 0, "{run:?}");
    let found = run.json();
    assert_eq!(found["inputs"], 50);
    assert!(number(&found["after"]) < number(&found["before"]) - 0.2, "{found}");
    assert!(number(&found["largest"]) <= 0.1 && number(&found["longest"]) <= 0.1, "{found}");
    assert_eq!(found["pictures"].as_array().map(Vec::len), Some(6));
    assert!(found["broken"].is_null() && bench.path("adv.png").exists() && bench.path("adv.svg").exists());
    // What was written is what was attacked: the network answers it as badly.
    let clean = |data: &str| {
        let run = bench.run(&format!(
            "predict --clean --model run/network.safetensors --projection run/projection.safetensors --data {data} --json"
        ));
        run.json()
    };
    assert_eq!(clean("adv.npy")["images"], 50);
    let line = format!("certify {model} --sigma 0.3 --n 400 --every 25 --out c.jsonl");
    assert_eq!(bench.run(&line).code, 0);
    for norm in ["l2", "linf"] {
        let run = bench.run(&format!("attack {model} --sigma 0.3 --certified c.jsonl --norm {norm} --json"));
        let found = run.json();
        assert!(run.code == 0 && found["broken"] == 0 && number(&found["inputs"].clone()) > 10.0, "{run:?}");
        assert!(number(&found["median_epsilon"]) > 0.0 && found["epsilon"].is_null());
    }
    for (more, word) in [
        ("--sigma 0.31 --certified c.jsonl", "its sigma is 0.3, not 0.31"),
        ("--certified c.jsonl", "--sigma"),
        ("--epsilon 0", "--epsilon 0"),
        ("--epsilon nan", "--epsilon"),
        ("--epsilon 1 --steps 0", "at least one step"),
        ("--epsilon 1 --sparsity 3", "--method sparse"),
        ("--epsilon 1 --stop 2000", "only 1000 inputs"),
        ("--epsilon 1 --method fgsm", "--norm linf"),
        ("--sigma 0.3 --certified c.jsonl --norm linf --method fgsm", "--method pgd"),
        ("--sigma 0.3 --certified c.jsonl --norm linf --basis values", "--basis"),
        ("--epsilon 1 --sigma 0.3 --draws 100000000000", "draws"),
        ("--epsilon 1 --mean 0 --std 1", "its own mean"),
        ("--epsilon 1 --out missing/x.npy", "does not exist"),
    ] {
        let run = bench.run(&format!("attack {model} {more}"));
        assert!(run.code == 2 && run.stderr.contains(word), "{more}: {run:?}");
    }
    let run = bench.run("attack --model run/network.safetensors --data fashion --epsilon 1");
    assert!(run.code == 2 && run.stderr.contains("1 x 8 x 8"), "{run:?}");
}

/// A radius that the counts do not prove is none to attack at.
#[test]
fn forged_radii_are_not_attacked() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/fashion");
    let model = format!(
        "--model {folder}/network.safetensors --data fashion --sigma 0.5 --projection {folder}/projection.safetensors"
    );
    let bench = Bench::new();
    assert_eq!(bench.run(&format!("certify {model} --every 250 --n 400 --out c.jsonl")).code, 0);
    let mut forged = records::lines(&bench, "c.jsonl");
    for record in forged.iter_mut().filter(|record| !record["l2"].is_null()) {
        record["l2"] = (number(&record["l2"]) * 2.0).into();
    }
    records::write(&bench, "forged.jsonl", &records::head(&bench, "c.jsonl"), &forged);
    let run = bench.run(&format!("attack {model} --certified forged.jsonl --every 250"));
    assert!(run.code == 2 && run.stderr.contains("but the counts prove"), "{run:?}");
    // What a kill broke off is left out, and said.
    let honest = bench.read("c.jsonl");
    bench.write("torn.jsonl", &honest[..honest.len() - 30]);
    let run =
        bench.run(&format!("attack {model} --certified torn.jsonl --every 250 --steps 1 --n 100 --json"));
    assert!(run.code <= 1 && run.stderr.contains("torn.jsonl, line 5: cut off, ignored"), "{run:?}");
}

#[test]
fn sparse_changes_need_no_network() {
    let bench = Bench::new();
    let run = bench.run(
        "attack --method sparse --sparsity 4 --epsilon 0.09 --data fashion --stop 3 --pictures 3 --json",
    );
    let found = run.json();
    assert!(run.code == 0 && found["before"].is_null() && found["sparsity"] == 4, "{run:?}");
    // Pictures are bytes in base64: 784 of them.
    for shown in found["pictures"].as_array().expect("pictures") {
        let letters = |key: &str| shown[key].as_str().expect("letters").to_owned();
        assert_eq!((letters("original").len(), letters("perturbed").len()), (1048, 1048));
        assert_ne!(letters("original"), letters("perturbed"));
    }
    assert!((number(&found["largest"]) - 0.09).abs() < 1e-12, "{found}");
}

#[test]
fn the_network_that_comes_along_is_certified() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/fashion");
    let bench = Bench::new();
    let run =
        bench.run(&format!("check {folder}/projection.safetensors {folder}/projection.cert.json --json"));
    assert!(run.code == 0 && number(&run.json()["kappa"]) < 8.9443, "{run:?}");
    let run = bench.run(&format!(
        "certify --model {folder}/network.safetensors --data fashion --sigma 0.5 --projection \
         {folder}/projection.safetensors --every 20 --n 1000 --json"
    ));
    assert_eq!(run.code, 0, "{run:?}");
    let accuracy = &run.json()["accuracy"];
    assert!(number(&accuracy["clean"]) > 0.65 && number(&accuracy["l2"]["accuracy"][2]) > 0.5, "{accuracy}");
}
