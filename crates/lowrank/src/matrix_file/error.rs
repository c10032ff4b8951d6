//! Why a file is not a matrix. Every message names the place: lines count from 1, as editors do; entries of
//! arrays count from 0, as numpy does.
//!
//! Causes are part of the message and not repeated as [`std::error::Error::source`], so a printed chain
//! says each thing once.

use std::io;
use std::path::PathBuf;

use thiserror::Error;
use zip::result::ZipError;

use super::problem::{BannerProblem, HeaderProblem, LineProblem, MaxCutProblem, SparseProblem};
use crate::linalg::matrix::MatrixError;
use crate::memory::MemoryLimit;

/// Why a file could not be read as a matrix or a vector. Displayed as `PATH: reason`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputError {
    /// The file could not be opened.
    #[error("{}: {reason}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// Reading the file failed.
    #[error("{}: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// The file was read, but holds no matrix or vector.
    #[error("{}: {reason}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        reason: ParseError,
    },
}

/// Why bytes are not a matrix.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// There are no bytes, or only white space.
    #[error("the file is empty")]
    EmptyFile,
    /// The beginning is that of no known format.
    #[error(
        "unknown format, starting with \"{start}\": \
         none of npy, npz, Matrix Market, rudy graph, SDPA sparse"
    )]
    UnknownFormat {
        /// The first bytes (at most 16), escaped.
        start: String,
    },
    /// The bytes end before the array does.
    #[error("truncated: {expected} bytes expected, {found} found")]
    Truncated {
        /// Bytes that the header promises, header included.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
    /// There are bytes after the end of the array.
    #[error("bytes after the end of the array: {expected} bytes expected, {found} found")]
    TrailingBytes {
        /// Bytes that the header promises, header included.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
    /// The header of an npy array is damaged.
    #[error("npy header: {problem}")]
    BadHeader {
        /// What is wrong with it.
        problem: HeaderProblem,
    },
    /// The elements of the array have a type that is not read.
    #[error("dtype {descr} is not supported: real floating point (f4, f8), integer or boolean only")]
    UnsupportedDtype {
        /// The type as numpy spells it, clipped.
        descr: String,
    },
    /// The array has another number of dimensions than it must have.
    #[error("the array has {ndim} dimension(s), {expected} expected")]
    WrongDimensions {
        /// Dimensions of the array.
        ndim: usize,
        /// Dimensions expected: 2 for a matrix.
        expected: usize,
    },
    /// An integer has no f64 equal to it.
    #[error("entry ({}) is {value}, which no f64 equals (counting from 0)", joined(index))]
    InexactInteger {
        /// Zero-based index of the entry: (row, column) in a matrix.
        index: Vec<usize>,
        /// The integer.
        value: i128,
    },
    /// The matrix does not fit into memory.
    #[error(
        "{entries} entries take {:.1} GB, more than the memory limit of {:.1} GB",
        8.0 * *entries as f64 / 1e9,
        memory.gigabytes()
    )]
    OutOfMemory {
        /// Number of entries of the matrix.
        entries: usize,
        /// What one array may take.
        memory: MemoryLimit,
    },
    /// A sparse matrix claims a size that its file is too short for.
    #[error("a size of {size} is not plausible for so short a file (at most {limit})")]
    SizeTooLarge {
        /// The larger of rows and columns.
        size: usize,
        /// The largest size believed of this file.
        limit: usize,
    },
    /// Reading or inflating failed midway.
    #[error("reading failed: {reason}")]
    Io {
        /// What the system or the decompressor said.
        reason: io::Error,
    },
    /// The zip archive is damaged or of an unsupported kind.
    #[error("{reason}")]
    Zip {
        /// What the zip reader said.
        reason: ZipError,
    },
    /// A member of the archive is not the array it should be.
    #[error("member {name}: {reason}")]
    Member {
        /// Name of the member.
        name: String,
        /// What is wrong with it.
        reason: Box<ParseError>,
    },
    /// An array of a sparse matrix is not in the archive.
    #[error("the archive has no member {name}")]
    MissingMember {
        /// Name of the member.
        name: &'static str,
    },
    /// The archive is neither a scipy sparse matrix nor a single array.
    #[error("the archive holds {found} arrays: a scipy sparse matrix or exactly one array expected")]
    ArrayCount {
        /// Number of arrays.
        found: usize,
    },
    /// A scipy sparse matrix in a storage that is not read.
    #[error("sparse format \"{format}\" is not supported: csr, csc or coo only (convert with .tocsr())")]
    UnsupportedSparse {
        /// Name of the storage, clipped.
        format: String,
    },
    /// The arrays of a sparse matrix contradict each other.
    #[error("sparse matrix: {problem}")]
    Sparse {
        /// The contradiction.
        problem: SparseProblem,
    },
    /// The first line of a Matrix Market file does not describe a real matrix.
    #[error("line 1: {problem}")]
    Banner {
        /// What is wrong with it.
        problem: BannerProblem,
    },
    /// A line of a text format is wrong.
    #[error("line {number}: {problem}")]
    Line {
        /// Line number, from 1.
        number: usize,
        /// What is wrong with it.
        problem: LineProblem,
    },
    /// A text file ends before all that it announces has come.
    #[error("truncated: {expected} {what} announced, {found} found")]
    TooFew {
        /// What there are too few of, in the plural.
        what: &'static str,
        /// Number announced.
        expected: usize,
        /// Number found.
        found: usize,
    },
    /// A semidefinite program that is not a max-cut relaxation.
    #[error("line {line}: not a max-cut problem: {why}")]
    NotMaxCut {
        /// Line number, from 1.
        line: usize,
        /// What max-cut problems do not have.
        why: MaxCutProblem,
    },
    /// The entries do not make a matrix.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
}

impl From<io::Error> for ParseError {
    fn from(reason: io::Error) -> Self {
        Self::Io { reason }
    }
}

fn joined(index: &[usize]) -> String {
    index.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
