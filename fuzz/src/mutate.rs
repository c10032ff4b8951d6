//! Changes of bytes that readers trip over.

/// Random numbers from a seed (`SplitMix64`).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Always the same numbers for a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to below `most`; 0 where that is 0.
    pub fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.bits() % (most.max(1) as u64)).unwrap_or(0)
    }
}

/// Numbers at which something changes, as text.
const NUMBERS: [&str; 20] = [
    "0",
    "-1",
    "1",
    "2",
    "255",
    "256",
    "65535",
    "4294967295",
    "4294967296",
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

/// The longest input made.
const LONGEST: usize = 1 << 16;

/// A changed copy of one of the seeds.
pub fn mutated(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = seeds.get(random.below(seeds.len())).cloned().unwrap_or_default();
    for _ in 0..=random.below(4) {
        change(&mut bytes, seeds, random);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn change(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let at = random.below(bytes.len());
    let length = 1 + random.below(16).min(bytes.len().saturating_sub(at));
    match random.below(12) {
        0 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
        1 if !bytes.is_empty() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff, b'\n', b' ', b'{'][random.below(8)],
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..(at + length).min(bytes.len()))),
        4 => {
            let piece: Vec<u8> = bytes.iter().skip(at).take(length * 8).copied().collect();
            bytes.splice(at..at, piece);
        }
        5 => {
            let other = seeds.get(random.below(seeds.len())).map_or(&[][..], Vec::as_slice);
            let from = random.below(other.len());
            let piece: Vec<u8> = other.iter().skip(from).take(length * 16).copied().collect();
            bytes.splice(at..(at + length).min(bytes.len()), piece);
        }
        6 | 7 => replace_number(bytes, random),
        8 => {
            let size = [1, 2, 4, 8][random.below(4)];
            let value = [0, 1, u64::MAX, 1 << 31, 1 << 63, random.bits()][random.below(6)].to_le_bytes();
            bytes.iter_mut().skip(at).zip(&value[..size]).for_each(|(byte, &new)| *byte = new);
        }
        9 => bytes.splice(at..at, (0..length).map(|_| 0)).for_each(drop),
        10 => {
            let lines: Vec<Vec<u8>> =
                bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
            let line = lines.get(random.below(lines.len())).cloned().unwrap_or_default();
            bytes.extend(line);
        }
        _ => {
            for _ in 0..length {
                let place = random.below(bytes.len());
                let value = random.bits().to_le_bytes()[0];
                if let Some(byte) = bytes.get_mut(place) {
                    *byte = value;
                }
            }
        }
    }
}

/// Puts another number in the place of one.
fn replace_number(bytes: &mut Vec<u8>, random: &mut Random) {
    let digits: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at].is_ascii_digit()).collect();
    let Some(&start) = digits.get(random.below(digits.len())) else { return };
    let end = (start..bytes.len()).find(|&at| !bytes[at].is_ascii_digit()).unwrap_or(bytes.len());
    let number = NUMBERS[random.below(NUMBERS.len())];
    bytes.splice(start..end, number.bytes());
}
