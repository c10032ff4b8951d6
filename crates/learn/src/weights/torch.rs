//! PyTorch's saved state dicts: a legacy stream of pickles with the numbers behind them, or a ZIP archive.
//!
//! **Stream** (before PyTorch 1.6): pickles of a magic number, a protocol version, facts about the machine, the object, and
//! the keys of its storages; then for every key in that order the count of its numbers (little-endian u64) and the numbers.
//! **Archive**: `NAME/data.pkl` the object, `NAME/data/KEY` the numbers of a storage.
//!
//! Numbers come out as `f32`, whatever they were stored as. The state dict may be the object itself or stand in it under
//! `state_dict`, `model` or `net`.

use super::object::{Element, Object, TensorView};
use super::pickle::{self, PickleError};
use super::tensor::NamedTensor;
use std::collections::{BTreeSet, HashMap};
use std::io::{Cursor, Read};
use std::rc::Rc;
use thiserror::Error;

/// The magic number of the stream: 0x1950a86a20f9469cfc6c.
const MAGIC: [u8; 10] = [0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19];

/// Why a file holds no state dict.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TorchError {
    /// The program in it.
    #[error(transparent)]
    Pickle(#[from] PickleError),
    /// The archive.
    #[error("the archive cannot be read: {0}")]
    Archive(#[from] zip::result::ZipError),
    /// A member of the archive.
    #[error("the archive's member {name} cannot be read: {reason}")]
    Member {
        /// Name of the member.
        name: String,
        /// What the system said.
        reason: std::io::Error,
    },
    /// Not what PyTorch writes.
    #[error("not a file that torch.save wrote: {problem}")]
    NotTorch {
        /// What is missing.
        problem: &'static str,
    },
    /// A tensor that does not fit its storage.
    #[error("tensor {name}: {problem}")]
    Tensor {
        /// Name of the tensor.
        name: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// The numbers end too early.
    #[error("the numbers of storage {key} are cut short: {expected} bytes expected, {found} found")]
    Truncated {
        /// Name of the storage.
        key: String,
        /// Bytes that it should have.
        expected: usize,
        /// Bytes there are.
        found: usize,
    },
}

/// Whether bytes start as these files do.
pub fn recognises(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
        || (bytes.starts_with(&[0x80, 2, 0x8a, 10]) && bytes[4..].starts_with(&MAGIC))
}

/// The tensors of a state dict, in their order.
pub fn read(bytes: &[u8]) -> Result<Vec<NamedTensor>, TorchError> {
    let (object, storages) = if bytes.starts_with(b"PK") { archive(bytes)? } else { stream(bytes)? };
    let dict = state_dict(&object).ok_or(TorchError::NotTorch { problem: "there are no tensors by name" })?;
    let mut tensors = Vec::new();
    // Tensors may share a storage; a few do, not all of them.
    let mut left = bytes.len();
    for (name, view) in dict {
        let wrong = |problem| TorchError::Tensor { name: name.to_string(), problem };
        let storage = storages.get(&view.key).ok_or_else(|| wrong("its numbers are missing"))?;
        let values = gather(&view, storage).ok_or_else(|| wrong("it reaches beyond its numbers"))?;
        let fewer = left.checked_sub(values.len());
        left = fewer.ok_or_else(|| wrong("with those before it, it has more numbers than the file bytes"))?;
        tensors.push(NamedTensor { name: name.to_string(), shape: view.shape.clone(), values });
    }
    Ok(tensors)
}

type Storages<'a> = HashMap<Rc<str>, std::borrow::Cow<'a, [u8]>>;

fn stream(bytes: &[u8]) -> Result<(Object, Storages<'_>), TorchError> {
    let (magic, at) = pickle::read(bytes, 0)?;
    if magic != Object::Long(MAGIC.as_slice().into()) {
        return Err(TorchError::NotTorch { problem: "the magic number is missing" });
    }
    let (_, at) = pickle::read(bytes, at)?; // protocol
    let (_, at) = pickle::read(bytes, at)?; // machine
    let (object, at) = pickle::read(bytes, at)?;
    let (keys, mut at) = pickle::read(bytes, at)?;
    let Object::List(keys) = keys else {
        return Err(TorchError::NotTorch { problem: "no list of storages" });
    };
    let mut elements = HashMap::new();
    collect(&object, &mut |view| {
        elements.insert(view.key.clone(), view.element);
    });
    let mut storages = HashMap::new();
    for key in keys.iter() {
        let Object::Text(key) = key else {
            return Err(TorchError::NotTorch { problem: "a storage without a name" });
        };
        // A storage that no tensor of the state dict uses: its size cannot be told, so it must be the last.
        let Some(element) = elements.get(key) else { break };
        let count = bytes.get(at..at + 8).and_then(|count| count.try_into().ok()).map(u64::from_le_bytes);
        let truncated = |expected: usize| TorchError::Truncated {
            key: key.to_string(),
            expected,
            found: bytes.len().saturating_sub(at + 8),
        };
        let count = count.ok_or_else(|| truncated(8))?;
        let length = usize::try_from(count).ok().and_then(|count| count.checked_mul(element.size()));
        let length = length.ok_or_else(|| truncated(usize::MAX))?;
        let end = length.checked_add(8).and_then(|length| at.checked_add(length));
        let numbers = end.and_then(|end| bytes.get(at + 8..end)).ok_or_else(|| truncated(length))?;
        storages.insert(key.clone(), numbers.into());
        at += 8 + length;
    }
    Ok((object, storages))
}

fn archive(bytes: &[u8]) -> Result<(Object, Storages<'_>), TorchError> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes))?;
    let root = archive.file_names().find_map(|name| Some(name.ok()?.strip_suffix("/data.pkl")?.to_owned()));
    let root = root.ok_or(TorchError::NotTorch { problem: "the archive has no data.pkl" })?;
    // What members claim to unpack to is not believed: PyTorch stores, so all together are no longer than the file.
    let mut left = bytes.len();
    let mut member = |name: String| -> Result<Vec<u8>, TorchError> {
        let mut file = archive.by_name(&name)?;
        let mut content = Vec::new();
        let read = Read::by_ref(&mut file).take(left as u64 + 1).read_to_end(&mut content);
        match read {
            Ok(length) if length <= left => {
                left -= length;
                Ok(content)
            }
            Ok(_) => Err(TorchError::NotTorch { problem: "members that unpack to more than the file" }),
            Err(reason) => Err(TorchError::Member { name, reason }),
        }
    };
    let (object, _) = pickle::read(&member(format!("{root}/data.pkl"))?, 0)?;
    let mut keys = BTreeSet::new();
    collect(&object, &mut |view| {
        keys.insert(view.key.clone());
    });
    let mut storages = HashMap::new();
    for key in keys {
        storages.insert(key.clone(), member(format!("{root}/data/{key}"))?.into());
    }
    Ok((object, storages))
}

/// The tensors by name of a dictionary, or of the one in it that has them.
fn state_dict(object: &Object) -> Option<Vec<(Rc<str>, Rc<TensorView>)>> {
    let Object::Dict(entries) = object else { return None };
    let named =
        |key: &str| entries.iter().find(|(own, _)| *own == Object::Text(key.into())).map(|(_, value)| value);
    if let Some(inner) = ["state_dict", "model", "net"].into_iter().find_map(named) {
        return state_dict(inner);
    }
    let mut tensors = Vec::new();
    for (key, value) in entries.iter() {
        if let (Object::Text(name), Object::Tensor(view)) = (key, value) {
            tensors.push((name.clone(), view.clone()));
        }
    }
    (!tensors.is_empty()).then_some(tensors)
}

/// All tensors anywhere in an object. Depth is limited by the reader; shared parts are walked once per place, which only a
/// hostile file makes many: so is their number.
fn collect(object: &Object, see: &mut impl FnMut(&TensorView)) {
    fn walk(object: &Object, budget: &mut usize, see: &mut impl FnMut(&TensorView)) {
        if *budget == 0 {
            return;
        }
        *budget -= 1;
        match object {
            Object::Tensor(view) => see(view),
            Object::Dict(entries) => entries.iter().for_each(|(_, value)| walk(value, budget, see)),
            Object::List(items) | Object::Tuple(items) => {
                items.iter().for_each(|item| walk(item, budget, see));
            }
            _ => {}
        }
    }
    walk(object, &mut 1_000_000, see);
}

/// The numbers of a view, row-major.
fn gather(view: &TensorView, storage: &[u8]) -> Option<Vec<f32>> {
    let (size, available) = (view.element.size(), storage.len() / view.element.size());
    let count = view.shape.iter().try_fold(1_usize, |product, &axis| product.checked_mul(axis))?;
    if count == 0 {
        return Some(Vec::new());
    }
    let furthest = view
        .shape
        .iter()
        .zip(&view.strides)
        .try_fold(view.offset, |at, (&axis, &stride)| at.checked_add((axis - 1).checked_mul(stride)?))?;
    // Views may repeat numbers, by strides of 0; a tensor is still no larger than its storage.
    if furthest >= available || count > available {
        return None;
    }
    let mut values = Vec::with_capacity(count);
    let mut place = vec![0; view.shape.len()];
    for _ in 0..count {
        let at = place.iter().zip(&view.strides).fold(view.offset, |at, (index, stride)| at + index * stride);
        values.push(number(view.element, &storage[at * size..][..size]));
        for axis in (0..place.len()).rev() {
            place[axis] += 1;
            if place[axis] < view.shape[axis] {
                break;
            }
            place[axis] = 0;
        }
    }
    Some(values)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)] // networks are f32
fn number(element: Element, bytes: &[u8]) -> f32 {
    fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
        bytes.try_into().unwrap_or([0; N])
    }
    match element {
        Element::F32 => f32::from_le_bytes(fixed(bytes)),
        Element::F64 => f64::from_le_bytes(fixed(bytes)) as f32,
        Element::Bf16 => brain(u16::from_le_bytes(fixed(bytes))),
        Element::F16 => half(u16::from_le_bytes(fixed(bytes))),
        Element::I64 => i64::from_le_bytes(fixed(bytes)) as f32,
        Element::I32 => i32::from_le_bytes(fixed(bytes)) as f32,
        Element::I16 => i16::from_le_bytes(fixed(bytes)).into(),
        Element::I8 => i8::from_le_bytes(fixed(bytes)).into(),
        Element::U8 | Element::Bool => bytes[0].into(),
    }
}

/// The upper half of single precision, exactly.
pub(crate) fn brain(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Half precision, exactly.
pub(crate) fn half(bits: u16) -> f32 {
    let (sign, exponent, mantissa) = (u32::from(bits >> 15), (bits >> 10) & 0x1f, u32::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => mantissa as f32 * 2f32.powi(-24),
        0x1f => f32::from_bits(0x7f80_0000 | mantissa << 13),
        _ => f32::from_bits((u32::from(exponent) + 112) << 23 | mantissa << 13),
    };
    f32::from_bits(magnitude.to_bits() | sign << 31)
}
