//! Help, manual pages, colours and the width of a page.

use crate::support::{Bench, unwrapped};
use gambeson_testing::skipped;
use std::process::{Command, Stdio};

/// All verbs, with those below them.
const VERBS: [&str; 23] = [
    "",
    "quickstart",
    "bound",
    "check",
    "data",
    "data info",
    "data fetch",
    "data import",
    "project",
    "project fit",
    "project inspect",
    "project sweep",
    "project spectrum",
    "train",
    "certify",
    "predict",
    "bundle",
    "attack",
    "analyze",
    "report",
    "export",
    "reproduce",
    "man",
];

#[test]
fn help_fits_into_eighty_columns_without_breaking_words() {
    let bench = Bench::new();
    for verb in VERBS {
        for flag in ["-h", "--help"] {
            let run = bench.run(&format!("{verb} {flag}"));
            assert_eq!(run.code, 0, "{verb}: {run:?}");
            for line in run.stdout.lines() {
                assert!(line.chars().count() <= 80, "{verb} {flag}: {line}");
            }
        }
        // The manual has the same paragraphs unwrapped: every word of it is whole in the help.
        if !verb.is_empty() {
            let help = unwrapped(&bench.run(&format!("{verb} --help")).stdout);
            let page = bench.run(&format!("man {verb}")).stdout;
            let text = page.lines().skip_while(|line| !line.starts_with(".SH DESCRIPTION")).nth(1);
            let text = text.expect("a description").replace("\\*(Aq", "'").replace('\\', "");
            assert!(help.contains(&unwrapped(&text)), "{verb}: {text} in {help}");
        }
    }
}

#[test]
fn all_pages_of_the_manual_are_written_to_a_folder() {
    let bench = Bench::new();
    let run = bench.run("man --out pages/man1");
    assert_eq!(run.code, 0, "{run:?}");
    for verb in VERBS.map(|verb| verb.replace(' ', "-")) {
        let name = if verb.is_empty() { "gambeson".to_owned() } else { format!("gambeson-{verb}") };
        let page = bench.read(&format!("pages/man1/{name}.1"));
        assert!(page.contains(&format!(".TH {name} 1")), "{page}");
        assert!(run.stdout.contains(&format!("{name}.1")), "{run:?}");
    }
    let one = bench.run("man project fit");
    assert_eq!(one.stdout, bench.read("pages/man1/gambeson-project-fit.1"));
    assert!(one.stdout.contains("gambeson project fit"), "the usage: {one:?}");
    let run = bench.run("man projects");
    assert!(
        run.code == 2 && run.stderr.contains("unknown verb `projects`: expected quickstart, "),
        "{run:?}"
    );
    assert_eq!(bench.run("man bound x").code, 2);
}

#[test]
fn pipes_have_no_colours() {
    let bench = Bench::new();
    for line in ["bound --demo", "bound missing.npy", "bound --nothing", "--help", "project fit --data x"] {
        let run = bench.run(line);
        assert!(!run.stdout.contains('\x1b') && !run.stderr.contains('\x1b'), "{line}: {run:?}");
    }
}

/// What a terminal of 80 columns gets, if `script` is there to play it.
fn on_a_terminal(bench: &Bench, line: &str, variables: &[(&str, &str)]) -> Option<String> {
    let command = format!("stty cols 80; {} {line}", env!("CARGO_BIN_EXE_gambeson"));
    let output = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .current_dir(bench.path(""))
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output();
    let output =
        output.inspect_err(|_| skipped("there is no program `script` to stand in for a terminal")).ok()?;
    Some(String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n"))
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_shows_verdicts_and_errors_in_colour() {
    let bench = Bench::new();
    let Some(tour) = on_a_terminal(&bench, "bound --demo", &[]) else { return };
    assert!(
        tour.contains("\x1b[1m\x1b[32mPROVEN\x1b[0m: ") && tour.contains("\x1b[31mREJECTED\x1b[0m: "),
        "{tour}"
    );
    let missing = on_a_terminal(&bench, "bound missing.npy", &[]).expect("a terminal");
    assert!(missing.contains("\x1b[31merror:\x1b[0m missing.npy"), "{missing}");
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let plain = on_a_terminal(&bench, "bound --demo", &[variable]).expect("a terminal");
        assert!(plain.contains("PROVEN") && !plain.contains('\x1b'), "{variable:?}: {plain}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn messages_on_a_terminal_are_wrapped_between_words() {
    let bench = Bench::new();
    bench.save_npy("negative.npy", 2, 2, &[1.0, 0.5, 0.5, -2.0]);
    for line in ["bound negative.npy", "analyze a.tsv --figure a-figure-with-a-long-name.pdf"] {
        let Some(text) = on_a_terminal(&bench, line, &[("NO_COLOR", "1")]) else { return };
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let piped = bench.run(line).stderr;
        assert_eq!(unwrapped(&text), unwrapped(&piped), "the same words");
        assert!(piped.lines().any(|line| line.len() > 80), "or there was nothing to wrap");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn live_lines_leave_nothing_behind() {
    let bench = Bench::new();
    let line = "project sweep --data fashion --methods axis,pca,robust --errors 0.2";
    let Some(text) = on_a_terminal(&bench, line, &[]) else { return };
    let drawn = |text: &str| text.chars().any(|letter| ('⠁'..='⣿').contains(&letter));
    assert!(drawn(&text) && text.contains("2 of 3"), "there was a live line: {text}");
    // What is left of a line is what was written after it was last cleared.
    let left: Vec<&str> = text.lines().filter_map(|line| line.rsplit("\x1b[2K").next()).collect();
    assert!(!drawn(&left.join("\n")), "{left:?}");
    assert_eq!(
        left.iter().filter(|line| !line.trim().is_empty()).count(),
        2 + 3,
        "title, head, rows: {left:?}"
    );
}
