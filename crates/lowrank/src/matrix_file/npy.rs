//! Arrays as `numpy.save` writes them, format versions 1 to 3.
//!
//! Read as a stream in chunks, each converted by one loop over one element type. [`Header`] and [`values`] are open to
//! readers of arrays that are not matrices; [`read_array`] reads the numbers of a file, whatever its shape.

use std::io::Read;
use std::path::Path;

use super::decimal::Decimal;
use super::enclosed::{Enclosed, total};
use super::error::{InputError, ParseError};
use super::problem::HeaderProblem;
use super::text::clip;
use crate::linalg::matrix::DenseMatrix;
use crate::memory::MemoryLimit;
use crate::safetensors::Element;

const MAGIC: [u8; 6] = *b"\x93NUMPY";

/// Plain arrays have headers of about a hundred bytes; only structured types need long ones.
const LONGEST_HEADER: u32 = 1 << 16;

/// Bytes converted at once: within the cache, and a multiple of every element size.
const CHUNK: usize = 1 << 18;

/// The matrix of a two-dimensional array. `length` is the number of bytes that `reader` has.
pub(super) fn parse(mut reader: impl Read, length: u64, memory: MemoryLimit) -> Result<Enclosed, ParseError> {
    let header = Header::read(&mut reader, length)?;
    matrix(&mut reader, &header, length, usize::MAX, memory)
}

/// The matrix of a two-dimensional array whose header has been read; `reserve` as for [`values`].
pub(super) fn matrix(
    reader: &mut dyn Read,
    header: &Header,
    length: u64,
    reserve: usize,
    memory: MemoryLimit,
) -> Result<Enclosed, ParseError> {
    let &[rows, columns] = header.shape.as_slice() else {
        return Err(ParseError::WrongDimensions { ndim: header.shape.len(), expected: 2 });
    };
    let (entries, rests) = nearest_values(reader, header, length, reserve, memory)?;
    let error = rests.iter().fold(0.0, |sum, (_, rest)| total(sum, rest.abs(), 1.0));
    if header.fortran_order && rows > 0 && columns > 0 {
        // Checked after transposing, so that an error names the entry as the array has it.
        let transposed = DenseMatrix { rows: columns, columns: rows, entries }.transposed();
        Ok(Enclosed::dense(DenseMatrix::new(rows, columns, transposed.entries)?, error))
    } else {
        Ok(Enclosed::dense(DenseMatrix::new(rows, columns, entries)?, error))
    }
}

/// Reads all numbers of a `.npy` file, in its order, whatever the shape of the array. Files beyond `memory` are refused.
pub fn read_vector(path: &Path, memory: MemoryLimit) -> Result<Vec<f64>, InputError> {
    read_array(path, memory).map(|(_, values)| values)
}

/// The same with the shape, the size of the first index first.
pub fn read_array(path: &Path, memory: MemoryLimit) -> Result<(Vec<usize>, Vec<f64>), InputError> {
    let bytes =
        memory.read_file(path).map_err(|reason| InputError::Read { path: path.to_owned(), reason })?;
    let read = || {
        let (mut rest, length) = (&bytes[..], bytes.len() as u64);
        let header = Header::read(&mut rest, length)?;
        let values = values(&mut rest, &header, length, bytes.len(), memory)?;
        Ok((header.shape, values))
    };
    read().map_err(|reason| InputError::Parse { path: path.to_owned(), reason })
}

/// The elements in the order of the file. `length` is the number of bytes there are, header included, as
/// far as is known; at most `reserve` elements are allocated before they have been read. An integer that no f64 equals is
/// an error.
pub fn values(
    reader: &mut dyn Read,
    header: &Header,
    length: u64,
    reserve: usize,
    memory: MemoryLimit,
) -> Result<Vec<f64>, ParseError> {
    let (values, rests) = nearest_values(reader, header, length, reserve, memory)?;
    match rests.first() {
        None => Ok(values),
        Some(&(position, rest)) => {
            #[allow(clippy::cast_possible_truncation)] // integers of 64 bits
            let value = values[position] as i128 + rest as i128;
            Err(ParseError::InexactInteger { index: header.index_of(position), value })
        }
    }
}

/// Values, and places with what is missing there.
type Nearest = (Vec<f64>, Vec<(usize, f64)>);

