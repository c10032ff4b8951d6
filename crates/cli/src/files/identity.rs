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
        let path = gambeson_lowrank::file::followed(path).unwrap_or_else(|_| path.to_owned());
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

    /// The regular files, if any, that stdout and stderr are: what is printed would be lost with them.
    pub(super) fn of_streams() -> Vec<Self> {
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;
            use std::os::unix::fs::MetadataExt;
            let (stdout, stderr) = (std::io::stdout(), std::io::stderr());
            let of = |stream: std::os::fd::BorrowedFd<'_>| {
                let file = std::fs::File::from(stream.try_clone_to_owned().ok()?).metadata().ok()?;
                file.is_file().then(|| Self::File(file.dev(), file.ino()))
            };
            [of(stdout.as_fd()), of(stderr.as_fd())].into_iter().flatten().collect()
        }
        #[cfg(not(unix))]
        Vec::new()
    }

    /// Whether an output is in a folder that is an input: there it would be read as a part of it, if not now, then the next
    /// time.
    pub(super) fn is_in(output_path: &Path, input_path: &Path) -> bool {
        let Ok(folder) = input_path.canonicalize() else { return false };
        let output = gambeson_lowrank::file::followed(output_path).unwrap_or_else(|_| output_path.to_owned());
        let output = std::path::absolute(&output).unwrap_or(output);
        // The file need not exist yet, nor need its folder.
        let existing = output.ancestors().find_map(|place| place.canonicalize().ok());
        folder.is_dir() && existing.is_some_and(|place| place.starts_with(&folder))
    }
}
