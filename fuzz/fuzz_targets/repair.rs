//! Lengths and checksums put right after a change: a reader that stops at the first of them is tried no further.

use crate::mutate::LONGEST;
use serde_json::Value;

/// A safetensors file whose header is as long as it says, followed by as many bytes as its arrays have.
pub(super) fn safetensors(bytes: &[u8]) -> Vec<u8> {
    let Some((_, rest)) = bytes.split_first_chunk::<8>() else { return bytes.to_vec() };
    let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<Value>();
    let Some(Ok(Value::Object(header))) = values.next() else { return bytes.to_vec() };
    let end = values.byte_offset();
    let length = end + rest[end..].iter().take_while(|&&byte| byte == b' ').count();
    let ends = header.values().filter_map(|entry| entry.get("data_offsets")?.get(1)?.as_u64());
    let wanted = usize::try_from(ends.max().unwrap_or(0)).unwrap_or(LONGEST).min(LONGEST);
    let mut data = rest[length..].to_vec();
    data.resize(wanted, 0);
    [&(length as u64).to_le_bytes(), &rest[..length], &data].concat()
}

pub(super) fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// A PNG file whose chunks have their checksums.
pub(super) fn png(bytes: &[u8]) -> Vec<u8> {
    const SIGNATURE: usize = 8;
    let mut bytes = bytes.to_vec();
    if !bytes.starts_with(b"\x89PNG") {
        return bytes;
    }
    let mut at = SIGNATURE;
    while let Some(length) = bytes.get(at..at + 4).and_then(|length| length.try_into().ok()) {
        let length = u32::from_be_bytes(length) as usize;
        let Some(chunk) = bytes.get(at + 4..at.saturating_add(8).saturating_add(length)) else { break };
        let crc = crc32(chunk).to_be_bytes();
        at += 8 + length;
        let Some(place) = bytes.get_mut(at..at + 4) else { break };
        place.copy_from_slice(&crc);
        at += 4;
    }
    bytes
}

/// A tar file whose headers have their checksums. It ends with whole blocks.
pub(super) fn tar(bytes: &[u8]) -> Vec<u8> {
    const BLOCK: usize = 512;
    const CHECKSUM: std::ops::Range<usize> = 148..156;
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
    for block in bytes.chunks_exact_mut(BLOCK).filter(|block| block[257..].starts_with(b"ustar")) {
        block[CHECKSUM].fill(b' ');
        let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
        block[CHECKSUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
    bytes
}

/// A zip file of members that are stored as they are, with the checksums that they have: before each, and in the directory,
/// which has them in the same order.
pub(super) fn zip(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let places = |bytes: &[u8], signature: &[u8]| -> Vec<usize> {
        let windows = bytes.windows(signature.len()).enumerate();
        windows.filter(|(_, window)| *window == signature).map(|(at, _)| at).collect()
    };
    let number = |bytes: &[u8], at: usize, length: usize| {
        let digits = bytes.get(at..at + length).unwrap_or_default().iter().rev();
        digits.fold(0_usize, |number, &digit| number << 8 | usize::from(digit))
    };
    let directory = places(&bytes, b"PK\x01\x02");
    for (at, entry) in places(&bytes, b"PK\x03\x04").into_iter().zip(directory) {
        let start = at + 30 + number(&bytes, at + 26, 2) + number(&bytes, at + 28, 2);
        let end = start.saturating_add(number(&bytes, at + 18, 4));
        let Some(crc) = bytes.get(start..end).map(crc32) else { break };
        for place in [at + 14, entry + 16] {
            if let Some(place) = bytes.get_mut(place..place + 4) {
                place.copy_from_slice(&crc.to_le_bytes());
            }
        }
    }
    bytes
}
