//! Numbers that arrays are made of.

/// A type of number that arrays are made of.
pub trait Element: Copy {
    /// The name that the format has for it.
    const TYPE: &'static str;
    /// Bytes of one number.
    const WIDTH: usize;
    /// Appends numbers, little-endian.
    fn append(values: &[Self], bytes: &mut Vec<u8>);
    /// Numbers from their bytes; what is left over at the end is ignored.
    fn parse(bytes: &[u8]) -> Vec<Self>;
}

macro_rules! element {
    ($($number:ty => $name:literal),*) => {$(
        impl Element for $number {
            const TYPE: &'static str = $name;
            const WIDTH: usize = size_of::<$number>();

            fn append(values: &[Self], bytes: &mut Vec<u8>) {
                bytes.reserve(values.len() * Self::WIDTH);
                values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
            }

            fn parse(bytes: &[u8]) -> Vec<Self> {
                bytes.as_chunks().0.iter().map(|chunk| Self::from_le_bytes(*chunk)).collect()
            }
        }
    )*};
}
element!(u8 => "U8", u16 => "U16", i16 => "I16", f32 => "F32", f64 => "F64");
