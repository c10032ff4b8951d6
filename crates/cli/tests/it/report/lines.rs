//! Lines to copy: each is run as it stands, by a shell, in the folder that the page was made in.

use super::{certify, ok, unescaped, with_network};
use crate::support::Bench;
use gambeson_testing::skipped;
use std::path::Path;
use std::process::Command;

/// What a shell prints for a line, with the program on its path.
fn shell(bench: &Bench, line: &str) -> Option<(i32, String)> {
    let program = Path::new(env!("CARGO_BIN_EXE_gambeson"));
    let folder = program.parent().expect("a folder").to_path_buf();
    let old = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&old))).expect("a path");
    let run = Command::new("bash").args(["-c", line]).env("PATH", path).current_dir(bench.path("")).output();
    let run = run.inspect_err(|_| skipped("there is no bash")).ok()?;
    let text = [run.stdout, run.stderr].concat();
    Some((run.status.code().expect("not killed"), String::from_utf8_lossy(&text).into_owned()))
}

/// The lines of a page, each once.
fn lines(html: &str) -> Vec<String> {
    let parts = html.split("<pre class=\"command\" tabindex=\"0\"><code>").skip(1);
    let line = |part: &str| {
        let words = part.split_once("</code>")?.0.replace("<span>", "").replace("</span>", "");
        Some(unescaped(&words))
    };
    let mut lines: Vec<String> = parts.filter_map(line).collect();
    lines.sort();
    lines.dedup();
    lines
}

#[test]
fn every_line_of_a_page_runs_and_checks_what_it_says() {
    let bench = Bench::new();
    with_network(&bench);
    let name = "it's $(touch hacked); `odd`.jsonl";
    certify(&bench, "0.5", "plain.jsonl");
    std::fs::rename(bench.path("plain.jsonl"), bench.path(name)).expect("renamed");
    ok(bench.run("report . --out report.html"));
    let html = bench.read("report.html");
    let lines = lines(&html);
    let verbs: Vec<&str> = lines.iter().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(verbs, ["analyze", "analyze", "check", "check"], "{lines:?}");
    for line in &lines {
        let Some((code, text)) = shell(&bench, line) else { return };
        assert_eq!(code, 0, "{line}: {text}");
        let expected = match line {
            _ if line.contains("--all") => "REDRAWN",
            _ if line.contains("cert.json") => "PROVEN",
            _ => "Certified accuracy at",
        };
        assert!(text.contains(expected), "{line}: {text}");
    }
    // That of an input, with its number in its place.
    let command = &super::island(&html)["inputs"]["runs"][0]["command"];
    let part = |at: usize| command[at].as_str().expect("a text");
    let line = format!("{}25{}", part(0), part(1));
    let Some((code, text)) = shell(&bench, &line) else { return };
    assert!(code == 0 && text.contains("SAMPLED: 1 of 40"), "{line}: {text}");
    assert!(!bench.path("hacked").exists(), "no name is a command");
}
