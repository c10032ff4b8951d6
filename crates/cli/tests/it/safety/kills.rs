//! Killed at any moment, a command leaves nothing half-written, and the same command ends as if nobody had killed it.
//!
//! Two kills per command, every one of which meets it on its way; `GAMBESON_KILLS=100` spreads a hundred over all of them.
//! Every second one waits until the command writes, which takes milliseconds of its seconds. Training is killed by a test of
//! its own (`training/train.rs`), and so is the installation of data (`crates/data/tests/it/kills.rs`), which needs
//! CIFAR-10 here.

use crate::reproduce::runs::TINY;
use crate::support::Bench;
use gambeson_testing::skipped;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A command, and how to see that what it wrote is whole.
struct Case {
    name: &'static str,
    /// By turns, so that what one writes is not what another left: a mixture of the two would show.
    lines: Vec<String>,
    /// What it writes; a run that goes on with what is there begins anew without them.
    outputs: &'static [&'static str],
    /// Changes when it writes.
    moment: fn(&Bench) -> u64,
    /// Panics where something is half-written.
    whole: fn(&Bench),
    /// What the command leaves at its end, times left out.
    result: fn(&Bench) -> Vec<Vec<u8>>,
}

const CERTIFY: &str =
    "certify --model toy:half-space,offset=0.2 --data fashion --sigma 0.5 --stop 60 --n 20000 --out r.jsonl";
const FIGURE: &str = "results/fig-mwu-psd.desk";
/// How names of files and folders begin or end that are there for a moment.
const TEMPORARY: [&str; 7] = [".tmp", ".part", ".incomplete-", ".old-", ".previous", ".downloads", ".new."];

fn cases(bench: &Bench) -> Vec<Case> {
    bench.write("fig-mwu-psd.toml", TINY.replace("n = [12, 20]", "n = [40, 60]"));
    let mut cases = vec![
        Case {
            name: "certify",
            lines: vec![CERTIFY.into()],
            outputs: &["r.jsonl"],
            moment: |bench| std::fs::metadata(bench.path("r.jsonl")).map_or(0, |file| file.len()),
            whole: records,
            result: |bench| vec![without_times(bench, "r.jsonl")],
        },
        Case {
            name: "project fit",
            lines: [30, 20].map(fit).to_vec(),
            outputs: &["p.safetensors", "p.cert.json"],
            moment: temporary,
            whole: pair,
            result: |bench| ["p.safetensors", "p.cert.json"].map(|name| bench.read_bytes(name)).to_vec(),
        },
        Case {
            name: "bound",
            lines: ["1e-3", "1e-6"].map(bound).to_vec(),
            outputs: &["c.json"],
            moment: temporary,
            whole: certificate,
            result: |bench| vec![bench.read_bytes("c.json")],
        },
        Case {
            name: "reproduce",
            lines: vec!["reproduce fig-mwu-psd --experiments .".into()],
            outputs: &["results"],
            moment: temporary,
            whole: |bench| {
                whole_lines(bench, &format!("{FIGURE}.jsonl"));
                figure(bench);
            },
            result: |bench| {
                assert!(ENDS.iter().all(|(end, _)| bench.path(&format!("{FIGURE}.{end}")).exists()));
                vec![bench.read(&format!("{FIGURE}.jsonl")).lines().count().to_string().into_bytes()]
            },
        },
    ];
    if let Some(folder) = std::env::var_os("GAMBESON_DATA").map(|home| Path::new(&home).join("cifar10"))
        && folder.join("test_batch.bin").exists()
    {
        cases.push(Case {
            name: "data fetch",
            lines: vec![format!("data fetch cifar10 --from {}", folder.display())],
            outputs: &["data/cifar10"],
            moment: temporary,
            whole: |bench| {
                let run = bench.run("data info cifar10");
                assert!(run.code == 0 || run.stderr.contains("data fetch cifar10"), "{run:?}");
            },
            result: |bench| vec![bench.run("data info cifar10 --json").stdout.into_bytes()],
        });
    } else {
        skipped("in part: cifar10 is not in GAMBESON_DATA");
    }
    cases
}

fn fit(rank: u32) -> String {
    format!("project fit --data fashion --rank {rank} --method robust --out p.safetensors")
}

fn bound(gap: &str) -> String {
    format!("bound --random psd:300:1 --gap {gap} --certificate c.json")
}

/// Every line but the last is whole; how many are.
fn whole_lines(bench: &Bench, name: &str) -> usize {
    if !bench.path(name).exists() {
        return 0;
    }
    let text = bench.read(name);
    let lines: Vec<&str> = text.lines().collect();
    let whole = if text.ends_with('\n') { lines.len() } else { lines.len().saturating_sub(1) };
    for line in &lines[..whole] {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{name}: {line}");
    }
    whole
}

