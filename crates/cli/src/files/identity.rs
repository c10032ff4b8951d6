//! What makes a file the same as another, whatever their names.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Links are followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// Device and inode of a file that exists.
    #[cfg(unix)]
    File(u64, u64),
    /// Its one absolute name, where the system has no inodes.
    #[cfg(not(unix))]
    File(PathBuf),
    /// One that does not exist: its folder, and its name in it.
    Place(Box<Identity>, OsString),
    /// One whose folder does not exist either.
    Nowhere(PathBuf),
}

impl Identity {
    pub(super) fn of(path: &Path) -> Self {
        let path = gambeson_lowrank::file::followed(path);
        if let Some(identity) = Self::of_existing(&path) {
            return identity;
        }
        let folder =
            path.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        match (folder.and_then(Self::of_existing), path.file_name()) {
            (Some(folder), Some(name)) => Self::Place(Box::new(folder), name.to_owned()),
            _ => Self::Nowhere(std::path::absolute(&path).unwrap_or(path)),
        }
    }

    #[cfg(unix)]
    fn of_existing(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(path).ok().map(|file| Self::File(file.dev(), file.ino()))
    }

    #[cfg(not(unix))]
    fn of_existing(path: &Path) -> Option<Self> {
        path.canonicalize().ok().map(Self::File)
    }

    /// Whether an output is an input, or an existing file in a folder that is one.
    pub(super) fn is_or_is_in(&self, input: &Self, output_path: &Path, input_path: &Path) -> bool {
        if self == input {
            return true;
        }
        let (Ok(output), Ok(folder)) = (output_path.canonicalize(), input_path.canonicalize()) else {
            return false;
        };
        folder.is_dir() && output.starts_with(&folder)
    }
}
