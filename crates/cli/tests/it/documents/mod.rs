//! README and docs: every command they show runs, and prints what is shown.
//!
//! Blocks of a page run in order in one folder, which has a copy of `models`. A `console` block has commands after `$ ` with
//! what they print, a `sh` block commands alone. Three comments change what happens to the block after them:
//!
//! * `<!-- not run: REASON -->`: nothing. The reason begins with install, download, gpu or hours, and there are at most ten.
//! * `<!-- saved as NAME -->`: the block is a file that the reader saves.
//! * `<!-- run with: OPTIONS -->`: the command, `gambeson quickstart`, runs with more options, and no number is compared.
//!
//! GAMBESON_WRITE_DOCUMENTS=1 replaces output that differs, unless lines of it are left out; GAMBESON_DOCUMENTS=train.md runs
//! one page.

/// Blocks of a page.
mod blocks;
/// What a command printed against what is shown.
mod printed;

use crate::support::{Bench, Run};
use blocks::{Block, Page, Shown, pages};
use gambeson_testing::skipped;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const MOST_NOT_RUN: usize = 10;
const REASONS: [&str; 4] = ["install", "download", "gpu", "hours"];

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A command that went wrong, or printed something else.
struct Difference {
    complaint: String,
    /// Lines of the page, and what they should be.
    correction: Option<(std::ops::Range<usize>, Vec<String>)>,
}

#[test]
fn every_command_shown_runs_and_prints_what_is_shown() {
    if std::process::Command::new("sh").args(["-c", "true"]).status().is_err() {
        skipped("there is no sh");
        return;
    }
    let all = pages();
    let wrong: Vec<&String> = all.iter().flat_map(|page| &page.complaints).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let reasons: Vec<&String> = all.iter().flat_map(Page::reasons).collect();
    assert!(reasons.len() <= MOST_NOT_RUN, "{} blocks are not run: {reasons:?}", reasons.len());
    let is_known = |reason: &&&String| REASONS.iter().any(|known| reason.starts_with(known));
    let unknown: Vec<_> = reasons.iter().filter(|reason| !is_known(reason)).collect();
    assert!(unknown.is_empty(), "reasons begin with one of {REASONS:?}: {unknown:?}");

    let wanted = std::env::var("GAMBESON_DOCUMENTS").ok();
    let chosen = all.iter().filter(|page| wanted.as_ref().is_none_or(|name| page.name.ends_with(name)));
    let chosen: Vec<&Page> = chosen.filter(|page| page.commands() > 0).collect();
    let (next, complaints) = (Mutex::new(chosen.iter()), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let page = next.lock().expect("no panic").next();
            let Some(page) = page else { return };
            let found = run(page);
            complaints.lock().expect("no panic").extend(found);
        }
    };
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    let ran: usize = chosen.iter().map(|page| page.commands()).sum();
    let text =
        format!("documents: {ran} commands ran, {} pages, {} blocks not run\n", chosen.len(), reasons.len());
    // `eprintln!` would be captured.
    let _ = std::io::stderr().write_all(text.as_bytes());
    let complaints = complaints.into_inner().expect("no panic");
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// Runs the commands of a page in a folder of their own.
fn run(page: &Page) -> Vec<String> {
    let bench = Bench::with_own_data();
    copy(&root().join("models"), &bench.path("models"));
    let mut differences = Vec::new();
    for block in &page.blocks {
        match block {
            Block::NotRun { .. } => {}
            Block::File { name, content } => bench.write(name, content),
            Block::Script { line, text, .. } => {
                let run = bench.shell(&format!("set -e\n{text}"));
                if run.code != 0 {
                    let complaint = format!("{}:{line}: exit {}\n{}", page.name, run.code, run.stdout);
                    differences.push(Difference { complaint, correction: None });
                }
            }
            Block::Console(commands) => {
                let mut code = 0;
                for (at, shown) in commands.iter().enumerate() {
                    let script = format!("(exit {code})\n{} {}", shown.command, shown.options);
                    let run = bench.shell(&script);
                    let is_told = commands.get(at + 1).is_some_and(|next| next.command == "echo $?");
                    differences.extend(difference(page, shown, &run, is_told));
                    code = run.code;
                }
            }
        }
    }
    if std::env::var_os("GAMBESON_WRITE_DOCUMENTS").is_some() {
        let corrections = differences.iter_mut().filter_map(|it| it.correction.take());
        page.write(corrections.collect());
    }
    differences.into_iter().map(|difference| difference.complaint).collect()
}

