//! A bundle in memory: its files, and whether they are those that its manifest names.

use super::archive::{Files, ZipError, read_folder, read_zip, write_folder, write_zip};
use super::manifest::{
    CERTIFICATE, DATA, FileEntry, MANIFEST, MARK, Manifest, NETWORKS, PAGE, PROJECTION, RECORDS, SIGNATURES,
    WEIGHTS,
};
use crate::context::Context;
use crate::error::Error;
use crate::error::bundle::{BundleError, BundleProblem};
use gambeson_learn::runtime::NetworkContent;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::{part_of, sha256};
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Cursor, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Evidence for a run that can be handed over: records, projection with certificate, network and data as far as they are
/// included, and a page for people. The files are in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    manifest: Manifest,
    /// Hash of the manifest.
    sha256: String,
    /// All files but the manifest.
    files: Files,
    /// Files that are not those that the manifest names.
    altered: Vec<String>,
    /// Signatures that lie beside the manifest.
    signatures: Vec<String>,
    /// Where it was saved.
    out: Option<PathBuf>,
}

/// What `bundle --json` prints. Keys are only ever added.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BundleRecord {
    /// Where it was saved; null where it was not.
    pub out: Option<String>,
    /// Hash of its manifest, which names the hash of every other file.
    pub manifest_sha256: String,
    /// Bytes of all files together.
    pub bytes: u64,
    /// What it says of itself.
    #[serde(flatten)]
    pub manifest: Manifest,
}

impl Serialize for Bundle {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.record().serialize(serializer)
    }
}

impl Bundle {
    /// Of files, the manifest and signatures of it included.
    fn of_files(mut files: Files) -> Result<Self, BundleProblem> {
        let bytes = files.remove(MANIFEST).ok_or(BundleProblem::NoManifest)?;
        let manifest = Manifest::parse(&bytes)?;
        let signatures = SIGNATURES.iter().filter(|name| files.remove(**name).is_some());
        let signatures = signatures.map(|&name| name.to_owned()).collect();
        if let Some(name) = files.keys().find(|name| manifest.files.iter().all(|file| file.name != **name)) {
            return Err(BundleProblem::Unknown { name: name.clone() });
        }
        let mut altered = Vec::new();
        for expected in &manifest.files {
            let name = &expected.name;
            let bytes = files.get(name).ok_or_else(|| BundleProblem::Missing { name: name.clone() })?;
            let found = FileEntry::new(name, bytes);
            if found != *expected {
                let (found, expected) = (found.sha256, &expected.sha256);
                altered.push(format!("{name}: has the SHA-256 {found}, but the manifest says {expected}"));
            }
        }
        Ok(Self { sha256: sha256(&bytes), manifest, files, altered, signatures, out: None })
    }

    /// Of files without a manifest, and this.
    pub(super) fn new(manifest: Manifest, files: Files) -> Result<Self, serde_json::Error> {
        let sha256 = sha256(&manifest.to_bytes()?);
        Ok(Self { manifest, sha256, files, altered: Vec::new(), signatures: Vec::new(), out: None })
    }

    /// Reads the bytes of an archive; `path` names it in errors.
    pub fn parse_zip(path: &Path, bytes: &[u8], memory: MemoryLimit) -> Result<Self, Error> {
        Ok(Self::of_zip(path, &mut Cursor::new(bytes), memory)?)
    }

    fn of_zip(
        path: &Path,
        reader: &mut (impl Read + Seek),
        memory: MemoryLimit,
    ) -> Result<Self, BundleError> {
        let path = || path.to_path_buf();
        let files = read_zip(reader, memory).map_err(|error| match error {
            ZipError::Io(reason) => BundleError::Read { path: path(), reason },
            ZipError::Problem(problem) => BundleError::Content { path: path(), problem },
        })?;
        Self::of_files(files).map_err(|problem| BundleError::Content { path: path(), problem })
    }

    fn of_folder(path: &Path, memory: MemoryLimit) -> Result<Self, BundleError> {
        let files = read_folder(path, memory)?;
        Self::of_files(files).map_err(|problem| BundleError::Content { path: path.to_path_buf(), problem })
    }

    /// What it is, as data.
    pub fn record(&self) -> BundleRecord {
        BundleRecord {
            out: self.out.as_ref().map(|out| out.to_string_lossy().into_owned()),
            manifest_sha256: self.sha256.clone(),
            bytes: self.bytes(),
            manifest: self.manifest.clone(),
        }
    }

