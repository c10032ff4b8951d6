//! Files that exist whole or not at all, and hashes of their content.

use sha2::{Digest, Sha256};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file that a path leads to, links followed, whether it exists or not. A circle of links is left as it is.
pub fn followed(path: &Path) -> PathBuf {
    const MOST: usize = 40;
    let mut place = path.to_path_buf();
    for _ in 0..MOST {
        let Ok(target) = std::fs::read_link(&place) else { return place };
        place = place.parent().map_or(target.clone(), |folder| folder.join(&target));
    }
    path.to_path_buf()
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
            && let Ok(folder) = std::fs::File::open(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
        {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

/// Writes a file beside its place, to be put there later: several files can be complete before the first is replaced.
pub fn prepare_file(path: &Path, bytes: &[u8]) -> io::Result<PreparedFile> {
    let place = followed(path);
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let readable = std::fs::Permissions::from_mode(0o644); // temporary files are private by default
        file.as_file().set_permissions(readable)?;
    }
    Ok(PreparedFile { file, place })
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
