//! The wire format of protocol buffers, as far as it takes to read, change and write ONNX files.
//!
//! A message is a sequence of fields, each a number with a value; fields that are not understood are copied as they are.

use thiserror::Error;

/// Why bytes are not a message. Offsets count from the start of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WireError {
    /// The bytes end within a field.
    #[error("it ends within the field that starts at byte {offset}: the file is cut short")]
    Truncated {
        /// Start of the field.
        offset: usize,
    },
    /// Messages within messages, further than any network goes.
    #[error("more than a hundred messages within each other around byte {offset}")]
    Deep {
        /// Of the innermost.
        offset: usize,
    },
    /// No field begins like that.
    #[error("byte {offset} begins no field of a protocol buffer")]
    Malformed {
        /// Position of the byte.
        offset: usize,
    },
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// An integer.
    Varint(u64),
    /// Text, bytes, a message, or packed numbers.
    Bytes(Message<'a>),
    /// Four or eight bytes, the last of the field.
    Fixed,
}

/// A message, and where it stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) offset: usize,
}

/// One field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    pub(super) number: u64,
    pub(super) value: Value<'a>,
    /// All of it, number and length included.
    pub(super) raw: &'a [u8],
}

impl<'a> Message<'a> {
    /// A whole file.
    pub(super) fn whole(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    /// All fields, in their order.
    pub(super) fn fields(self) -> Result<Vec<Field<'a>>, WireError> {
        let mut fields = Vec::new();
        let mut at = 0;
        while at < self.bytes.len() {
            let (field, end) = self.field(at)?;
            fields.push(field);
            at = end;
        }
        Ok(fields)
    }

    /// The field at a place, and where the next one begins.
    fn field(self, start: usize) -> Result<(Field<'a>, usize), WireError> {
        let offset = self.offset + start;
        let truncated = WireError::Truncated { offset };
        let (key, at) = self.varint(start).ok_or(truncated)??;
        let sized = |size: usize| {
            at.checked_add(size).filter(|&end| end <= self.bytes.len()).map(|end| (Value::Fixed, end))
        };
        let (value, end) = match key & 7 {
            0 => self.varint(at).ok_or(truncated)?.map(|(value, end)| (Value::Varint(value), end))?,
            1 => sized(8).ok_or(truncated)?,
            5 => sized(4).ok_or(truncated)?,
            2 => {
                let (length, at) = self.varint(at).ok_or(truncated)??;
                let end = usize::try_from(length).ok().and_then(|length| at.checked_add(length));
                let end = end.filter(|&end| end <= self.bytes.len()).ok_or(truncated)?;
                let inner = Message { bytes: &self.bytes[at..end], offset: self.offset + at };
                (Value::Bytes(inner), end)
            }
            _ => return Err(WireError::Malformed { offset }),
        };
        if key >> 3 == 0 {
            return Err(WireError::Malformed { offset });
        }
        Ok((Field { number: key >> 3, value, raw: &self.bytes[start..end] }, end))
    }

    /// An integer of up to ten bytes, seven bits each, low ones first; None where the bytes end within it.
    fn varint(self, start: usize) -> Option<Result<(u64, usize), WireError>> {
        let mut value = 0;
        for (k, byte) in self.bytes.get(start..)?.iter().enumerate() {
            if k == 10 {
                return Some(Err(WireError::Malformed { offset: self.offset + start }));
            }
            value |= u64::from(byte & 0x7f) << (7 * k).min(63);
            if byte & 0x80 == 0 {
                return Some(Ok((value, start + k + 1)));
            }
        }
        None
    }

    /// Integers one after another, as in a packed field.
    pub(super) fn varints(self) -> Result<Vec<u64>, WireError> {
        let mut values = Vec::new();
        let mut at = 0;
        while at < self.bytes.len() {
            let (value, end) = self.varint(at).ok_or(WireError::Truncated { offset: self.offset + at })??;
            values.push(value);
            at = end;
        }
        Ok(values)
    }

