//! Named arrays in one file: the safetensors format, for projections, data sets and networks.
//!
//! A file is eight bytes with the length of a JSON header (little-endian u64), the header, then the arrays as raw
//! little-endian numbers, the last index running fastest. The header maps each name to type, shape and place, and
//! `__metadata__` to texts.
//!
//! **Reading** is done by the `safetensors` crate and stricter: besides lengths, shapes and places, which must leave no
//! byte unused and no byte used twice, a name or key that stands twice is an error, for readers disagree on which of the
//! two counts. Nothing in a header is believed before it has been compared with the bytes there are.
//!
//! **Writing** is our own: the crate orders metadata at random, and hashes of files are identities here. The same
//! content always gives the same bytes: keys sorted, the header padded with spaces to a multiple of eight bytes.

mod element;
mod error;

pub use crate::safetensors::element::Element;
pub use crate::safetensors::error::{SafetensorsError, SafetensorsProblem};

use crate::file::write_file;
use crate::memory::MemoryLimit;
use safetensors::tensor::{SafeTensorError, SafeTensors, TensorInfo};
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

/// Longest header read, that of the `safetensors` crate.
const LONGEST_HEADER: u64 = 100_000_000;
const METADATA: &str = "__metadata__";

/// Whether bytes begin like a safetensors file: a plausible header length, then a JSON object.
pub fn looks_like(head: &[u8]) -> bool {
    let Some((length, rest)) = head.split_first_chunk::<8>() else { return false };
    (2..=LONGEST_HEADER).contains(&u64::from_le_bytes(*length)) && rest.first() == Some(&b'{')
}

/// What the metadata of a file call its format, wherever in its header they are; none where they do not, or there is no such
/// file. The arrays are not read.
pub fn format_of(path: &Path) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Header {
        __metadata__: BTreeMap<String, String>,
    }
    let mut file = std::fs::File::open(path).ok()?;
    let mut length = [0; 8];
    file.read_exact(&mut length).ok()?;
    let length = u64::from_le_bytes(length);
    if length > LONGEST_HEADER.min(file.metadata().ok()?.len()) {
        return None;
    }
    let mut header = Vec::new();
    file.take(length).read_to_end(&mut header).ok()?;
    serde_json::from_slice::<Header>(&header).ok()?.__metadata__.remove("format")
}

/// An array in the bytes of a file.
#[derive(Clone, Debug)]
pub struct ArrayView<'a> {
    name: String,
    info: TensorInfo,
    bytes: &'a [u8],
}

impl ArrayView<'_> {
    /// The numbers as they stand in the file, little-endian.
    pub fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// Sizes of the axes, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.info.shape
    }

    /// The name that the format has for the type of its numbers, such as `F64`.
    pub fn type_name(&self) -> String {
        self.info.dtype.to_string()
    }

    /// Whether its numbers are of this type.
    pub fn is<T: Element>(&self) -> bool {
        self.type_name() == T::TYPE
    }

    /// All numbers, row-major; an error where they are of another type.
    pub fn values<T: Element>(&self) -> Result<Vec<T>, SafetensorsProblem> {
        if self.is::<T>() {
            return Ok(T::parse(self.bytes));
        }
        let (name, found) = (self.name.clone(), self.type_name());
        Err(SafetensorsProblem::Type { name, found, expected: T::TYPE })
    }
}

/// Metadata and arrays in the bytes of a file, every place in it checked; nothing is copied yet.
#[derive(Clone, Debug, Default)]
pub struct Content<'a> {
    /// Texts about the arrays.
    pub metadata: BTreeMap<String, String>,
    /// Arrays by name.
    pub arrays: BTreeMap<String, ArrayView<'a>>,
}

impl<'a> Content<'a> {
    /// Takes the bytes of a whole file apart.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, SafetensorsProblem> {
        let bad = |reason: &str| SafetensorsProblem::Header { reason: reason.to_owned() };
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(|| bad("the file is too short"))?;
        let (length, found) = (u64::from_le_bytes(*length), bytes.len() as u64);
        if length > LONGEST_HEADER {
            return Err(bad("it would be longer than 100 MB"));
        }
        let shorter = |expected| SafetensorsProblem::Length { expected, found };
        let split = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
        let (header, data) = split.ok_or(shorter(8 + length))?;
        if header.first() != Some(&b'{') {
            return Err(bad("it does not start with `{`"));
        }
        let Distinct = serde_json::from_slice(header).map_err(|error| bad(&error.to_string()))?;
        let (_, described) =
            SafeTensors::read_metadata(bytes).map_err(|error| explain(&error, header, found))?;
        let view = |(name, info): (String, &TensorInfo)| {
            let (start, end) = info.data_offsets;
            let bytes = data.get(start..end).ok_or(shorter((8 + length).saturating_add(end as u64)))?;
            Ok((name.clone(), ArrayView { name, info: info.clone(), bytes }))
        };
        let metadata = described.metadata().iter().flatten();
        Ok(Self {
            metadata: metadata.map(|(key, text)| (key.clone(), text.clone())).collect(),
            arrays: described.tensors().into_iter().map(view).collect::<Result<_, _>>()?,
        })
    }
}

