//! Archives of arrays: sparse matrices as `scipy.sparse.save_npz` writes them, and `numpy.savez` of one
//! matrix.
//!
//! Of each member the header is read first, then exactly the elements it announces, and memory grows only
//! with what has been inflated, so a small archive cannot claim a large allocation.

use std::io::{Read, Seek};

use zip::ZipArchive;

use super::decimal::Decimal;
use super::enclosed::{Enclosed, Triplets};
use super::error::ParseError;
use super::limits::check_sparse_size;
use super::npy::{self, Header};
use super::problem::SparseProblem;
use super::text::clip;
use crate::linalg::matrix::DenseMatrix;
use crate::memory::MemoryLimit;

/// Elements allocated before they have been inflated.
const RESERVE: usize = 1 << 16;

/// The matrix in the archive: dense from a plain array, sparse from scipy's arrays.
pub(super) fn parse(reader: impl Read + Seek, memory: MemoryLimit) -> Result<Enclosed, ParseError> {
    let mut archive = ZipArchive::new(reader).map_err(|reason| ParseError::Zip { reason })?;
    if archive.index_for_name("format.npy").is_some() {
        return sparse(&mut archive, memory);
    }
    if archive.len() != 1 {
        return Err(ParseError::ArrayCount { found: archive.len() });
    }
    member(&mut archive, 0, |reader, header, length, reserve| {
        npy::matrix(reader, header, length, reserve, memory)
    })
}

fn sparse(archive: &mut ZipArchive<impl Read + Seek>, memory: MemoryLimit) -> Result<Enclosed, ParseError> {
    let format = named(archive, "format.npy", format_name)?;
    if !matches!(format.as_str(), "csr" | "csc" | "coo") {
        return Err(ParseError::UnsupportedSparse { format: clip(&format) });
    }
    let shape = indices(archive, "shape.npy", "shape", memory)?;
    let &[rows, columns] = shape.as_slice() else {
        return Err(ParseError::WrongDimensions { ndim: shape.len(), expected: 2 });
    };
    let (data, rests) = named(archive, "data.npy", |reader, header, length, reserve| {
        check_vector(header)?;
        npy::nearest_values(reader, header, length, reserve, memory)
    })?;
    // Values, indices, and both once more as triplets, which are sorted.
    if !memory.allows((data.len() as u64).saturating_mul(12 * 8)) {
        return Err(ParseError::OutOfMemory { entries: data.len(), memory });
    }
    let mut numbers = data.len().saturating_mul(3);
    let (row_indices, column_indices) = if format == "coo" {
        coordinates(archive, memory)?
    } else {
        let offsets = indices(archive, "indptr.npy", "indptr", memory)?;
        numbers = numbers.saturating_add(offsets.len());
        let minor = indices(archive, "indices.npy", "indices", memory)?;
        let lines = if format == "csr" { rows } else { columns };
        let major = expand(&offsets, lines, minor.len())?;
        if format == "csr" { (major, minor) } else { (minor, major) }
    };
    check_length("row indices", row_indices.len(), data.len())?;
    check_length("column indices", column_indices.len(), data.len())?;
    check_range("row indices", &row_indices, rows)?;
    check_range("column indices", &column_indices, columns)?;
    check_sparse_size(rows, columns, numbers.saturating_mul(size_of::<f64>()))?;
    let mut triplets = Triplets::new(memory);
    for ((&i, &j), &value) in row_indices.iter().zip(&column_indices).zip(&data) {
        triplets.add(i, j, &Decimal::exact(value), 1.0)?;
    }
    for (at, rest) in rests {
        triplets.add_rest(row_indices[at], column_indices[at], rest)?;
    }
    triplets.finish(rows, columns, 1.0)
}

/// Row and column of each entry: two arrays, or one of shape (2, entries), which scipy plans to write.
fn coordinates(
    archive: &mut ZipArchive<impl Read + Seek>,
    memory: MemoryLimit,
) -> Result<(Vec<usize>, Vec<usize>), ParseError> {
    if archive.index_for_name("coords.npy").is_none() {
        return Ok((
            indices(archive, "row.npy", "row", memory)?,
            indices(archive, "col.npy", "col", memory)?,
        ));
    }
    let (mut rows, shape) = named(archive, "coords.npy", |reader, header, length, reserve| {
        check_integers("coords", header)?;
        let &[rows, columns] = header.shape.as_slice() else {
            return Err(ParseError::WrongDimensions { ndim: header.shape.len(), expected: 2 });
        };
        let entries = npy::values(reader, header, length, reserve, memory)?;
        if header.fortran_order && rows > 0 && columns > 0 {
            let transposed = DenseMatrix { rows: columns, columns: rows, entries }.transposed();
            return Ok((transposed.entries, (rows, columns)));
        }
        Ok((entries, (rows, columns)))
    })?;
    check_length("coords", shape.0, 2)?;
    let columns = rows.split_off(shape.1);
    Ok((natural("coords", rows)?, natural("coords", columns)?))
}