/// The elements as the nearest f64, and for those that differ from it their place and what is missing.
pub(super) fn nearest_values(
    reader: &mut dyn Read,
    header: &Header,
    length: u64,
    reserve: usize,
    memory: MemoryLimit,
) -> Result<Nearest, ParseError> {
    let unsupported = || ParseError::UnsupportedDtype { descr: header.descr.clone() };
    let (order, element) = header.descr.split_at_checked(1).ok_or_else(unsupported)?;
    let big_endian = match order {
        "<" | "|" => false,
        ">" => true,
        _ => return Err(unsupported()),
    };
    let elements = Elements { reader, header, length, reserve, memory, big_endian };
    match element {
        "f8" => elements.decode(f64::from_le_bytes, |_| None),
        "f4" => elements.decode(|bytes| f64::from(f32::from_le_bytes(bytes)), |_| None),
        "i8" => elements.decode(
            |bytes| i64::from_le_bytes(bytes) as f64,
            |bytes| missing(i64::from_le_bytes(bytes).into()),
        ),
        "u8" => elements.decode(
            |bytes| u64::from_le_bytes(bytes) as f64,
            |bytes| missing(u64::from_le_bytes(bytes).into()),
        ),
        "i4" => elements.decode(|bytes| f64::from(i32::from_le_bytes(bytes)), |_| None),
        "u4" => elements.decode(|bytes| f64::from(u32::from_le_bytes(bytes)), |_| None),
        "i2" => elements.decode(|bytes| f64::from(i16::from_le_bytes(bytes)), |_| None),
        "u2" => elements.decode(|bytes| f64::from(u16::from_le_bytes(bytes)), |_| None),
        "i1" => elements.decode(|bytes| f64::from(i8::from_le_bytes(bytes)), |_| None),
        "u1" => elements.decode(|[byte]| f64::from(byte), |_| None),
        "b1" => elements.decode(|[byte]| f64::from(u8::from(byte != 0)), |_| None),
        _ => Err(unsupported()),
    }
}

/// What the nearest f64 lacks of an integer of 64 bits, if no f64 equals it.
fn missing(value: i128) -> Option<f64> {
    let rest = Decimal::of_integer(value)?.rest[0];
    (rest != 0.0).then_some(rest)
}

/// Where elements come from. The reader is called once per chunk, so one version for all readers is fast enough, and
/// the loops over eleven element types are compiled once.
struct Elements<'a> {
    reader: &'a mut dyn Read,
    header: &'a Header,
    length: u64,
    reserve: usize,
    memory: MemoryLimit,
    big_endian: bool,
}

impl Elements<'_> {
    /// Converts all elements of `N` bytes, given with the lowest byte first. `missing` tells what a conversion lost.
    fn decode<const N: usize>(
        self,
        convert: impl Fn([u8; N]) -> f64,
        missing: impl Fn([u8; N]) -> Option<f64>,
    ) -> Result<Nearest, ParseError> {
        let count = self.header.count()?;
        self.header.check_length(count, N, self.length)?;
        let over = || ParseError::OutOfMemory { entries: count, memory: self.memory };
        if count as u64 > self.memory.limit() / 8 {
            return Err(over());
        }
        let (mut values, mut rests) = (Vec::new(), Vec::new());
        let reserved = count.min(self.reserve);
        values.try_reserve_exact(reserved).map_err(|_| over())?;
        let mut buffer = vec![0; CHUNK.min(count.saturating_mul(N))];
        while values.len() < count {
            let wanted = (count - values.len()).min(CHUNK / N);
            let (elements, _) = buffer[..wanted * N].as_chunks_mut::<N>();
            self.reader.read_exact(elements.as_flattened_mut())?;
            if self.big_endian {
                for element in elements.iter_mut() {
                    element.reverse();
                }
            }
            for (k, &element) in elements.iter().enumerate() {
                if let Some(rest) = missing(element) {
                    rests.push((values.len() + k, rest));
                }
            }
            values.extend(elements.iter().map(|&element| convert(element)));
        }
        Ok((values, rests))
    }
}

/// What comes before the elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Type of the elements as numpy spells it, such as `<f8`.
    pub descr: String,
    /// Whether the first index runs fastest.
    pub fortran_order: bool,
    /// Sizes, the first index first.
    pub shape: Vec<usize>,
    /// Bytes before the first element.
    pub bytes: u64,
}

impl Header {
    /// Reads the header; `length` is the number of bytes of the whole array, header included.
    pub fn read(reader: &mut impl Read, length: u64) -> Result<Self, ParseError> {
        let bad = |problem| ParseError::BadHeader { problem };
        let mut bytes = 0;
        let mut take = |wanted: u32| {
            bytes += u64::from(wanted);
            if bytes > length {
                return Err(ParseError::Truncated { expected: bytes, found: length });
            }
            let mut taken = Vec::with_capacity(wanted as usize);
            reader.take(wanted.into()).read_to_end(&mut taken)?;
            match u64::from(wanted) - taken.len() as u64 {
                0 => Ok(taken),
                short => Err(ParseError::Truncated { expected: bytes, found: bytes - short }),
            }
        };
        if take(6)? != MAGIC {
            return Err(bad(HeaderProblem::Magic));
        }
        let major = take(2)?[0];
        let size = match major {
            1 => take(2)?.iter().rev().fold(0, |size, &byte| size << 8 | u32::from(byte)),
            2 | 3 => take(4)?.iter().rev().fold(0, |size, &byte| size << 8 | u32::from(byte)),
            _ => return Err(bad(HeaderProblem::Version { major })),
        };
        if size > LONGEST_HEADER {
            return Err(bad(HeaderProblem::TooLong { length: size, limit: LONGEST_HEADER }));
        }
        let dictionary = take(size)?;
        Self::from_dictionary(&String::from_utf8_lossy(&dictionary), bytes)
    }

