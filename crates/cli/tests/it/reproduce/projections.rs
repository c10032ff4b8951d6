//! `reproduce` with experiments on projections: runs on small data, and tables and figures against made-up records.

use crate::support::{Bench, Run, shows, unwrapped};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};

const RECORDS: &str = "results/table-norms.desk.jsonl";
const LINE: &str = "reproduce table-norms --experiments .";

/// Three fits, the second of which is asked for the error of the first.
const TINY: &str = r#"
paper = "on a slide rule"
[[data]]
label = "tiny"
name = "tiny.npy"
channels = ["Y"]
paper = [{ rank = 4, kappa = [3.25], combined = 3.5, error = 0.25 }]
[[fit]]
label = "PCA"
method = "pca"
rank = 4
[[fit]]
label = "ours at its error"
method = "robust"
error = { of = "PCA" }
[[fit]]
label = "Algorithm 3"
method = "algorithm3"
rank = 5
centre = true
gap = 1e-3
note = "not for nothing"
"#;

/// Forty samples of ten values each, of no pattern.
fn samples() -> Vec<f64> {
    (0..400).map(|at| f64::from((at * at * 7 + at * 31) % 101) / (1.0 + f64::from(at % 10))).collect()
}

fn bench() -> Bench {
    let bench = Bench::new();
    bench.save_npy("tiny.npy", 40, 10, &samples());
    bench.write("table-norms.toml", TINY);
    bench
}

/// Runs with these variables, and without those that the tests were started with.
fn run_in(bench: &Bench, line: &str, variables: &[(&str, &Path)]) -> Run {
    let child = Command::new(env!("CARGO_BIN_EXE_gambeson"))
        .args(line.split_whitespace())
        .current_dir(bench.path(""))
        .env_remove("GAMBESON_REFERENCE_DATA")
        .env("GAMBESON_DATA", bench.path("nothing"))
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    Bench::finish(line, child.expect("the binary runs"))
}

fn records(bench: &Bench, path: &str) -> Vec<Value> {
    bench.read(path).lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

fn words(record: &Value) -> Vec<&str> {
    record["arguments"].as_array().expect("a list").iter().filter_map(Value::as_str).collect()
}

fn after<'a>(words: &[&'a str], option: &str) -> &'a str {
    words[words.iter().position(|word| *word == option).expect("the option") + 1]
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// Rows of a table in Markdown, cells by heading.
fn rows(table: &str) -> Vec<Vec<(String, String)>> {
    let split =
        |line: &str| line.trim_matches('|').split(" | ").map(|it| it.trim().to_owned()).collect::<Vec<_>>();
    let mut lines = table.lines().filter(|line| line.starts_with('|')).map(split);
    let headings = lines.next().expect("a table");
    lines.skip(1).map(|row| headings.iter().cloned().zip(row).collect()).collect()
}

fn cell<'a>(row: &'a [(String, String)], heading: &str) -> &'a str {
    let found = row.iter().find(|(it, _)| it == heading);
    found.map_or_else(|| panic!("{heading} in {row:?}"), |(_, cell)| cell.as_str())
}

/// Shown to so many digits, not below the truth.
fn rounded_up(shown: &str, truth: f64, digits: f64) {
    let value: f64 = shown.parse().unwrap_or_else(|_| panic!("`{shown}` is a number"));
    let unit = 10_f64.powf(truth.log10().floor() + 1.0 - digits);
    assert!(value >= truth && value <= truth + 1.001 * unit, "{shown} for {truth}");
}

