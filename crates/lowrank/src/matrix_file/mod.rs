//! Reading matrices and graphs from files, recognised by content and never by name.
//!
//! Formats: numpy `.npy`, numpy and scipy `.npz`, Matrix Market, rudy (G-set) graphs, and SDPA sparse
//! files of max-cut shape. Whatever the bytes, reading ends in a matrix or in an error that names the
//! place; nothing is allocated for a size that a file merely claims.
//!
//! **What a file says is what is bounded.** Repeated entries, parallel edges and degrees are summed exactly. Where a sum,
//! a decimal or a large integer has no f64 equal to it, the nearest is stored and [`Input::error`] says how far off all
//! entries together can be; every proof adds that.

mod decimal;
mod enclosed;
mod error;
mod limits;
mod matrix_market;
pub mod npy;
mod npz;
mod problem;
mod rudy;
mod sdpa;
mod text;

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

pub use error::{InputError, ParseError};
pub use problem::{BannerProblem, HeaderProblem, LineProblem, MaxCutProblem, SparseProblem};

use crate::linalg::matrix::Matrix;
use crate::memory::MemoryLimit;
use crate::sdp::problem::{MatrixRole, OperatorNorm};
use enclosed::Enclosed;
use gambeson_checker::Domain;

/// What the file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A plain matrix.
    Matrix,
    /// A graph or max-cut SDP: the matrix is L/4, L the weighted Laplacian, and the domain is the vertices
    /// of the cube.
    MaxCut,
}

impl InputKind {
    /// The domain a question is meant on unless the caller names one: the vertices for the quadratic form of a graph,
    /// the cube for everything else.
    pub fn natural_domain(self, norm: OperatorNorm, reading: MatrixRole) -> Domain {
        match (self, norm, reading) {
            (InputKind::MaxCut, OperatorNorm::Quadratic, MatrixRole::Plain) => Domain::Vertices,
            _ => Domain::Cube,
        }
    }
}

/// A matrix together with what the file says it means.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The matrix, or L/4 of the graph.
    pub matrix: Matrix,
    /// What the file is.
    pub kind: InputKind,
    /// A bound on Σ |entry − what the file says| over all entries; zero where f64 holds them.
    pub error: f64,
}

impl From<Matrix> for Input {
    /// A matrix that is what it says.
    fn from(matrix: Matrix) -> Self {
        Self { matrix, kind: InputKind::Matrix, error: 0.0 }
    }
}

/// What the bytes of a file are, as told by their beginning.
#[derive(Clone, Copy)]
enum Format {
    Npy,
    Npz,
    MatrixMarket,
    Rudy,
    Sdpa,
}

impl Format {
    /// The longest magic number `of_binary` looks for, in bytes.
    const MAGIC_BYTES: u64 = 6;

    fn of_binary(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Some(Self::Npy),
            // The second is an archive without members.
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(Self::Npz),
            _ => None,
        }
    }

    fn of_text(content: &str) -> Option<Self> {
        if text::has_prefix_ignoring_case(content, matrix_market::BANNER) {
            Some(Self::MatrixMarket)
        } else if rudy::recognises(content) {
            Some(Self::Rudy)
        } else if sdpa::recognises(content) {
            Some(Self::Sdpa)
        } else {
            None
        }
    }
}

/// Opens the file, recognises its format, and reads it. Matrices beyond `memory` are refused.
pub fn read(path: &Path, memory: MemoryLimit) -> Result<Input, InputError> {
    let mut file = File::open(path).map_err(|reason| InputError::Open { path: path.to_owned(), reason })?;
    let parsed =
        parse_file(&mut file, memory).map_err(|reason| InputError::Read { path: path.to_owned(), reason })?;
    parsed.map_err(|reason| InputError::Parse { path: path.to_owned(), reason })
}

/// Recognises the format of the bytes and reads them. Matrices beyond `memory` are refused.
pub fn parse(bytes: &[u8], memory: MemoryLimit) -> Result<Input, ParseError> {
    match Format::of_binary(bytes) {
        Some(Format::Npy) => plain(npy::parse(bytes, bytes.len() as u64, memory)),
        Some(_) => plain(npz::parse(io::Cursor::new(bytes), memory)),
        None => parse_text(bytes, memory),
    }
}

/// Streams the binary formats, so that a large array is held in memory once, as its matrix. The outer
/// error is of reading, the inner one of parsing.
fn parse_file(file: &mut File, memory: MemoryLimit) -> io::Result<Result<Input, ParseError>> {
    let metadata = file.metadata()?;
    // Only a regular file has a length known beforehand, and can be rewound.
    if metadata.is_file() {
        let mut start = Vec::new();
        Read::by_ref(file).take(Format::MAGIC_BYTES).read_to_end(&mut start)?;
        file.rewind()?;
        match Format::of_binary(&start) {
            Some(Format::Npy) => {
                return Ok(plain(npy::parse(file, metadata.len(), memory)));
            }
            Some(_) => return Ok(plain(npz::parse(BufReader::new(file), memory))),
            None => {}
        }
    }
    let bytes = memory.read_to_end(file)?;
    Ok(parse(&bytes, memory))
}

fn parse_text(bytes: &[u8], memory: MemoryLimit) -> Result<Input, ParseError> {
    // Comments may be in any encoding; a replaced character in a number is reported with its line.
    let content = String::from_utf8_lossy(bytes);
    let content = content.strip_prefix('\u{feff}').unwrap_or(&content);
    match Format::of_text(content) {
        Some(Format::MatrixMarket) => plain(matrix_market::parse(content, memory)),
        Some(Format::Rudy) => max_cut(rudy::parse(content, memory)),
        Some(_) => max_cut(sdpa::parse(content, memory)),
        None if content.trim_ascii().is_empty() => Err(ParseError::EmptyFile),
        None => {
            Err(ParseError::UnknownFormat { start: bytes[..bytes.len().min(16)].escape_ascii().to_string() })
        }
    }
}

fn plain(read: Result<Enclosed, ParseError>) -> Result<Input, ParseError> {
    read.map(|read| input(read, InputKind::Matrix))
}

fn max_cut(read: Result<Enclosed, ParseError>) -> Result<Input, ParseError> {
    read.map(|read| input(read, InputKind::MaxCut))
}

fn input(read: Enclosed, kind: InputKind) -> Input {
    Input { matrix: read.matrix, kind, error: read.error }
}
