//! Files of records as they are read: heads and entries, joined, and merged.

use super::certified::Record;
use super::entry::{Entry, Parts};
use super::error::RecordError;
use super::head::{DigestedRun, HEAD_START, Head, RunContent, begins_with_head, is_broken_head};
use super::line::{Fault, parse_line};
use crate::selection::Selection;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::{broken_off, without_mark};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How the line of an entry begins.
const ENTRY_START: &[u8] = b"{\"run\":\"";

/// An entry and its line number, from 1.
#[derive(Clone, Debug)]
pub(crate) struct Line<E> {
    pub(crate) number: usize,
    pub(crate) entry: E,
}

/// One file.
pub(crate) struct RecordedFile<E: Entry> {
    path: PathBuf,
    /// With their line numbers, from 1: at least one, all of one plan.
    pub(super) heads: Vec<(usize, Head<E::Run>)>,
    pub(crate) lines: Vec<Line<E>>,
    /// Bytes up to the end of the last whole line.
    pub(super) end: usize,
    /// Number of the last line if it was broken off, from 1.
    pub(super) broken: Option<usize>,
}

impl<E: Entry> RecordedFile<E> {
    /// Whether the file is of the plan of a head.
    pub(crate) fn is_of_plan(&self, head: &Head<E::Run>) -> bool {
        self.heads.first().is_some_and(|(_, own)| own.has_plan_of(head))
    }

    pub(super) fn read(path: &Path, memory: MemoryLimit) -> Result<Self, RecordError> {
        let bytes = memory
            .read_file(path)
            .map_err(|reason| RecordError::File { path: path.to_path_buf(), reason })?;
        Self::parse(path, &bytes)
    }

    /// Reads lines without asking whether counts prove what stands beside them.
    pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Self, RecordError> {
        let own = || path.to_path_buf();
        if !begins_with_head(bytes) {
            return Err(RecordError::NoHead { path: own() });
        }
        if is_broken_head(bytes) {
            return Err(RecordError::BrokenHead { path: own() });
        }
        let (heads, lines) = (Vec::new(), Vec::new());
        let mut file = Self { path: own(), heads, lines, end: 0, broken: None };
        let mut runs: Vec<Arc<DigestedRun<E::Run>>> = Vec::new();
        let mut end = 0;
        for (at, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
            end += line.len();
            let number = at + 1;
            if line.trim_ascii().is_empty() {
                file.end = end;
                continue;
            }
            let line = without_mark(line); // files that were joined have one before each
            let is_head = line.trim_ascii_start().starts_with(HEAD_START);
            let read = if is_head {
                Head::parse(line).map(|head| {
                    runs.push(Arc::clone(&head.run));
                    file.heads.push((number, head));
                })
            } else {
                parse_line(line, &runs).map(|entry| file.lines.push(Line { number, entry }))
            };
            match read {
                Ok(()) => {}
                // Only what a killed writer can leave counts as broken off: the start of a line, or zeros, by which some
                // file systems lengthen a file before its bytes arrive.
                Err(Fault::Malformed(error))
                    if end == bytes.len()
                        && !error.is_data()
                        && !file.heads.is_empty()
                        && (broken_off(line, ENTRY_START) || broken_off(line, HEAD_START)) =>
                {
                    file.broken = Some(number);
                    break;
                }
                Err(Fault::Malformed(reason)) => {
                    return Err(RecordError::Malformed { path: own(), line: number, reason });
                }
                Err(Fault::Invalid(problem)) => {
                    return Err(RecordError::Invalid { path: own(), line: number, problem });
                }
            }
            file.end = end;
        }
        file.check_plan()?;
        Ok(file)
    }

    /// Whether all heads have one plan, and all entries are of inputs that it selects.
    fn check_plan(&self) -> Result<(), RecordError> {
        let Some((_, first)) = self.heads.first() else { return Ok(()) };
        for (line, head) in &self.heads {
            one_plan(&self.path, *line, first, head)?;
        }
        let whole = first.selection.whole();
        for Line { number, entry } in &self.lines {
            let index = entry.parts().index;
            if !whole.contains(index) {
                let (path, line) = (self.path.clone(), *number);
                return Err(RecordError::NotSelected { path, line, index });
            }
        }
        Ok(())
    }