/// Records that are there can be used: every count is what the same draws give again.
fn records(bench: &Bench) {
    if whole_lines(bench, "r.jsonl") > 0 {
        let run = bench.run("analyze r.jsonl --json");
        assert_eq!(run.code, 0, "{run:?}");
        let run = bench.run("check r.jsonl --model toy:half-space,offset=0.2 --data fashion --all --json");
        let check = run.json();
        let records = check["records"].as_u64().expect("a number");
        assert!(records + 1 >= whole_lines(bench, "r.jsonl") as u64, "{run:?}");
        assert!(check["findings"] == serde_json::json!([]) && check["checked"] == records, "{run:?}");
        let complete = records == 60;
        assert_eq!((run.code, check["verdict"] == "redrawn"), (i32::from(!complete), complete), "{run:?}");
    }
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

/// What the files of a figure end with.
const ENDS: [(&str, &[u8]); 4] =
    [("md", b"\n"), ("tex", b"}\n"), ("svg", b"</svg>\n"), ("png", b"IEND\xaeB`\x82")];

/// Those that are there.
fn figure(bench: &Bench) {
    for (end, last) in ENDS {
        let name = format!("{FIGURE}.{end}");
        assert!(!bench.path(&name).exists() || bench.read_bytes(&name).ends_with(last), "{name}");
    }
}

#[test]
fn nothing_is_half_written_and_everything_goes_on() {
    let asked = std::env::var("GAMBESON_KILLS").ok().and_then(|text| text.parse::<u32>().ok());
    let unbroken = Bench::with_own_data();
    let all = cases(&unbroken);
    let kills = asked.map_or(2, |kills| kills.div_ceil(u32::try_from(all.len()).expect("few")));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for case in &all {
        let (mut took, mut expected) = (Duration::ZERO, Vec::new());
        for line in &case.lines {
            let started = Instant::now();
            let run = unbroken.run(line);
            assert_eq!(run.code, 0, "{}: {run:?}", case.name);
            took = took.max(started.elapsed());
            expected.push((case.result)(&unbroken));
        }
        let bench = Bench::with_own_data();
        cases(&bench); // its files
        let (mut met, mut begun) = (0, 0);
        while met < kills {
            assert!(begun < 20 + 10 * kills, "{}: {met} of {begun} commands were killed", case.name);
            met += u32::from(killed(case, &bench, took, begun, &mut random));
            begun += 1;
        }
        for (line, expected) in case.lines.iter().zip(&expected) {
            let run = bench.run(line);
            assert_eq!(run.code, 0, "{}: {run:?}", case.name);
            (case.whole)(&bench);
            assert!((case.result)(&bench) == *expected, "{}: another result after {met} kills", case.name);
            assert!(left_over(&bench.path("")).is_empty(), "{}: {:?}", case.name, left_over(&bench.path("")));
        }
        #[allow(clippy::print_stderr)]
        if asked.is_some() {
            eprintln!("{}: {met} kills, {} runs came to their end before", case.name, begun - met);
        }
    }
}

/// Starts a command and kills it, at some moment or when it writes; whether it was still on its way. One that had come to
/// its end begins anew.
fn killed(case: &Case, bench: &Bench, took: Duration, number: u32, random: &mut Random) -> bool {
    // Each of two lines is killed in both ways.
    let line = &case.lines[number as usize / 2 % case.lines.len()];
    let mut child = bench.spawn(line, Stdio::null());
    if number % 2 == 1 {
        std::thread::sleep(took.mul_f64(random.part()).max(Duration::from_millis(1)));
    } else {
        wait_for_writing(case, bench, &mut child);
        std::thread::sleep(Duration::from_millis(2).mul_f64(random.part()));
    }
    let on_its_way = child.try_wait().expect("a child").is_none();
    child.kill().expect("killed, or gone already");
    child.wait().expect("gone");
    (case.whole)(bench);
    if !on_its_way {
        for output in case.outputs.iter().map(|output| bench.path(output)) {
            let _ =
                if output.is_dir() { std::fs::remove_dir_all(output) } else { std::fs::remove_file(output) };
        }
    }
    on_its_way
}

/// Until it writes, or ends.
fn wait_for_writing(case: &Case, bench: &Bench, child: &mut Child) {
    let mut least = (case.moment)(bench);
    loop {
        let now = (case.moment)(bench);
        if now > least || child.try_wait().expect("a child").is_some() {
            break;
        }
        least = now; // what an earlier one left is removed first
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// Bytes of what is there for a moment: a command that only looks whether it may write adds none.
fn temporary(bench: &Bench) -> u64 {
    fn bytes(folder: &Path, all: bool) -> u64 {
        let mut sum = 0;
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let all = all || TEMPORARY.iter().any(|part| name.contains(part));
            sum += match entry.metadata() {
                Ok(kind) if kind.is_dir() => bytes(&entry.path(), all),
                Ok(file) if all => file.len(),
                _ => 0,
            };
        }
        sum
    }
    bytes(&bench.path(""), false)
}

/// Of a seed that is always the same.
struct Random(u64);

impl Random {
    /// Evenly in 0..1.
    fn part(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / f64::from(1_u32 << 24)
    }
}

/// Temporary files and folders below a folder.
fn left_over(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if TEMPORARY.iter().any(|part| name.contains(part)) {
            found.push(name);
        } else if entry.path().is_dir() {
            found.extend(left_over(&entry.path()));
        }
    }
    found
}
