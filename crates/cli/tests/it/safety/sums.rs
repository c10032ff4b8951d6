//! Sums of entries, weights and degrees as files have them.

use crate::support::{Bench, unwrapped};

/// Both ends of the first bracket.
fn bracket(bench: &Bench, line: &str) -> (f64, f64) {
    let run = bench.run(&format!("bound {line} --json"));
    assert_eq!(run.code, 0, "{run:?}");
    let json = run.json();
    (json["lower"].as_f64().expect("lower"), json["upper"].as_f64().expect("upper"))
}

#[test]
fn weights_that_cancel_leave_the_others() {
    let bench = Bench::new();
    bench.write("graph", "3 3\n1 2 10000000000000000\n1 3 1\n1 2 -10000000000000000\n");
    let (lower, upper) = bracket(&bench, "graph");
    assert!(lower <= 1.0 && upper >= 1.0 && lower > 0.999_999 && upper < 1.001, "{lower} .. {upper}");
    let entries = "1 2 9007199254740992\n2 1 9007199254740992\n1 2 1\n2 1 1\n1 2 -9007199254740992\n2 1 -9007199254740992\n";
    bench.write("m.mtx", format!("%%MatrixMarket matrix coordinate integer general\n2 2 6\n{entries}"));
    let (lower, upper) = bracket(&bench, "m.mtx");
    assert!(lower <= 2.0 && upper >= 2.0 && lower > 1.999_999 && upper < 2.001, "{lower} .. {upper}");
}

#[test]
fn decimals_and_large_integers_are_enclosed() {
    let bench = Bench::new();
    bench.write("many", format!("2 200000\n{}", "1 2 0.17\n".repeat(200_000)));
    let (lower, upper) = bracket(&bench, "many --gap 1e-9");
    assert!(lower <= 34000.0 && upper >= 34000.0 && upper - lower < 1e-3, "{lower} .. {upper}");
    bench.write("large", "2 1\n1 2 9007199254740993\n");
    let run = bench.run("bound large --certificate c.json");
    assert!(
        unwrapped(&run.stdout).contains("not all are binary64 numbers: off by at most 1.01 together"),
        "{run:?}"
    );
    // The certificate is about the file: checking reads the error again.
    let checked = bench.run("check large c.json --json").json();
    let bound = checked["bound"].as_f64().expect("a bound");
    assert!(checked["proven"] == true && bound > 9_007_199_254_740_992.0, "{checked}");
}

/// Digits and exponents that only together are a number of ordinary size: the standard library reads 0 and infinity.
#[test]
fn exponents_are_taken_at_their_word() {
    let bench = Bench::new();
    bench.write("small", format!("2 1\n1 2 0.{}1e700000\n", "0".repeat(700_000)));
    let (lower, upper) = bracket(&bench, "small");
    assert!(lower <= 0.1 && upper >= 0.1 && upper - lower < 1e-5, "{lower} .. {upper}");
    bench.write("one", format!("2 1\n1 2 1{}e-1000000\n", "0".repeat(1_000_000)));
    let (lower, upper) = bracket(&bench, "one");
    assert!(lower <= 1.0 && upper >= 1.0 && upper - lower < 1e-5, "{lower} .. {upper}");
}

/// Sums that rounding makes negative, or different above and below the diagonal.
#[test]
fn rounding_does_not_make_a_matrix_inadmissible() {
    let bench = Bench::new();
    let market = |kind: &str, entries: &str| {
        let count = entries.lines().count();
        format!("%%MatrixMarket matrix coordinate real {kind}\n2 2 {count}\n{entries}")
    };
    bench.write("zero.mtx", market("symmetric", "1 1 0.3\n1 1 -0.1\n1 1 -0.2\n2 1 1\n"));
    bench.write("twins.mtx", market("general", "1 2 0.3\n2 1 0.1\n2 1 0.2\n"));
    bench.write("alone.mtx", market("general", "1 2 0.3\n1 2 -0.1\n1 2 -0.2\n1 1 1\n"));
    for (line, truth) in [("zero.mtx", 2.0), ("twins.mtx", 0.6), ("alone.mtx", 1.0)] {
        let (lower, upper) = bracket(&bench, &format!("{line} --certificate c.json"));
        assert!(lower <= truth && upper >= truth && upper - lower < 1e-4, "{line}: {lower} .. {upper}");
        assert_eq!(bench.run(&format!("check {line} c.json")).code, 0);
    }
    // What no rounding explains is refused as before.
    bench.write("other.mtx", market("general", "1 2 0.3\n2 1 0.1\n2 1 0.2001\n"));
    let run = bench.run("bound other.mtx");
    assert!(run.code == 2 && run.stderr.contains("not symmetric"), "{run:?}");
    bench.write("negative.mtx", market("symmetric", "1 1 0.3\n1 1 -0.1\n1 1 -0.2001\n2 1 1\n"));
    let run = bench.run("bound negative.mtx");
    assert!(run.code == 2 && run.stderr.contains("diagonal entry 0"), "{run:?}");
}

#[test]
fn what_is_given_twice_or_left_out_is_an_error() {
    let bench = Bench::new();
    bench.write("mixed", "3 2\n1 2 5\n2 3\n");
    let run = bench.run("bound mixed");
    assert!(run.code == 2 && run.stderr.contains("line 3: an edge without a weight"), "{run:?}");
    bench.write("log.tsv", "idx\tlabel\tpredict\tradius\tradius\tcorrect\ttime\n0\t3\t3\t0.5\t0.9\t1\t1.0\n");
    let run = bench.run("analyze log.tsv");
    assert!(run.code == 2 && run.stderr.contains("column \"radius\" stands twice"), "{run:?}");
    let file = |header: &str, data: usize| {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.bytes());
        bytes.extend(vec![0; data]);
        bytes
    };
    let array = |start: usize| {
        format!("{{\"dtype\":\"F64\",\"shape\":[1,1],\"data_offsets\":[{start},{}]}}", start + 8)
    };
    let twice = format!("{{\"basis.0\":{},\"basis.0\":{}}}", array(0), array(8));
    bench.write("twice.safetensors", file(&twice, 16));
    let run = bench.run("project inspect twice.safetensors");
    assert!(run.code == 2 && run.stderr.contains("stands twice"), "{run:?}");
    bench.write("hole.safetensors", file(&format!("{{\"basis.0\":{}}}", array(8)), 16));
    let run = bench.run("project inspect hole.safetensors");
    assert!(run.code == 2 && run.stderr.contains("hole"), "{run:?}");
}