#[test]
fn a_fit_may_be_asked_for_the_error_of_another() {
    let bench = bench();
    let run = bench.run(LINE);
    let table = bench.read("results/table-norms.desk.md");
    assert!(run.code == 0 && shows(&run.stdout, &table), "{run:?}");
    assert!(run.stdout.contains("\nAlgorithm 3, mean removed: not for nothing.\n"), "{run:?}");
    let whole = bench.read(RECORDS);
    let all = records(&bench, RECORDS);
    let labels: Vec<_> = all.iter().filter_map(|record| record["solver"].as_str()).collect();
    assert_eq!(labels, ["PCA", "ours at its error", "Algorithm 3"]);
    let error = number(&all[0]["fit"]["error"]);
    assert_eq!(after(&words(&all[1]), "--error").parse::<f64>().ok(), Some(error), "to the last bit");
    assert!(number(&all[1]["fit"]["error"]) <= error);
    assert!(words(&all[2]).contains(&"--centre") && after(&words(&all[2]), "--gap") == "1e-3");
    for record in &all {
        // A record says how to make its run again.
        let again = bench.run(&words(record).join(" ")).json();
        for key in ["kappa", "error", "limit", "channels", "data_sha256"] {
            assert_eq!(record["fit"][key], again[key], "{key}");
        }
        assert!(record["data"] == "tiny.npy" && record["version"] == env!("CARGO_PKG_VERSION"), "{record}");
    }
    let json = bench.run(&format!("{LINE} --json"));
    assert_eq!((json.code, json.stdout), (0, whole.clone()), "nothing left to do, the records as they are");
    // The first record lost: its run is made again, and the second still fits it.
    let rest: String = whole.split_inclusive('\n').skip(1).collect();
    bench.write(RECORDS, &rest);
    assert_eq!(bench.run(LINE).code, 0);
    let made = bench.read(RECORDS);
    assert_eq!(made.strip_prefix(&rest).expect("old records, byte by byte").lines().count(), 1);
    // Another error of the first: the second is made again for it.
    let mut other = all[0].clone();
    other["fit"]["error"] = json!(2.0 * error);
    other["fit"]["channels"][0]["error"] = json!(2.0 * error);
    let changed: String = [other.to_string(), "\n".to_owned(), rest].concat();
    bench.write(RECORDS, &changed);
    assert_eq!(bench.run(LINE).code, 0);
    let all = records(&bench, RECORDS);
    assert!(all.len() == 4 && all[3]["solver"] == "ours at its error", "{all:?}");
    assert_eq!(after(&words(&all[3]), "--error").parse::<f64>().ok(), Some(2.0 * error));
}

#[test]
fn data_that_are_not_there_cost_their_own_runs() {
    let bench = bench();
    let second = "[[data]]\nlabel = \"CIFAR-10\"\nname = \"cifar10\"\n[[fit]]\nlabel = \"PCA\"";
    bench.write("table-norms.toml", TINY.replacen("[[fit]]\nlabel = \"PCA\"", second, 1));
    let run = run_in(&bench, LINE, &[]);
    assert_eq!(run.code, 2, "{run:?}");
    assert_eq!(run.stderr.matches("`gambeson data fetch cifar10` brings it").count(), 2, "{run:?}");
    assert!(run.stderr.contains("CIFAR-10, ours at its error: not made: it needs the record"), "{run:?}");
    assert!(run.stdout.contains("Incomplete: 3 of 6 runs") && records(&bench, RECORDS).len() == 3, "{run:?}");
    let last = rows(&bench.read("results/table-norms.desk.md"));
    let last = last.last().expect("a row");
    assert_eq!(
        (cell(last, "data"), cell(last, "Y: κ ≤"), cell(last, "together: κ ≤")),
        ("CIFAR-10", "–", "–")
    );
}

#[test]
fn bad_experiments_on_projections_are_refused_by_file_and_key() {
    let bench = bench();
    for (good, bad, words) in [
        ("rank = 4\n[[fit]]", "[[fit]]", &["PCA", "rank or an error"][..]),
        ("rank = 4\n[[fit]]", "rank = 0\n[[fit]]", &["PCA", "rank"]),
        ("rank = 4\n[[fit]]", "rank = 4\nerror = 0.5\n[[fit]]", &["PCA", "not both"]),
        ("rank = 4\n[[fit]]", "error = 1.5\n[[fit]]", &["PCA", "error", "1.5"]),
        ("rank = 4\n[[fit]]", "error = \"small\"\n[[fit]]", &["a number or { of"]),
        ("{ of = \"PCA\" }", "{ of = \"ICA\" }", &["ours at its error", "ICA"]),
        ("{ of = \"PCA\" }", "{ of = \"Algorithm 3\" }", &["ours at its error", "before it"]),
        ("{ of = \"PCA\" }", "{ of = \"PCA\" }\ncentre = true", &["ours at its error", "centred"]),
        ("method = \"pca\"", "method = \"magic\"", &["method", "magic"]),
        ("label = \"ours at its error\"", "label = \"PCA\"", &["fit", "`PCA` appears twice"]),
        ("name = \"tiny.npy\"", "name = \"\"", &["tiny", "name"]),
        ("kappa = [3.25]", "kappa = [0.5]", &["tiny", "paper", "0.5"]),
        ("gap = 1e-3", "gap = 0.0", &["Algorithm 3", "gap"]),
        ("gap = 1e-3", "colour = 1", &["colour"]),
        ("not for nothing", "漢", &["Algorithm 3", "note", "漢"]),
        ("paper = \"on a slide rule\"", "paper = \"漢\"", &["paper", "漢"]),
        ("channels = [\"Y\"]", "channels = [\"Y\", \"Y\"]", &["tiny", "channels"]),
    ] {
        assert!(TINY.contains(good), "{good}");
        bench.write("table-norms.toml", TINY.replacen(good, bad, 1));
        let run = bench.run(LINE);
        assert!(run.code == 2 && run.stdout.is_empty() && !bench.path("results").exists(), "{bad}: {run:?}");
        for word in [&["table-norms.toml"], words].concat() {
            assert!(run.stderr.contains(word), "{bad}: `{word}` is not in {}", run.stderr);
        }
    }
    std::fs::create_dir(bench.path("sounds")).expect("a folder");
    for name in ["table-norms", "fig-pca-error", "table-runtime"] {
        let run = bench.run(&format!("reproduce {name} --data sounds"));
        assert!(run.code == 2 && run.stderr.contains("does not read sound"), "{run:?}");
    }
}

