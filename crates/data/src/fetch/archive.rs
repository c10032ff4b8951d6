//! Members of archives, whose kind is told from their content: tar, plain or compressed with gzip or xz, and zip; a
//! folder will do as well.

use crate::error::{ArchiveProblem, DataError};
use crate::file::{gunzip, read_error, report, unxz, walk};
use crate::progress::{LoadProgress, Stage};
use gambeson_lowrank::observe::Observer;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::rc::Rc;

/// Calls `visit` with the name (without folders) and the content of every file in the archive, in the archive's order,
/// until `visit` returns an error.
pub(crate) fn visit(
    path: &Path,
    observer: &mut dyn Observer<LoadProgress>,
    visit: &mut dyn FnMut(&str, &mut dyn Read) -> Result<(), DataError>,
) -> Result<(), DataError> {
    if path.is_dir() {
        for file in walk(path)? {
            let mut content = Watched::open(&file)?;
            visit(last(&file.to_string_lossy()), &mut content)?;
            report(observer, Stage::Unpack, content.read.get(), Some(content.length))?;
        }
        return Ok(());
    }
    let mut content = Watched::open(path)?;
    let mut start = Vec::new();
    let at_path = |reason| DataError::Archive { path: path.to_owned(), reason };
    content.by_ref().take(512).read_to_end(&mut start).map_err(read_error(path))?;
    content.file.rewind().map_err(read_error(path))?;
    let (read, length) = (Rc::clone(&content.read), content.length);
    read.set(0);
    let mut seen = |name: &str, reader: &mut dyn Read| {
        let mut reader = Reporting { reader, read: &read, length, observer, stopped: false };
        let result = visit(last(name), &mut reader);
        if reader.stopped { Err(DataError::Stopped) } else { result }
    };
    match start.as_slice() {
        [0x1f, 0x8b, ..] => tar(gunzip(Box::new(content)), path, &mut seen),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => tar(unxz(Box::new(content), true), path, &mut seen),
        [b'P', b'K', 3, 4, ..] => zip(content, path, &mut seen),
        bytes if bytes.get(257..262) == Some(b"ustar") => tar(Box::new(content), path, &mut seen),
        bytes => {
            let start = bytes[..bytes.len().min(16)].escape_ascii().to_string();
            Err(at_path(ArchiveProblem::UnknownKind { start }))
        }
    }
}

type Visitor<'a> = &'a mut dyn FnMut(&str, &mut dyn Read) -> Result<(), DataError>;

fn tar(reader: Box<dyn Read>, path: &Path, visit: Visitor<'_>) -> Result<(), DataError> {
    let damaged =
        |reason| DataError::Archive { path: path.to_owned(), reason: ArchiveProblem::Damaged { reason } };
    let mut archive = tar::Archive::new(reader);
    for entry in archive.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        if entry.header().entry_type().is_file() {
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            visit(&name, &mut entry)?;
        }
    }
    // What follows the last member still has the checksum of the compression in it.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(damaged)?;
    Ok(())
}

fn zip(reader: Watched, path: &Path, visit: Visitor<'_>) -> Result<(), DataError> {
    let damaged = |reason: zip::result::ZipError| {
        let reason = ArchiveProblem::Damaged { reason: io::Error::other(reason) };
        DataError::Archive { path: path.to_owned(), reason }
    };
    let mut archive = zip::ZipArchive::new(reader).map_err(damaged)?;
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).map_err(damaged)?;
        if member.is_file() {
            let name = String::from_utf8_lossy(member.name_raw()).into_owned();
            visit(&name, &mut member)?;
        }
    }
    Ok(())
}

/// The name without its folders.
fn last(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

/// A file that counts what has been read of it, through whatever decoders lie between.
struct Watched {
    file: File,
    read: Rc<Cell<u64>>,
    length: u64,
}

impl Watched {
    fn open(path: &Path) -> Result<Self, DataError> {
        let file = File::open(path).map_err(read_error(path))?;
        let length = file.metadata().map_err(read_error(path))?.len();
        Ok(Self { file, read: Rc::new(Cell::new(0)), length })
    }
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        Ok(read)
    }
}

impl Seek for Watched {
    fn seek(&mut self, position: io::SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}

/// The content of a member; reading it reports how far in the archive it is.
struct Reporting<'a, 'b> {
    reader: &'a mut dyn Read,
    read: &'a Cell<u64>,
    length: u64,
    observer: &'b mut dyn Observer<LoadProgress>,
    stopped: bool,
}

impl Read for Reporting<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let done = self.read.get().min(self.length);
        if report(self.observer, Stage::Unpack, done, Some(self.length)).is_err() {
            self.stopped = true;
            return Err(io::ErrorKind::Other.into());
        }
        self.reader.read(buffer)
    }
}