/// The row (or column) of each of `entries` entries, from the offsets where each of the `lines` starts.
fn expand(offsets: &[usize], lines: usize, entries: usize) -> Result<Vec<usize>, ParseError> {
    let sparse = |problem| ParseError::Sparse { problem };
    check_length("indptr", offsets.len(), lines.saturating_add(1))?;
    if let Some(&found) = offsets.first().filter(|&&first| first != 0) {
        return Err(sparse(SparseProblem::FirstOffset { found }));
    }
    if let Some(before) = offsets.windows(2).position(|pair| pair[1] < pair[0]) {
        return Err(sparse(SparseProblem::DecreasingOffset { position: before + 1 }));
    }
    check_length("indices", entries, offsets.last().copied().unwrap_or(0))?;
    let mut expanded = Vec::with_capacity(entries);
    for (line, pair) in offsets.windows(2).enumerate() {
        expanded.resize(pair[1], line);
    }
    Ok(expanded)
}

fn check_length(array: &'static str, found: usize, expected: usize) -> Result<(), ParseError> {
    if found == expected {
        return Ok(());
    }
    Err(ParseError::Sparse { problem: SparseProblem::Length { array, expected, found } })
}

fn check_range(array: &'static str, indices: &[usize], size: usize) -> Result<(), ParseError> {
    match indices.iter().position(|&index| index >= size) {
        Some(position) => {
            let index = indices[position];
            Err(ParseError::Sparse {
                problem: SparseProblem::IndexOutOfRange { array, position, index, size },
            })
        }
        None => Ok(()),
    }
}

fn check_integers(array: &'static str, header: &Header) -> Result<(), ParseError> {
    if matches!(header.descr.as_bytes().get(1), Some(b'i' | b'u')) {
        return Ok(());
    }
    let problem = SparseProblem::NotIntegers { array, descr: header.descr.clone() };
    Err(ParseError::Sparse { problem })
}

/// A one-dimensional array of indices.
fn indices(
    archive: &mut ZipArchive<impl Read + Seek>,
    member: &'static str,
    array: &'static str,
    memory: MemoryLimit,
) -> Result<Vec<usize>, ParseError> {
    let numbers = named(archive, member, |reader, header, length, reserve| {
        check_integers(array, header)?;
        vector(reader, header, length, reserve, memory)
    })?;
    natural(array, numbers)
}

/// Integers held as f64 as indices.
fn natural(array: &'static str, numbers: Vec<f64>) -> Result<Vec<usize>, ParseError> {
    if let Some(position) = numbers.iter().position(|&number| number < 0.0) {
        return Err(ParseError::Sparse { problem: SparseProblem::Negative { array, position } });
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "non-negative integers")]
    Ok(numbers.into_iter().map(|number| number as usize).collect())
}

/// A one-dimensional array.
fn vector(
    reader: &mut dyn Read,
    header: &Header,
    length: u64,
    reserve: usize,
    memory: MemoryLimit,
) -> Result<Vec<f64>, ParseError> {
    check_vector(header)?;
    npy::values(reader, header, length, reserve, memory)
}

fn check_vector(header: &Header) -> Result<(), ParseError> {
    match header.shape.len() {
        1 => Ok(()),
        ndim => Err(ParseError::WrongDimensions { ndim, expected: 1 }),
    }
}

/// The text of a scalar string array, bytes (`S`) or UTF-32 (`U`): its characters are ASCII, so what is
/// not zero is a character.
fn format_name(
    reader: &mut dyn Read,
    header: &Header,
    length: u64,
    _reserve: usize,
) -> Result<String, ParseError> {
    const LONGEST: u64 = 64;
    let size = length.saturating_sub(header.bytes);
    if !matches!(header.descr.as_bytes().get(1), Some(b'S' | b'U')) || size > LONGEST {
        return Err(ParseError::UnsupportedDtype { descr: header.descr.clone() });
    }
    let mut bytes = Vec::new();
    reader.take(size).read_to_end(&mut bytes)?;
    bytes.retain(|&byte| byte != 0);
    Ok(bytes.escape_ascii().to_string())
}

/// Reads the array of this name.
fn named<R: Read + Seek, T>(
    archive: &mut ZipArchive<R>,
    name: &'static str,
    read: impl FnOnce(&mut dyn Read, &Header, u64, usize) -> Result<T, ParseError>,
) -> Result<T, ParseError> {
    let index = archive.index_for_name(name).ok_or(ParseError::MissingMember { name })?;
    member(archive, index, read)
}

/// Reads the header of a member, hands the rest to `read`, and checks that nothing is left.
fn member<R: Read + Seek, T>(
    archive: &mut ZipArchive<R>,
    index: usize,
    read: impl FnOnce(&mut dyn Read, &Header, u64, usize) -> Result<T, ParseError>,
) -> Result<T, ParseError> {
    let mut file = archive.by_index(index).map_err(|reason| ParseError::Zip { reason })?;
    let name = String::from_utf8_lossy(file.name_raw()).into_owned();
    let length = file.size();
    let read_all = || {
        let header = Header::read(&mut file, length)?;
        let array = read(&mut file, &header, length, RESERVE)?;
        // Reading on also makes the archive compare its checksum.
        match file.read(&mut [0])? {
            0 => Ok(array),
            more => {
                Err(ParseError::TrailingBytes { expected: length, found: length.saturating_add(more as u64) })
            }
        }
    };
    read_all().map_err(|reason| ParseError::Member { name: clip(&name), reason: Box::new(reason) })
}