/// A mono 16-bit WAV file at 8 kHz.
fn wav(samples: &[i16]) -> Vec<u8> {
    let bytes = 2 * u32::try_from(samples.len()).expect("a short file");
    let mut file = [b"RIFF", &(36 + bytes).to_le_bytes()[..], b"WAVEfmt ", &16_u32.to_le_bytes()].concat();
    for word in [1_u16, 1, 8000, 0, 16000, 0, 2, 16] {
        file.extend(word.to_le_bytes());
    }
    file.extend([&b"data"[..], &bytes.to_le_bytes()].concat());
    file.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    file
}

const SOUND: &str = r#"
[[data]]
label = "some noise"
name = "noise"
sound = { window-ms = 2, hop-ms = 1, files = 3, trials = 2 }
paper = [{ samples = 421469, rank = 4, kappa = [21.285], error = 0.04974 }]
[[fit]]
label = "Algorithm 3"
method = "algorithm3"
rank = 4
[[fit]]
label = "ours"
method = "robust"
error = { of = "Algorithm 3" }
"#;

#[test]
fn sound_files_are_found_by_variable_or_option() {
    let bench = Bench::new();
    bench.write("table-audio.toml", SOUND);
    std::fs::create_dir_all(bench.path("reference/noise")).expect("a folder");
    for file in 0..6_i32 {
        let noise = |at: i32| i16::try_from((at * at * (7 + file) + at * 31) % 9001 - 4500).expect("small");
        bench.write(&format!("reference/noise/{file}.wav"), wav(&(0..400).map(noise).collect::<Vec<_>>()));
    }
    let line = "reproduce table-audio --experiments .";
    let run = run_in(&bench, line, &[]);
    assert!(run.code == 2 && run.stderr.contains("GAMBESON_REFERENCE_DATA is not set"), "{run:?}");
    assert!(run.stderr.contains("--data") && run.stdout.contains("Incomplete: 0 of 4"), "{run:?}");
    let run = run_in(&bench, line, &[("GAMBESON_REFERENCE_DATA", &bench.path("results"))]);
    assert!(run.code == 2 && run.stderr.contains("no such folder of sound files"), "{run:?}");
    let run = run_in(&bench, line, &[("GAMBESON_REFERENCE_DATA", &bench.path("reference"))]);
    assert_eq!(run.code, 0, "{run:?}");
    let path = "results/table-audio.desk.jsonl";
    let whole = bench.read(path);
    assert!(!whole.contains("reference"), "where the folder lies is no part of a record");
    let all = records(&bench, path);
    let trials: Vec<_> = all.iter().map(|record| record["trial"].as_u64()).collect();
    assert_eq!(trials, [Some(1), Some(1), Some(2), Some(2)]);
    assert!(all[0]["fit"]["data_sha256"] == all[1]["fit"]["data_sha256"], "one draw a trial");
    assert!(all[0]["fit"]["data_sha256"] != all[2]["fit"]["data_sha256"], "and another for the next");
    let table = rows(&bench.read("results/table-audio.desk.md"));
    let shown = unwrapped(&run.stdout);
    assert!(shown.starts_with("Proven") && shown.contains("some noise"), "{run:?}");
    assert!(
        shown.contains("than Algorithm 3, at no larger error, in ") && shown.contains(" of 2 trials"),
        "{run:?}"
    );
    for (row, pair) in table.iter().zip(all.chunks(2)) {
        assert_eq!(cell(row, "here: frames"), pair[0]["fit"]["samples"].to_string());
        rounded_up(cell(row, "Algorithm 3: κ ≤"), number(&pair[0]["fit"]["kappa"]), 7.0);
        rounded_up(cell(row, "ours: error (%)"), 100.0 * number(&pair[1]["fit"]["error"]), 4.0);
    }
    let heading = |column: &str| format!("the paper, other data: {column}");
    let paper = ["frames", "κ", "error (%)"].map(|column| cell(&table[0], &heading(column)).to_owned());
    assert_eq!(paper, ["421469", "21.285", "4.974"]);
    assert_eq!(cell(&table[1], &heading("κ")), "–");
    // The same folder by option: the same runs. Another: others, under their own name.
    let run = run_in(&bench, &format!("{line} --data reference/noise"), &[]);
    assert!(run.code == 0 && bench.read(path) == whole && run.stdout.contains("noise"), "{run:?}");
    std::fs::rename(bench.path("reference/noise"), bench.path("clatter")).expect("renamed");
    let run = run_in(&bench, &format!("{line} --data clatter --render-only"), &[]);
    assert!(run.code == 1 && unwrapped(&run.stdout).contains("sound: clatter."), "{run:?}");
}

