//! `reproduce`: runs, records, and what becomes of broken ones.

use crate::support::{Bench, Run, shows, unwrapped};
use serde_json::Value;
use std::process::Stdio;

const RECORDS: &str = "results/fig-mwu-psd.desk.jsonl";
const LINE: &str = "reproduce fig-mwu-psd --experiments .";

/// Two solvers, three small matrices of each of two sizes: twelve runs.
pub(crate) const TINY: &str = r#"
kind = "psd"
[scale.desk]
n = [12, 20]
trials = 3
[scale.paper]
n = [12]
trials = 1
[[solver]]
label = "Algorithm 2"
method = "mwu"
gap = 5e-3
[[solver]]
label = "gambeson"
gap = 1e-6
[paper]
machine = "a slide rule"
[[paper.series]]
label = "MOSEK"
points = [{ n = 12, mean = 8.5, deviation = 0.25 }]
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("fig-mwu-psd.toml", TINY);
    bench
}

/// The records of the file, every line of which must be whole.
fn records(bench: &Bench) -> Vec<Value> {
    let text = bench.read(RECORDS);
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

#[test]
fn runs_become_records_tables_and_figures() {
    let bench = bench();
    let run = bench.run(LINE);
    assert_eq!(run.code, 0, "{run:?}");
    let table = bench.read("results/fig-mwu-psd.desk.md");
    assert!(shows(&run.stdout, &table), "the table is on stdout: {run:?}\n{table}");
    let records = records(&bench);
    // Every solver has its turn before the next matrix is drawn.
    let order: Vec<_> =
        records.iter().map(|record| (record["n"].as_u64(), record["seed"].as_u64())).collect();
    let planned = [12, 20].iter().flat_map(|&n| [1, 1, 2, 2, 3, 3].map(|seed| (Some(n), Some(seed))));
    assert_eq!(order, planned.collect::<Vec<_>>());
    for pair in records.chunks(2) {
        assert_eq!(
            (pair[0]["solver"].as_str(), pair[1]["solver"].as_str()),
            (Some("Algorithm 2"), Some("gambeson"))
        );
        // A record says how to make its run again.
        let words: Vec<_> =
            pair[1]["arguments"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        let again = bench.run(&words.join(" ")).json();
        for key in ["upper", "sdp_lower", "lower", "gap", "iterations", "n", "stop"] {
            assert_eq!(pair[1]["bound"][key], again[key], "{key}");
        }
        assert!(
            pair[0]["bound"]["gap"].as_f64() <= Some(5e-3) && pair[1]["bound"]["gap"].as_f64() <= Some(1e-6)
        );
        assert!(pair[0]["seconds_wall"].as_f64() >= pair[0]["bound"]["seconds_solve"].as_f64());
        assert_eq!(pair[0]["version"], env!("CARGO_PKG_VERSION"));
    }
    let json = bench.run(&format!("{LINE} --json"));
    assert_eq!((json.code, json.stdout), (0, bench.read(RECORDS)), "the records as they are");
}

#[test]
fn what_is_done_is_not_done_again() {
    let bench = bench();
    assert_eq!(bench.run(LINE).code, 0);
    let whole = bench.read(RECORDS);
    let (kept, lost): (Vec<_>, Vec<_>) = whole.lines().enumerate().partition(|(at, _)| at % 4 != 1);
    let kept: String = kept.into_iter().flat_map(|(_, line)| [line, "\n"]).collect();
    bench.write(RECORDS, &kept);
    assert_eq!(bench.run(LINE).code, 0);
    let after = bench.read(RECORDS);
    let made: Vec<&str> = after.strip_prefix(&kept).expect("old records, byte by byte").lines().collect();
    assert_eq!(made.len(), lost.len());
    for (made, (_, lost)) in made.iter().zip(lost) {
        let [made, lost]: [Value; 2] = [made, lost].map(|line| serde_json::from_str(line).expect("a record"));
        assert_eq!(made["arguments"], lost["arguments"]);
        assert_eq!(made["bound"]["upper"], lost["bound"]["upper"]);
    }
    assert_eq!(bench.run(LINE).code, 0);
    assert_eq!(bench.read(RECORDS), after, "nothing left to do");
    // Other settings are other runs, and the records of the old ones stay.
    bench.write("fig-mwu-psd.toml", TINY.replace("gap = 1e-6", "gap = 1e-5"));
    assert_eq!(bench.run(LINE).code, 0);
    let more = bench.read(RECORDS);
    assert_eq!(more.strip_prefix(&after).expect("old records stay").lines().count(), 6);
}

#[test]
fn a_line_broken_off_is_taken_off() {
    let bench = bench();
    assert_eq!(bench.run(LINE).code, 0);
    let whole = bench.read(RECORDS);
    let good: usize = whole.split_inclusive('\n').take(11).map(str::len).sum();
    for (end, tail) in [(whole.len() - 40, &b""[..]), (good + 1, b""), (good, b"{\"exp"), (good, b"\0\0\0")] {
        let broken = [&whole.as_bytes()[..end], tail].concat();
        bench.write(RECORDS, &broken);
        let run = bench.run(&format!("{LINE} --render-only"));
        assert!(run.code == 1 && run.stderr.contains(&format!("{RECORDS}, line 12")), "{run:?}");
        assert_eq!(bench.read_bytes(RECORDS), broken, "only looked at");
        let run = bench.run(LINE);
        assert!(run.code == 0 && run.stderr.contains(&format!("{RECORDS}, line 12")), "{run:?}");
        assert!(bench.read(RECORDS).starts_with(&whole[..good]) && records(&bench).len() == 12);
    }
    bench.write(RECORDS, whole.trim_end());
    assert_eq!(bench.run(LINE).code, 0);
    assert_eq!(bench.read(RECORDS), whole, "only the end of the line was missing");
    // What a stopped writer cannot have left is not ours to remove.
    for (line, text) in [
        (1, "rubbish\n".to_owned() + &whole),
        (13, whole.clone() + "{\"n\": 3}\n"),
        (13, whole.clone() + "rubbish"),
        (13, whole.clone() + "{]\n"),
        (1, "my notes".to_owned()),
    ] {
        bench.write(RECORDS, &text);
        let run = bench.run(LINE);
        assert!(run.code == 2 && run.stderr.contains(&format!("{RECORDS}, line {line}")), "{run:?}");
        assert_eq!(bench.read(RECORDS), text);
    }
    // Marks that editors put before lines are none of ours, and do no harm.
    bench.write(RECORDS, "\u{feff}".to_owned() + &whole.trim_end().replace('\n', "\n\u{feff}"));
    assert_eq!(bench.run(&format!("{LINE} --render-only")).code, 0);
}

#[test]
fn two_commands_do_not_share_a_file() {
    let bench = bench();
    std::fs::create_dir(bench.path("results")).expect("a folder");
    let file = std::fs::File::create(bench.path(RECORDS)).expect("a file");
    file.try_lock().expect("a lock");
    let run = bench.run(LINE);
    assert!(run.code == 2 && run.stderr.contains("another process"), "{run:?}");
}

#[test]
fn names_are_listed() {
    let bench = Bench::new();
    let list = bench.run("reproduce --list");
    let names: Vec<&str> = list.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(list.code == 0 && names.contains(&"table-runtime"), "{list:?}");
    let run = bench.run("reproduce fig-perpetual-motion");
    assert!(run.code == 2 && run.stdout.is_empty(), "{run:?}");
    for name in names {
        assert!(run.stderr.contains(name), "{name}: {run:?}");
        // What is built in is valid at all scales; no time, no runs.
        for scale in ["smoke", "desk", "paper"] {
            let run = bench.run(&format!("reproduce {name} --scale {scale} --time-limit 0"));
            assert!(run.code == 1 && run.stdout.contains("Incomplete: 0 of "), "{run:?}");
            assert!(bench.path(&format!("results/{name}.{scale}.tex")).exists());
        }
    }
    assert_eq!(bench.run("reproduce").code, 2);
}

#[test]
fn bad_experiments_are_refused_by_file_and_key() {
    let bench = bench();
    for (good, bad, words) in [
        ("trials = 3", "trials = 3\ncolour = 1", &["colour"][..]),
        ("kind = \"psd\"", "kind = \"cube\"", &["kind", "psd"]),
        ("kind = \"psd\"\n", "", &["kind"]),
        ("n = [12, 20]", "n = []", &["scale desk: n: empty"]),
        ("n = [12, 20]", "n = [0, 20]", &["scale desk: n: dimension 0"]),
        ("n = [12, 20]", "n = [12, 12]", &["scale desk: n: 12 after 12"]),
        ("n = [12]", "n = [-5]", &["-5"]),
        ("trials = 1", "trials = 0", &["scale paper: trials"]),
        ("gap = 5e-3", "gap = 0.0", &["Algorithm 2", "gap", "0"]),
        ("gap = 5e-3", "gap = -1.0", &["Algorithm 2", "gap", "-1"]),
        ("gap = 5e-3", "gap = nan", &["Algorithm 2", "gap", "NaN"]),
        ("gap = 5e-3", "gap = 5e-3\niterations = 0", &["Algorithm 2", "iterations"]),
        ("gap = 5e-3", "gap = 5e-3\nagainst = \"SeDuMi\"", &["Algorithm 2", "against", "SeDuMi"]),
        ("method = \"mwu\"", "method = \"magic\"", &["method", "magic"]),
        ("label = \"gambeson\"", "label = \"Algorithm 2\"", &["label", "Algorithm 2"]),
        ("label = \"gambeson\"", "label = \"\"", &["label"]),
        ("label = \"gambeson\"", "label = \"a\\nb\"", &["solver", "label", "\\n"]),
        ("label = \"gambeson\"", "label = \"漢\"", &["solver", "label", "漢"]),
        ("a slide rule", "a\\nb", &["paper.machine", "\\n"]),
        ("a slide rule", " ", &["paper.machine"]),
        ("mean = 8.5", "mean = 0.0", &["MOSEK", "n = 12"]),
        ("[scale.desk]", "[scale.desk", &["line 3"]),
        ("[scale.paper]", "[scale.galaxy]", &["scale: `galaxy` is not a scale"]),
        ("kind = \"psd\"", "kind = \"psd\"\ninclude = \"nowhere\"", &["nowhere.toml"]),
        ("kind = \"psd\"", "kind = \"psd\"\ninclude = \"../x\"", &["include", "../x"]),
    ] {
        assert!(TINY.contains(good));
        bench.write("fig-mwu-psd.toml", TINY.replacen(good, bad, 1));
        let run = bench.run(LINE);
        assert!(run.code == 2 && run.stdout.is_empty() && !bench.path("results").exists(), "{bad}: {run:?}");
        for word in [&["fig-mwu-psd.toml"], words].concat() {
            assert!(run.stderr.contains(word), "{bad}: `{word}` is not in {}", run.stderr);
        }
    }
    let run = bench.run("reproduce fig-mwu-psd --experiments nowhere");
    assert!(run.code == 2 && run.stderr.contains("nowhere"), "{run:?}");
    let run = bench.run("reproduce fig-mwu-psd --render-only");
    assert!(run.code == 2 && run.stderr.contains(RECORDS), "no records, nothing to show: {run:?}");
}

#[test]
fn nothing_is_read_beyond_the_memory_limit() {
    let long = "\n".repeat(2_000_000);
    for name in ["fig-mwu-psd.toml", RECORDS] {
        let bench = bench();
        std::fs::create_dir_all(bench.path("results")).expect("a folder");
        bench.write(name, &long);
        let run = bench.run(&format!("{LINE} --memory-limit 1M"));
        assert!(run.code == 2 && run.stderr.contains("more than the memory limit"), "{name}: {run:?}");
    }
    // A device need not end.
    #[cfg(target_os = "linux")]
    {
        let bench = Bench::new();
        std::os::unix::fs::symlink("/dev/zero", bench.path("fig-mwu-psd.toml")).expect("a link");
        let run = bench.run(LINE);
        assert!(run.code == 2 && run.stderr.contains("is a device"), "{run:?}");
    }
}

#[test]
fn falling_short_is_shown_and_told() {
    let bench = bench();
    let out_of_reach = TINY.replace("gap = 5e-3", "gap = 1e-12\niterations = 7").replace("[12, 20]", "[12]");
    bench.write("fig-mwu-psd.toml", &out_of_reach);
    let run = bench.run(LINE);
    assert_eq!(run.code, 0, "all iterations it was given, so as asked: {run:?}");
    let recorded = records(&bench);
    assert!(recorded[0]["exit"] == 1 && recorded[0]["bound"]["iterations"] == 7, "{}", recorded[0]);
    bench.write("fig-mwu-psd.toml", out_of_reach.replace("gap = 1e-6", "gap = 1e-17"));
    let run = bench.run(LINE);
    assert_eq!(run.code, 1, "{run:?}");
    let note = "Fell short of what was asked: gambeson, n = 12, trial 1; gambeson, n = 12, trial 2";
    assert!(
        unwrapped(&run.stdout).contains(note) && run.stderr.contains("gambeson, n = 12, trial 3: fell short"),
        "{run:?}"
    );
    assert_eq!(records(&bench).len(), 9);
    assert_eq!(bench.run(LINE).code, 1, "a record that fell short stays so");
    assert_eq!(records(&bench).len(), 9);
}

#[cfg(target_os = "linux")]
#[test]
fn runs_that_fail_are_told_and_the_others_are_made() {
    let bench = bench();
    bench.write("fig-mwu-psd.toml", TINY.replace("[12, 20]", "[12, 9000]"));
    let limited = format!("ulimit -v 500000; exec {} {LINE} --threads 1", env!("CARGO_BIN_EXE_gambeson"));
    let folder = bench.path("");
    let output = std::process::Command::new("sh").args(["-c", &limited]).current_dir(folder).output();
    let output = output.expect("a shell");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    for trial in 1..=3 {
        assert!(stderr.contains(&format!("gambeson, n = 9000, trial {trial}: failed: ")), "{stderr}");
    }
    assert_eq!(stderr.matches("does not fit into memory").count(), 6, "{stderr}");
    assert_eq!(records(&bench).len(), 6, "nothing is recorded of what failed");
    let table = bench.read("results/fig-mwu-psd.desk.md");
    assert!(
        shows(&String::from_utf8_lossy(&output.stdout), &table) && table.contains("Incomplete: 6 of 12"),
        "{table}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn the_program_may_be_replaced_while_it_runs() {
    let bench = bench();
    let copy = bench.path("copy");
    // By another process: a test that forks while this one holds the file open for writing would keep it busy.
    let copied = std::process::Command::new("cp").arg(env!("CARGO_BIN_EXE_gambeson")).arg(&copy).status();
    assert!(copied.expect("cp").success());
    let child = std::process::Command::new(&copy)
        .args(LINE.split_whitespace())
        .current_dir(bench.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.expect("the copy runs");
    wait_until(|| bench.path(RECORDS).exists());
    std::fs::remove_file(&copy).expect("removed");
    let run = Bench::finish(LINE, child);
    assert!(run.code == 0 && records(&bench).len() == 12, "{run:?}");
}

#[test]
fn a_report_is_of_one_setup() {
    let bench = bench();
    bench.write("fig-mwu-psd.toml", TINY.replace("[12, 20]", "[12]").replace("trials = 3", "trials = 2"));
    assert_eq!(bench.run(&format!("{LINE} --threads 2")).code, 0);
    let whole = bench.read(RECORDS);
    let cpu = records(&bench)[0]["cpu"].to_string();
    for (here, there) in [
        ("\"threads\":2", "\"threads\":3"),
        ("\"version\":\"", "\"version\":\"0.0."),
        (&format!("\"cpu\":{cpu}"), "\"cpu\":\"Abacus 9\""),
    ] {
        // One of four is another's: it stays, and the run is made again.
        let mixed = whole.replacen(here, there, 1);
        assert_ne!(mixed, whole);
        bench.write(RECORDS, &mixed);
        let run = bench.run(&format!("{LINE} --threads 2"));
        assert!(run.code == 0 && run.stderr.contains("1 records are not of"), "{run:?}");
        let now = bench.read(RECORDS);
        assert_eq!(now.strip_prefix(&mixed).expect("old records stay").lines().count(), 1);
        // Of another's records alone: shown where nothing is run.
        let theirs = whole.replace(here, there);
        bench.write(RECORDS, &theirs);
        assert_eq!(bench.run(&format!("{LINE} --render-only --threads 2")).code, 0);
        assert_eq!(bench.read(RECORDS), theirs);
    }
}

/// Looks again and again, for a minute at most.
#[cfg(unix)]
fn wait_until(done: impl Fn() -> bool) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !done() {
        assert!(std::time::Instant::now() < deadline, "not in a minute");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Starts, waits for the first record, interrupts: by two signals at once, as `timeout` does.
#[cfg(unix)]
fn interrupt(bench: &Bench) -> Run {
    let child = bench.spawn(LINE, Stdio::piped());
    wait_until(|| std::fs::metadata(bench.path(RECORDS)).is_ok_and(|file| file.len() > 0));
    // Two of one kind might be delivered as one.
    let signals = format!("kill -TERM {0} && kill -INT {0}", child.id());
    let kill = std::process::Command::new("sh").args(["-c", &signals]).status();
    assert!(kill.expect("kill runs").success());
    Bench::finish(LINE, child)
}

#[cfg(unix)]
#[test]
fn ctrl_c_loses_nothing() {
    let bench = bench();
    // A quick run, then one of minutes.
    let slow = TINY.replace("[12, 20]", "[12, 1500]").replace("trials = 3", "trials = 1");
    bench.write("fig-mwu-psd.toml", slow.replace("gap = 5e-3", "gap = 1e-12\niterations = 100000"));
    let run = interrupt(&bench);
    assert!(run.code == 1 && run.stdout.is_empty(), "{run:?}");
    assert!(!bench.path("results/fig-mwu-psd.desk.md").exists());
    let done = records(&bench);
    assert!((1..4).contains(&done.len()) && done.iter().all(|record| record["n"] == 12), "{done:?}");
}