/// Our words for an error of the crate, with the array it is about, which the crate does not always name.
fn explain(error: &SafeTensorError, header: &[u8], found: u64) -> SafetensorsProblem {
    let infos = || {
        let entries: BTreeMap<String, Value> = serde_json::from_slice(header).unwrap_or_default();
        let info = |(name, entry)| Some((name, serde_json::from_value::<TensorInfo>(entry).ok()?));
        entries.into_iter().filter_map(info)
    };
    match error {
        SafeTensorError::InvalidOffset(name) => SafetensorsProblem::Array {
            name: name.clone(),
            problem: "its bytes do not follow those of the array before it: a hole, or bytes used twice",
        },
        SafeTensorError::TensorInvalidInfo
        | SafeTensorError::ValidationOverflow
        | SafeTensorError::MisalignedSlice => {
            let wrong = |(_, info): &(String, TensorInfo)| {
                let (start, end) = info.data_offsets;
                end.checked_sub(start).is_none() || size(info) != end.checked_sub(start)
            };
            let name = infos().find(wrong).map(|(name, _)| name).unwrap_or_default();
            SafetensorsProblem::Array { name, problem: "its shape does not fit its offsets" }
        }
        SafeTensorError::MetadataIncompleteBuffer => {
            let data = infos().map(|(_, info)| info.data_offsets.1 as u64).max().unwrap_or(0);
            let expected = (8 + header.len() as u64).saturating_add(data);
            SafetensorsProblem::Length { expected, found }
        }
        other => SafetensorsProblem::Header { reason: other.to_string() },
    }
}

/// Bytes of an array by type and shape; `None` where they are no whole number, or too many to count.
fn size(info: &TensorInfo) -> Option<usize> {
    let bits = info.shape.iter().try_fold(info.dtype.bitsize(), |bits, &size| bits.checked_mul(size))?;
    bits.is_multiple_of(8).then_some(bits / 8)
}

/// A header in which no name stands twice, nor any key of its metadata. Everything else about it is for the crate.
struct Distinct;

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Keys { of: "a header" }).map(|()| Self)
    }
}

/// The same of the metadata.
struct DistinctTexts;

impl<'de> Deserialize<'de> for DistinctTexts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Keys { of: METADATA }).map(|()| Self)
    }
}

struct Keys {
    of: &'static str,
}

impl<'de> Visitor<'de> for Keys {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, which is an object", self.of)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(name) = map.next_key::<String>()? {
            if name == METADATA && self.of != METADATA {
                map.next_value::<DistinctTexts>()?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
            if let Some(name) = seen.replace(name) {
                return Err(A::Error::custom(format_args!("`{name}` stands twice")));
            }
        }
        Ok(())
    }
}

/// Name, type and shape of an array to be written; see [`header`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description<'a> {
    name: &'a str,
    type_name: &'static str,
    width: usize,
    shape: &'a [usize],
}

impl<'a> Description<'a> {
    /// An array of `T`; its shape has the outermost axis first.
    pub fn of<T: Element>(name: &'a str, shape: &'a [usize]) -> Self {
        Self { name, type_name: T::TYPE, width: T::WIDTH, shape }
    }

    fn bytes(&self) -> usize {
        self.width * self.shape.iter().product::<usize>()
    }
}

/// What comes before the arrays of a file: the length of the header and the header. The numbers must follow in the order
/// of the descriptions, without gaps.
pub fn header(metadata: &BTreeMap<String, String>, arrays: &[Description<'_>]) -> Vec<u8> {
    let mut entries = Map::new();
    entries.insert(METADATA.to_owned(), json!(metadata));
    let mut start = 0;
    for array in arrays {
        let end = start + array.bytes();
        let entry = json!({ "dtype": array.type_name, "shape": array.shape, "data_offsets": [start, end] });
        entries.insert(array.name.to_owned(), entry);
        start = end;
    }
    let mut text = Value::Object(entries).to_string().into_bytes();
    text.resize(text.len().next_multiple_of(8), b' '); // keeps the numbers aligned
    [&(text.len() as u64).to_le_bytes(), text.as_slice()].concat()
}

/// An array with its shape, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor<T = f64> {
    /// Sizes of the axes, outermost first.
    pub shape: Vec<usize>,
    /// As many numbers as the product of the shape.
    pub values: Vec<T>,
}

/// A whole file in memory whose arrays are all of one type: `f64` for projections, `f32` for networks.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensors<T = f64> {
    /// Texts about the arrays.
    pub metadata: BTreeMap<String, String>,
    /// Arrays by name.
    pub tensors: BTreeMap<String, Tensor<T>>,
}

impl<T> Default for Tensors<T> {
    fn default() -> Self {
        Self { metadata: BTreeMap::new(), tensors: BTreeMap::new() }
    }
}

impl<T: Element> Tensors<T> {
    /// Writes the file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), SafetensorsError> {
        write_file(path, &self.to_bytes())
            .map_err(|reason| SafetensorsError::File { path: path.to_path_buf(), reason })
    }

    /// The bytes of the file: always the same for the same content.
    pub fn to_bytes(&self) -> Vec<u8> {
        let arrays: Vec<_> =
            self.tensors.iter().map(|(name, tensor)| Description::of::<T>(name, &tensor.shape)).collect();
        let mut bytes = header(&self.metadata, &arrays);
        self.tensors.values().for_each(|tensor| T::append(&tensor.values, &mut bytes));
        bytes
    }

    /// Reads a file.
    pub fn read(path: &Path, memory: MemoryLimit) -> Result<Self, SafetensorsError> {
        let bytes = memory
            .read_file(path)
            .map_err(|reason| SafetensorsError::File { path: path.to_path_buf(), reason })?;
        Self::parse(&bytes).map_err(|problem| SafetensorsError::Content { path: path.to_path_buf(), problem })
    }

    /// The content of a file that has been read already, for whoever needs its hash too.
    pub fn parse(bytes: &[u8]) -> Result<Self, SafetensorsProblem> {
        let Content { metadata, arrays } = Content::parse(bytes)?;
        let tensor = |(name, view): (String, ArrayView<'_>)| {
            Ok((name, Tensor { shape: view.shape().to_vec(), values: view.values()? }))
        };
        Ok(Self { metadata, tensors: arrays.into_iter().map(tensor).collect::<Result<_, _>>()? })
    }
}
