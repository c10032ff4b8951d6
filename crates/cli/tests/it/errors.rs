//! Bad input: a clear error naming file and place, exit 2, nothing written, no panic.

use crate::support::{Bench, npy};

/// Runs `bound` and `check` on one file; each word must be in the message.
fn refused(bench: &Bench, file: &str, words: &[&str]) {
    let run = bench.run(&format!("bound {file} --certificate out.json"));
    assert_eq!(run.code, 2, "{file}: {run:?}");
    assert!(run.stdout.is_empty() && !bench.path("out.json").exists(), "{file}: {run:?}");
    for word in [&[file], words].concat() {
        assert!(run.stderr.contains(word), "{file}: `{word}` is not in {}", run.stderr);
    }
}

#[test]
fn matrices_are_refused_with_their_place() {
    let bench = Bench::new();
    let whole = npy(3, 3, &[1.0; 9]);
    bench.write("cut.npy", &whole[..whole.len() - 5]);
    let (promised, found) = (whole.len().to_string(), (whole.len() - 5).to_string());
    refused(&bench, "cut.npy", &[&promised, &found]);
    bench.write("head.npy", &whole[..20]);
    refused(&bench, "head.npy", &[]);
    bench.save_npy("nan.npy", 2, 2, &[1.0, 0.5, f64::NAN, 1.0]);
    refused(&bench, "nan.npy", &["(1, 0)"]);
    bench.save_npy("skew.npy", 2, 2, &[1.0, 0.5, 0.25, 1.0]);
    refused(&bench, "skew.npy", &["symmetric", "(1, 0)"]);
    bench.save_npy("negative.npy", 2, 2, &[1.0, 0.5, 0.5, -2.0]);
    refused(&bench, "negative.npy", &["diagonal", "1", "-2", "--domain vertices"]);
    assert_eq!(bench.run("bound negative.npy --domain vertices").code, 0, "the vertices allow it");
    bench.save_npy("wide.npy", 2, 3, &[1.0; 6]);
    refused(&bench, "wide.npy", &["2 x 3", "--norm"]);
    bench.save_npy("empty.npy", 0, 0, &[]);
    refused(&bench, "empty.npy", &["empty"]);
    bench.write("nothing", "");
    refused(&bench, "nothing", &["empty"]);
    bench.write("text", "hello\n");
    refused(&bench, "text", &[]);
    bench.write("graph", "3 2\n1 2 1\n1 4 1\n");
    refused(&bench, "graph", &["3", "4"]); // line 3, vertex 4
    bench.write("short", "3 3\n1 2 1\n");
    refused(&bench, "short", &[]);
    bench.write("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 5.0\n");
    refused(&bench, "bad.mtx", &["3"]);
    // Two constraints on one entry, so not diag(X) = 1.
    bench.write("odd.dat-s", "2\n1\n2\n1 1\n0 1 1 2 -0.25\n1 1 1 1 1\n2 1 1 2 1\n");
    refused(&bench, "odd.dat-s", &["7"]);
    refused(&bench, "missing.npy", &[]);
    bench.save_npy("one.npy", 1, 1, &[2.0]);
    let run = bench.run("bound one.npy --json");
    assert_eq!(run.code, 0, "1 x 1 is legal: {run:?}");
    assert!((2.0..2.01).contains(&run.json()["upper"].as_f64().expect("a number")));
}

