//! ChaCha8 (Bernstein 2008), sixteen blocks at a time: the same words on every machine, in wide registers where there
//! are any.
//!
//! A block is 16 words of 32 bits, a function of a key of 256 bits, a 64-bit counter and a 64-bit stream. Intrinsics,
//! because compilers spill loops over arrays of sixteen; AVX-512 takes 0.07 ns per byte.

#![allow(unsafe_code)]

/// Key of a stream cipher.
pub(super) type Key = [u32; 8];

/// Blocks made at once.
pub(super) const BLOCKS: usize = 16;
/// Words of sixteen blocks: word w of block l at 16·w + l.
pub(super) type Words = [u32; 16 * BLOCKS];

const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// Applies a macro to the quarter rounds of two rounds: columns, then diagonals.
macro_rules! double_round {
    ($quarter:ident) => {
        $quarter!(0, 4, 8, 12);
        $quarter!(1, 5, 9, 13);
        $quarter!(2, 6, 10, 14);
        $quarter!(3, 7, 11, 15);
        $quarter!(0, 5, 10, 15);
        $quarter!(1, 6, 11, 12);
        $quarter!(2, 7, 8, 13);
        $quarter!(3, 4, 9, 14);
    };
}

/// `LANES` consecutive blocks, word by word, on any machine.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // halves of 64-bit words
fn lanes<const LANES: usize>(key: &Key, counter: u64, stream: u64) -> [[u32; LANES]; 16] {
    let mut start = [[0; LANES]; 16];
    for (word, value) in start.iter_mut().zip(CONSTANTS.iter().chain(key)) {
        *word = [*value; LANES];
    }
    for lane in 0..LANES {
        let counter = counter.wrapping_add(lane as u64);
        (start[12][lane], start[13][lane]) = (counter as u32, (counter >> 32) as u32);
    }
    (start[14], start[15]) = ([stream as u32; LANES], [(stream >> 32) as u32; LANES]);
    let mut x = start;
    macro_rules! step {
        ($sum:literal += $other:literal, $target:literal, $turn:literal) => {
            for lane in 0..LANES {
                x[$sum][lane] = x[$sum][lane].wrapping_add(x[$other][lane]);
                x[$target][lane] = (x[$target][lane] ^ x[$sum][lane]).rotate_left($turn);
            }
        };
    }
    macro_rules! quarter {
        ($a:literal, $b:literal, $c:literal, $d:literal) => {
            step!($a += $b, $d, 16);
            step!($c += $d, $b, 12);
            step!($a += $b, $d, 8);
            step!($c += $d, $b, 7);
        };
    }
    for _ in 0..4 {
        double_round!(quarter);
    }
    for (x, start) in x.iter_mut().zip(&start) {
        x.iter_mut().zip(start).for_each(|(x, start)| *x = x.wrapping_add(*start));
    }
    x
}

/// One block.
pub(super) fn block(key: &Key, counter: u64, stream: u64) -> [u32; 16] {
    lanes::<1>(key, counter, stream).map(|[word]| word)
}

