//! Files and observers for the tests of data sets and of networks alike.

use gambeson_data::progress::LoadProgress;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// An observer that never stops.
pub(crate) fn quiet(_: &LoadProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A temporary folder.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Writes a file, and the folders it lies in.
pub(crate) fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("created");
    std::fs::write(&path, bytes).expect("written");
    path
}
