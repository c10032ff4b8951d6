//! Numbers at which something changes, in the forms that files have them in.

use super::Random;

const TEXTS: [&str; 22] = [
    "0",
    "-1",
    "1",
    "2",
    "255",
    "256",
    "65535",
    "4294967295",
    "4294967296",
    "1099511627776",
    "4611686018427387904",
    "9007199254740993",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "1e-320",
    "1e999",
    "nan",
    "inf",
    "-0",
    "0.17",
];

/// 2^40 and 2^62 are sizes that pass for sizes: the first is no overflow anywhere, the second is one once it is multiplied.
fn value(random: &mut Random) -> u64 {
    let small = random.below(64) as u64;
    let any = random.bits();
    let values = [0, 1, small, u64::MAX, 1 << 31, 1 << 32, 1 << 40, 1 << 62, 1 << 63, (1 << 63) - 1, any];
    values[random.below(values.len())]
}

/// Puts another number in the place of one in digits.
pub(super) fn as_text(bytes: &mut Vec<u8>, random: &mut Random) {
    let digits: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at].is_ascii_digit()).collect();
    let Some(&start) = digits.get(random.below(digits.len())) else { return };
    let end = (start..bytes.len()).find(|&at| !bytes[at].is_ascii_digit()).unwrap_or(bytes.len());
    let number = TEXTS[random.below(TEXTS.len())];
    bytes.splice(start..end, number.bytes());
}

/// Writes 1, 2, 4 or 8 bytes of a number over those at a place, from either end.
pub(super) fn as_bytes(bytes: &mut [u8], at: usize, random: &mut Random) {
    let size = [1, 2, 4, 8][random.below(4)];
    let mut number = value(random).to_le_bytes();
    if random.below(2) == 1 {
        number[..size].reverse();
    }
    bytes.iter_mut().skip(at).zip(&number[..size]).for_each(|(byte, &new)| *byte = new);
}

/// Puts a number of seven bits a byte, as protocol buffers have them, in the place of one.
pub(super) fn as_varint(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let mut left = value(random);
    let mut varint = Vec::new();
    while left >= 0x80 {
        varint.push(0x80 | (left & 0x7f).to_le_bytes()[0]);
        left >>= 7;
    }
    varint.push(left.to_le_bytes()[0]);
    let end = (at..bytes.len()).find(|&at| bytes[at] < 0x80).map_or(bytes.len(), |last| last + 1);
    bytes.splice(at.min(end)..end, varint);
}