    /// Proves each entry again from its counts.
    pub(crate) fn check_claims(&self) -> Result<(), RecordError> {
        self.lines.iter().try_for_each(|Line { number, entry }| {
            entry.check_claim().map_err(|problem| RecordError::Unproven {
                path: self.path.clone(),
                line: *number,
                index: entry.parts().index,
                problem,
            })
        })
    }
}

/// Entries of one plan, from one file or several.
#[derive(Clone, Debug)]
pub struct Recorded<E: Entry> {
    head: Head<E::Run>,
    /// By index, with the file and the line of each.
    lines: BTreeMap<u64, (PathBuf, Line<E>)>,
    /// Files whose last line was broken off by a kill, with its number from 1.
    broken_off: Vec<(PathBuf, usize)>,
    /// Lines that say again what another line said.
    repeated: usize,
}

impl<E: Entry> Recorded<E> {
    /// Reads files of one plan, each entry proven again from its counts. An input may occur twice if both counted the
    /// same. A last line that was broken off by a kill is left out.
    pub fn read(paths: &[PathBuf], memory: MemoryLimit) -> Result<Self, RecordError> {
        Self::read_files(paths, memory, RecordedFile::check_claims)
    }

    /// The same without asking whether counts prove what stands beside them: for whoever does, record by record, and
    /// tells all that is wrong ([`crate::replay::examine`]).
    pub fn read_unproven(paths: &[PathBuf], memory: MemoryLimit) -> Result<Self, RecordError> {
        Self::read_files(paths, memory, |_| Ok(()))
    }

    fn read_files(
        paths: &[PathBuf],
        memory: MemoryLimit,
        check: impl Fn(&RecordedFile<E>) -> Result<(), RecordError>,
    ) -> Result<Self, RecordError> {
        let mut merged: Option<Self> = None;
        for path in paths {
            let file = RecordedFile::read(path, memory)?;
            check(&file)?;
            match &mut merged {
                None => merged = Some(Self::of_file(file)?),
                Some(merged) => merged.add(file)?,
            }
        }
        merged.ok_or(RecordError::NoFiles)
    }

    /// The entries of one file.
    pub(crate) fn of_file(file: RecordedFile<E>) -> Result<Self, RecordError> {
        let Some((_, head)) = file.heads.first() else {
            return Err(RecordError::NoHead { path: file.path });
        };
        let (head, lines) = (head.clone(), BTreeMap::new());
        let mut recorded = Self { head, lines, broken_off: Vec::new(), repeated: 0 };
        recorded.add(file)?;
        Ok(recorded)
    }

    /// Adds another file of the same plan.
    pub(crate) fn add(&mut self, file: RecordedFile<E>) -> Result<(), RecordError> {
        let RecordedFile { path, heads, lines, broken, .. } = file;
        for (line, head) in &heads {
            one_plan(&path, *line, &self.head, head)?;
        }
        for line in lines {
            let index = line.entry.parts().index;
            if let Some((other, first)) = self.lines.get(&index) {
                agree(&path, &line, other, first)?;
                self.repeated += 1;
            } else {
                self.lines.insert(index, (path.clone(), line));
            }
        }
        self.broken_off.extend(broken.map(|line| (path, line)));
        Ok(())
    }

    /// What the entries have in common. Its shard is that of the first file.
    pub fn head(&self) -> &Head<E::Run> {
        &self.head
    }

    /// How every input was treated.
    pub fn run(&self) -> &Arc<DigestedRun<E::Run>> {
        &self.head.run
    }

    /// Which inputs were to be treated, by all shards together.
    pub fn planned(&self) -> Selection {
        self.head.selection.whole()
    }

    /// The entries, by rising index.
    pub fn entries(&self) -> impl Iterator<Item = &E> + Clone {
        self.lines.values().map(|(_, line)| &line.entry)
    }

