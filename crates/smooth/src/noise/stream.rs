//! Streams: which words belong to which draw of which input.

use super::chacha::{self, Key};
use gambeson_checker::RandomShare;

/// Which draw of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// To choose the class, from 0.
    Selection(u64),
    /// To count it, from 0.
    Estimation(u64),
}

impl Draw {
    /// Nonce of the stream. Indices are below 2⁶³ as counts are.
    pub(super) fn stream(self) -> u64 {
        match self {
            Self::Selection(index) => index | 1 << 63,
            Self::Estimation(index) => index & !(1 << 63),
        }
    }
}

/// Pairs of a group.
pub(super) const PAIRS: usize = 128;

/// Name of the noise that certificates are made with, and the sixteen bytes of its keys besides seed and input. Another
/// way to make noise must have another name.
pub const GENERATOR: &str = "gambeson noise 3";

/// The sixteen bytes of the key of [`limit_share`] besides seed and input: no draw has them.
const LIMITS: &str = "gambeson limit 1";

/// u of the randomised limits of an input: the first word of a stream of its own.
pub fn limit_share(seed: u64, input: u64) -> RandomShare {
    RandomShare::of_word(chacha::block(&key(seed, input, LIMITS), 0, 0)[0])
}

/// Seed, input and name as a key.
pub(super) fn key(seed: u64, input: u64, name: &str) -> Key {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&input.to_le_bytes());
    bytes[16..].copy_from_slice(name.as_bytes());
    let mut key = [0; 8];
    for (word, bytes) in key.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    key
}
