//! Imported sets: `NAME/train.safetensors` and `NAME/test.safetensors` in the data directory.
//!
//! The format is [`safetensors`]. `x` has shape samples × channels × rows × columns and type `U8`, `I16` or `F32`; `y`,
//! where there are labels, has one axis, samples, and type `U16`. The metadata are `format`, which is `gambeson dataset 1`;
//! `name`; `sha256`, the checksum of [`dataset`](crate::dataset), verified whenever the file is read; `classes`, a JSON
//! list of names; `sources`, a JSON list of `[file, samples]`.
//!
//! Any safetensors library reads these files; only files of this format are read here.

use crate::dataset::{Dataset, DatasetParts, Shape, SourceFile, Split, Values};
use crate::error::{DataError, StoreProblem};
use crate::file::{CHUNK, read_whole, report, write_error};
use crate::progress::{LoadProgress, Stage};
use gambeson_lowrank::file::part_of;
use gambeson_lowrank::observe::Observer;
use gambeson_lowrank::safetensors::{self, ArrayView, Content, Description, Element};
use std::io::Write;
use std::path::{Path, PathBuf};

const FORMAT: &str = "gambeson dataset 1";

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
    observer: &mut dyn Observer<LoadProgress>,
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
    let written = write(data, &path, name, observer);
    if written.is_err() {
        let _ = std::fs::remove_dir(&folder); // stays where there is something in it
    }
    written.map(|()| path)
}

/// Writes beside the place and renames.
fn write(
    data: &Dataset,
    path: &Path,
    name: &str,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<(), DataError> {
    let header = header(data, name, data.sources());
    let mut out = Pieces {
        file: part_of(path).map_err(write_error(path))?,
        path,
        done: 0,
        total: (data.values().len() * data.values().width()) as u64,
        observer,
    };
    out.put(&header)?;
    match data.values() {
        Values::U8(values) => out.numbers(values)?,
        Values::I16(values) => out.numbers(values)?,
        Values::F32(values) => out.numbers(values)?,
    }
    out.numbers(data.labels().unwrap_or_default())?;
    let file = out.file;
    file.as_file().sync_all().map_err(write_error(path))?;
    file.persist(path).map_err(|error| DataError::Write { path: path.to_owned(), reason: error.error })?;
    Ok(())
}

/// A file that is being written.
struct Pieces<'a> {
    file: tempfile::NamedTempFile,
    /// Where it will be, for messages.
    path: &'a Path,
    done: u64,
    /// Bytes of the values; header and labels are few.
    total: u64,
    observer: &'a mut dyn Observer<LoadProgress>,
}

impl Pieces<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        self.file.write_all(bytes).map_err(write_error(self.path))?;
        self.done += bytes.len() as u64;
        report(self.observer, Stage::Write, self.done.min(self.total), Some(self.total))
    }

    fn numbers<T: Element>(&mut self, values: &[T]) -> Result<(), DataError> {
        let mut bytes = Vec::new();
        for chunk in values.chunks(CHUNK / T::WIDTH) {
            bytes.clear();
            T::append(chunk, &mut bytes);
            self.put(&bytes)?;
        }
        Ok(())
    }
}

/// The bytes of a stored set under its own name, without the files that its samples came from: always the same for the
/// same content and name.
pub fn to_bytes(data: &Dataset) -> Vec<u8> {
    let mut bytes = header(data, data.name(), &[]);
    match data.values() {
        Values::U8(values) => bytes.extend_from_slice(values),
        Values::I16(values) => Element::append(values, &mut bytes),
        Values::F32(values) => Element::append(values, &mut bytes),
    }
    Element::append(data.labels().unwrap_or_default(), &mut bytes);
    bytes
}

