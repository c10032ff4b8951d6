//! Bundles as folders.

use super::layout::{Files, MOST_FILES};
use super::name::Names;
use crate::error::bundle::{BundleError, BundleProblem};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::write_file;
use std::fs;
use std::io;
use std::path::Path;

/// The files of a folder that has nothing but files, none of them a link.
pub(crate) fn read_folder(path: &Path, memory: MemoryLimit) -> Result<Files, BundleError> {
    let content = |problem| BundleError::Content { path: path.to_path_buf(), problem };
    let failed = |reason| BundleError::Read { path: path.to_path_buf(), reason };
    let (mut names, mut found, mut bytes) = (Names::default(), Vec::new(), 0_u64);
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = names.take(entry.file_name().as_encoded_bytes()).map_err(content)?;
        let about = entry.path().symlink_metadata().map_err(failed)?;
        if !about.is_file() {
            let what = "is a link, a folder or a device, not a file";
            return Err(content(BundleProblem::File { name, what }));
        }
        bytes = bytes.saturating_add(about.len());
        found.push((name, entry.path()));
        if found.len() > MOST_FILES {
            return Err(content(BundleProblem::Many { most: MOST_FILES }));
        }
    }
    if !memory.allows(bytes) {
        return Err(content(BundleProblem::Large { bytes, memory }));
    }
    let read = |(name, path): (String, std::path::PathBuf)| {
        let bytes = memory.read_file(&path).map_err(|reason| BundleError::Read { path, reason })?;
        Ok((name, bytes))
    };
    found.into_iter().map(read).collect()
}

/// Writes files into a folder, in their order, in place of `earlier` ones, which are removed in their order.
pub(crate) fn write_folder(
    path: &Path,
    files: &[(&str, &[u8])],
    earlier: &[String],
) -> Result<(), BundleError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |reason: io::Error| BundleError::Write { path, reason }
    };
    fs::create_dir_all(path).map_err(failed(path))?;
    for name in earlier {
        let place = path.join(name);
        fs::remove_file(&place).map_err(failed(&place))?;
    }
    for (name, bytes) in files {
        let place = path.join(name);
        write_file(&place, bytes).map_err(failed(&place))?;
    }
    Ok(())
}