#[test]
fn parameters_are_refused() {
    let bench = Bench::new();
    for line in [
        "bound",
        "bound --random psd:0:1",
        "bound --random psd:5",
        "bound --random cube:5:1",
        "bound --random psd:5:-1",
        "bound --random psd:5:1 --gap 0",
        "bound --random psd:5:1 --gap nan",
        "bound --random psd:5:1 --gap -1",
        "bound --random psd:5:1 --accuracy 0.7",
        "bound --random psd:5:1 --width 0",
        "bound --random psd:5:1 --time-limit -3",
        "bound --random psd:5:1 --iterations 0",
        "bound --random psd:5:1 --threads 0",
        "bound --random psd:5:1 --norm inf-to-one --gram",
        "bound --random psd:5:1 --norm inf-to-two --domain vertices",
        "bound --random psd:5:1 --certificate no/such/folder/c.json",
        "check c.json",
        "check --random psd:5:1 missing.json",
        "check --random psd:5:1 a b",
    ] {
        let run = bench.run(line);
        assert!(run.code == 2 && run.stdout.is_empty() && !run.stderr.is_empty(), "{line}: {run:?}");
    }
    for (line, word) in [("--gap -1", "positive"), ("--gap -1e-3", "positive"), ("--time-limit -3", "time")] {
        let run = bench.run(&format!("bound --random psd:5:1 {line}"));
        assert!(run.stderr.contains(word) && !run.stderr.contains("unexpected"), "{line}: {run:?}");
    }
    let run = bench.run("bound --random psd:5:1 --certificate .");
    assert!(run.code == 2 && run.stdout.is_empty(), "a folder is no certificate: {run:?}");
    assert_eq!(bench.run("bound --random psd:5:1 --certificate c.json").code, 0);
    let run = bench.run("check --random psd:5:1 c.json --at-most nan");
    assert_eq!(run.code, 2, "{run:?}");
    let whole = bench.read("c.json");
    bench.write("c.json", &whole[..whole.len() / 2]);
    let run = bench.run("check --random psd:5:1 c.json");
    assert!(run.code == 2 && run.stderr.contains("c.json"), "{run:?}");
}

/// What libraries say of a field is said of the option that sets it.
#[test]
fn errors_name_options() {
    const LOG: &str = "idx\tlabel\tpredict\tradius\tcorrect\ttime\n";
    let bench = Bench::new();
    bench.write("a.tsv", format!("{LOG}0\t3\t3\t0.5\t1\t1\n"));
    bench.write("b.tsv", format!("{LOG}1\t3\t3\t0.5\t1\t1\n"));
    let network = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/fashion/network.safetensors");
    let projection = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/fashion/projection.safetensors");
    let attack = format!("attack --model {network} --projection {projection} --data fashion --epsilon 1");
    for (line, words) in [
        ("bound --random qp:5:1 --gap nan", "--gap is NaN"),
        ("bound --random qp:5:1 --method mwu --accuracy 3", "--accuracy is 3"),
        ("analyze a.tsv b.tsv --envelope", "error: --envelope: a and b"),
        ("analyze a.tsv --paired", "error: --paired compares two logs"),
        ("project fit --data fashion --rank 3 --grid 99", "error: --grid 99"),
        ("project fit --data fashion --rank 3000", "--rank 3000: must be"),
        ("project fit --data fashion --rank 3 --gap -1", "--gap is -1"),
        ("project sweep --data fashion --channel 4", "error: --channel 4: the data have channels 0 to 0"),
        ("project sweep --data fashion --gap -2", "error: --gap -2: must be positive"),
        ("certify --model toy:half-space --data fashion --sigma 0", "error: --sigma: "),
        ("certify --model toy:half-space --data fashion --sigma 1 --alpha 2", "error: --alpha: "),
        ("certify --model toy:half-space --data fashion --sigma 1 --n 0", "error: --n: "),
        (
            "certify --model toy:half-space --data fashion --sigma 1 --grid-exponent 50",
            "error: --grid-exponent: ",
        ),
        (
            "certify --model toy:half-space --data fashion --sigma 1 --start 2000",
            "error: --start, --stop and --every select none",
        ),
        (
            "certify --model toy:half-space --data fashion --sigma 1 --sequential --tolerance -1",
            "--tolerance -1: ",
        ),
        (
            "certify --model toy:half-space --data fashion --sigma 1 --sequential --target -1",
            "error: --target radius -1",
        ),
        (
            "certify --model toy:half-space --data fashion --sigma 1 --mean 1 --std 1",
            "error: --mean and --std are for",
        ),
        (&format!("{attack} --steps 0"), "error: --steps: "),
        (&format!("{attack} --sigma 1 --draws 0"), "error: --draws 0, noise 1: "),
        (&format!("{attack} --start 5 --stop 5"), "error: --start, --stop and --every select none"),
        (&format!("{attack} --stop 5000"), "error: --stop 5000: "),
    ] {
        let run = bench.run(line);
        assert!(run.code == 2 && run.stdout.is_empty(), "{line}: {run:?}");
        assert!(run.stderr.contains(words) && !run.stderr.contains("----"), "{line}: {run:?}");
    }
}