    /// What it says of itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Hash of the manifest, which names all others: it stands for the bundle.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The content of a file.
    pub fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(Vec::as_slice)
    }

    /// Files that are not those that the manifest names, in words.
    pub fn altered(&self) -> &[String] {
        &self.altered
    }

    /// Signatures that lie beside the manifest; nobody has verified them.
    pub fn signatures(&self) -> &[String] {
        &self.signatures
    }

    /// Bytes of all files together.
    pub fn bytes(&self) -> u64 {
        self.files.values().map(|bytes| bytes.len() as u64).sum()
    }

    /// The network with what its graph refers to, and its file's name; none where it is not included.
    pub(super) fn network(&self) -> Option<(&Path, NetworkContent)> {
        let entry = &self.manifest.network;
        let name = entry.file.as_deref()?;
        let content = |name: &str| self.file(name).unwrap_or_default().to_vec();
        let external = entry.external.iter();
        let external = external.map(|it| (it.location.clone(), content(&it.file))).collect();
        Some((Path::new(name), NetworkContent { bytes: content(name), external }))
    }

    /// All files in the order in which they are written: the manifest first, for whoever looks into an archive.
    fn in_order<'a>(&'a self, manifest: &'a [u8]) -> Vec<(&'a str, &'a [u8])> {
        let others = self.files.iter().map(|(name, bytes)| (&**name, &**bytes));
        std::iter::once((MANIFEST, manifest)).chain(others).collect()
    }

    fn manifest_bytes(&self, path: &Path) -> Result<Vec<u8>, BundleError> {
        let failed = |reason: serde_json::Error| BundleError::Write {
            path: path.to_path_buf(),
            reason: reason.into(),
        };
        self.manifest.to_bytes().map_err(failed)
    }

    /// The bytes of an archive: always the same for the same bundle.
    pub fn to_zip(&self) -> Result<Vec<u8>, Error> {
        let path = Path::new("bundle.zip");
        let manifest = self.manifest_bytes(path)?;
        let mut bytes = Vec::new();
        let failed = |reason| BundleError::Write { path: path.to_path_buf(), reason };
        write_zip(&mut bytes, &self.in_order(&manifest)).map_err(failed)?;
        Ok(bytes)
    }

    /// Writes an archive where the name ends with `.zip`, else a folder, whole or not at all. A folder that is there must be
    /// empty or hold a bundle, which is replaced.
    pub fn save(&mut self, path: &Path) -> Result<(), Error> {
        self.write(path)?;
        self.out = Some(path.to_path_buf());
        Ok(())
    }

    fn write(&self, path: &Path) -> Result<(), BundleError> {
        let manifest = self.manifest_bytes(path)?;
        let files = self.in_order(&manifest);
        if !is_archive_name(path) {
            let earlier = replaceable(path)?;
            // The manifest last: without it there is no bundle.
            let (first, others) = files.split_at(1);
            return write_folder(path, &[others, first].concat(), &earlier);
        }
        let failed = |reason| BundleError::Write { path: path.to_path_buf(), reason };
        let place = gambeson_lowrank::file::followed(path).map_err(failed)?;
        let mut part = part_of(&place).map_err(failed)?;
        let mut out = BufWriter::new(part.as_file_mut());
        write_zip(&mut out, &files).and_then(|()| out.flush()).map_err(failed)?;
        drop(out);
        part.as_file().sync_all().map_err(failed)?;
        part.persist(&place).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

/// Whether a bundle of this name is an archive and not a folder.
pub fn is_archive_name(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip"))
}

/// All files that a bundle may have in a folder, but for those that a graph refers to.
pub fn possible_files(folder: &Path) -> Vec<PathBuf> {
    let names = [MANIFEST, PAGE, RECORDS, PROJECTION, CERTIFICATE, DATA];
    names.iter().chain(&NETWORKS).map(|name| folder.join(name)).collect()
}

/// The names in a folder that may be replaced by a bundle, the manifest first: it is empty, or holds a bundle and nothing
/// else.
fn replaceable(folder: &Path) -> Result<Vec<String>, BundleError> {
    let failed = |reason| BundleError::Write { path: folder.to_path_buf(), reason };
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let own = possible_files(folder);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let of_bundle = own.contains(&entry.path())
            || SIGNATURES.contains(&&*name)
            || name.strip_prefix(WEIGHTS).is_some_and(|number| number.parse::<u16>().is_ok());
        if !of_bundle || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            return Err(BundleError::OtherFolder { path: folder.to_path_buf(), name });
        }
        names.push(name);
    }
    let mark = &MARK[MANIFEST.len()..];
    let is_bundle = begins_with(&folder.join(MANIFEST), &[], mark);
    if let Some(name) = names.first().filter(|_| !is_bundle) {
        return Err(BundleError::OtherFolder { path: folder.to_path_buf(), name: name.clone() });
    }
    names.sort_by_key(|name| name != MANIFEST);
    Ok(names)
}

/// Whether a file begins with the first bytes and has the mark within the next hundred.
fn begins_with(path: &Path, first: &[u8], mark: &[u8]) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(100).read_to_end(&mut start));
    read.is_ok() && start.starts_with(first) && start.windows(mark.len()).any(|part| part == mark)
}

/// Reads a bundle: a folder or a zip archive. Its files are compared with the hashes of its manifest
/// ([`Bundle::altered`]); what they claim is left to [`check_bundle`](crate::check_bundle).
///
/// Nothing is written, and what would take more than the memory limit is refused.
pub fn open_bundle(context: &Context, path: &Path) -> Result<Bundle, Error> {
    let memory = context.memory_limit();
    let failed = |reason| BundleError::Read { path: path.to_path_buf(), reason };
    let bundle = if path.is_dir() {
        Bundle::of_folder(path, memory)?
    } else {
        // A pipe would be waited for.
        if !path.metadata().map_err(failed)?.is_file() {
            let problem = BundleProblem::NotArchive;
            return Err(BundleError::Content { path: path.to_path_buf(), problem }.into());
        }
        Bundle::of_zip(path, &mut File::open(path).map_err(failed)?, memory)?
    };
    Ok(bundle)
}