/// What comes before the values.
fn header(data: &Dataset, name: &str, sources: &[SourceFile]) -> Vec<u8> {
    let json = |value: serde_json::Value| value.to_string();
    let sources: Vec<_> = sources.iter().map(|source| (&source.name, source.samples)).collect();
    let metadata = [
        ("format", FORMAT.to_owned()),
        ("name", name.to_owned()),
        ("sha256", data.sha256().to_owned()),
        ("classes", json(data.classes().into())),
        ("sources", json(serde_json::json!(sources))),
    ];
    let metadata = metadata.into_iter().map(|(key, text)| (key.to_owned(), text)).collect();
    let shape = data.shape();
    let shape = [data.len(), shape.channels, shape.height, shape.width];
    let mut arrays = vec![match data.values() {
        Values::U8(_) => Description::of::<u8>("x", &shape),
        Values::I16(_) => Description::of::<i16>("x", &shape),
        Values::F32(_) => Description::of::<f32>("x", &shape),
    }];
    let samples = [data.len()];
    if data.labels().is_some() {
        arrays.push(Description::of::<u16>("y", &samples));
    }
    safetensors::header(&metadata, &arrays)
}

/// Reads a stored set and verifies its checksum.
pub fn load(path: &Path, observer: &mut dyn Observer<LoadProgress>) -> Result<Dataset, DataError> {
    parse(path, read_whole(path, Stage::Read, observer)?)
}

/// The same for the bytes of a file; `path` names it in errors.
pub fn parse(path: &Path, bytes: Vec<u8>) -> Result<Dataset, DataError> {
    let at_path = |reason| DataError::Store { path: path.to_owned(), reason };
    let (parts, expected) = parts_of(&bytes).map_err(at_path)?;
    drop(bytes);
    let data = Dataset::new(parts).map_err(|reason| DataError::Content { path: path.to_owned(), reason })?;
    if data.sha256() == expected {
        return Ok(data);
    }
    Err(DataError::Checksum { path: path.to_owned(), expected, found: data.sha256().to_owned() })
}

/// The content of a file, and its checksum according to the metadata.
fn parts_of(bytes: &[u8]) -> Result<(DatasetParts, String), StoreProblem> {
    const SAMPLES: &str = "U8, I16 or F32 of shape [samples, channels, rows, columns]";
    const LABELS: &str = "U16, one per sample,";
    let Content { metadata, arrays } = Content::parse(bytes)?;
    if metadata.get("format").is_none_or(|format| format != FORMAT) {
        return Err(StoreProblem::Foreign { expected: FORMAT });
    }
    let text = |key| metadata.get(key).map_or("", String::as_str);
    let unreadable =
        |key| move |error: serde_json::Error| StoreProblem::Metadata { key, reason: error.to_string() };
    let classes = serde_json::from_str(text("classes")).map_err(unreadable("classes"))?;
    let sources: Vec<(String, usize)> =
        serde_json::from_str(text("sources")).map_err(unreadable("sources"))?;
    let wrong = |name, view: Option<&ArrayView<'_>>, expected| {
        let described = |view: &ArrayView<'_>| format!("{} of shape {:?}", view.type_name(), view.shape());
        StoreProblem::Array { name, found: view.map_or("missing".to_owned(), described), expected }
    };
    let (x, y) = (arrays.get("x"), arrays.get("y"));
    let Some((x, &[samples, channels, height, width])) = x.map(|x| (x, x.shape())) else {
        return Err(wrong("x", x, SAMPLES));
    };
    let values = if x.is::<u8>() {
        Values::U8(x.values()?)
    } else if x.is::<i16>() {
        Values::I16(x.values()?)
    } else if x.is::<f32>() {
        Values::F32(x.values()?)
    } else {
        return Err(wrong("x", Some(x), SAMPLES));
    };
    let labels = match y {
        Some(y) if y.is::<u16>() && y.shape() == [samples] => Some(y.values()?),
        Some(y) => return Err(wrong("y", Some(y), LABELS)),
        None => None,
    };
    let parts = DatasetParts {
        name: text("name").to_owned(),
        shape: Shape { channels, height, width },
        values,
        labels,
        classes,
        sources: sources.into_iter().map(|(name, samples)| SourceFile { name, samples }).collect(),
    };
    Ok((parts, text("sha256").to_owned()))
}
