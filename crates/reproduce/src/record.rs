//! Records of runs, one JSON object per line: written as soon as a run ends, never rewritten.

use crate::error::ReproduceError;
use crate::event::{ReproduceEvent, Watch};
use crate::machine::cpu_model;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::{broken_off, without_mark};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// One run of `gambeson`: `C` is what it ran on, `O` what it printed; in JSON, the fields of both stand beside the others.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record<C, O> {
    pub(crate) experiment: String,
    #[serde(flatten)]
    pub(crate) case: C,
    /// The label of the solver or method.
    pub(crate) solver: String,
    /// What `gambeson` was called with, but for threads and places of files.
    pub(crate) arguments: Vec<String>,
    pub(crate) exit: i32,
    /// Wall-clock seconds of the whole process.
    pub(crate) seconds_wall: f64,
    #[serde(flatten)]
    pub(crate) output: O,
    #[serde(flatten)]
    pub(crate) setup: Setup,
}

/// What times depend on besides the run itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) threads: usize,
    /// Version of the program.
    version: String,
    /// Model of the processor, if the system reports it.
    cpu: Option<String>,
}

impl Setup {
    /// This program on this machine.
    pub(crate) fn here(threads: usize) -> Self {
        Self { threads, version: env!("CARGO_PKG_VERSION").to_owned(), cpu: cpu_model() }
    }

    /// Whether runs here and there can be shown together: of one version, and where times count, of one machine.
    pub(crate) fn goes_with(&self, other: &Self, times: bool) -> bool {
        if times { self == other } else { self.version == other.version }
    }

    fn cpu(&self) -> &str {
        self.cpu.as_deref().unwrap_or("unknown processor")
    }
}

impl std::fmt::Display for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plural = if self.threads == 1 { "" } else { "s" };
        write!(f, "gambeson {} on {}, {} thread{plural}", self.version, self.cpu(), self.threads)
    }
}

/// A run of another solver, as `bench/peers/sdp/solvers.py` writes it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PeerRecord {
    pub(crate) kind: String,
    pub(crate) n: usize,
    pub(crate) solver: String,
    /// The limit, for a run that timed out; null if it failed.
    pub(crate) seconds: Option<f64>,
    /// What it claims; null without a result.
    pub(crate) value: Option<f64>,
    below_proven_lower: Option<bool>,
    note: Option<String>,
    pub(crate) threads: Option<usize>,
    pub(crate) cpu: Option<String>,
}

impl PeerRecord {
    /// Whether the run came to a result, but not to the one asked for.
    pub(crate) fn is_short(&self) -> bool {
        let signs = ["not reached", "not converged", "reduced accuracy", "inaccurate"]; // as in solvers.py
        let noted = self.note.as_deref().is_some_and(|note| signs.iter().any(|sign| note.contains(sign)));
        self.value.is_some() && (noted || self.below_proven_lower == Some(true))
    }
}

/// Lines of a file of records.
struct Lines<T> {
    records: Vec<T>,
    /// Bytes up to the end of the last good line.
    good: usize,
    /// The number of the last line, from 1, if it was cut off: its writer was stopped.
    broken: Option<usize>,
}

/// How records of runs begin, and those of other solvers.
pub(crate) const OWN: &[u8] = b"{\"experiment\":";
pub(crate) const PEERS: &[u8] = b"{\"kind\":";

/// Records that begin with `start`.
fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8], start: &[u8]) -> Result<Lines<T>, ReproduceError> {
    let mut lines = Lines { records: Vec::new(), good: 0, broken: None };
    let mut end = 0;
    for (at, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        end += line.len();
        if !line.trim_ascii().is_empty() {
            let line = without_mark(line);
            match serde_json::from_slice(line) {
                Ok(record) => lines.records.push(record),
                // A writer that was stopped leaves the start of a record, or zeros. All else is somebody's text.
                Err(error) if end == bytes.len() && !error.is_data() && broken_off(line, start) => {
                    lines.broken = Some(at + 1);
                    break;
                }
                Err(reason) => {
                    return Err(ReproduceError::NotARecord {
                        path: path.to_path_buf(),
                        line: at + 1,
                        reason,
                    });
                }
            }
        }
        lines.good = end;
    }
    Ok(lines)
}

/// Reads records that begin with `start`, without changing the file; a last line that was cut off is reported and ignored.
pub(crate) fn read<T: DeserializeOwned>(
    path: &Path,
    start: &[u8],
    memory: MemoryLimit,
    watch: &Watch<'_>,
) -> Result<Vec<T>, ReproduceError> {
    let bytes =
        memory.read_file(path).map_err(|reason| ReproduceError::File { path: path.to_path_buf(), reason })?;
    let lines = parse(path, &bytes, start)?;
    if let Some(line) = lines.broken {
        watch(&ReproduceEvent::Torn { path: path.to_path_buf(), line, removed: false });
    }
    Ok(lines.records)
}

/// A file of records to append to.
pub(crate) struct Store {
    path: PathBuf,
    file: File,
}

impl Store {
    /// Opens or creates the file, locked for this process, and removes a last line that was cut off.
    pub(crate) fn open<R: DeserializeOwned>(
        path: &Path,
        memory: MemoryLimit,
        watch: &Watch<'_>,
    ) -> Result<(Self, Vec<R>), ReproduceError> {
        let failed = |reason| ReproduceError::File { path: path.to_path_buf(), reason };
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(ReproduceError::Locked { path: path.to_path_buf() });
        } // some file systems have no locks, which is all right
        let bytes = memory.read_to_end(&mut file).map_err(failed)?;
        let lines: Lines<R> = parse(path, &bytes, OWN)?;
        if let Some(line) = lines.broken {
            watch(&ReproduceEvent::Torn { path: path.to_path_buf(), line, removed: true });
            file.set_len(lines.good as u64).map_err(failed)?;
        } else if bytes.last().is_some_and(|&last| last != b'\n') {
            file.write_all(b"\n").map_err(failed)?;
        }
        Ok((Self { path: path.to_path_buf(), file }, lines.records))
    }

    /// Appends a record; it is on the disk when this returns.
    pub(crate) fn append(&mut self, record: &impl Serialize) -> Result<(), ReproduceError> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        written.map_err(|reason| ReproduceError::File { path: self.path.clone(), reason })
    }
}
