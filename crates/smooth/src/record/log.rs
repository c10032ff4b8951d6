//! Files of records: appended to, resumed after a kill, merged.

use super::certified::Record;
use super::entry::Entry;
use super::error::RecordError;
use super::line::{Fault, parse_line, to_line};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::{broken_off, without_mark};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// A file of entries of one run, open to append to; nobody else can append meanwhile.
#[derive(Debug)]
pub struct Log<E> {
    path: PathBuf,
    file: File,
    entries: PhantomData<fn(E)>,
}

/// A file of certification records.
pub type RecordLog = Log<Record>;

impl<E: Entry> Log<E> {
    /// Opens or creates the file, and returns the entries that it already holds, by index.
    ///
    /// A last line that was broken off by a kill is cut off: that input is to be done again. Everything else that is
    /// not an entry of this very run, or claims what its counts do not prove, is refused, and the file is left as it was.
    pub fn open_to_append(
        path: &Path,
        run: &E::Run,
        memory: MemoryLimit,
    ) -> Result<(Self, BTreeMap<u64, E>), RecordError> {
        let failed = |reason| RecordError::File { path: path.to_path_buf(), reason };
        let created = !path.exists();
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(RecordError::Locked { path: path.to_path_buf() });
        } // a file system without locks is no reason to stop
        if created {
            sync_folder(path).map_err(failed)?;
        }
        let bytes = memory.read_to_end(&mut file).map_err(failed)?;
        let lines = parse::<E>(path, &bytes)?;
        let mut present: BTreeMap<u64, &Line<E>> = BTreeMap::new();
        for line in &lines.records {
            same_run(path, line, run)?;
            agree(path, line, path, present.entry(line.record.parts().index).or_insert(line))?;
        }
        if lines.end < bytes.len() {
            file.set_len(lines.end as u64).map_err(failed)?;
        }
        if lines.end > 0 && bytes[lines.end - 1] != b'\n' {
            file.write_all(b"\n").map_err(failed)?;
        }
        file.sync_data().map_err(failed)?;
        let present = present.into_iter().map(|(index, line)| (index, line.record.clone())).collect();
        Ok((Self { path: path.to_path_buf(), file, entries: PhantomData }, present))
    }

    /// Appends one more entry; it is on the disk when this returns.
    pub fn append(&mut self, entry: &E) -> Result<(), RecordError> {
        let failed = |reason: std::io::Error| RecordError::File { path: self.path.clone(), reason };
        let mut line = to_line(entry).map_err(|reason| failed(reason.into()))?.into_bytes();
        line.push(b'\n');
        self.file.write_all(&line).and_then(|()| self.file.sync_data()).map_err(failed)
    }
}

/// Makes the name of a new file survive a crash as well.
fn sync_folder(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Reads the records of a file, in its order. A last line that was broken off by a kill is left out.
pub fn read_records(path: &Path, memory: MemoryLimit) -> Result<Vec<Record>, RecordError> {
    Ok(parse(path, &bytes_of(path, memory)?)?.records.into_iter().map(|line: Line| line.record).collect())
}

/// The records of a file with their line numbers, from 1, in its order; all of one run, whose inputs may occur twice if
/// both counted the same. A last line that was broken off by a kill is left out.
///
/// Of all readers, this one does not ask whether counts prove what stands beside them: [`crate::replay::examine`] does, record
/// by record, and tells all that it finds.
pub fn read_numbered_records(path: &Path, memory: MemoryLimit) -> Result<Vec<(usize, Record)>, RecordError> {
    let lines = parse_unproven::<Record>(path, &bytes_of(path, memory)?)?.records;
    let mut first: BTreeMap<u64, &Line> = BTreeMap::new();
    for line in &lines {
        same_run(path, line, &lines[0].record.run)?;
        agree(path, line, path, first.entry(line.record.index).or_insert(line))?;
    }
    Ok(lines.iter().map(|line| (line.number, line.record.clone())).collect())
}

/// The records of all files, shards of one run, by index. An input may occur twice if both counted the same.
pub fn merge_records(paths: &[PathBuf], memory: MemoryLimit) -> Result<Vec<Record>, RecordError> {
    let mut merged: Option<Merged<Record>> = None;
    for path in paths {
        for line in parse::<Record>(path, &bytes_of(path, memory)?)?.records {
            merged.get_or_insert_with(|| Merged::new(line.record.run.clone())).add(path, line)?;
        }
    }
    Ok(merged.map_or_else(Vec::new, |merged| merged.into_lines().map(|(_, line)| line.record).collect()))
}

fn bytes_of(path: &Path, memory: MemoryLimit) -> Result<Vec<u8>, RecordError> {
    memory.read_file(path).map_err(|reason| RecordError::File { path: path.to_path_buf(), reason })
}

/// What computed the network of the run that a file of records or predictions holds; none where it names nothing, or
/// holds no record.
pub fn recorded_runtime(path: &Path) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Named {
        runtime: Option<String>,
    }
    let mut line = Vec::new();
    let file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|file| file.is_file()))?;
    BufReader::new(file).take(1 << 24).read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice::<Named>(without_mark(&line)).ok()?.runtime
}

