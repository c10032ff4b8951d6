//! Limits of time and memory, and what is given up for them.

use crate::support::{Bench, npy, unwrapped};
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
    const SIDE: usize = 32_768;
    let bench = Bench::new();
    bench.write("graph", graph(4000, 20_000));
    let json = bench.run("bound graph --memory-limit 20M --json").json();
    assert!(json["given_up"].is_string() && json["upper"].as_f64().expect("proven") <= 20_000.1, "{json}");
    // A solver without room says so before it takes any, and so does a reader.
    let run = bench.run("bound graph --memory-limit 9M");
    assert!(run.code == 2 && run.stderr.contains("solving takes"), "{run:?}");
    let run = bench.run("bound graph --memory-limit 2M");
    assert!(run.code == 2 && run.stderr.contains("entries, which is more than the memory limit"), "{run:?}");
    bench.save_npy("m.npy", 300, 300, &vec![1.0; 90_000]);
    let run = bench.run("bound m.npy --memory-limit 500K");
    assert!(run.code == 2 && run.stderr.contains("more than the memory limit"), "{run:?}");
    let run = bench.run("bound --random psd:100000:1 --memory-limit 1G");
    assert!(
        run.code == 2 && run.stderr.contains("takes 80.0 GB, more than the memory limit of 1.0 GB"),
        "{run:?}"
    );
    // Sizes that a file announces, before anything is taken for them: a matrix of 8.6 GB, in a file without blocks, and a
    // picture of 2.7 GB.
    let header = npy(SIDE, SIDE, &[]);
    bench.write("large.npy", &header);
    let file = std::fs::OpenOptions::new().write(true).open(bench.path("large.npy")).expect("a file");
    file.set_len((header.len() + 8 * SIDE * SIDE) as u64).expect("a file without blocks");
    let run = bench.run("bound large.npy --memory-limit 4G");
    assert!(run.code == 2 && run.stderr.contains("more than the memory limit of 4.0 GB"), "{run:?}");
    std::fs::create_dir_all(bench.path("pictures/a")).expect("folders");
    let start = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x75\x30\0\0\x75\x30\x08\x02\0\0\0\xe9\x45\x6f\xed";
    let png = [&start[..], b"\0\0\0\x01IDAT\x78\x76\xe6\x84\xe6"].concat();
    bench.write("pictures/a/x.png", &png);
    let run = bench.run("data info ./pictures --memory-limit 1G");
    assert!(run.code == 2 && run.stderr.contains("more than the memory limit of 1.00 GB"), "{run:?}");
    #[cfg(target_os = "linux")]
    for line in ["bound /dev/zero", "analyze /dev/zero", "check m.npy /dev/zero", "data info /dev/zero"] {
        let run = bench.run(line);
        assert!(run.code == 2, "{line}: {run:?}");
    }
}

#[test]
fn vertices_without_edges_cost_next_to_nothing() {
    let bench = Bench::new();
    bench.write("graph", "4000000 1\n1 4000000 0.1\n");
    let started = Instant::now();
    let run = bench.run("bound graph --memory-limit 1G --certificate c.json --json");
    let (json, seconds) = (run.json(), started.elapsed().as_secs());
    let (lower, upper) = (json["lower"].as_f64().expect("proven"), json["upper"].as_f64().expect("proven"));
    assert!(lower <= 0.1 && upper >= 0.1 && upper - lower < 1e-5 && seconds < 30, "{json} in {seconds} s");
    assert_eq!(bench.run("check graph c.json").code, 0);
    // Others are where they were.
    bench.write("path", "7 3\n2 4 1\n4 6 2\n6 2 -1\n");
    let json = bench.run("bound path --json").json();
    assert!((json["lower"].as_f64().expect("proven") - 3.0).abs() < 1e-12, "{json}");
}

#[test]
fn every_question_ends() {
    let bench = Bench::new();
    // Entries that vanish beside a diagonal which does not count.
    bench.save_npy("swamped.npy", 2, 2, &[1e18, 1.0, 1.0, 1e18]);
    bench.save_npy("tiny.npy", 2, 2, &[-0.1, 1e-310, 1e-310, 0.1]);
    for (name, truth) in [("swamped", 2e18 + 2.0), ("tiny", 2e-310)] {
        let json = bench.run(&format!("bound {name}.npy --domain vertices --json")).json();
        let bound = |end: &str| json[end].as_f64().expect("proven");
        assert!(bound("lower") <= truth && bound("upper") >= truth, "{json}");
    }
    // A limit beyond all time.
    for seconds in ["1.3e19", "1.8e19"] {
        assert_eq!(bench.run(&format!("bound swamped.npy --time-limit={seconds}")).code, 0);
    }
    // A factor without a normal number has no scale that could be tried.
    bench.save_npy("factor.npy", 1, 2, &[5e-324, 1e-310]);
    for line in ["factor.npy --gram", "factor.npy --norm inf-to-two"] {
        let json = bench.run(&format!("bound {line} --json")).json();
        assert!(json["upper"].as_f64().is_some_and(|upper| upper < 1e-300), "{json}");
    }
}

#[test]
fn a_factor_is_proven_within_the_limits_or_bounded_by_its_rows() {
    let bench = Bench::new();
    let entries: Vec<f64> = (0..800 * 700).map(|k| f64::from((k * k + k / 7) % 17) - 8.0).collect();
    bench.save_npy("u.npy", 800, 700, &entries);
    assert_eq!(bench.run("bound u.npy --gram --certificate c.json").code, 0);
    let run = bench.run("bound u.npy --gram --time-limit 0.001 --certificate rows.json --json");
    let json = run.json();
    assert!(run.code == 1 && json["given_up"] == "all", "{run:?}");
    let rows: f64 = entries.chunks(700).map(|row| row.iter().map(|u| u * u).sum::<f64>().sqrt()).sum();
    let upper = json["upper"].as_f64().expect("proven");
    assert!(upper >= rows * rows && upper < rows * rows * (1.0 + 1e-9), "{json}");
    let run = bench.run("check u.npy rows.json --gram --time-limit 0.001");
    assert!(run.code == 0 && run.stdout.contains("PROVEN"), "{run:?}");
    let run = bench.run("check u.npy c.json --gram --time-limit 0.001");
    assert!(run.code == 1 && run.stdout.contains("more than the time limit"), "{run:?}");
}
