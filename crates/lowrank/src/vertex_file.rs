//! A vertex as a file: the evidence for a lower end.
//!
//! A one-dimensional `.npy` array with an entry of 1 or −1 for every row of the quadratic form, written as f64, so that
//! `x @ M @ x` in numpy is the value. For the norm ∞→1 of A these are the signs of its rows, then those of its columns. Arrays
//! of other types of numbers are read as well. Nothing in the file is believed but the signs.

use crate::file::write_file;
use crate::matrix_file::{InputError, npy};
use crate::memory::MemoryLimit;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a file is no vertex, or could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VertexFileError {
    /// Not an array of numbers.
    #[error(transparent)]
    Array(#[from] InputError),
    /// An array of another shape.
    #[error("{}: the array has {dimensions} dimension(s), a vertex has one", path.display())]
    Shape {
        /// Which file.
        path: PathBuf,
        /// How many dimensions it has.
        dimensions: usize,
    },
    /// An entry that no vertex has.
    #[error("{}: entry {index} is {value}, a vertex has entries 1 and -1 (counting from 0)", path.display())]
    Entry {
        /// Which file.
        path: PathBuf,
        /// Counting from 0.
        index: usize,
        /// What stands there.
        value: f64,
    },
    /// Writing failed.
    #[error("{}: {reason}", path.display())]
    Write {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: std::io::Error,
    },
}

/// Reads the entries of a vertex, each of them 1 or −1.
pub fn read_vertex(path: &Path, memory: MemoryLimit) -> Result<Vec<f64>, VertexFileError> {
    let (shape, entries) = npy::read_array(path, memory)?;
    let path = || path.to_path_buf();
    if shape.len() != 1 {
        return Err(VertexFileError::Shape { path: path(), dimensions: shape.len() });
    }
    // Written so that a NaN fails.
    match entries.iter().position(|x| !(x.abs() == 1.0)) {
        Some(index) => Err(VertexFileError::Entry { path: path(), index, value: entries[index] }),
        None => Ok(entries),
    }
}

/// Writes a vertex, whole or not at all.
pub fn write_vertex(path: &Path, vertex: &[f64]) -> Result<(), VertexFileError> {
    write_file(path, &npy::to_bytes(&[vertex.len()], vertex))
        .map_err(|reason| VertexFileError::Write { path: path.to_path_buf(), reason })
}