/// The entries of a file with their line numbers, and the number of a last line that was broken off and left out.
pub(crate) fn parse_records<E: Entry>(
    path: &Path,
    bytes: &[u8],
) -> Result<(Vec<Line<E>>, Option<usize>), RecordError> {
    let lines = parse(path, bytes)?;
    Ok((lines.records, lines.broken))
}

/// Entries of one run from several files, by index.
pub(crate) struct Merged<E: Entry> {
    run: E::Run,
    lines: BTreeMap<u64, (PathBuf, Line<E>)>,
}

impl<E: Entry> Merged<E> {
    pub(crate) fn new(run: E::Run) -> Self {
        Self { run, lines: BTreeMap::new() }
    }

    pub(crate) fn add(&mut self, path: &Path, line: Line<E>) -> Result<(), RecordError> {
        same_run(path, &line, &self.run)?;
        if let Some((other, first)) = self.lines.get(&line.record.parts().index) {
            return agree(path, &line, other, first);
        }
        self.lines.insert(line.record.parts().index, (path.to_path_buf(), line));
        Ok(())
    }

    pub(crate) fn into_lines(self) -> impl Iterator<Item = (PathBuf, Line<E>)> {
        self.lines.into_values()
    }
}

/// An entry and its line number, from 1.
pub(crate) struct Line<E = Record> {
    pub(crate) number: usize,
    pub(crate) record: E,
}

struct Lines<E> {
    records: Vec<Line<E>>,
    /// Bytes up to the end of the last record.
    end: usize,
    /// Number of the last line if it was broken off, from 1.
    broken: Option<usize>,
}

/// Whether the bytes may be records: of all logs, only ours are JSON.
pub(crate) fn recognises(bytes: &[u8]) -> bool {
    without_mark(bytes).trim_ascii_start().starts_with(b"{")
}

/// The entries of a file, each proven again from its counts: the one place where all readers ask for that.
fn parse<E: Entry>(path: &Path, bytes: &[u8]) -> Result<Lines<E>, RecordError> {
    let lines = parse_unproven::<E>(path, bytes)?;
    for Line { number, record } in &lines.records {
        record.check_claim().map_err(|problem| RecordError::Unproven {
            path: path.to_path_buf(),
            line: *number,
            index: record.parts().index,
            problem,
        })?;
    }
    Ok(lines)
}

fn parse_unproven<E: Entry>(path: &Path, bytes: &[u8]) -> Result<Lines<E>, RecordError> {
    let mut lines = Lines { records: Vec::new(), end: 0, broken: None };
    let mut end = 0;
    for (at, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        end += line.len();
        let number = at + 1;
        if line.trim_ascii().is_empty() {
            lines.end = end;
            continue;
        }
        let line = without_mark(line); // files that were joined have one before each
        match parse_line(line) {
            Ok(record) => lines.records.push(Line { number, record }),
            // Only what a killed writer can leave counts as broken off: the start of a record, or zeros, by which some
            // file systems lengthen a file before its bytes arrive.
            Err(Fault::Malformed(error))
                if end == bytes.len() && !error.is_data() && broken_off(line, E::START) =>
            {
                lines.broken = Some(number);
                break;
            }
            Err(Fault::Malformed(reason)) => {
                return Err(RecordError::Malformed { path: path.to_path_buf(), line: number, reason });
            }
            Err(Fault::Invalid(problem)) => {
                return Err(RecordError::Invalid { path: path.to_path_buf(), line: number, problem });
            }
        }
        lines.end = end;
    }
    Ok(lines)
}

fn same_run<E: Entry>(path: &Path, line: &Line<E>, run: &E::Run) -> Result<(), RecordError> {
    if line.record.parts().run == run {
        return Ok(());
    }
    let (field, expected, found) = difference(run, line.record.parts().run);
    Err(RecordError::OtherRun { path: path.to_path_buf(), line: line.number, field, expected, found })
}

/// The first field in which two runs differ, and its values.
fn difference<R: Serialize>(expected: &R, found: &R) -> (String, String, String) {
    let fields = |run: &R| match serde_json::to_value(run) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(), // a struct with named fields is an object
    };
    let (expected, found) = (fields(expected), fields(found));
    // A field may be left out of one of them.
    let value =
        |fields: &serde_json::Map<_, _>, field| fields.get(field).map_or("none".into(), ToString::to_string);
    // What explains the rest comes first: another projection has another κ.
    let telling = ["generator", "model", "runtime", "data", "projection", "noise", "sigma", "grid"]
        .map(ToOwned::to_owned);
    let mut names = telling.iter().chain(expected.keys()).chain(found.keys());
    let differs = names.find(|field| expected.get(*field) != found.get(*field));
    differs.map_or_else(
        || ("a number".to_owned(), "one".to_owned(), "another".to_owned()),
        |field| (field.clone(), value(&expected, field), value(&found, field)),
    )
}

fn agree<E: Entry>(path: &Path, line: &Line<E>, other: &Path, first: &Line<E>) -> Result<(), RecordError> {
    if line.record.same_counts(&first.record) {
        return Ok(());
    }
    Err(RecordError::Conflict {
        path: path.to_path_buf(),
        line: line.number,
        index: line.record.parts().index,
        other: other.to_path_buf(),
        other_line: first.number,
    })
}
