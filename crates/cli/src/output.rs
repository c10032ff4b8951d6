//! Where results go.

use anyhow::bail;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// A writer to which a reader that has gone away (`gambeson … | head`) is no error: exit codes still tell the truth.
pub(crate) struct Output<W>(pub(crate) W);

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(bytes.len()),
            other => other,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}

/// Finds out before long work that its result could not be kept.
pub(crate) fn writable(path: &Path) -> anyhow::Result<()> {
    let ends_as_folder = path.as_os_str().to_string_lossy().ends_with(std::path::is_separator);
    if path.is_dir() || ends_as_folder {
        bail!("{}: is a folder, not a file to write", path.display());
    }
    if path.exists() && !path.is_file() {
        bail!("{}: is there and is no file, which would be replaced by one", path.display());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        bail!("{}: there is no such folder to write into", path.display());
    }
    if let Err(error) = tempfile::NamedTempFile::new_in(folder) {
        bail!("{}: its folder cannot be written to: {}", path.display(), error.kind());
    }
    Ok(())
}
