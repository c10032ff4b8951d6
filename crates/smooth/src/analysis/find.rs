//! Logs by folder and by pattern.
//!
//! A folder stands for all files below it, hidden ones left out; a name with `*` or `?` for all files that fit, part by part
//! of the path. What exists is taken as it is named, so that odd names need no quoting.

use super::error::LogError;
use super::logged::Settings;
use super::read::read_logs;
use std::path::{Component, Path, PathBuf};

/// The files that names, folders and patterns stand for, each once, in the order given and sorted within.
pub fn find_logs(names: &[PathBuf]) -> Result<Vec<PathBuf>, LogError> {
    let mut found: Vec<PathBuf> = Vec::new();
    for name in names {
        let pattern = name.to_string_lossy().contains(['*', '?']) && !name.exists();
        let matching = if pattern { matching(name)? } else { vec![name.clone()] };
        if matching.is_empty() {
            return Err(LogError::NothingFound { path: name.clone() });
        }
        for path in matching {
            if path.is_dir() {
                let mut files = Vec::new();
                files_below(&path, &mut files)?;
                if files.is_empty() {
                    return Err(LogError::NothingFound { path });
                }
                found.extend(files);
            } else {
                found.push(path);
            }
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|path| seen.insert(path.clone()));
    Ok(found)
}

/// Those of the files that can be read as logs, and why the others cannot.
pub fn readable_logs(paths: &[PathBuf], settings: &Settings) -> (Vec<PathBuf>, Vec<LogError>) {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for path in paths {
        match read_logs(std::slice::from_ref(path), settings) {
            Ok(_) => good.push(path.clone()),
            Err(error) => bad.push(error),
        }
    }
    (good, bad)
}

/// Entries of a folder by name, hidden ones left out.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, LogError> {
    let failed = |reason| LogError::File { path: folder.to_path_buf(), reason };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !entry.file_name().to_string_lossy().starts_with('.') {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), LogError> {
    for path in entries(folder)? {
        if path.is_dir() {
            files_below(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// The paths that fit a pattern.
fn matching(pattern: &Path) -> Result<Vec<PathBuf>, LogError> {
    let mut places = vec![PathBuf::new()];
    for part in pattern.components() {
        let text = part.as_os_str().to_string_lossy().into_owned();
        let plain = !matches!(part, Component::Normal(_)) || !text.contains(['*', '?']);
        let mut next = Vec::new();
        for place in places {
            if plain {
                let path = place.join(part);
                if path.exists() {
                    next.push(path);
                }
                continue;
            }
            let folder = if place.as_os_str().is_empty() { Path::new(".") } else { &place };
            if !folder.is_dir() {
                continue;
            }
            for path in entries(folder)? {
                let name = path.file_name().unwrap_or_default();
                if fits(&text, &name.to_string_lossy()) {
                    next.push(place.join(name));
                }
            }
        }
        places = next;
    }
    Ok(places)
}

/// Whether a name fits a pattern: `*` is any letters, `?` any one.
fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    // Which beginnings of the pattern fit the letters so far.
    let mut states = vec![false; pattern.len() + 1];
    let skip_stars = |states: &mut Vec<bool>| {
        for (at, letter) in pattern.iter().enumerate() {
            states[at + 1] |= states[at] && *letter == '*';
        }
    };
    states[0] = true;
    skip_stars(&mut states);
    for letter in name {
        let mut next = vec![false; states.len()];
        for (at, expected) in pattern.iter().enumerate() {
            match expected {
                '*' => next[at] |= states[at],
                '?' => next[at + 1] |= states[at],
                expected => next[at + 1] |= states[at] && *expected == letter,
            }
        }
        states = next;
        skip_stars(&mut states);
    }
    states[pattern.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_what_they_should() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("*.tsv", "a.tsv", true),
            ("*.tsv", "a.tsv.gz", false),
            ("noise_?.??", "noise_0.25", true),
            ("noise_?.??", "noise_0.5", false),
            ("a*b*c", "aXXbYc", true),
            ("a*b*c", "aXXcYb", false),
            ("abc", "abc", true),
            ("**a", "ba", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn folders_and_patterns_are_expanded() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("b/c")).expect("folders");
        for name in ["b/2.tsv", "b/1.tsv", "b/c/3.tsv", "b/.hidden", "a.txt"] {
            std::fs::write(at(name), "x").expect("written");
        }
        let names = |found: Vec<PathBuf>| {
            let short =
                |path: &PathBuf| path.strip_prefix(folder.path()).expect("below").display().to_string();
            found.iter().map(short).collect::<Vec<String>>()
        };
        assert_eq!(
            names(find_logs(&[at("a.txt"), at("b")]).expect("found")),
            ["a.txt", "b/1.tsv", "b/2.tsv", "b/c/3.tsv"]
        );
        assert_eq!(names(find_logs(&[at("?/*.tsv"), at("b/1.tsv")]).expect("found")), ["b/1.tsv", "b/2.tsv"]);
        assert!(matches!(find_logs(&[at("*.csv")]), Err(LogError::NothingFound { .. })));
    }
}
