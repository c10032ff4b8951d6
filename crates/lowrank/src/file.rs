//! Files that exist whole or not at all, and hashes of their content.

use sha2::{Digest, Sha256};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file under a temporary name beside its place and renames it, so that nobody sees it half-written.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let readable = std::fs::Permissions::from_mode(0o644); // temporary files are private by default
        file.as_file().set_permissions(readable)?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
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
