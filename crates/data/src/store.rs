//! Imported sets: `NAME/train.safetensors` and `NAME/test.safetensors` in the data directory.
//!
//! The format is safetensors: eight bytes, the length of the header as a little-endian u64; the header, a JSON object;
//! then the tensors. `x` has shape [samples, channels, rows, columns] and type `U8`, `I16` or `F32`; `y`, where there
//! are labels, has shape [samples] and type `U16`. The object `__metadata__` has as texts: `format`, which is
//! `gambeson dataset 1`; `name`; `sha256`, the checksum of [`dataset`](crate::dataset), verified whenever the file is
//! read; `classes`, a JSON list of names; `sources`, a JSON list of `[file, samples]`.
//!
//! Any safetensors library reads these files; only files of this format are read here.

use crate::dataset::{Dataset, Parts, Shape, SourceFile, Split, Values};
use crate::error::DataError;
use crate::file::{CHUNK, Progress, read_whole, report, write_error};
use crate::source::Stage;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};
use thiserror::Error;

const FORMAT: &str = "gambeson dataset 1";

/// What is wrong with a stored set.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StoreProblem {
    /// The header is not there or not understood.
    #[error("the header is damaged: {reason}")]
    Header {
        /// What the parser said.
        reason: String,
    },
    /// A safetensors file of somebody else.
    #[error("not a data set as `gambeson data import` writes it: the metadata have no format `{FORMAT}`")]
    Foreign,
    /// A tensor is not what it should be.
    #[error(
        "tensor {name}: {dtype} of shape {shape:?} at bytes {start} to {end} of {length} is not possible here"
    )]
    Tensor {
        /// Its name.
        name: &'static str,
        /// Its type.
        dtype: String,
        /// Its shape.
        shape: Vec<usize>,
        /// Where it begins.
        start: usize,
        /// Where it ends.
        end: usize,
        /// Bytes of all tensors.
        length: usize,
    },
}

