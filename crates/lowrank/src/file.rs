//! Files that exist whole or not at all, and hashes of their content.

use sha2::{Digest, Sha256};
use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The ending of files that are being written.
const PART: &str = ".part";
/// Bytes of a name that still has room for what is put around it.
const LONGEST: usize = 200;
/// Letters and digits drawn for a temporary name: so many that no user's file has a name of this form by chance.
pub const DRAWN: usize = 16;

/// How long a process that was killed may take to be gone.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(50);

/// Keeps other processes out of an open file for as long as it is open; `false` where one of them has it and keeps it.
pub fn lock(file: &File) -> bool {
    let began = Instant::now();
    while let Err(TryLockError::WouldBlock) = file.try_lock() {
        if began.elapsed() > PATIENCE {
            return false;
        }
        sleep(PAUSE);
    } // some file systems have no locks, which is all right
    true
}

/// Bytes without the mark of UTF-8 that some editors put before a text.
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Whether a last line that begins with `start` may be what a kill left of one: its end is written last, and some file
/// systems lengthen a file by zeros before its bytes arrive.
pub fn broken_off(line: &[u8], start: &[u8]) -> bool {
    let begun = line.starts_with(start) || start.starts_with(line);
    (begun && !line.ends_with(b"\n")) || line.iter().all(|&byte| byte == 0)
}

/// The file that a path leads to, links followed, whether it exists or not; an error where they lead nowhere.
pub fn followed(path: &Path) -> io::Result<PathBuf> {
    const MOST: usize = 40;
    let mut place = path.to_path_buf();
    for _ in 0..MOST {
        let Ok(target) = std::fs::read_link(&place) else { return Ok(place) };
        place = place.parent().map_or(target.clone(), |folder| folder.join(&target));
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "is a link that leads back to itself"))
}

/// Writes a file under a temporary name beside its place and renames it, so that nobody sees it half-written. Where the
/// path is a link, that is what it leads to.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    prepare_file(path, bytes)?.put()
}

/// A file that is complete on the disk under a temporary name, beside its place.
pub struct PreparedFile {
    file: tempfile::NamedTempFile,
    place: PathBuf,
}