    /// The entries with the file and the line that each is from, by rising index.
    pub fn numbered(&self) -> impl Iterator<Item = (&Path, usize, &E)> + Clone {
        self.lines.values().map(|(path, line)| (&**path, line.number, &line.entry))
    }

    /// The entries, by index.
    pub fn into_entries(self) -> BTreeMap<u64, E> {
        self.lines.into_iter().map(|(index, (_, line))| (index, line.entry)).collect()
    }

    /// How many inputs have an entry.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether no input has an entry.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// How many inputs of the plan have none.
    pub fn missing(&self) -> u64 {
        self.planned().count.saturating_sub(self.lines.len() as u64) // all entries are of inputs planned
    }

    /// The inputs of the plan that have none, rising.
    pub fn missing_inputs(&self) -> impl Iterator<Item = u64> {
        self.planned().indices().filter(|index| !self.lines.contains_key(index))
    }

    /// Lines that say again what another line said.
    pub fn repeated(&self) -> usize {
        self.repeated
    }

    /// Files whose last line was broken off by a kill, with its number from 1: it is left out, and the run can resume.
    pub fn broken_off(&self) -> &[(PathBuf, usize)] {
        &self.broken_off
    }
}

/// Reads the records of one file; see [`Recorded::read`].
pub fn read_records(path: &Path, memory: MemoryLimit) -> Result<Recorded<Record>, RecordError> {
    Recorded::read(&[path.to_path_buf()], memory)
}

/// What computed the network of the run that a file of records or predictions holds; none where it names nothing, or
/// holds no head.
pub fn recorded_runtime(path: &Path) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Named {
        run: Run,
    }
    #[derive(serde::Deserialize)]
    struct Run {
        runtime: Option<String>,
    }
    let mut line = Vec::new();
    let file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|file| file.is_file()))?;
    BufReader::new(file).take(1 << 24).read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice::<Named>(without_mark(&line)).ok()?.run.runtime
}

/// Whether two heads have one plan.
fn one_plan<R: RunContent>(
    path: &Path,
    line: usize,
    expected: &Head<R>,
    found: &Head<R>,
) -> Result<(), RecordError> {
    if expected.has_plan_of(found) {
        return Ok(());
    }
    let path = path.to_path_buf();
    if expected.run.digest() == found.run.digest() {
        let (field, expected, found) = difference(&expected.selection.whole(), &found.selection.whole());
        Err(RecordError::OtherSelection { path, line, field, expected, found })
    } else {
        let (field, expected, found) = difference(&**expected.run, &**found.run);
        Err(RecordError::OtherRun { path, line, field, expected, found })
    }
}

/// The first field in which two runs or selections differ, and its values.
pub(super) fn difference<R: Serialize>(expected: &R, found: &R) -> (String, String, String) {
    let fields = |run: &R| match serde_json::to_value(run) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(), // a struct with named fields is an object
    };
    let (expected, found) = (fields(expected), fields(found));
    // A field may be left out of one of them.
    let value =
        |fields: &serde_json::Map<_, _>, field| fields.get(field).map_or("none".into(), ToString::to_string);
    // What explains the rest comes first: another projection has another κ, another n another seed.
    let telling =
        ["generator", "model", "runtime", "data", "projection", "noise", "sigma", "grid", "n0", "n", "rule"]
            .map(ToOwned::to_owned);
    let mut names = telling.iter().chain(expected.keys()).chain(found.keys());
    let differs = names.find(|field| expected.get(*field) != found.get(*field));
    differs.map_or_else(
        || ("a number".to_owned(), "one".to_owned(), "another".to_owned()),
        |field| (field.clone(), value(&expected, field), value(&found, field)),
    )
}

fn agree<E: Entry>(path: &Path, line: &Line<E>, other: &Path, first: &Line<E>) -> Result<(), RecordError> {
    if line.entry.same_counts(&first.entry) {
        return Ok(());
    }
    let Parts { index, .. } = line.entry.parts();
    Err(RecordError::Conflict {
        path: path.to_path_buf(),
        line: line.number,
        index,
        other: other.to_path_buf(),
        other_line: first.number,
    })
}
