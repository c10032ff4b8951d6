//! Shares of randomised limits: from seed and input, and from a stream that no draw has.

use super::generator;
use crate::noise::{Draw, GENERATOR, limit_share};
use gambeson_checker::RandomShare;
use rand::Rng;

/// What the records of a run are read by, found again by another implementation.
#[test]
fn shares_are_the_first_words_of_streams_of_their_own() {
    for (seed, input) in [(0, 0), (7, 0), (7, 1), (u64::MAX, 1 << 40)] {
        let word = generator(seed, input, "gambeson limit 1", 0).next_u32();
        assert_eq!(limit_share(seed, input), RandomShare::of_word(word), "{seed} {input}");
    }
}

/// A word that decided a draw would tie the share to the counts that it is to judge.
#[test]
fn no_draw_has_the_word_of_a_share() {
    let least = RandomShare::of_word(0);
    let mut compared = 0;
    for (seed, input) in (0..40).flat_map(|seed| (0..5).map(move |input| (seed, input))) {
        let share = limit_share(seed, input);
        if share == least {
            continue; // one word in twenty counts as this
        }
        for name in [GENERATOR, "gambeson noise 2"] {
            for draw in (0..4).flat_map(|at| [Draw::Selection(at), Draw::Estimation(at)]) {
                let mut words = generator(seed, input, name, draw.stream());
                let same = (0..64).any(|_| RandomShare::of_word(words.next_u32()) == share);
                assert!(!same, "{name}, seed {seed}, input {input}, {draw:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 2500, "{compared}");
}
