//! Files of records: appended to, and resumed after a kill.

use super::certified::Record;
use super::entry::Entry;
use super::error::RecordError;
use super::file::{Recorded, RecordedFile, difference};
use super::head::{Head, is_broken_head};
use super::line::to_line;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::lock;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// A file of entries of one plan, open to append to; nobody else can append meanwhile.
#[derive(Debug)]
pub struct Log<E> {
    path: PathBuf,
    file: File,
    cut_off: Option<usize>,
    entries: PhantomData<fn(E)>,
}

/// A file of certification records.
pub type RecordLog = Log<Record>;

impl<E: Entry> Log<E> {
    /// Opens or creates the file, and returns the entries that it already holds, by index.
    ///
    /// A new or empty file gets the head. A head that a kill broke off is written again, and a last line that was broken off
    /// is cut off: that input is to be done again. Everything else that is not of this very plan, or claims what its
    /// counts do not prove, is refused, and the file is left as it was.
    pub fn open_to_append(
        path: &Path,
        head: &Head<E::Run>,
        memory: MemoryLimit,
    ) -> Result<(Self, BTreeMap<u64, E>), RecordError> {
        let failed = |reason| RecordError::File { path: path.to_path_buf(), reason };
        let created = !path.exists();
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
        if !lock(&file) {
            return Err(RecordError::Locked { path: path.to_path_buf() });
        }
        if created {
            sync_folder(path).map_err(failed)?;
        }
        let bytes = memory.read_to_end(&mut file).map_err(failed)?;
        let mut log = Self { path: path.to_path_buf(), file, cut_off: None, entries: PhantomData };
        if bytes.is_empty() || is_broken_head::<E::Run>(&bytes) {
            log.cut_off = (!bytes.is_empty()).then_some(1);
            log.file.set_len(0).map_err(failed)?;
            log.write_line(head.to_line().map_err(|reason| failed(reason.into()))?)?;
            return Ok((log, BTreeMap::new()));
        }
        let found = RecordedFile::<E>::parse(path, &bytes)?;
        found.check_claims()?;
        same_plan(path, &found, head)?;
        let (end, broken) = (found.end, found.broken);
        let present = Recorded::of_file(found)?.into_entries();
        if end < bytes.len() {
            log.file.set_len(end as u64).map_err(failed)?;
        }
        if end > 0 && bytes[end - 1] != b'\n' {
            log.file.write_all(b"\n").map_err(failed)?;
        }
        log.file.sync_data().map_err(failed)?;
        log.cut_off = broken;
        Ok((log, present))
    }

    /// The number of the last line, from 1, if a kill had broken it off: it was cut off, or written again if it was the
    /// head.
    pub fn cut_off(&self) -> Option<usize> {
        self.cut_off
    }

    /// Appends one more entry; it is on the disk when this returns.
    pub fn append(&mut self, entry: &E) -> Result<(), RecordError> {
        let line = to_line(entry)
            .map_err(|reason| RecordError::File { path: self.path.clone(), reason: reason.into() })?;
        self.write_line(line)
    }

    fn write_line(&mut self, line: String) -> Result<(), RecordError> {
        let mut line = line.into_bytes();
        line.push(b'\n');
        self.file
            .write_all(&line)
            .and_then(|()| self.file.sync_data())
            .map_err(|reason| RecordError::File { path: self.path.clone(), reason })
    }
}

/// Makes the name of a new file survive a crash as well.
fn sync_folder(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Whether a file has the head at hand, among others of its plan.
fn same_plan<E: Entry>(path: &Path, found: &RecordedFile<E>, head: &Head<E::Run>) -> Result<(), RecordError> {
    let Some((line, first)) = found.heads.first() else { return Ok(()) };
    if first.run.digest() != head.run.digest() {
        let (field, expected, found) = difference(&**head.run, &**first.run);
        return Err(RecordError::OtherRun { path: path.to_path_buf(), line: *line, field, expected, found });
    }
    if found.heads.iter().any(|(_, own)| own.selection == head.selection) {
        return Ok(());
    }
    let (field, expected, found) = difference(&head.selection, &first.selection);
    Err(RecordError::OtherSelection { path: path.to_path_buf(), line: *line, field, expected, found })
}