    /// The first field of a number that holds bytes.
    pub(super) fn bytes_of(self, number: u64) -> Result<Option<Message<'a>>, WireError> {
        Ok(self.fields()?.iter().find_map(|field| match field.value {
            Value::Bytes(bytes) if field.number == number => Some(bytes),
            _ => None,
        }))
    }

    /// All fields of a number that hold bytes.
    pub(super) fn all_bytes_of(self, number: u64) -> Result<Vec<Message<'a>>, WireError> {
        let value = |field: &Field<'a>| match field.value {
            Value::Bytes(bytes) if field.number == number => Some(bytes),
            _ => None,
        };
        Ok(self.fields()?.iter().filter_map(value).collect())
    }

    /// The message with some fields replaced: `change` gives the new bytes of a field, key included, or `None` to keep
    /// it as it is.
    pub(super) fn rewritten(
        self,
        mut change: impl FnMut(&Field<'a>) -> Result<Option<Vec<u8>>, WireError>,
    ) -> Result<Vec<u8>, WireError> {
        let mut out = Vec::with_capacity(self.bytes.len());
        for field in self.fields()? {
            match change(&field)? {
                Some(bytes) => out.extend(bytes),
                None => out.extend_from_slice(field.raw),
            }
        }
        Ok(out)
    }
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(0x80 | u8::try_from(value & 0x7f).unwrap_or(0));
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap_or(0));
}

/// A field that holds an integer.
pub(super) fn integer_field(number: u64, value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, number << 3);
    put_varint(&mut out, value);
    out
}

/// A field that holds a number of single precision.
pub(super) fn float_field(number: u64, value: f32) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, number << 3 | 5);
    out.extend(value.to_le_bytes());
    out
}

/// A field that holds bytes.
pub(super) fn bytes_field(number: u64, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 12);
    put_varint(&mut out, number << 3 | 2);
    put_varint(&mut out, bytes.len() as u64);
    out.extend_from_slice(bytes);
    out
}

/// Packed integers.
pub(super) fn packed_field(number: u64, values: &[u64]) -> Vec<u8> {
    let mut packed = Vec::new();
    values.iter().for_each(|&value| put_varint(&mut packed, value));
    bytes_field(number, &packed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_come_back() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let field = packed_field(7, &[value, 5]);
            let [field] = Message::whole(&field).fields().expect("a field")[..] else { panic!("one field") };
            let Value::Bytes(packed) = field.value else { panic!("bytes") };
            assert_eq!((field.number, packed.varints()), (7, Ok(vec![value, 5])));
        }
    }

    #[test]
    fn numbers_come_back() {
        let bytes = [integer_field(3, 300), float_field(4, -1.5)].concat();
        let [integer, float] = Message::whole(&bytes).fields().expect("fields")[..] else {
            panic!("two fields")
        };
        assert_eq!((integer.number, integer.value), (3, Value::Varint(300)));
        assert_eq!(
            (float.number, float.value, float.raw.last_chunk()),
            (4, Value::Fixed, Some(&(-1.5_f32).to_le_bytes()))
        );
    }

    #[test]
    fn every_cut_is_seen() {
        let inner = bytes_field(3, b"a name");
        let whole = [bytes_field(1, &inner), vec![0x10, 0x96, 0x01], vec![0x1d, 1, 2, 3, 4]].concat();
        assert_eq!(Message::whole(&whole).fields().map(|fields| fields.len()), Ok(3));
        let ends = [0, whole.len() - 8, whole.len() - 5, whole.len()];
        for cut in 0..whole.len() {
            let read = Message::whole(&whole[..cut]).fields();
            assert_eq!(read.is_ok(), ends.contains(&cut), "cut at {cut}: {read:?}");
        }
        assert_eq!(Message::whole(&[0x0b]).fields().map(|_| ()), Err(WireError::Malformed { offset: 0 }));
        let copy = Message::whole(&whole).rewritten(|_| Ok(None));
        assert_eq!(copy, Ok(whole));
    }
}