/// Sixteen blocks from a counter that is a multiple of sixteen.
#[inline(always)]
pub(super) fn portable(key: &Key, counter: u64, stream: u64, out: &mut Words) {
    const LANES: usize = 4;
    for first in (0..BLOCKS).step_by(LANES) {
        let some = lanes::<LANES>(key, counter + first as u64, stream);
        for (out, some) in out.chunks_exact_mut(BLOCKS).zip(&some) {
            out[first..first + LANES].copy_from_slice(some);
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use wide::{avx2, avx512};

#[cfg(target_arch = "x86_64")]
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)] // words as intrinsics take them
mod wide {
    use crate::noise::chacha::{CONSTANTS, Key, Words};
    use std::arch::x86_64::{
        __m256i, __m512i, _mm_setr_epi32, _mm256_add_epi32, _mm256_broadcastsi128_si256, _mm256_or_si256,
        _mm256_set1_epi32, _mm256_setr_epi32, _mm256_shuffle_epi8, _mm256_slli_epi32, _mm256_srli_epi32,
        _mm256_xor_si256, _mm512_add_epi32, _mm512_rol_epi32, _mm512_set1_epi32, _mm512_setr_epi32,
        _mm512_xor_si512,
    };

    /// Blocks in registers: `$counters` are the low words of the counters, the high ones are all equal.
    macro_rules! blocks {
        ($key:ident, $counters:expr, $high:expr, $stream:ident; $all:ident, $add:ident, $xor:ident, $turn:ident) => {{
            let all = |word: u32| $all(word as i32);
            let [c0, c1, c2, c3] = CONSTANTS.map(all);
            let [k0, k1, k2, k3, k4, k5, k6, k7] = $key.map(all);
            let (high, low_stream, high_stream) =
                (all($high as u32), all($stream as u32), all(($stream >> 32) as u32));
            let start =
                [c0, c1, c2, c3, k0, k1, k2, k3, k4, k5, k6, k7, $counters, high, low_stream, high_stream];
            let mut x = start;
            macro_rules! quarter {
                ($a:literal, $b:literal, $c:literal, $d:literal) => {
                    x[$a] = $add(x[$a], x[$b]);
                    x[$d] = $turn!(16, $xor(x[$d], x[$a]));
                    x[$c] = $add(x[$c], x[$d]);
                    x[$b] = $turn!(12, $xor(x[$b], x[$c]));
                    x[$a] = $add(x[$a], x[$b]);
                    x[$d] = $turn!(8, $xor(x[$d], x[$a]));
                    x[$c] = $add(x[$c], x[$d]);
                    x[$b] = $turn!(7, $xor(x[$b], x[$c]));
                };
            }
            for _ in 0..4 {
                double_round!(quarter);
            }
            for (x, start) in x.iter_mut().zip(&start) {
                *x = $add(*x, *start);
            }
            x
        }};
    }

    macro_rules! turn_512 {
        ($by:literal, $word:expr) => {
            _mm512_rol_epi32::<$by>($word)
        };
    }

    /// By whole bytes with a shuffle, which is one instruction.
    macro_rules! turn_256 {
        (16, $word:expr) => {
            _mm256_shuffle_epi8($word, bytes_turned([2, 3, 0, 1]))
        };
        (8, $word:expr) => {
            _mm256_shuffle_epi8($word, bytes_turned([3, 0, 1, 2]))
        };
        (12, $word:expr) => {{
            let word = $word;
            _mm256_or_si256(_mm256_slli_epi32::<12>(word), _mm256_srli_epi32::<20>(word))
        }};
        (7, $word:expr) => {{
            let word = $word;
            _mm256_or_si256(_mm256_slli_epi32::<7>(word), _mm256_srli_epi32::<25>(word))
        }};
    }

    /// Which byte goes where in every word.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn bytes_turned(order: [i8; 4]) -> __m256i {
        let word = |first: i8| i32::from_le_bytes(order.map(|byte| (byte + first) as u8));
        _mm256_broadcastsi128_si256(_mm_setr_epi32(word(0), word(4), word(8), word(12)))
    }

    /// See [`portable`](super::portable).
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(in super::super) fn avx512(key: &Key, counter: u64, stream: u64, out: &mut Words) {
        let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let counters = _mm512_add_epi32(_mm512_set1_epi32(counter as i32), lanes);
        let words = blocks!(key, counters, counter >> 32, stream;
            _mm512_set1_epi32, _mm512_add_epi32, _mm512_xor_si512, turn_512);
        for (out, word) in out.as_chunks_mut().0.iter_mut().zip(words) {
            // SAFETY: both are 64 bytes of integers, any of which is valid.
            *out = unsafe { std::mem::transmute::<__m512i, [u32; 16]>(word) };
        }
    }

    /// See [`portable`](super::portable).
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(in super::super) fn avx2(key: &Key, counter: u64, stream: u64, out: &mut Words) {
        for first in [0, 8] {
            let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            let counters = _mm256_add_epi32(_mm256_set1_epi32(counter as i32 + first), lanes);
            let words = blocks!(key, counters, counter >> 32, stream;
                _mm256_set1_epi32, _mm256_add_epi32, _mm256_xor_si256, turn_256);
            for (out, word) in out.as_chunks_mut::<16>().0.iter_mut().zip(words) {
                // SAFETY: both are 32 bytes of integers, any of which is valid.
                let word = unsafe { std::mem::transmute::<__m256i, [u32; 8]>(word) };
                out.as_chunks_mut().0[usize::from(first > 0)] = word;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also where the counter and the stream fill their high words.
    #[test]
    fn every_way_makes_the_same_blocks() {
        let key = [1, 2, 3, u32::MAX, 5, 6, 7, 8];
        let counters = [0, 16, (1 << 32) - 16, 1 << 32, (1 << 33) + 32, (1 << 60) - 16];
        for (counter, stream) in counters.into_iter().flat_map(|counter| [(counter, 9), (counter, u64::MAX)])
        {
            let expected: Vec<[u32; 16]> =
                (0..BLOCKS as u64).map(|lane| block(&key, counter + lane, stream)).collect();
            let check = |name: &str, words: &Words| {
                for (at, word) in words.iter().enumerate() {
                    assert_eq!(*word, expected[at % BLOCKS][at / BLOCKS], "{name}, {counter}, word {at}");
                }
            };
            let mut words = [0; 16 * BLOCKS];
            portable(&key, counter, stream, &mut words);
            check("portable", &words);
            #[cfg(target_arch = "x86_64")]
            {
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: AVX2 was just found.
                    unsafe { avx2(&key, counter, stream, &mut words) };
                    check("avx2", &words);
                }
                if std::arch::is_x86_feature_detected!("avx512f") {
                    // SAFETY: AVX-512F was just found.
                    unsafe { avx512(&key, counter, stream, &mut words) };
                    check("avx512", &words);
                }
            }
        }
    }
}