#[derive(Serialize, Deserialize)]
struct Header {
    #[serde(rename = "__metadata__", default)]
    metadata: Metadata,
    x: Tensor,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    y: Option<Tensor>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Metadata {
    format: String,
    name: String,
    sha256: String,
    classes: String,
    sources: String,
}

#[derive(Serialize, Deserialize)]
struct Tensor {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

/// The file of a part of an imported set.
pub fn path(data_dir: &Path, name: &str, split: Split) -> PathBuf {
    data_dir.join(name).join(format!("{}.safetensors", split.name()))
}

/// Whether an imported set may have this name.
pub fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !name.is_empty()
        && !name.starts_with('.')
        && name.bytes().all(plain)
        && !matches!(name, "fashion" | "cifar10" | "cifar100")
}

/// The imported sets in the data directory, by name, each with the parts it has.
pub fn list(data_dir: &Path) -> Vec<(String, Vec<Split>)> {
    let Ok(entries) = std::fs::read_dir(data_dir) else { return Vec::new() };
    let mut sets: Vec<_> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .map(|name| {
            let parts = [Split::Train, Split::Test]
                .into_iter()
                .filter(|&split| path(data_dir, &name, split).is_file());
            let parts: Vec<Split> = parts.collect();
            (name, parts)
        })
        .filter(|(name, parts)| is_name(name) && !parts.is_empty())
        .collect();
    sets.sort();
    sets
}

/// Stores a part of a set under a name, and returns its file.
pub fn save(
    data: &Dataset,
    data_dir: &Path,
    name: &str,
    split: Split,
    replace: bool,
    progress: Progress<'_>,
) -> Result<PathBuf, DataError> {
    if !is_name(name) {
        return Err(DataError::BadName { name: name.to_owned() });
    }
    let path = path(data_dir, name, split);
    if path.exists() && !replace {
        return Err(DataError::Exists { path });
    }
    let folder = data_dir.join(name);
    std::fs::create_dir_all(&folder).map_err(write_error(&folder))?;
    let written = write(data, &folder, &path, name, progress);
    if written.is_err() {
        let _ = std::fs::remove_dir(&folder); // stays where there is something in it
    }
    written.map(|()| path)
}

/// Writes beside the place and renames.
fn write(
    data: &Dataset,
    folder: &Path,
    path: &Path,
    name: &str,
    progress: Progress<'_>,
) -> Result<(), DataError> {
    let header = header(data, name);
    let total = (data.values().len() * width(data.values())) as u64;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(write_error(folder))?;
    let mut done = 0;
    let mut put = |bytes: &[u8]| {
        file.write_all(bytes).map_err(write_error(path))?;
        done += bytes.len() as u64;
        report(progress, Stage::Write, done.min(total), Some(total))
    };
    put(&header)?;
    match data.values() {
        Values::U8(values) => values.chunks(CHUNK).try_for_each(&mut put)?,
        Values::I16(values) => values.chunks(CHUNK / 2).try_for_each(|chunk| {
            put(&chunk.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
        })?,
        Values::F32(values) => values.chunks(CHUNK / 4).try_for_each(|chunk| {
            put(&chunk.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
        })?,
    }
    if let Some(labels) = data.labels() {
        put(&labels.iter().flat_map(|label| label.to_le_bytes()).collect::<Vec<u8>>())?;
    }
    file.as_file().sync_all().map_err(write_error(path))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let readable = std::fs::Permissions::from_mode(0o644); // temporary files are private by default
        file.as_file().set_permissions(readable).map_err(write_error(path))?;
    }
    file.persist(path).map_err(|error| DataError::Write { path: path.to_owned(), reason: error.error })?;
    Ok(())
}

/// Bytes of a value.
fn width(values: &Values) -> usize {
    match values {
        Values::U8(_) => 1,
        Values::I16(_) => 2,
        Values::F32(_) => 4,
    }
}

/// Length and header, padded so that the tensors are aligned.
fn header(data: &Dataset, name: &str) -> Vec<u8> {
    let (shape, bytes) = (data.shape(), data.values().len() * width(data.values()));
    let dtype = match data.values() {
        Values::U8(_) => "U8",
        Values::I16(_) => "I16",
        Values::F32(_) => "F32",
    };
    let sources: Vec<_> = data.sources().iter().map(|source| (&source.name, source.samples)).collect();
    let text = |value: serde_json::Value| value.to_string();
    let header = Header {
        metadata: Metadata {
            format: FORMAT.to_owned(),
            name: name.to_owned(),
            sha256: data.sha256().to_owned(),
            classes: text(data.classes().into()),
            sources: text(serde_json::json!(sources)),
        },
        x: Tensor {
            dtype: dtype.to_owned(),
            shape: vec![data.len(), shape.channels, shape.height, shape.width],
            data_offsets: (0, bytes),
        },
        y: data.labels().map(|labels| Tensor {
            dtype: "U16".to_owned(),
            shape: vec![labels.len()],
            data_offsets: (bytes, bytes + 2 * labels.len()),
        }),
    };
    let mut json = serde_json::json!(header).to_string().into_bytes();
    json.resize(json.len().next_multiple_of(8), b' ');
    [&(json.len() as u64).to_le_bytes(), json.as_slice()].concat()
}

/// Whether bytes start as these files do.
pub fn recognises(start: &[u8]) -> bool {
    matches!(start, [_, _, _, _, 0, 0, 0, 0, b'{', ..])
}

/// Reads a stored set and verifies its checksum.
pub fn load(path: &Path, progress: Progress<'_>) -> Result<Dataset, DataError> {
    let bytes = read_whole(path, Stage::Read, progress)?;
    let at_path = |reason| DataError::Store { path: path.to_owned(), reason };
    let (parts, expected) = parse(&bytes).map_err(at_path)?;
    drop(bytes);
    let data = Dataset::new(parts).map_err(|reason| DataError::Content { path: path.to_owned(), reason })?;
    if data.sha256() == expected {
        return Ok(data);
    }
    Err(DataError::Checksum { path: path.to_owned(), expected, found: data.sha256().to_owned() })
}

/// The content of a file, and its checksum as the header has it.
fn parse(bytes: &[u8]) -> Result<(Parts, String), StoreProblem> {
    let damaged = |reason: String| StoreProblem::Header { reason };
    let (length, rest) =
        bytes.split_first_chunk::<8>().ok_or_else(|| damaged("the file is too short".to_owned()))?;
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let (header, tensors) =
        rest.split_at_checked(length).ok_or_else(|| damaged("the file is too short for it".to_owned()))?;
    let metadata: serde_json::Value =
        serde_json::from_slice(header).map_err(|error| damaged(error.to_string()))?;
    if metadata["__metadata__"]["format"] != FORMAT {
        return Err(StoreProblem::Foreign);
    }
    let Header { metadata, x, y } =
        serde_json::from_value(metadata).map_err(|error| damaged(error.to_string()))?;
    let &[samples, channels, height, width] = x.shape.as_slice() else {
        return Err(x.impossible("x", tensors));
    };
    let values = match x.dtype.as_str() {
        "U8" => Values::U8(x.elements("x", tensors, |[byte]| byte)?),
        "I16" => Values::I16(x.elements("x", tensors, i16::from_le_bytes)?),
        "F32" => Values::F32(x.elements("x", tensors, f32::from_le_bytes)?),
        _ => return Err(x.impossible("x", tensors)),
    };
    let labels = match &y {
        Some(y) if y.dtype == "U16" && y.shape == [samples] => {
            Some(y.elements("y", tensors, u16::from_le_bytes)?)
        }
        Some(y) => return Err(y.impossible("y", tensors)),
        None => None,
    };
    let sources: Vec<(String, usize)> =
        serde_json::from_str(&metadata.sources).map_err(|error| damaged(error.to_string()))?;
    let parts = Parts {
        name: metadata.name,
        shape: Shape { channels, height, width },
        values,
        labels,
        classes: serde_json::from_str(&metadata.classes).map_err(|error| damaged(error.to_string()))?,
        sources: sources.into_iter().map(|(name, samples)| SourceFile { name, samples }).collect(),
    };
    Ok((parts, metadata.sha256))
}

impl Tensor {
    /// All elements of `N` bytes.
    fn elements<const N: usize, T>(
        &self,
        name: &'static str,
        tensors: &[u8],
        convert: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, StoreProblem> {
        let count = self.shape.iter().try_fold(1, |count: usize, &size| count.checked_mul(size));
        let (start, end) = self.data_offsets;
        let bytes = tensors
            .get(start..end)
            .filter(|bytes| count.and_then(|count| count.checked_mul(N)) == Some(bytes.len()));
        let (elements, _) = bytes.ok_or_else(|| self.impossible(name, tensors))?.as_chunks::<N>();
        Ok(elements.iter().map(|&element| convert(element)).collect())
    }

    fn impossible(&self, name: &'static str, tensors: &[u8]) -> StoreProblem {
        let (start, end) = self.data_offsets;
        let (dtype, shape) = (self.dtype.clone(), self.shape.clone());
        StoreProblem::Tensor { name, dtype, shape, start, end, length: tensors.len() }
    }
}
