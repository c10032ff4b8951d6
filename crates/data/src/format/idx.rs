//! IDX files, the format of MNIST and its family, plain or compressed with gzip.
//!
//! Two zero bytes, a byte for the type of the elements, one for the number of dimensions, each dimension as a
//! big-endian u32, then the elements. Images (u8, three dimensions: count, rows, columns) and labels (u8, one dimension)
//! are read. The labels of `…-images-idx3-ubyte` are looked for beside it as `…-labels-idx1-ubyte`, with `.` in place
//! of the `-` before `idx` too, and with `.gz` at the end or without. Training files have `train` in their name, test
//! files `t10k` or `test`.

use crate::dataset::{Dataset, DatasetParts, Shape, SourceFile, Split, Values};
use crate::error::{DataError, IdxProblem};
use crate::file::{base_name, gunzip, read_whole};
use crate::progress::{LoadProgress, Stage};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::observe::Observer;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The elements of an IDX file of bytes and its dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idx {
    /// Sizes, slowest index first.
    pub dimensions: Vec<usize>,
    /// As many as the product of the dimensions.
    pub elements: Vec<u8>,
}

/// Whether bytes start as an IDX file of bytes does.
pub fn recognises(start: &[u8]) -> bool {
    matches!(start, [0, 0, 8, 1 | 3, ..])
}

/// Reads an IDX file of bytes with this number of dimensions, if it is within `memory`.
pub fn parse(reader: &mut dyn Read, dimensions: u8, memory: MemoryLimit) -> Result<Idx, IdxProblem> {
    let failed = |error: std::io::Error| IdxProblem::Gzip { kind: error.kind() };
    let header_bytes = 4 + 4 * u64::from(dimensions);
    let mut header = Vec::new();
    Read::take(&mut *reader, header_bytes).read_to_end(&mut header).map_err(failed)?;
    let found = match header.as_slice() {
        [0, 0, 8, found, ..] => *found,
        other => return Err(IdxProblem::Magic { start: other[..other.len().min(4)].to_vec() }),
    };
    if found != dimensions {
        return Err(IdxProblem::Dimensions { found, expected: dimensions });
    }
    if (header.len() as u64) < header_bytes {
        return Err(IdxProblem::Length { expected: header_bytes, found: header.len() as u64 });
    }
    let (sizes, _) = header[4..].as_chunks::<4>();
    let sizes: Vec<u32> = sizes.iter().map(|&size| u32::from_be_bytes(size)).collect();
    let count = sizes.iter().fold(1, |count: u64, &size| count.saturating_mul(size.into()));
    // Memory grows with what is read, not with what is claimed, and in room that doubles.
    let (limit, most) = (memory.limit(), memory.limit() / 2);
    let mut elements = Vec::new();
    reader.take(count.min(most).saturating_add(1)).read_to_end(&mut elements).map_err(failed)?;
    if elements.len() as u64 > most {
        return Err(IdxProblem::TooLarge { bytes: count, limit });
    }
    if elements.len() as u64 != count {
        let (expected, found) = (header_bytes.saturating_add(count), header_bytes + elements.len() as u64);
        return Err(IdxProblem::Length { expected, found });
    }
    Ok(Idx { dimensions: sizes.into_iter().map(|size| size as usize).collect(), elements })
}

/// Reads images, and the labels beside them if there are any.
pub fn load(
    path: &Path,
    memory: MemoryLimit,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<Dataset, DataError> {
    let images = read(path, 3, memory, observer)?;
    let labels =
        labels_beside(path).map(|labels| Ok((read(&labels, 1, memory, observer)?, labels))).transpose()?;
    let (labels, path_of_both) = match labels {
        Some((labels, path)) => (Some(labels.elements), path),
        None => (None, path.to_owned()),
    };
    let &[samples, height, width] = images.dimensions.as_slice() else {
        let reason = IdxProblem::Dimensions { found: 0, expected: 3 };
        return Err(DataError::Idx { path: path.to_owned(), reason });
    };
    let parts = DatasetParts {
        name: base_name(path),
        shape: Shape { channels: 1, height, width },
        values: Values::U8(images.elements),
        labels: labels.map(|labels| labels.into_iter().map(u16::from).collect()),
        classes: Vec::new(),
        sources: vec![SourceFile { name: base_name(path), samples }],
    };
    Dataset::new(parts).map_err(|reason| DataError::Content { path: path_of_both, reason })
}

fn read(
    path: &Path,
    dimensions: u8,
    memory: MemoryLimit,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<Idx, DataError> {
    let bytes = read_whole(path, Stage::Read, observer)?;
    let parsed = if bytes.starts_with(&[0x1f, 0x8b]) {
        parse(&mut gunzip(Box::new(bytes.as_slice())), dimensions, memory)
    } else {
        parse(&mut bytes.as_slice(), dimensions, memory)
    };
    parsed.map_err(|reason| DataError::Idx { path: path.to_owned(), reason })
}

/// The file of labels that belongs to a file of images.
pub fn labels_beside(images: &Path) -> Option<PathBuf> {
    let name = images.file_name()?.to_str()?;
    let stem = name.strip_suffix(".gz").unwrap_or(name);
    let labels = stem.replace("images", "labels").replace("idx3", "idx1");
    if labels == stem {
        return None;
    }
    [labels.clone(), format!("{labels}.gz")]
        .into_iter()
        .map(|name| images.with_file_name(name))
        .find(|path| path.is_file())
}

/// The images of a part in a folder of MNIST's kind; `None` where there are none.
pub fn images_in(folder: &Path, split: Split) -> Option<PathBuf> {
    let prefixes: &[&str] = match split {
        Split::Train => &["train"],
        Split::Test => &["t10k", "test"],
    };
    for prefix in prefixes {
        for name in ["images-idx3-ubyte", "images.idx3-ubyte"] {
            for ending in ["", ".gz"] {
                let path = folder.join(format!("{prefix}-{name}{ending}"));
                if path.is_file() {
                    return Some(path);
                }
            }
        }
    }
    None
}