#[test]
fn a_spectrum_is_what_fits_of_every_rank_lose() {
    let bench = bench();
    for more in ["", " --centre", " --grid 7", " --basis pixel"] {
        let line = format!("project spectrum --data tiny.npy{more}");
        let record = bench.run(&format!("{line} --json")).json();
        let channel = &record["channels"][0];
        let text = bench.run(&line).stdout;
        for rank in [1, 2, 5, 7] {
            for (method, key) in [("pca", "pca"), ("axis", "coordinates")] {
                let fit = format!("project fit --data tiny.npy --method {method} --rank {rank}{more} --json");
                let (here, there) = (number(&channel[key][rank]), number(&bench.run(&fit).json()["error"]));
                assert!((here - there).abs() < 1e-12, "{method} {rank}{more}: {here} {there}");
                if rank < 7 {
                    let row = text
                        .lines()
                        .find(|line| line.trim().starts_with(&format!("{rank} ")))
                        .expect("a row");
                    let mut shown = row.split_whitespace().skip(1).filter_map(|it| it.parse::<f64>().ok());
                    assert!(shown.any(|it| it >= here && it < here + 1.001e-6), "{row} {here}");
                }
            }
        }
        assert_eq!(channel["pca"].as_array().map(Vec::len), Some(11), "0 to 10");
        assert!((number(&channel["pca"][0]) - 1.0).abs() < 1e-12);
    }
}

/// A fit that never was.
fn made_up(label: &str, data: &str, words: &[&str], salt: f64) -> Value {
    let head = ["project", "fit", "--data", data, "--basis", "dct", "--method"];
    let arguments: Vec<&str> = head.iter().chain(words).chain(&["--json"]).copied().collect();
    let channel = |c: f64| {
        json!({
            "rank": 200, "kappa": 14.1 + c * salt, "error": 0.03 + 0.001 * c + 0.0001 * salt, "limit": 13.5,
            "how": "by magic", "split": if words[0] == "algorithm3" { json!(20) } else { Value::Null }, "trivial": false,
        })
    };
    json!({
        "experiment": "table-norms", "data": data, "solver": label, "arguments": arguments, "exit": 0,
        "seconds_wall": 1.5, "threads": 2, "version": "0.1.0", "cpu": "Abacus 9",
        "fit": {
            "channels": [channel(0.1), channel(0.2), channel(0.3)], "kappa": 24.5 + salt, "error": 0.031_234_567_8,
            "limit": 23.456_789, "ratio": (24.5 + salt) / 23.456_789, "method": words[0], "centred": false,
            "basis": "dct2", "grid": null, "data": data, "data_sha256": "00", "samples": 50000, "shape": [3, 32, 32],
            "stopped": false, "seconds_read": 1.0, "seconds_fit": 2.0, "projection": null, "certificate": null,
        },
    })
}

