//! No import cycles between the modules of a crate, file by file and folder by folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The crates that are free of cycles.
const CRATES: [&str; 9] =
    ["checker", "lowrank", "smooth", "data", "learn", "report", "gambeson", "reproduce", "cli"];

/// A module as its path below the crate root, which itself is empty.
type Module = Vec<String>;
/// Which nodes each node imports.
type Graph<T> = BTreeMap<T, BTreeSet<T>>;

/// The sources of every module below a folder; unit tests, at the end of a file, are left out.
fn sources(folder: &Path, module: &[String], found: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let inner: Module = module.iter().cloned().chain([name.clone()]).collect();
        if path.is_dir() {
            sources(&path, &inner, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && name != "tests" {
            let text = fs::read_to_string(&path).expect("text");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let code = code.lines().map(|line| line.split("//").next().unwrap_or_default());
            let own = matches!(name.as_str(), "mod" | "lib" | "main");
            found.insert(if own { module.to_vec() } else { inner }, code.collect::<Vec<_>>().join(" "));
        }
    }
}

/// `a::{b, c::{d, e}}` as a::b, a::c::d, a::c::e.
fn expanded(tree: &str) -> Vec<String> {
    let Some((prefix, rest)) = tree.split_once('{') else { return vec![tree.trim().to_owned()] };
    let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in inner.chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if c == ',' && depth == 0 {
            parts.push(String::new());
        } else {
            parts.last_mut().expect("one at least").push(c);
        }
    }
    let parts = parts.iter().flat_map(|part| expanded(part));
    parts.map(|part| format!("{}{part}", prefix.trim())).collect()
}

/// The modules that a module imports, by `use` or by a path that begins with `crate` or `super`.
fn imports(module: &Module, code: &str, all: &BTreeMap<Module, String>) -> BTreeSet<Module> {
    let used = code.split("use ").skip(1).filter_map(|rest| rest.split_once(';'));
    let used = used.flat_map(|(tree, _)| expanded(tree));
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let inline = code.split(|c| !word(c)).filter(|path| path.contains("::")).map(str::to_owned);
    let mut found = BTreeSet::new();
    for path in used.chain(inline) {
        let mut names: Vec<&str> = path.split("::").map(str::trim).collect();
        // A path that begins with none of these words leads to a child of this module or to another crate.
        let downward = !matches!(names[0], "crate" | "self" | "super");
        let mut target: Module = if names[0] == "crate" { vec![] } else { module.clone() };
        while matches!(names.first(), Some(&("crate" | "self" | "super"))) {
            if names.remove(0) == "super" {
                target.pop();
            }
        }
        target.extend(names.into_iter().map(str::to_owned));
        while !all.contains_key(&target) {
            target.pop();
        }
        // The root only re-exports.
        if !target.is_empty() && target != *module && !(downward && module.starts_with(&target)) {
            found.insert(target);
        }
    }
    found
}

/// The nodes that reach themselves: empty where there is no cycle.
fn on_cycles<T: Ord + Clone>(graph: &Graph<T>) -> Vec<T> {
    let reaches = |start: &T| {
        let mut seen: BTreeSet<&T> = BTreeSet::new();
        let mut open: Vec<&T> = graph[start].iter().collect();
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                open.extend(graph.get(next).into_iter().flatten());
            }
        }
        seen.contains(start)
    };
    graph.keys().filter(|node| reaches(node)).cloned().collect()
}

/// The graph seen from a folder: its children, each with all that lies below it.
fn contracted(graph: &Graph<Module>, folder: &[String]) -> Graph<String> {
    let child = |module: &Module| module.strip_prefix(folder).and_then(|rest| rest.first().cloned());
    let mut children: Graph<String> = BTreeMap::new();
    for (from, imports) in graph {
        let Some(from) = child(from) else { continue };
        let others = imports.iter().filter_map(child).filter(|to| *to != from);
        children.entry(from.clone()).or_default().extend(others);
    }
    children
}

#[test]
fn imports_have_no_cycles() {
    for name in CRATES {
        let mut all = BTreeMap::new();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        sources(&folder, &[], &mut all);
        assert!(all.len() > 5, "{name}: {} modules", all.len());
        let graph: Graph<Module> =
            all.iter().map(|(module, code)| (module.clone(), imports(module, code, &all))).collect();
        assert_eq!(on_cycles(&graph), Vec::<Module>::new(), "{name}, between files");
        for folder in graph.keys() {
            assert_eq!(on_cycles(&contracted(&graph, folder)), Vec::<String>::new(), "{name}, in {folder:?}");
        }
    }
}

#[test]
fn cycles_are_seen() {
    let text = |code: &str| code.to_owned();
    let module = |path: &str| path.split("::").map(str::to_owned).collect::<Module>();
    let all: BTreeMap<Module, String> = [
        (vec![], text("")),
        (module("a"), text("use crate::{b::X, c}; use inner::Y;")),
        (module("a::inner"), text("use super::Z;")),
        (module("b"), text("fn f() { crate::c::g(); crate::lib() }")),
        (module("c"), text("use std::fmt; use crate::d;")),
        (module("d"), text("use crate::b::{self, X};")),
    ]
    .into();
    let graph: Graph<Module> =
        all.iter().map(|(own, code)| (own.clone(), imports(own, code, &all))).collect();
    let expected = ["a", "a::inner", "b", "c", "d"].map(module);
    assert_eq!(on_cycles(&graph), expected);
    assert_eq!(graph[&module("b")], BTreeSet::from([module("c")]));
    assert_eq!(on_cycles(&contracted(&graph, &[])), ["b", "c", "d"]);
}
