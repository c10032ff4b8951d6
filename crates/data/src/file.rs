//! What the formats share: reading in pieces, reporting, walking through folders.

use crate::error::DataError;
use crate::progress::{LoadProgress, Stage};
use gambeson_lowrank::observe::Observer;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// Bytes handled between two looks at the observer.
pub(crate) const CHUNK: usize = 1 << 20;

/// Reports, and turns a wish to stop into an error.
pub(crate) fn report(
    observer: &mut dyn Observer<LoadProgress>,
    stage: Stage,
    done: u64,
    total: Option<u64>,
) -> Result<(), DataError> {
    show(observer, &LoadProgress::new(stage, done, total))
}

/// The same with everything that can be told.
pub(crate) fn show(
    observer: &mut dyn Observer<LoadProgress>,
    progress: &LoadProgress,
) -> Result<(), DataError> {
    if observer.observe(progress).is_break() { Err(DataError::Stopped) } else { Ok(()) }
}

pub(crate) fn read_error(path: &Path) -> impl FnOnce(std::io::Error) -> DataError {
    let path = path.to_owned();
    move |reason| DataError::Read { path, reason }
}

pub(crate) fn write_error(path: &Path) -> impl FnOnce(std::io::Error) -> DataError {
    let path = path.to_owned();
    move |reason| DataError::Write { path, reason }
}

/// The whole file, read in pieces, so that the observer is asked in between.
pub(crate) fn read_whole(
    path: &Path,
    stage: Stage,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<Vec<u8>, DataError> {
    let mut file = File::open(path).map_err(read_error(path))?;
    let length = file.metadata().map_err(read_error(path))?.len();
    let mut bytes = Vec::new();
    // A length is believed only as far as memory goes.
    let wanted = usize::try_from(length).unwrap_or(usize::MAX);
    bytes
        .try_reserve_exact(wanted)
        .map_err(|_| DataError::OutOfMemory { path: path.to_owned(), bytes: length })?;
    loop {
        let read =
            Read::by_ref(&mut file).take(CHUNK as u64).read_to_end(&mut bytes).map_err(read_error(path))?;
        report(observer, stage, bytes.len() as u64, Some(length.max(bytes.len() as u64)))?;
        if read == 0 {
            return Ok(bytes);
        }
    }
}

/// What a gzip stream holds, or several one after another. Decoders are made here and not where they are used: generic in
/// what they read, they would be compiled anew for each.
pub(crate) fn gunzip<'a>(packed: Box<dyn Read + 'a>) -> Box<dyn Read + 'a> {
    Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(1 << 16, packed)))
}

/// What an xz stream holds; or several one after another, if `several` are allowed.
pub(crate) fn unxz<'a>(packed: Box<dyn Read + 'a>, several: bool) -> Box<dyn Read + 'a> {
    Box::new(lzma_rust2::XzReader::new(BufReader::with_capacity(1 << 16, packed), several))
}

/// The last part of a path, for names.
pub(crate) fn base_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Levels of sub-folders that are followed.
const DEEPEST: usize = 32;

/// All files of a folder and its sub-folders, sorted by path; names that begin with a dot are left out.
pub(crate) fn walk(folder: &Path) -> Result<Vec<std::path::PathBuf>, DataError> {
    fn visit(folder: &Path, depth: usize, files: &mut Vec<std::path::PathBuf>) -> Result<(), DataError> {
        if depth > DEEPEST {
            return Err(DataError::TooDeep { path: folder.to_owned(), limit: DEEPEST });
        }
        for entry in std::fs::read_dir(folder).map_err(read_error(folder))? {
            let path = entry.map_err(read_error(folder))?.path();
            if base_name(&path).starts_with('.') {
                continue;
            }
            if path.is_dir() {
                visit(&path, depth + 1, files)?;
            } else {
                files.push(path);
            }
        }
        Ok(())
    }
    let mut files = Vec::new();
    visit(folder, 0, &mut files)?;
    files.sort();
    Ok(files)
}
