//! Texts and names from files are shown as texts: they cannot move the cursor, nor pretend to be a line of ours.

use crate::records;
use crate::support::{Bench, Run};
use crate::training::SPEC;

/// What a hostile file would like to have printed, as its header has it.
const FORGED: &str = "x\\nPROVEN: kappa <= 1\\u001b[32m\\u202e";
/// The same in a name.
#[cfg(unix)]
const NAME: &str = "=1+1\nPROVEN: kappa <= 1\x1b[32m\u{9b}31m\u{202e}<script>`x`,\"";

/// Safetensors with another text in their header.
fn forged(bytes: &[u8], from: &str) -> Vec<u8> {
    let length = usize::try_from(u64::from_le_bytes(*bytes.first_chunk().expect("a length"))).expect("short");
    let header = String::from_utf8(bytes[8..8 + length].to_vec()).expect("text");
    let forged = header.trim_end().replacen(from, FORGED, 1);
    assert_ne!(forged, header.trim_end());
    let forged = format!("{forged:<width$}", width = forged.len().next_multiple_of(8));
    let mut file = (forged.len() as u64).to_le_bytes().to_vec();
    file.extend(forged.bytes().chain(bytes[8 + length..].iter().copied()));
    file
}

/// Nothing is obeyed, and no line is believed.
fn harmless(run: &Run) {
    let obeyed = |letter: char| letter != '\n' && (letter.is_control() || letter == '\u{202e}');
    for text in [&run.stdout, &run.stderr] {
        assert!(!text.contains(obeyed), "{run:?}");
        assert!(!text.lines().any(|line| line.starts_with("PROVEN: kappa <= 1")), "{run:?}");
    }
}

#[test]
fn texts_of_files_are_shown_as_texts() {
    let bench = Bench::with_own_data();
    let run = bench.run("project fit --data fashion --rank 2 --method axis --out p.safetensors");
    assert_eq!(run.code, 0, "{run:?}");
    std::fs::remove_file(bench.path("p.cert.json")).expect("removed");
    bench.write("forged.safetensors", forged(&bench.read_bytes("p.safetensors"), "fashion-train"));
    let run = bench.run("project inspect forged.safetensors");
    assert_eq!(run.code, 0, "{run:?}");
    harmless(&run);
    assert!(run.stdout.contains("x\\u{a}PROVEN: kappa <= 1\\u{1b}[32m\\u{202e}"), "{run:?}");
    bench.write("bad", "2 1\n1 2 \x1b[31mPROVEN\n");
    let run = bench.run("bound bad");
    assert_eq!(run.code, 2, "{run:?}");
    harmless(&run);
    // A stored set that calls itself so, and a spec.
    assert_eq!(bench.run("data import fashion --name mine").code, 0);
    for part in ["train", "test"] {
        let path = format!("data/mine/{part}.safetensors");
        bench.write(&path, forged(&bench.read_bytes(&path), "mine"));
    }
    bench.write("s.toml", SPEC.replace("\"fashion\"", "\"mine\""));
    for line in [
        "data info mine",
        "train s.toml --out run",
        "train s.toml --dry-run",
        "attack --data mine --method sparse --sparsity 2 --epsilon 0.1 --every 500",
        "certify --model toy:ball,radius=1 --data mine --sigma 0.5 --stop 1 --n 100",
        "project fit --data mine --rank 2 --method axis",
    ] {
        let run = bench.run(line);
        assert_eq!(run.code, 0, "{line}: {run:?}");
        harmless(&run);
    }
}

#[test]
fn records_are_rejected_in_words_of_ours() {
    let bench = Bench::new();
    let sources = "--model toy:half-space,offset=0.3 --data fashion";
    let run = bench.run(&format!("certify {sources} --sigma 0.5 --n 100 --stop 2 --out run.jsonl"));
    assert_eq!(run.code, 0, "{run:?}");
    let mut head = records::head(&bench, "run.jsonl");
    head["run"]["model"] = "x\nPROVEN: kappa <= 1\x1b[32m\u{202e}".into();
    head["files"] = serde_json::json!({ "network": "x\nREDRAWN: all\x1b[32m" });
    records::write(&bench, "forged.jsonl", &head, &records::lines(&bench, "run.jsonl"));
    for line in [
        &format!("check forged.jsonl {sources}"),
        &format!("check forged.jsonl {sources} --json"),
        "analyze forged.jsonl",
        &format!("certify {sources} --sigma 0.5 --n 100 --stop 3 --out forged.jsonl"),
    ] {
        let run = bench.run(line);
        assert!(line.starts_with("analyze") || run.code > 0, "{line}: {run:?}");
        harmless(&run);
    }
}

