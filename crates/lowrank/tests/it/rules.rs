//! Rules about the sources of all libraries that no compiler checks.

use std::fs;
use std::path::{Path, PathBuf};

/// The crates that others may use; the program is not among them.
const LIBRARIES: [&str; 8] =
    ["checker", "lowrank", "smooth", "data", "learn", "report", "gambeson", "reproduce"];
/// Most files in a folder of sources.
const MOST_FILES: usize = 15;

fn sources_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src")
}

/// Every file of sources below a folder with its code: without comments, and without unit tests at its end.
fn code_below(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        if path.is_dir() && !is_test {
            code_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test {
            let text = fs::read_to_string(&path).expect("text");
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            found.push((path, lines.collect::<Vec<_>>().join("\n")));
        }
    }
}

fn code_of(name: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    code_below(&sources_of(name), &mut found);
    assert!(found.len() > 5, "{name}: {} files", found.len());
    found
}

/// The first thing in a text that looks like an option of a command line: two dashes and a letter, after a quote, a space, a
/// bracket or a backtick.
fn option_in(code: &str) -> Option<&str> {
    let at = code.match_indices("--").map(|(at, _)| at).find(|&at| {
        let before =
            code[..at].chars().next_back().is_some_and(|c| matches!(c, '"' | ' ' | '(' | '`' | '\''));
        before && code[at + 2..].starts_with(|c: char| c.is_ascii_lowercase())
    })?;
    code[at..].split_whitespace().next()
}

#[test]
fn libraries_name_no_options_of_the_program() {
    for name in LIBRARIES {
        for (path, code) in code_of(name) {
            // These call programs by their options: curl, and gambeson itself. The page of a bundle says how the program
            // checks it.
            let calls = path.ends_with("fetch/curl.rs") || name == "reproduce";
            if calls || path.ends_with("bundle/page/evidence.rs") {
                continue;
            }
            assert_eq!(option_in(&code), None, "{}", path.display());
        }
    }
}

#[test]
fn libraries_leave_the_process_alone() {
    let forbidden =
        ["thread_local!", "build_global", "current_exe", "args_os", "env::args", "process::exit", "ctrlc"];
    for name in LIBRARIES {
        for (path, code) in code_of(name) {
            for word in forbidden {
                assert!(!code.contains(word), "{}: {word}", path.display());
            }
            // A process loads ONNX Runtime once: the one exception.
            let is_static = |line: &str| {
                let words: Vec<&str> = line.split_whitespace().take(4).collect();
                words
                    .iter()
                    .position(|&word| word == "static")
                    .is_some_and(|at| at == 0 || at == 1 && words[0].starts_with("pub"))
            };
            let state = code.lines().find(|line| is_static(line));
            assert!(state.is_none() || path.ends_with("onnx/library.rs"), "{}: {state:?}", path.display());
        }
    }
}

#[test]
fn folders_have_few_files() {
    fn count(folder: &Path) {
        let entries = || fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        let files = entries().filter(|path| path.is_file()).count();
        assert!(files <= MOST_FILES, "{}: {files} files", folder.display());
        entries().filter(|path| path.is_dir()).for_each(|path| count(&path));
    }
    for name in LIBRARIES.iter().chain(&["cli"]) {
        count(&sources_of(name));
    }
}

/// A file that no module names is never compiled, and its tests never run.
#[test]
fn every_file_is_a_module() {
    fn look(folder: &Path) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                look(&path);
                continue;
            }
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            if path.extension().is_none_or(|ending| ending != "rs")
                || ["lib", "main", "mod"].contains(&&*name)
            {
                continue;
            }
            let declared = ["lib.rs", "main.rs", "mod.rs"].iter().any(|parent| {
                fs::read_to_string(folder.join(parent))
                    .is_ok_and(|text| text.contains(&format!("mod {name};")))
            });
            assert!(declared, "{}: no module", path.display());
        }
    }
    let crates = sources_of("lowrank").join("../..");
    for entry in fs::read_dir(crates).expect("a folder") {
        let home = entry.expect("an entry").path();
        look(&home.join("src"));
        let tests = home.join("tests");
        if tests.is_dir() {
            let folders = fs::read_dir(tests).expect("a folder").map(|entry| entry.expect("an entry").path());
            folders.filter(|path| path.is_dir()).for_each(|folder| look(&folder));
        }
    }
}

/// What a user of the library needs is there by one name: its own tests have no other way in.
#[test]
fn tests_of_the_facade_name_no_other_library() {
    let mut found = Vec::new();
    for folder in ["tests", "benches"] {
        code_below(&sources_of("gambeson").join("..").join(folder), &mut found);
    }
    assert!(found.len() > 8);
    // Whoever forges a bundle writes its files by hand.
    found.retain(|(path, _)| !path.components().any(|part| part.as_os_str() == "bundle"));
    for (path, code) in found {
        let others = LIBRARIES.iter().find(|name| code.contains(&format!("gambeson_{name}")));
        assert_eq!(others, None, "{}", path.display());
    }
}

#[test]
fn options_are_seen() {
    assert_eq!(option_in("a \"--model\" b"), Some("--model\""));
    assert_eq!(option_in("give (--data D)"), Some("--data"));
    assert_eq!(option_in("a -- b, i--, --1, x--y"), None);
}
