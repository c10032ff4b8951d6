//! Killed at any moment, a command leaves nothing half-written, and the same command ends as if nobody had killed it.
//!
//! Two kills per command; `GAMBESON_KILLS=100` spreads a hundred over all of them.

use crate::reproduce::TINY;
use crate::support::Bench;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A command, and how to see that what it wrote is whole.
struct Case {
    name: &'static str,
    line: String,
    /// Panics where something is half-written.
    whole: fn(&Bench),
    /// What the command leaves at its end, times left out.
    result: fn(&Bench) -> Vec<Vec<u8>>,
}

const CERTIFY: &str =
    "certify --model toy:half-space,offset=0.2 --data fashion --sigma 0.5 --stop 60 --n 20000 --out r.jsonl";

fn cases(bench: &Bench) -> Vec<Case> {
    bench.write("fig-mwu-psd.toml", TINY.replace("n = [12, 20]", "n = [40, 60]"));
    let mut cases = vec![
        Case {
            name: "certify",
            line: CERTIFY.into(),
            whole: records,
            result: |bench| vec![without_times(bench, "r.jsonl")],
        },
        Case {
            name: "project fit",
            line: "project fit --data fashion --rank 30 --method robust --out p.safetensors".into(),
            whole: pair,
            result: |bench| ["p.safetensors", "p.cert.json"].map(|name| bench.read_bytes(name)).to_vec(),
        },
        Case {
            name: "bound",
            line: "bound --random psd:300:1 --certificate c.json".into(),
            whole: certificate,
            result: |bench| vec![bench.read_bytes("c.json")],
        },
        Case {
            name: "reproduce",
            line: "reproduce fig-mwu-psd --experiments .".into(),
            whole: |bench| {
                let path = "results/fig-mwu-psd.desk.jsonl";
                whole_lines(bench, path);
            },
            result: |bench| {
                let lines = bench.read("results/fig-mwu-psd.desk.jsonl");
                let names = ["md", "tex", "svg", "png"].map(|end| format!("results/fig-mwu-psd.desk.{end}"));
                assert!(names.iter().all(|name| !bench.read_bytes(name).is_empty()));
                vec![lines.lines().count().to_string().into_bytes()]
            },
        },
    ];
    if let Some(folder) = std::env::var_os("GAMBESON_DATA").map(|home| Path::new(&home).join("cifar10"))
        && folder.join("test_batch.bin").exists()
    {
        cases.push(Case {
            name: "data fetch",
            line: format!("data fetch cifar10 --from {}", folder.display()),
            whole: |bench| {
                let run = bench.run("data info cifar10");
                assert!(run.code == 0 || run.stderr.contains("data fetch cifar10"), "{run:?}");
            },
            result: |bench| vec![bench.run("data info cifar10 --json").stdout.into_bytes()],
        });
    } else {
        #[allow(clippy::print_stderr)]
        {
            eprintln!("skipped in part: cifar10 is not in GAMBESON_DATA");
        }
    }
    cases
}

/// Every line but the last is whole.
fn whole_lines(bench: &Bench, name: &str) {
    if !bench.path(name).exists() {
        return;
    }
    let text = bench.read(name);
    let lines: Vec<&str> = text.lines().collect();
    let whole = if text.ends_with('\n') { lines.len() } else { lines.len().saturating_sub(1) };
    for line in &lines[..whole] {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{name}: {line}");
    }
}

fn records(bench: &Bench) {
    whole_lines(bench, "r.jsonl");
}

/// Without seconds, and without the digests that cover them.
fn without_times(bench: &Bench, name: &str) -> Vec<u8> {
    let mut lines: Vec<serde_json::Value> =
        bench.read(name).lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    for record in lines.iter_mut().filter_map(serde_json::Value::as_object_mut) {
        record.retain(|key, _| !key.starts_with("seconds") && key != "digest");
    }
    lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n").into_bytes()
}

fn pair(bench: &Bench) {
    if bench.path("p.safetensors").exists() {
        let run = bench.run("check p.safetensors p.cert.json");
        assert!(run.code == 0 && run.stdout.contains("PROVEN"), "{run:?}");
    }
}

fn certificate(bench: &Bench) {
    if bench.path("c.json").exists() {
        let run = bench.run("check --random psd:300:1 c.json");
        assert!(run.code == 0 && run.stdout.contains("PROVEN"), "{run:?}");
    }
}

#[test]
fn nothing_is_half_written_and_everything_goes_on() {
    let asked = std::env::var("GAMBESON_KILLS").ok().and_then(|text| text.parse::<u32>().ok());
    let unbroken = Bench::with_own_data();
    let all = cases(&unbroken);
    let kills = asked.map_or(2, |kills| kills.div_ceil(u32::try_from(all.len()).expect("few")));
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut on_its_way = 0;
    for case in &all {
        let started = Instant::now();
        let run = unbroken.run(&case.line);
        assert_eq!(run.code, 0, "{}: {run:?}", case.name);
        let took = started.elapsed();
        let expected = (case.result)(&unbroken);
        let bench = Bench::with_own_data();
        cases(&bench); // its files
        let mut killed = 0;
        for _ in 0..kills {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let part = (random >> 40) as f64 / f64::from(1_u32 << 24);
            let mut child = bench.spawn(&case.line, Stdio::null());
            std::thread::sleep(took.mul_f64(part).max(Duration::from_millis(1)));
            killed += u32::from(child.try_wait().expect("a child").is_none());
            child.kill().expect("killed, or gone already");
            child.wait().expect("gone");
            (case.whole)(&bench);
        }
        on_its_way += killed;
        let run = bench.run(&case.line);
        assert_eq!(run.code, 0, "{}: {run:?}", case.name);
        (case.whole)(&bench);
        assert!((case.result)(&bench) == expected, "{}: another result after {killed} kills", case.name);
        assert!(left_over(&bench.path("")).is_empty(), "{}: {:?}", case.name, left_over(&bench.path("")));
    }
    #[allow(clippy::print_stderr)]
    if asked.is_some() {
        eprintln!("{on_its_way} of {} kills met a command on its way", kills as usize * all.len());
    }
    assert!(on_its_way > 0);
}

/// Temporary files and folders below a folder.
fn left_over(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if [".tmp", ".part", ".incomplete", ".old"].iter().any(|part| name.contains(part)) {
            found.push(name);
        } else if entry.path().is_dir() {
            found.extend(left_over(&entry.path()));
        }
    }
    found
}