impl PreparedFile {
    /// Puts it into its place.
    pub fn put(self) -> io::Result<()> {
        self.file.persist(&self.place).map_err(|error| error.error)?;
        // The name is safe too once its folder is on the disk; not every system lets folders be synced.
        if let Some(folder) = self.place.parent()
            && let Ok(folder) =
                std::fs::File::open(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
        {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

/// Writes a file beside its place, to be put there later: several files can be complete before the first is replaced.
pub fn prepare_file(path: &Path, bytes: &[u8]) -> io::Result<PreparedFile> {
    let place = followed(path)?;
    let mut file = part_of(&place)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(PreparedFile { file, place })
}

/// A new file beside its place, to be renamed when it is complete: `.NAME.*.part`. Whoever writes one holds a lock on it, so
/// that those of programs that were killed can be told, and are removed here.
pub fn part_of(place: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Names have at most 255 bytes on most systems: a long one is told by its hash.
    let name = place.file_name().unwrap_or_default();
    let mut prefix = std::ffi::OsString::from(".");
    if name.len() <= LONGEST {
        prefix.push(name);
    } else {
        prefix.push(&sha256(name.as_encoded_bytes())[..16]);
    }
    prefix.push(".");
    remove_abandoned(folder, &prefix, PART, Left::File);
    loop {
        let mut builder = tempfile::Builder::new();
        // Who may read it is who may read what it replaces, or what the user's mask says: temporary files are private.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.prefix(&prefix).suffix(PART).rand_bytes(DRAWN).tempfile_in(folder)?;
        // Another program may have taken it for an abandoned one before it was locked. Not every system has locks.
        let locked = file.as_file().lock().is_ok();
        if locked && !file.path().exists() {
            continue;
        }
        if let Ok(replaced) = std::fs::metadata(place) {
            keep_owner(file.as_file(), &replaced);
            file.as_file().set_permissions(replaced.permissions())?;
        }
        return Ok(file);
    }
}

/// Gives a file to whom the one it replaces belongs, where the system allows that: it does for the administrator, who would
/// otherwise take files away from their owners.
fn keep_owner(file: &std::fs::File, replaced: &std::fs::Metadata) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let _ = fchown(file, Some(replaced.uid()), Some(replaced.gid()));
    }
    #[cfg(not(unix))]
    let _ = (file, replaced);
}

/// What a program that was killed leaves under a temporary name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// A file that was being written.
    File,
    /// A folder that was being filled.
    Folder,
}

/// Removes what was left under a temporary name; what cannot be removed stays.
pub fn remove_abandoned(folder: &Path, prefix: &std::ffi::OsStr, suffix: &str, left: Left) {
    for path in abandoned(folder, prefix, suffix, left) {
        let _ = match left {
            Left::File => std::fs::remove_file(path),
            Left::Folder => std::fs::remove_dir_all(path),
        };
    }
}

/// What has a temporary name, [`DRAWN`] letters and digits between these two, and nobody has locked.
pub fn abandoned(folder: &Path, prefix: &std::ffi::OsStr, suffix: &str, left: Left) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let drawn = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
        let drawn = drawn.and_then(|rest| rest.strip_suffix(suffix.as_bytes()));
        let ours = drawn.is_some_and(|it| it.len() == DRAWN && it.iter().all(u8::is_ascii_alphanumeric))
            && entry.file_type().is_ok_and(|kind| match left {
                Left::File => kind.is_file(),
                Left::Folder => kind.is_dir(),
            });
        if ours && std::fs::File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            found.push(entry.path());
        }
    }
    found
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// SHA-256 of bytes in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of numbers as little-endian binary64, one after the other, in hexadecimal digits.
pub fn sha256_of_numbers(numbers: &[f64]) -> String {
    sha256(&numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_program_left_is_removed_and_what_another_writes_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let (place, at) = (folder.path().join("x.json"), |name: &str| folder.path().join(name));
        let left = at(".x.json.aaaaaaaaaaaaaaaa.part");
        std::fs::write(&left, "half").expect("written");
        let others =
            [".y.json.aaaaaaaaaaaaaaaa.part", ".x.json.backup.part", ".x.json.my-own-copy-of-it.part"];
        others.iter().for_each(|name| std::fs::write(at(name), "of another").expect("written"));
        let folders = [".x.json.mine.part", ".x.json.bbbbbbbbbbbbbbbb.part"];
        folders.iter().for_each(|name| std::fs::create_dir(at(name)).expect("a folder"));
        let being_written = part_of(&place).expect("a part");
        write_file(&place, b"whole").expect("written");
        assert!(being_written.path().exists() && !left.exists());
        others.iter().chain(&folders).for_each(|name| assert!(at(name).exists(), "{name}"));
        drop(being_written);
        let count = std::fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!((count, std::fs::read(&place).expect("read").as_slice()), (6, &b"whole"[..]));
    }

    #[cfg(unix)]
    #[test]
    fn a_circle_of_links_is_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        std::os::unix::fs::symlink("other", &one).expect("a link");
        std::os::unix::fs::symlink("one", &other).expect("a link");
        assert!(write_file(&one, b"whole").is_err());
        assert!(one.is_symlink() && other.is_symlink());
    }

    #[cfg(unix)]
    #[test]
    fn whose_a_file_was_it_stays() {
        use std::os::unix::fs::{MetadataExt, chown};
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("x.json");
        std::fs::write(&place, "old").expect("written");
        // Only an administrator can give files away.
        if chown(&place, Some(12_345), Some(23_456)).is_ok() {
            write_file(&place, b"new").expect("written");
            let file = place.metadata().expect("a file");
            assert_eq!((file.uid(), file.gid()), (12_345, 23_456));
        }
    }
}
