//! Networks on the command line: what computes them, and what they answer without noise.

use crate::records::{head, lines};
use crate::support::{Bench, npy};
use gambeson_data::dataset::Shape;
use gambeson_learn::net::models::Model;
use gambeson_learn::net::parameters::{ParameterLayout, Weights};
use gambeson_learn::onnx::export::export;
use gambeson_learn::onnx::library;
use gambeson_learn::weights::network::Network;
use gambeson_testing::skipped;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::Value;

/// A network for images of 1 x 6 x 6, as a file of ours and as a graph, and 30 such images.
fn prepared() -> Bench {
    let bench = Bench::new();
    let input = Shape { channels: 1, height: 6, width: 6 };
    let architecture = Model::Cnn { width: 4 }.architecture(input, 3).expect("a model");
    let places = ParameterLayout::new(&architecture).expect("a model");
    let weights = Weights::initial(&places, &mut ChaCha8Rng::seed_from_u64(1));
    let network = Network { architecture, weights, normalisation: None, training: None };
    network.write(&bench.path("net.safetensors")).expect("written");
    bench.write("net.onnx", export(&network).expect("exported"));
    let images: Vec<f64> = (0..30 * 36).map(|k| f64::from(k * 71 % 255) / 255.0).collect();
    let mut bytes = npy(30, 36, &images);
    let place = bytes.windows(17).position(|text| text == b"(30, 36), }      ").expect("a header");
    bytes[place..place + 17].copy_from_slice(b"(30, 1, 6, 6), } ");
    bench.write("images.npy", bytes);
    bench
}

#[test]
fn a_run_keeps_the_runtime_it_began_with() {
    let bench = prepared();
    let line = "certify --model net.onnx --data images.npy --sigma 0.2 --n 500";
    let run = bench.run(&format!("{line} --stop 3 --out own.jsonl"));
    assert!(run.code == 0 && run.stdout.contains("by our engine"), "{run:?}");
    let own = head(&bench, "own.jsonl");
    assert_eq!((&own["run"]["runtime"], &own["version"]), (&"gambeson 3".into(), &3.into()));
    assert_eq!(own["files"], serde_json::json!({ "network": "net.onnx" }));
    let run = bench.run(&format!("{line} --stop 3 --out own.jsonl --runtime onnx"));
    assert_eq!(run.code, 2, "{run:?}");
    if library::find().inspect_err(skipped).is_err() {
        return;
    }
    assert!(run.stderr.contains("its runtime is \"gambeson 3\", not \"onnxruntime\""), "{run:?}");
    let run = bench.run(&format!("{line} --stop 5 --out onnx.jsonl --runtime onnx"));
    assert!(run.code == 0 && run.stdout.contains("by ONNX Runtime"), "{run:?}");
    // Left to itself, the run goes on as it began.
    let begun: String = bench.read("onnx.jsonl").split_inclusive('\n').take(4).collect();
    bench.write("onnx.jsonl", begun);
    let run = bench.run(&format!("{line} --stop 5 --out onnx.jsonl"));
    assert!(run.code == 0 && run.stdout.contains("3 of them before"), "{run:?}");
    assert_eq!(head(&bench, "onnx.jsonl")["run"]["runtime"], "onnxruntime");
    // The same draws, so the same counts but for near-ties.
    let (own, onnx) = (lines(&bench, "own.jsonl"), lines(&bench, "onnx.jsonl"));
    assert_eq!((own.len(), onnx.len()), (3, 5));
    for (a, b) in own.iter().zip(&onnx) {
        for class in 0..3 {
            let count = |record: &Value| record["estimation"][class].as_i64().expect("a count");
            assert!((count(a) - count(b)).abs() <= 5, "{a} {b}");
        }
    }
}

