//! Which records are drawn again, and what a sample leaves open.
//!
//! A sample of s out of m records misses all of k forged ones with probability C(m − k, s)/C(m, s): whoever forges does not
//! know the order, which comes from the system's randomness or from a seed that the verifier chooses, and which is fixed
//! before anything is timed.

use serde::Serialize;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Which records are drawn again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordSample {
    /// All.
    All,
    /// In a random order as many as fit into a time, but at least some.
    Timed {
        /// How long.
        time: Duration,
        /// How many, however long that takes.
        at_least: u64,
        /// What chooses the order; the system's randomness if `None`.
        seed: Option<u64>,
    },
    /// So many, chosen at random.
    Random {
        /// How many, at most.
        count: u64,
        /// What chooses them; the system's randomness if `None`, so that nobody knows which lines will be looked at.
        seed: Option<u64>,
    },
    /// That of one input.
    Input {
        /// Its number.
        index: u64,
    },
}

impl Default for RecordSample {
    /// As many as fit into a minute, at least ten.
    fn default() -> Self {
        Self::Timed { time: Duration::from_secs(60), at_least: 10, seed: None }
    }
}

impl RecordSample {
    /// The places of records, given by their inputs, in the order in which they are drawn again, and the seed of that order;
    /// none where the verifier chose the input.
    pub(super) fn order(self, inputs: &[u64]) -> (Vec<usize>, Option<u64>) {
        let records = inputs.len();
        let (count, seed) = match self {
            Self::Input { index } => {
                return (inputs.iter().position(|&own| own == index).into_iter().collect(), None);
            }
            // In a random order too, so that those done before a stop are a sample.
            Self::All => (records, None),
            Self::Timed { seed, .. } => (records, seed),
            Self::Random { count, seed } => (usize::try_from(count).unwrap_or(usize::MAX), seed),
        };
        let seed = seed.unwrap_or_else(|| RandomState::new().hash_one("sample"));
        let mut order: Vec<usize> = (0..records).collect();
        let mut state = seed;
        // Fisher and Yates, from the front.
        for at in 0..records.min(count) {
            let left = (records - at) as u64;
            let other = usize::try_from(uniform(&mut state, left)).unwrap_or(0);
            order.swap(at, at + other);
        }
        order.truncate(count);
        (order, Some(seed))
    }
}

/// A number below `end`, each equally likely.
fn uniform(state: &mut u64, end: u64) -> u64 {
    let most = u64::MAX - u64::MAX % end;
    loop {
        // SplitMix64 (Steele, Lea and Flood 2014).
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        if mixed < most {
            return mixed % end;
        }
    }
}

/// The chance that a sample misses all of some forged records.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MissedForgery {
    /// How many records are forged.
    pub forged: u64,
    /// The chance, rounded up.
    pub chance: f64,
}

/// Chances for 1, 2 %, 5 % and 10 % of the records, and the least number that is missed with at most 1 %.
pub(super) fn missed(records: u64, sampled: u64) -> Vec<MissedForgery> {
    let share = |percent: u64| records.saturating_mul(percent).div_ceil(100).max(1);
    let mut forged = vec![1, share(2), share(5), share(10)];
    let (mut below, mut above) = (0, records);
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if chance(records, sampled, middle) <= 0.01 { above = middle } else { below = middle }
    }
    forged.push(above);
    forged.sort_unstable();
    forged.dedup();
    let missed = |forged| MissedForgery { forged, chance: chance(records, sampled, forged) };
    forged.into_iter().filter(|&forged| forged <= records).map(missed).collect()
}

/// C(records − forged, sampled)/C(records, sampled), rounded up.
fn chance(records: u64, sampled: u64, forged: u64) -> f64 {
    if sampled.saturating_add(forged) > records {
        return 0.0;
    }
    // The product over the smaller of the two, which may change places.
    let (few, many) = (sampled.min(forged), sampled.max(forged));
    let mut log = 0.0;
    for at in 0..few {
        log += (-(many as f64) / (records - at) as f64).ln_1p();
    }
    (log.exp() * (1.0 + 1e-9)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_every_record_once() {
        let timed = RecordSample::Timed { time: Duration::ZERO, at_least: 1, seed: Some(7) };
        let hundred: Vec<u64> = (0..100).collect();
        let (mut order, seed) = timed.order(&hundred);
        assert_eq!(seed, Some(7));
        assert_eq!(order, timed.order(&hundred).0, "a function of the seed");
        assert_ne!(order, (0..100).collect::<Vec<_>>());
        let few = RecordSample::Random { count: 10, seed: Some(7) };
        assert_eq!(few.order(&hundred).0, order[..10]);
        order.sort_unstable();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
        let mut all = RecordSample::All.order(&[5, 10, 15]).0;
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2]);
        assert_eq!(RecordSample::Input { index: 10 }.order(&[5, 10, 15]), (vec![1], None));
    }

    #[test]
    fn every_record_comes_first_equally_often() {
        let mut first = [0_u32; 5];
        for seed in 0..5000 {
            first[RecordSample::Random { count: 1, seed: Some(seed) }.order(&[0; 5]).0[0]] += 1;
        }
        // Six standard deviations.
        assert!(first.iter().all(|&count| count.abs_diff(1000) < 170), "{first:?}");
    }

    #[test]
    fn chances_are_those_of_counting_subsets() {
        // Ten of 200, four forged: C(196, 10)/C(200, 10) = (190·189·188·187)/(200·199·198·197).
        let exact = 190.0 * 189.0 * 188.0 * 187.0 / (200.0 * 199.0 * 198.0 * 197.0);
        assert!((chance(200, 10, 4) - exact).abs() < 1e-8 && chance(200, 10, 4) >= exact);
        assert!((chance(200, 10, 4) - 0.814).abs() < 1e-3);
        assert_eq!((chance(200, 200, 1), chance(200, 0, 5), chance(5, 3, 3)), (0.0, 1.0, 0.0));
        let found = missed(200, 10);
        assert_eq!(found[0].forged, 1);
        assert!(found.iter().any(|it| it.chance <= 0.01) && found.is_sorted_by(|a, b| a.chance >= b.chance));
        assert_eq!(missed(1, 0), [MissedForgery { forged: 1, chance: 1.0 }]);
    }
}