/// What is wrong with what a command printed and how it ended. `is_told`: whether its exit code is shown after it.
fn difference(page: &Page, shown: &Shown, run: &Run, is_told: bool) -> Option<Difference> {
    let place = format!("{}:{}: {}", page.name, shown.line, shown.command);
    if run.code != 0 && !is_told {
        let complaint = format!("{place}\nexit {} is not shown by `echo $?`\n{}", run.code, run.stdout);
        return Some(Difference { complaint, correction: None });
    }
    let expected = page.lines(shown.output.clone());
    if printed::agrees(&run.stdout, expected, !shown.options.is_empty()) {
        return None;
    }
    let complaint = format!("{place}\nshown:\n{}\nprinted:\n{}", expected.join("\n"), run.stdout);
    let is_whole = expected.iter().all(|line| line != printed::LEFT_OUT);
    let correction = is_whole.then(|| (shown.output.clone(), printed::lines_to_show(&run.stdout)));
    Some(Difference { complaint, correction })
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry").path();
        let place = to.join(entry.file_name().expect("a name"));
        if entry.is_dir() {
            copy(&entry, &place);
        } else {
            std::fs::copy(&entry, &place).expect("copied");
        }
    }
}

#[test]
fn links_lead_to_files_and_headings() {
    for page in pages() {
        let folder = root().join(&page.name).parent().expect("a folder").to_path_buf();
        for link in page.links() {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { root().join(&page.name) } else { folder.join(file) };
            assert!(target.exists(), "{}: {link}", page.name);
            if !anchor.is_empty() {
                let text = std::fs::read_to_string(&target).expect("a page");
                let anchors: Vec<String> = blocks::headings(&text).map(blocks::anchor).collect();
                assert!(anchors.iter().any(|known| known == anchor), "{}: {link}: {anchors:?}", page.name);
            }
        }
    }
}

#[test]
fn the_readme_is_short_and_the_index_complete() {
    let bytes = std::fs::read(root().join("README.md")).expect("README.md").len();
    assert!(bytes <= 8000, "README.md has {bytes} bytes");
    let index = std::fs::read_to_string(root().join("docs/README.md")).expect("the index");
    for page in pages() {
        if let Some(name) = page.name.strip_prefix("docs/").filter(|name| *name != "README.md") {
            assert!(index.contains(&format!("({name})")), "docs/README.md does not link to {name}");
        }
    }
}

#[test]
fn rust_examples_are_doc_tests() {
    let sources = ["gambeson/src/lib.rs", "smooth/src/session/mod.rs", "checker/src/lib.rs"];
    let read = |path: PathBuf| std::fs::read_to_string(path).expect("a file");
    // Lines that documentation hides begin with `# `.
    let tested = sources.map(|source| read(root().join("crates").join(source)));
    let lines = tested.iter().flat_map(|source| source.lines().filter_map(|line| line.strip_prefix("//! ")));
    let tested: Vec<&str> = lines.filter(|line| !line.starts_with("# ")).collect();
    let page = read(root().join("docs/library.md"));
    let examples: Vec<&str> =
        page.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!examples.is_empty(), "no examples");
    for example in examples {
        let lines: Vec<&str> = example.lines().collect();
        let is_tested = tested.windows(lines.len()).any(|window| window == lines);
        assert!(is_tested, "docs/library.md: no doc test is\n{example}");
    }
}

#[test]
fn every_key_of_a_spec_is_described() {
    let described = std::fs::read_to_string(root().join("docs/train.md")).expect("a page");
    let mut keys = 0;
    for source in ["crates/learn/src/train/spec.rs", "crates/learn/src/net/models/mod.rs"] {
        let path = root().join(source);
        let path = if path.exists() { path } else { root().join(source.replace("/mod.rs", ".rs")) };
        let text = std::fs::read_to_string(path).expect("source code");
        // Fields of the types that serde reads: `name: Type,` on a line of its own.
        let types = text.split("Error)]").next().unwrap_or_default();
        for line in types.lines().map(str::trim).filter(|line| line.ends_with(',')) {
            let Some((name, kind)) = line.trim_start_matches("pub ").split_once(": ") else { continue };
            let is_name = name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
            if is_name && !kind.contains("=>") {
                keys += 1;
                let is_described =
                    [format!("`{name}`"), format!("# [{name}]")].iter().any(|it| described.contains(it));
                assert!(is_described, "docs/train.md does not describe {name}");
            }
        }
    }
    assert!(keys >= 40, "only {keys} keys were found in the sources");
}
