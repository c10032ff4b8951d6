//! Named arrays in one file: the part of the safetensors format that projections need.
//!
//! Eight bytes with the length of a JSON header (little-endian), the header, then the arrays as raw little-endian
//! numbers without gaps. Here every array is F64. Reading trusts nothing: lengths, offsets and shapes are checked
//! before a byte is taken.

use crate::file::write_file;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Longest header read: far more than a projection needs, far less than would hurt.
const LONGEST_HEADER: u64 = 16 << 20;

/// An array with its shape, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Sizes of the axes, outermost first.
    pub shape: Vec<usize>,
    /// Product of the shape many numbers.
    pub values: Vec<f64>,
}

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tensors {
    /// Words about the arrays.
    pub metadata: BTreeMap<String, String>,
    /// Arrays by name.
    pub tensors: BTreeMap<String, Tensor>,
}

/// Why a file is not what it should be.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SafetensorsError {
    /// Reading or writing failed.
    #[error("{}: {reason}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: std::io::Error,
    },
    /// The file ends before what its header promises, or goes on after it.
    #[error("{}: {found} bytes, its header says {expected}: cut off or damaged", path.display())]
    Length {
        /// Which file.
        path: PathBuf,
        /// Bytes the header accounts for.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// The header is no JSON of the right form.
    #[error("{}: not a safetensors file (bad header)", path.display())]
    Header {
        /// Which file.
        path: PathBuf,
    },
    /// One array is not described rightly.
    #[error("{}: array `{name}`: {problem}", path.display())]
    Array {
        /// Which file.
        path: PathBuf,
        /// Which array.
        name: String,
        /// What is wrong.
        problem: &'static str,
    },
}

/// True where the bytes begin like a safetensors file: a plausible header length, then a JSON object.
pub fn looks_like(head: &[u8]) -> bool {
    let Some((length, rest)) = head.split_first_chunk::<8>() else { return false };
    (2..=LONGEST_HEADER).contains(&u64::from_le_bytes(*length)) && rest.first() == Some(&b'{')
}

impl Tensors {
    /// Writes the file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), SafetensorsError> {
        write_file(path, &self.to_bytes())
            .map_err(|reason| SafetensorsError::File { path: path.to_path_buf(), reason })
    }

    /// The bytes of the file: always the same for the same content.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut header = Map::new();
        header.insert("__metadata__".to_owned(), json!(self.metadata));
        let mut offset = 0;
        for (name, tensor) in &self.tensors {
            let end = offset + 8 * tensor.values.len();
            header.insert(
                name.clone(),
                json!({ "dtype": "F64", "shape": tensor.shape, "data_offsets": [offset, end] }),
            );
            offset = end;
        }
        let mut text = Value::Object(header).to_string().into_bytes();
        text.resize(text.len().next_multiple_of(8), b' '); // keeps the numbers aligned
        let mut bytes = Vec::with_capacity(8 + text.len() + offset);
        bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&text);
        for tensor in self.tensors.values() {
            tensor.values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
        }
        bytes
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, SafetensorsError> {
        let bytes = std::fs::read(path)
            .map_err(|reason| SafetensorsError::File { path: path.to_path_buf(), reason })?;
        Self::parse(path, &bytes)
    }

    /// Reads the bytes of a file; `path` names it in errors.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, SafetensorsError> {
        let path_buf = || path.to_path_buf();
        let found = bytes.len() as u64;
        let bad_header = || SafetensorsError::Header { path: path_buf() };
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(bad_header)?;
        let length = u64::from_le_bytes(*length);
        if length > LONGEST_HEADER {
            return Err(bad_header());
        }
        let shorter = |expected| SafetensorsError::Length { path: path_buf(), expected, found };
        let at = usize::try_from(length).map_err(|_| bad_header())?;
        let (header, data) = rest.split_at_checked(at).ok_or_else(|| shorter(8 + length))?;
        let header: Map<String, Value> = serde_json::from_slice(header).map_err(|_| bad_header())?;
        let mut result = Self::default();
        let (mut last, mut taken) = (0, 0_usize);
        for (name, entry) in &header {
            if name == "__metadata__" {
                result.metadata = serde_json::from_value(entry.clone()).map_err(|_| bad_header())?;
                continue;
            }
            let bad = |problem| SafetensorsError::Array { path: path_buf(), name: name.clone(), problem };
            if entry.get("dtype").and_then(Value::as_str) != Some("F64") {
                return Err(bad("its numbers are not F64"));
            }
            let sizes = |key: &str| {
                entry.get(key).and_then(|value| serde_json::from_value::<Vec<usize>>(value.clone()).ok())
            };
            let shape = sizes("shape").ok_or_else(|| bad("no shape"))?;
            let offsets = sizes("data_offsets").ok_or_else(|| bad("no offsets"))?;
            let &[from, to] = offsets.as_slice() else { return Err(bad("no offsets")) };
            let count = shape.iter().try_fold(8_usize, |product, &axis| product.checked_mul(axis));
            if from > to || count != Some(to - from) {
                return Err(bad("its shape does not fit its offsets"));
            }
            last = last.max(to);
            taken = taken.saturating_add(to - from);
            if taken > data.len() {
                return Err(bad("it shares bytes with another array"));
            }
            let raw = data.get(from..to).ok_or_else(|| shorter(8 + length + to as u64))?;
            let values: Vec<f64> = raw.as_chunks().0.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect();
            result.tensors.insert(name.clone(), Tensor { shape, values });
        }
        if last != data.len() {
            return Err(shorter(8 + length + last as u64));
        }
        Ok(result)
    }
}
