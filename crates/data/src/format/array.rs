//! Samples and labels as numpy arrays.
//!
//! `.npy`: an array of shape (N, n), (N, H, W) or (N, C, H, W); the labels are `NAME.labels.npy` beside `NAME.npy`,
//! where that file exists. `.npz`: the array is named `x`, `images` or `data` and the labels `y` or `labels`. uint8 means
//! pixels and int16 means audio, with the scales of [`dataset`](crate::dataset); float32 is taken as it is and float64
//! rounded to it. Labels are a one-dimensional array of integers from 0 to 65535.

use crate::dataset::{Dataset, DatasetParts, Shape, SourceFile, Values};
use crate::error::{ArrayProblem, DataError};
use crate::file::{CHUNK, base_name, read_error, report};
use crate::progress::{LoadProgress, Stage};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::matrix_file::ParseError;
use gambeson_lowrank::matrix_file::npy::{self, Header};
use gambeson_lowrank::observe::Observer;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// Values allocated before they have been read.
const RESERVE: usize = 1 << 20;

/// Reading an array fails on its bytes or on their meaning, or is stopped.
enum Failure {
    Parse(ParseError),
    Problem(ArrayProblem),
    Stopped(DataError),
}

impl From<ParseError> for Failure {
    fn from(reason: ParseError) -> Self {
        Self::Parse(reason)
    }
}

impl Failure {
    fn at(self, path: &Path) -> DataError {
        let path = path.to_owned();
        match self {
            Self::Parse(reason) => DataError::Parse { path, reason },
            Self::Problem(reason) => DataError::Array { path, reason },
            Self::Stopped(error) => error,
        }
    }
}

/// Whether bytes start as `.npy` or `.npz` files do.
pub fn recognises(start: &[u8]) -> bool {
    start.starts_with(b"\x93NUMPY") || start.starts_with(b"PK\x03\x04")
}

/// Reads an `.npy` or `.npz` file whose arrays are within `memory`.
pub fn load(
    path: &Path,
    memory: MemoryLimit,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<Dataset, DataError> {
    let mut file = BufReader::new(File::open(path).map_err(read_error(path))?);
    let length = file.get_ref().metadata().map_err(read_error(path))?.len();
    let mut magic = [0; 2];
    file.read_exact(&mut magic).and_then(|()| file.seek_relative(-2)).map_err(read_error(path))?;
    let (array, labels) = if &magic == b"PK" {
        from_archive(file, memory, observer).map_err(|failure| failure.at(path))?
    } else {
        let array = samples(&mut file, length, memory, observer).map_err(|failure| failure.at(path))?;
        let labels = labels_beside(path).map(|path| read_labels(&path, memory)).transpose()?;
        (array, labels)
    };
    let (shape, values) = array;
    let samples = values.len() / shape.len().max(1);
    let parts = DatasetParts {
        name: base_name(path),
        shape,
        values,
        labels,
        classes: Vec::new(),
        sources: vec![SourceFile { name: base_name(path), samples }],
    };
    Dataset::new(parts).map_err(|reason| DataError::Content { path: path.to_owned(), reason })
}

/// `NAME.labels.npy` beside `NAME.npy`, where it exists.
pub fn labels_beside(path: &Path) -> Option<PathBuf> {
    let labels = path.with_extension("labels.npy");
    labels.is_file().then_some(labels)
}

fn read_labels(path: &Path, memory: MemoryLimit) -> Result<Vec<u16>, DataError> {
    let mut file = BufReader::new(File::open(path).map_err(read_error(path))?);
    let length = file.get_ref().metadata().map_err(read_error(path))?.len();
    labels(&mut file, length, memory).map_err(|failure| failure.at(path))
}

type Array = (Shape, Values);

fn from_archive(
    file: BufReader<File>,
    memory: MemoryLimit,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<(Array, Option<Vec<u16>>), Failure> {
    let zip_error = |reason| Failure::Parse(ParseError::Zip { reason });
    let mut archive = ZipArchive::new(file).map_err(zip_error)?;
    let named = |names: &[&str]| names.iter().find_map(|name| archive.index_for_name(&format!("{name}.npy")));
    let (of_samples, of_labels) = (named(&["x", "images", "data"]), named(&["y", "labels"]));
    let Some(index) = of_samples else {
        let names = archive.file_names().filter_map(Result::ok);
        let found = names.map(|name| name.trim_end_matches(".npy").to_owned()).collect();
        return Err(Failure::Problem(ArrayProblem::NoSamples { found }));
    };
    let mut member = archive.by_index(index).map_err(zip_error)?;
    let length = member.size();
    let array = samples(&mut member, length, memory, observer)?;
    finish(&mut member, length)?;
    drop(member);
    let Some(index) = of_labels else { return Ok((array, None)) };
    let mut member = archive.by_index(index).map_err(zip_error)?;
    let length = member.size();
    let labels = labels(&mut member, length, memory)?;
    finish(&mut member, length)?;
    Ok((array, Some(labels)))
}

/// Reads on to the end of a member, which makes the archive compare its checksum.
fn finish(member: &mut dyn Read, expected: u64) -> Result<(), ParseError> {
    match member.read(&mut [0])? {
        0 => Ok(()),
        more => Err(ParseError::TrailingBytes { expected, found: expected.saturating_add(more as u64) }),
    }
}

/// The labels of an array of `length` bytes.
fn labels(mut reader: &mut dyn Read, length: u64, memory: MemoryLimit) -> Result<Vec<u16>, Failure> {
    let header = Header::read(&mut reader, length)?;
    if header.shape.len() != 1 || !matches!(header.descr.as_bytes().get(1), Some(b'i' | b'u')) {
        let problem = ArrayProblem::NotLabels { descr: header.descr, shape: header.shape };
        return Err(Failure::Problem(problem));
    }
    let values = npy::values(&mut reader, &header, length, RESERVE, memory)?;
    let label = |(index, value)| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range by the test")]
        if (0.0..=65535.0).contains(&value) {
            Ok(value as u16)
        } else {
            Err(Failure::Problem(ArrayProblem::Label { index, value }))
        }
    };
    values.into_iter().enumerate().map(label).collect()
}

/// The samples of an array of `length` bytes.
fn samples(
    reader: &mut impl Read,
    length: u64,
    memory: MemoryLimit,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<Array, Failure> {
    let header = Header::read(reader, length)?;
    let shape = shape_of(&header).map_err(Failure::Problem)?;
    let (order, element) = header.descr.split_at_checked(1).unwrap_or_default();
    let big_endian = order == ">";
    let mut source = Elements { reader, header: &header, length, memory, big_endian, observer };
    let values = match (order, element) {
        ("|" | "<" | ">", "u1") => Values::U8(source.read(|[byte]| byte)?),
        ("<" | ">", "i2") => Values::I16(source.read(i16::from_le_bytes)?),
        ("<" | ">", "f4") => Values::F32(source.read(f32::from_le_bytes)?),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "rounding is documented; what overflows is refused later"
        )]
        ("<" | ">", "f8") => Values::F32(source.read(|bytes| f64::from_le_bytes(bytes) as f32)?),
        _ => return Err(Failure::Problem(ArrayProblem::Dtype { descr: header.descr })),
    };
    Ok((shape, values))
}

