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

/// The folder of public reference data; says on stderr that a test is skipped where it is not set.
pub(crate) fn reference() -> Option<PathBuf> {
    let folder = std::env::var_os("GAMBESON_REFERENCE_DATA").map(PathBuf::from);
    if folder.is_none() {
        #[allow(clippy::print_stderr)]
        {
            eprintln!("skipped: GAMBESON_REFERENCE_DATA is not set");
        }
    }
    folder
}
