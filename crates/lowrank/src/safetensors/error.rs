//! Why a file could not be read or written.

use std::path::PathBuf;
use thiserror::Error;

/// What is wrong with the bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SafetensorsProblem {
    /// The file ends before what its header promises, or goes on after it.
    #[error("{found} bytes, its header says {expected}: cut off or damaged")]
    Length {
        /// Bytes the header accounts for.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// The header is too long, or not JSON of the right form.
    #[error("not a safetensors file (bad header: {reason})")]
    Header {
        /// What the parser said.
        reason: String,
    },
    /// The description of an array contradicts itself or another one.
    #[error("array `{name}`: {problem}")]
    Array {
        /// Which array.
        name: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// An array has numbers of another type than is read here.
    #[error("array `{name}`: its numbers are {found}, not {expected}")]
    Type {
        /// Which array.
        name: String,
        /// Their type in the file.
        found: String,
        /// The type that is read.
        expected: &'static str,
    },
}

/// Why a file could not be read or written.
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
    /// The content is not what it should be.
    #[error("{}: {problem}", path.display())]
    Content {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        problem: SafetensorsProblem,
    },
}
