//! Limits of time and memory, and what is given up for them.

use crate::support::{Bench, unwrapped};
use std::fmt::Write;
use std::time::Instant;

/// A random graph in rudy's format, by a generator of its own.
fn graph(n: u64, edges: usize) -> String {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n + 1
    };
    let mut text = format!("{n} {edges}\n");
    let mut found = 0;
    while found < edges {
        let (i, j) = (next(), next());
        if i != j {
            let _ = writeln!(text, "{i} {j}");
            found += 1;
        }
    }
    text
}

#[test]
fn a_star_is_proven_in_no_time() {
    let bench = Bench::new();
    let leaves = (2..=20_001).map(|leaf| format!("1 {leaf}\n")).collect::<Vec<_>>().concat();
    bench.write("star", format!("20001 20000\n{leaves}"));
    let started = Instant::now();
    let json = bench.run("bound star --gap 1e-6 --json").json();
    assert!(json["gap"].as_f64().expect("a gap") <= 1e-6, "{json}");
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

#[test]
fn a_time_limit_bounds_the_proof() {
    let bench = Bench::new();
    bench.write("graph", graph(30_000, 75_000));
    let started = Instant::now();
    let run = bench.run("bound graph --time-limit 2 --certificate c.json");
    assert!(started.elapsed().as_secs() < 12, "{:?}", started.elapsed());
    assert_eq!(run.code, 1, "{run:?}");
    let text = unwrapped(&run.stdout);
    assert!(text.contains("given up") && text.contains("the whole proof would take about"), "{run:?}");
    // What was paid for stands in the certificate, so that checking costs no more than proving.
    let started = Instant::now();
    let run = bench.run("check graph c.json");
    assert!(run.code == 0 && run.stdout.contains("PROVEN"), "{run:?}");
    assert!(started.elapsed().as_secs() < 12, "{:?}", started.elapsed());
}

#[test]
fn a_memory_limit_bounds_the_proof_and_what_is_read() {
    let bench = Bench::new();
    bench.write("graph", graph(4000, 20_000));
    let json = bench.run("bound graph --memory-limit 5M --json").json();
    assert!(json["given_up"].is_string() && json["upper"].as_f64().expect("proven") <= 20_000.1, "{json}");
    bench.save_npy("m.npy", 300, 300, &vec![1.0; 90_000]);
    let run = bench.run("bound m.npy --memory-limit 500K");
    assert!(run.code == 2 && run.stderr.contains("more than the memory limit"), "{run:?}");
    let run = bench.run("bound --random psd:100000:1 --memory-limit 1G");
    assert!(
        run.code == 2 && run.stderr.contains("takes 80.0 GB, more than the memory limit of 1.0 GB"),
        "{run:?}"
    );
    #[cfg(target_os = "linux")]
    for line in ["bound /dev/zero", "analyze /dev/zero", "check m.npy /dev/zero", "data info /dev/zero"] {
        let run = bench.run(line);
        assert!(run.code == 2, "{line}: {run:?}");
    }
}
