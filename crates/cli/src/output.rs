//! Where results go: stdout, and whether files can be written, before long work begins.

use anyhow::bail;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// A writer that goes on without an error after its reader has left (`gambeson … | head`): exit codes stay truthful.
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

/// Finds out before long work whether its result can be written.
pub(crate) fn writable(path: &Path) -> anyhow::Result<()> {
    let ends_as_folder = path.as_os_str().to_string_lossy().ends_with(std::path::is_separator);
    if path.is_dir() || ends_as_folder {
        bail!("{}: is a folder, not a file", path.display());
    }
    if path.exists() && !path.is_file() {
        bail!("{}: exists and is not a regular file", path.display());
    }
    // Renaming another file into its place would not ask.
    if path.metadata().is_ok_and(|file| file.permissions().readonly()) {
        bail!("{}: is read-only", path.display());
    }
    let place = match gambeson_lowrank::file::followed(path) {
        Ok(place) => place,
        Err(error) => bail!("{}: {error}", path.display()),
    };
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        bail!("{}: its folder does not exist", path.display());
    }
    if let Err(error) = gambeson_lowrank::file::part_of(&place) {
        bail!("{}: its folder is not writable: {}", path.display(), error.kind());
    }
    Ok(())
}