fn shape_of(header: &Header) -> Result<Shape, ArrayProblem> {
    let shape = || header.shape.clone();
    match *header.shape.as_slice() {
        [_, width] => Ok(Shape { channels: 1, height: 1, width }),
        [_, height, width] => Ok(Shape { channels: 1, height, width }),
        [_, channels, _, 1..=4] if channels > 4 => Err(ArrayProblem::ChannelsLast { shape: shape() }),
        [_, channels, height, width] => Ok(Shape { channels, height, width }),
        _ => Err(ArrayProblem::Dimensions { shape: shape() }),
    }
}

/// Where elements come from.
struct Elements<'a> {
    reader: &'a mut dyn Read,
    header: &'a Header,
    length: u64,
    memory: MemoryLimit,
    big_endian: bool,
    observer: &'a mut dyn Observer<LoadProgress>,
}

impl Elements<'_> {
    /// All elements of `N` bytes, converted from lowest byte first, in the order in which the last index runs fastest.
    fn read<const N: usize, T: Copy>(&mut self, convert: impl Fn([u8; N]) -> T) -> Result<Vec<T>, Failure> {
        let count = self.header.count()?;
        self.header.check_length(count, N, self.length)?;
        let mut values = Vec::new();
        let over = || ParseError::OutOfMemory { entries: count, memory: self.memory };
        // In room that doubles, or as a copy in another order.
        if !self.memory.allows((count as u64).saturating_mul(2 * size_of::<T>() as u64)) {
            return Err(over().into());
        }
        values.try_reserve_exact(count.min(RESERVE)).map_err(|_| over())?;
        let mut buffer = vec![0; CHUNK.min(count.saturating_mul(N))];
        while values.len() < count {
            let wanted = (count - values.len()).min(CHUNK / N);
            let (elements, _) = buffer[..wanted * N].as_chunks_mut::<N>();
            self.reader.read_exact(elements.as_flattened_mut()).map_err(ParseError::from)?;
            if self.big_endian {
                elements.iter_mut().for_each(|element| element.reverse());
            }
            values.try_reserve(elements.len()).map_err(|_| over())?;
            values.extend(elements.iter().map(|&element| convert(element)));
            let done = (values.len() * N) as u64;
            report(self.observer, Stage::Read, done, Some((count * N) as u64)).map_err(Failure::Stopped)?;
        }
        Ok(if self.header.fortran_order { reordered(&values, &self.header.shape) } else { values })
    }
}

/// From the order in which the first index runs fastest to the one in which the last does.
fn reordered<T: Copy>(values: &[T], shape: &[usize]) -> Vec<T> {
    let mut index = vec![0; shape.len()];
    let mut strides = vec![1; shape.len()];
    for axis in 1..shape.len() {
        // Too large only where an axis without length leaves nothing to reach.
        strides[axis] = usize::saturating_mul(strides[axis - 1], shape[axis - 1]);
    }
    let mut ordered = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        ordered.push(values[index.iter().zip(&strides).map(|(index, stride)| index * stride).sum::<usize>()]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    ordered
}