#[test]
fn a_file_of_ours_needs_no_graph_and_answers_the_same() {
    let bench = prepared();
    let clean =
        |model: &str| bench.run(&format!("predict --clean --model {model} --data images.npy --json")).json();
    let (ours, graph) = (clean("net.safetensors"), clean("net.onnx"));
    assert_eq!(ours["images"], 30);
    assert_eq!(ours["answers"], graph["answers"]);
    assert!(ours["accuracy"].is_null() && ours["runtime"] == "gambeson 3", "{ours}");
    let total: u64 = ours["answers"].as_array().expect("counts").iter().filter_map(Value::as_u64).sum();
    assert_eq!(total, 30);
    let run = bench.run("predict --clean --model net.safetensors --data images.npy --start 4 --stop 9");
    assert!(run.code == 0 && run.stdout.contains("inputs       5 in"), "{run:?}");
    for (more, word) in [
        ("--sigma 0.1", "--sigma"),
        ("--out run.jsonl", "--out"),
        ("--n 10", "--n"),
        ("--runtime onnx", "gambeson export"),
        ("--mean 0.5 --std 0", "--mean and --std"),
    ] {
        let run = bench.run(&format!("predict --clean --model net.safetensors --data images.npy {more}"));
        assert!(run.code == 2 && run.stderr.contains(word), "{run:?}");
    }
    let run = bench.run("predict --model net.safetensors --data images.npy");
    assert!(run.code == 2 && run.stderr.contains("--sigma"), "{run:?}");
    let run = bench.run("certify --model net.safetensors --data images.npy");
    assert!(run.code == 2 && run.stderr.contains("--sigma"), "{run:?}");
}

#[test]
fn a_network_is_exported_and_read_back() {
    let bench = prepared();
    let run = bench.run("export net.safetensors out.onnx --mean 0.5 --std 0.25 --json");
    let made = run.json();
    assert_eq!(made["input"], serde_json::json!([1, 6, 6]));
    assert!(made["from"] == "gambeson" && made["classes"] == 3 && made["normalised"] == true, "{made}");
    // The same network as a graph and back, normalisation included, answers the same.
    assert_eq!(bench.run("export out.onnx back.safetensors").code, 0);
    let answers = |line: &str| {
        let run = bench.run(&format!("predict --clean --data images.npy --json --model {line}"));
        run.json()["answers"].clone()
    };
    let expected = answers("net.safetensors --mean 0.5 --std 0.25");
    assert_ne!(expected, answers("net.safetensors"));
    assert_eq!((answers("out.onnx"), answers("back.safetensors")), (expected.clone(), expected));
    bench.write("text.onnx", "a text");
    for (line, word) in [
        ("back.safetensors again.onnx --mean 0.5 --std 0.25", "its own mean"),
        ("net.safetensors out.txt", ".onnx, or with .safetensors"),
        ("net.safetensors missing/out.onnx", "does not exist"),
        ("net.safetensors out.onnx --shape 3x6x6", "not 3 x 6 x 6"),
        ("net.safetensors out.onnx --shape 6x6", "3x32x32"),
        ("text.onnx out.safetensors", "text.onnx"),
        ("missing.th out.onnx", "missing.th"),
    ] {
        let run = bench.run(&format!("export {line}"));
        assert!(run.code == 2 && run.stderr.contains(word), "{line}: {run:?}");
    }
}

/// The graph is the same file all along; the numbers beside it are not.
#[test]
fn weights_beside_a_graph_are_part_of_the_run() {
    let bench = Bench::new();
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../learn/tests/fixtures");
    std::fs::create_dir(bench.path("net")).expect("made");
    for name in ["beside.onnx", "beside.weights"] {
        bench.write(&format!("net/{name}"), std::fs::read(fixtures.join(name)).expect("a fixture"));
    }
    let images: Vec<f64> = (0..10 * 12).map(|k| f64::from(k * 71 % 255) / 255.0).collect();
    let mut bytes = npy(10, 12, &images);
    let place = bytes.windows(17).position(|text| text == b"(10, 12), }      ").expect("a header");
    bytes[place..place + 17].copy_from_slice(b"(10, 2, 3, 2), } ");
    bench.write("images.npy", bytes);
    let line = "certify --model net/beside.onnx --data images.npy --sigma 0.2 --n 500 --out run.jsonl";
    let run = bench.run(&format!("{line} --stop 3"));
    if run.code == 2 && library::find().inspect_err(skipped).is_err() {
        return; // the engine may lack a layer of it
    }
    assert_eq!(run.code, 0, "{run:?}");
    let before = bench.read("run.jsonl");
    let weights = bench.path("net").join("beside.weights");
    let mut bytes = std::fs::read(&weights).expect("read");
    bytes[70] ^= 0x10;
    std::fs::write(&weights, bytes).expect("written");
    let run = bench.run(&format!("{line} --stop 3"));
    assert!(run.code == 2 && run.stderr.contains("its model is"), "{run:?}");
    assert_eq!(bench.read("run.jsonl"), before);
}