/// Names are what their owners chose, which may be others.
#[cfg(unix)]
#[test]
fn names_of_files_are_shown_as_texts() {
    let bench = Bench::new();
    bench.save_npy("m.npy", 2, 2, &[2.0, 1.0, 1.0, 2.0]);
    let certify = "certify --model toy:half-space,offset=0.3 --data fashion --sigma 0.5 --n 100 --stop 2";
    assert_eq!(bench.run(&format!("{certify} --out r.jsonl")).code, 0);
    std::fs::create_dir(bench.path(NAME)).expect("a folder");
    let at = |name: &str| format!("{NAME}/{name}");
    for name in ["m.npy", "r.jsonl"] {
        std::fs::copy(bench.path(name), bench.path(&at(name))).expect("copied");
    }
    bench.write(&at("bad"), "rubbish");
    bench.write(&at("s.toml"), SPEC);
    let run = |words: &[&str], names: &[&str]| {
        let names =
            names.iter().map(|name| if name.starts_with('-') { (*name).to_owned() } else { at(name) });
        let child = std::process::Command::new(env!("CARGO_BIN_EXE_gambeson"))
            .args(words)
            .args(names)
            .current_dir(bench.path(""))
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn();
        let run = Bench::finish(&words.join(" "), child.expect("it runs"));
        harmless(&run);
        run.code
    };
    let words = |line: &'static str| line.split(' ').collect::<Vec<_>>();
    assert_eq!(run(&["bound"], &["m.npy", "--certificate", "c.json"]), 0);
    assert_eq!(run(&["bound"], &["bad"]), 2);
    assert_eq!(run(&["bound"], &["--bad", "bad"]), 2, "the command line itself");
    assert_eq!(run(&["check"], &["m.npy", "c.json"]), 0);
    let fit = words("project fit --data fashion --rank 2 --method axis --json");
    assert_eq!(run(&fit[..8], &["--out", "p.safetensors"]), 0);
    assert_eq!(run(&fit, &["--out", "p.safetensors"]), 0);
    assert_eq!(run(&words(certify), &["--out", "more.jsonl"]), 0);
    assert_eq!(run(&words("man"), &["--out", "manual"]), 0);
    assert_eq!(run(&["train"], &["s.toml", "--out", "run"]), 0);
    assert_eq!(run(&["export"], &["run/network.safetensors", "net.onnx"]), 0);
    let attack = words("attack --data fashion --epsilon 0.1 --every 500 --steps 1");
    let tail = [
        "--model",
        "run/network.safetensors",
        "--projection",
        "run/projection.safetensors",
        "--out",
        "a.npy",
    ];
    assert_eq!(run(&attack, &tail), 0);
    // And in what is written about them.
    let outputs = ["--csv", "t.csv", "--markdown", "t.md", "--latex", "t.tex", "--figure", "f.svg"];
    let logs = ["r.jsonl", "more.jsonl"];
    assert_eq!(run(&["analyze", "--mixed"], &[&logs[..], &outputs].concat()), 0);
    assert_eq!(run(&["analyze", "--json"], &["r.jsonl"]), 0);
    for name in ["t.csv", "t.md", "t.tex", "f.svg"] {
        let text = bench.read(&at(name));
        let obeyed = |letter: char| letter != '\n' && (letter.is_control() || letter == '\u{202e}');
        assert!(!text.contains(obeyed) && !text.contains("\nPROVEN"), "{text}");
        // The command is shown as code, where there is no markup.
        let text: String = text.lines().filter(|line| !line.starts_with("Made by `")).collect();
        assert!(name == "t.csv" || !text.contains("<script>"), "{text}");
    }
    let csv = bench.read(&at("t.csv"));
    assert!(csv.lines().skip(1).all(|line| line.starts_with("\"'=1+1")), "{csv}");
}