#[test]
fn norms_are_those_of_the_records() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("results")).expect("a folder");
    let both = ["algorithm3", "--rank", "200", "--error", "0.0345"];
    let ours = ["robust", "--error", "0.0345", "--centre"];
    let made = [
        made_up("Algorithm 3, rank 200, error ≤ 0.0345", "cifar10", &both, 0.123_456),
        made_up("gambeson, error ≤ 0.0345", "cifar100", &ours, 0.234_567),
    ];
    bench.write(RECORDS, made.iter().map(|record| record.to_string() + "\n").collect::<String>());
    let run = bench.run("reproduce table-norms --render-only");
    let shown = unwrapped(&run.stdout);
    assert!(run.code == 1 && shown.contains("Incomplete: 2 of 16 runs"), "{run:?}");
    assert!(shown.contains("Abacus 9") && shown.contains("The paper's numbers: Table 1"), "{run:?}");
    assert!(shows(&run.stdout, &bench.read("results/table-norms.desk.md")), "{run:?}");
    let table = rows(&bench.read("results/table-norms.desk.md"));
    assert_eq!(table.len(), 2 * (1 + 8));
    let find = |data: &str, mean: &str, method: &str| {
        let same = |row: &&Vec<(String, String)>| {
            [("data", data), ("mean", mean), ("method", method)].iter().all(|(key, it)| cell(row, key) == *it)
        };
        table.iter().find(same).unwrap_or_else(|| panic!("{data} {mean} {method}"))
    };
    // As printed in the paper.
    let paper = find("CIFAR-100", "–", "the paper");
    let shown = ["R: κ ≤", "G: κ ≤", "B: κ ≤", "together: κ ≤", "R: rank", "B: error", "together: limit"];
    assert_eq!(
        shown.map(|key| cell(paper, key)),
        ["17.22", "17.33", "17.37", "29.97", "200", "≤ 0.0345", "–"]
    );
    for (record, row) in made.iter().zip([
        find("CIFAR-10", "kept", "Algorithm 3, rank 200, error ≤ 0.0345"),
        find("CIFAR-100", "removed", "gambeson, error ≤ 0.0345"),
    ]) {
        let fit = &record["fit"];
        for (c, name) in ["R", "G", "B"].iter().enumerate() {
            let channel = &fit["channels"][c];
            rounded_up(cell(row, &format!("{name}: κ ≤")), number(&channel["kappa"]), 6.0);
            rounded_up(cell(row, &format!("{name}: error")), number(&channel["error"]), 4.0);
            let rank = if channel["split"].is_null() { "200" } else { "200 (r = 20)" };
            assert_eq!(cell(row, &format!("{name}: rank")), rank);
        }
        rounded_up(cell(row, "together: κ ≤"), number(&fit["kappa"]), 6.0);
        rounded_up(cell(row, "together: κ / limit"), number(&fit["kappa"]) / number(&fit["limit"]), 4.0);
        assert_eq!(cell(row, "together: limit"), "23.4567", "rounded down");
    }
    let tex = bench.read("results/table-norms.desk.tex");
    assert!(tex.contains("\\begin{tabular}{lllrrrrrrrrrrrrr}") && tex.contains("$\\kappa$ $\\le$"), "{tex}");
}

#[test]
fn a_figure_of_spectra_shows_the_records() {
    let bench = bench();
    bench.write(
        "fig-pca-error.toml",
        "components = 8\n[[data]]\nlabel = \"small\"\nname = \"tiny.npy\"\nchannels = [\"Y\"]\n",
    );
    let line = "reproduce fig-pca-error --experiments .";
    let run = bench.run(line);
    assert_eq!(run.code, 0, "{run:?}");
    let record = &records(&bench, "results/fig-pca-error.desk.jsonl")[0];
    let channel = &record["spectrum"]["channels"][0];
    let table = rows(&bench.read("results/fig-pca-error.desk.md"));
    for (row, rank) in table.iter().zip([1, 2, 5]) {
        assert_eq!(cell(row, "d"), rank.to_string());
        rounded_up(cell(row, "small: Y, PCA"), number(&channel["pca"][rank]), 4.0);
        rounded_up(cell(row, "small: Y, coordinates"), number(&channel["coordinates"][rank]), 4.0);
    }
    let svg = bench.read("results/fig-pca-error.desk.svg");
    assert!(!svg.contains("NaN") && !svg.contains("<circle") && svg.contains(">small</text>"), "{svg}");
    // Two curves of eight points each; lines of axes and of the legend have fewer.
    let points = |line: &str| {
        line.split("points=\"")
            .nth(1)
            .map_or(0, |rest| rest.split('"').next().unwrap_or("").split_whitespace().count())
    };
    assert_eq!(svg.lines().filter(|line| points(line) == 8).count(), 2, "{svg}");
    bench.write("fig-pca-error.toml", "components = 0\n[[data]]\nlabel = \"small\"\nname = \"tiny.npy\"\n");
    let run = bench.run(line);
    assert!(run.code == 2 && run.stderr.contains("components"), "{run:?}");
}