    /// Parses `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
    fn from_dictionary(text: &str, bytes: u64) -> Result<Self, ParseError> {
        let bad = |problem| ParseError::BadHeader { problem };
        let items =
            dictionary(text).ok_or_else(|| bad(HeaderProblem::NotADictionary { text: clip(text) }))?;
        let value = |key| {
            let found = items.iter().find(|(name, _)| *name == key);
            found.map(|&(_, value)| value).ok_or(bad(HeaderProblem::MissingKey { key }))
        };
        let bad_value = |key, text| bad(HeaderProblem::BadValue { key, text: clip(text) });

        let descr = value("descr")?;
        // A list instead of a string: a structured type.
        let descr = unquoted(descr).ok_or_else(|| ParseError::UnsupportedDtype { descr: clip(descr) })?;
        let fortran_order = match value("fortran_order")? {
            "True" => true,
            "False" => false,
            other => return Err(bad_value("fortran_order", other)),
        };
        let shape = value("shape")?;
        let shape = tuple(shape).ok_or_else(|| bad_value("shape", shape))?;
        Ok(Self { descr: clip(descr), fortran_order, shape, bytes })
    }

    /// The number of elements.
    pub fn count(&self) -> Result<usize, ParseError> {
        if self.shape.contains(&0) {
            return Ok(0);
        }
        self.shape.iter().try_fold(1, |count: usize, &size| count.checked_mul(size)).ok_or_else(|| {
            let problem = HeaderProblem::ShapeTooLarge { shape: self.shape.clone() };
            ParseError::BadHeader { problem }
        })
    }

    /// Checks that `length` bytes are the header and `count` elements of `size` bytes.
    pub fn check_length(&self, count: usize, size: usize, length: u64) -> Result<(), ParseError> {
        let expected = (count as u64).saturating_mul(size as u64).saturating_add(self.bytes);
        match expected.cmp(&length) {
            std::cmp::Ordering::Less => Err(ParseError::TrailingBytes { expected, found: length }),
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Greater => Err(ParseError::Truncated { expected, found: length }),
        }
    }

    /// The index of the element at a position in the file.
    fn index_of(&self, mut position: usize) -> Vec<usize> {
        let mut index = vec![0; self.shape.len()];
        let mut split = |axis: usize| {
            index[axis] = position % self.shape[axis];
            position /= self.shape[axis];
        };
        if self.fortran_order {
            (0..self.shape.len()).for_each(&mut split);
        } else {
            (0..self.shape.len()).rev().for_each(&mut split);
        }
        index
    }
}

/// The keys and the texts of the values of a Python dictionary.
fn dictionary(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut rest = text.trim_ascii().strip_prefix('{')?.strip_suffix('}')?.trim_ascii();
    let mut items = Vec::new();
    while !rest.is_empty() {
        let (item, after) = rest.split_at(item_length(rest));
        // The first colon follows the key: no key of the format holds one.
        let (key, value) = item.split_once(':')?;
        items.push((unquoted(key.trim_ascii())?, value.trim_ascii()));
        rest = after.strip_prefix(',').unwrap_or(after).trim_ascii();
    }
    Some(items)
}

/// Bytes up to the first comma outside quotes and brackets.
fn item_length(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), _) => quote = quote.filter(|_| byte != open),
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            (None, b',') if depth == 0 => return at,
            (None, _) => {}
        }
    }
    text.len()
}

fn unquoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    text[1..].strip_suffix(quote)
}

/// The numbers of `()`, `(3,)`, `(3, 4)`; Python 2 wrote `(3L, 4L)`.
fn tuple(text: &str) -> Option<Vec<usize>> {
    let inside = text.strip_prefix('(')?.strip_suffix(')')?.trim_ascii();
    if inside.is_empty() {
        return Some(Vec::new());
    }
    let inside = inside.strip_suffix(',').unwrap_or(inside);
    inside.split(',').map(|size| size.trim_ascii().trim_end_matches('L').parse().ok()).collect()
}

/// The bytes of a file with an array, row-major.
///
/// Panics unless there are as many values as the shape has.
pub fn to_bytes<T: Element>(shape: &[usize], values: &[T]) -> Vec<u8> {
    assert_eq!(shape.iter().product::<usize>(), values.len(), "a value for every place");
    let sizes = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let kind = T::TYPE[..1].to_ascii_lowercase(); // F32 is f4 here
    let width = T::WIDTH;
    let mut text = format!("{{'descr': '<{kind}{width}', 'fortran_order': False, 'shape': ({sizes},), }}");
    // Magic, version and length take ten bytes; the whole head is a multiple of 64, and ends a line.
    let padding = (10 + text.len() + 1).next_multiple_of(64) - (10 + text.len() + 1);
    text.push_str(&" ".repeat(padding));
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes()); // a shape of few sizes
    bytes.extend(text.into_bytes());
    T::append(values, &mut bytes);
    bytes
}
