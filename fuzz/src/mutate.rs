//! Changes of bytes that readers trip over.

mod json;
mod number;
mod random;

pub use random::Random;

/// The longest input made.
pub const LONGEST: usize = 1 << 16;
/// The shortest and the longest run of letters that counts as a word.
const WORD: std::ops::RangeInclusive<usize> = 3..=24;
/// Words taken from seeds.
const MOST_WORDS: usize = 500;

/// What is changed, and what changes are made of.
pub struct Mutator {
    seeds: Vec<Vec<u8>>,
    /// Those that it began with: the only ones that are right throughout.
    first: usize,
    /// Runs of letters in the first seeds: keys, operators, names of types.
    words: Vec<Vec<u8>>,
}

impl Mutator {
    /// Of these seeds.
    pub fn new(seeds: &[Vec<u8>]) -> Self {
        let mut words: Vec<Vec<u8>> = Vec::new();
        for seed in seeds {
            let runs = seed.split(|byte| !is_letter(*byte)).filter(|word| WORD.contains(&word.len()));
            words.extend(runs.map(<[u8]>::to_vec));
        }
        words.sort();
        words.dedup();
        words.truncate(MOST_WORDS);
        Self { seeds: seeds.to_vec(), first: seeds.len(), words }
    }

    /// One more to change.
    pub fn add(&mut self, seed: Vec<u8>) {
        self.seeds.push(seed);
    }

    /// A changed copy of one of the seeds, most often of one that it began with, most often with one change.
    pub fn mutated(&self, random: &mut Random) -> Vec<u8> {
        let among = if random.below(4) == 0 { self.seeds.len() } else { self.first };
        let mut bytes = self.seeds.get(random.below(among)).cloned().unwrap_or_default();
        let changes = [1, 1, 1, 2, 3, 5][random.below(6)];
        for _ in 0..changes {
            self.change(&mut bytes, random);
        }
        bytes.truncate(LONGEST);
        bytes
    }

    fn change(&self, bytes: &mut Vec<u8>, random: &mut Random) {
        let at = random.below(bytes.len());
        let length = 1 + random.below(16).min(bytes.len().saturating_sub(at));
        match random.below(16) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            1 if !bytes.is_empty() => {
                bytes[at] = [0, 1, 0x7f, 0x80, 0xff, b'\n', b' ', b'{'][random.below(8)];
            }
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..(at + length).min(bytes.len()))),
            4 => {
                let piece: Vec<u8> = bytes.iter().skip(at).take(length * 8).copied().collect();
                bytes.splice(at..at, piece);
            }
            5 => {
                let other = self.seeds.get(random.below(self.seeds.len())).map_or(&[][..], Vec::as_slice);
                let from = random.below(other.len());
                let piece: Vec<u8> = other.iter().skip(from).take(length * 16).copied().collect();
                bytes.splice(at..(at + length).min(bytes.len()), piece);
            }
            6 | 7 => number::as_text(bytes, random),
            8 | 9 => number::as_bytes(bytes, at, random),
            10 => number::as_varint(bytes, at, random),
            11 => bytes.splice(at..at, (0..length).map(|_| 0)).for_each(drop),
            12 => {
                let lines: Vec<Vec<u8>> =
                    bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
                let line = lines.get(random.below(lines.len())).cloned().unwrap_or_default();
                bytes.extend(line);
            }
            13 => self.replace_word(bytes, random),
            14 => json::drop_or_repeat_key(bytes, random),
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

    /// Puts another word of the seeds in the place of one.
    fn replace_word(&self, bytes: &mut Vec<u8>, random: &mut Random) {
        let start = random.below(bytes.len());
        let Some(start) = (start..bytes.len()).find(|&at| is_letter(bytes[at])) else { return };
        let end = (start..bytes.len()).find(|&at| !is_letter(bytes[at])).unwrap_or(bytes.len());
        if let Some(word) = self.words.get(random.below(self.words.len())) {
            bytes.splice(start..end, word.iter().copied());
        }
    }
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}
