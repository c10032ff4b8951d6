//! Writing small files of every format, independently of the code under test.

pub(crate) use crate::files::{folder, quiet, write};
use gambeson_data::progress::LoadProgress;
use std::ops::ControlFlow;

/// An observer that stops at once.
pub(crate) fn stop(_: &LoadProgress) -> ControlFlow<()> {
    ControlFlow::Break(())
}

/// A WAV file with samples given as little-endian bytes; `format` 1 is PCM, 3 floating point.
pub(crate) fn wav(format: u16, channels: u16, rate: u32, bits: u16, data: &[u8]) -> Vec<u8> {
    let block = channels * bits / 8;
    let mut bytes = b"RIFF".to_vec();
    bytes.extend(u32::try_from(36 + data.len()).expect("short").to_le_bytes());
    bytes.extend(b"WAVEfmt ");
    bytes.extend(16_u32.to_le_bytes());
    bytes.extend(format.to_le_bytes());
    bytes.extend(channels.to_le_bytes());
    bytes.extend(rate.to_le_bytes());
    bytes.extend((rate * u32::from(block)).to_le_bytes());
    bytes.extend(block.to_le_bytes());
    bytes.extend(bits.to_le_bytes());
    bytes.extend(b"data");
    bytes.extend(u32::try_from(data.len()).expect("short").to_le_bytes());
    bytes.extend(data);
    bytes
}

/// A mono WAV file of 16-bit samples.
pub(crate) fn wav16(rate: u32, samples: &[i16]) -> Vec<u8> {
    let data: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    wav(1, 1, rate, 16, &data)
}

/// An IDX file of bytes.
pub(crate) fn idx(sizes: &[u32], elements: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, u8::try_from(sizes.len()).expect("few")];
    bytes.extend(sizes.iter().flat_map(|size| size.to_be_bytes()));
    bytes.extend(elements);
    bytes
}

/// A version 1.0 `.npy` file; `shape` as numpy writes it, such as `(2, 3)`.
pub(crate) fn npy(descr: &str, fortran: bool, shape: &str, elements: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).expect("short").to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(elements);
    bytes
}

/// Little-endian bytes of f32 numbers.
pub(crate) fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The message of an error must have all these words.
pub(crate) fn says<T: std::fmt::Debug>(result: Result<T, gambeson_data::error::DataError>, words: &[&str]) {
    let message = result.expect_err("an error").to_string();
    for word in words {
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    use std::fmt::Write;
    sha2::Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes everything");
        text
    })
}
