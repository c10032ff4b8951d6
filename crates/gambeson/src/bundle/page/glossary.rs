//! Words with a special meaning.

use super::parts::Subject;
use std::fmt::{self, Write};

/// Every word with its meaning; those of projections stand apart.
const WORDS: [(&str, &str); 15] = [
    ("Abstain", "To give no answer, because no class came up often enough to be certain of it."),
    (
        "α (alpha)",
        "The probability, fixed before the run, with which a single certificate may be false by bad luck.",
    ),
    ("Certificate", "The proof that an answer cannot be altered by any change of the input up to a radius."),
    ("Class", "One of the possible answers, such as “shirt” or “boat”."),
    ("Data", "The inputs that the classifier was tested on, usually with the right answer for each."),
    ("Draw", "One random noisy copy of an input, and the answer of the network to it."),
    (
        "Hash (SHA-256)",
        "A fingerprint of a file, 64 letters and digits long. Nobody knows how to make two different files with the same \
         fingerprint.",
    ),
    ("Label", "The right answer to an input according to the data."),
    ("Network", "The neural network that is asked about noisy copies of an input."),
    (
        "Nonce",
        "A number that goes into the seed. With a number of your own you get draws that nobody could know before.",
    ),
    (
        "Plan",
        "All that was decided before the run: network, data, noise, numbers of draws, inputs. Its digest is its \
         fingerprint; if it was published before the run, the run was not chosen afterwards.",
    ),
    ("Population", "All inputs that the tested ones were drawn from, if they were drawn at random."),
    ("Radius", "The size of the largest change that a certificate covers."),
    ("Seed", "The number from which all random draws of a run follow, so that anybody can make them again."),
    (
        "σ (sigma)",
        "The strength of the noise. More noise covers larger changes, and makes the answers less accurate.",
    ),
];

const PROJECTION_WORDS: [(&str, &str); 2] = [
    (
        "κ (kappa)",
        "A number that belongs to a projection. If every coordinate of an input changes by at most ε, what the classifier sees \
         changes by at most κ·ε. It is proven by a certificate of its own.",
    ),
    (
        "Projection",
        "A rule that keeps only the few coordinates of an input in which the data differ most. The classifier sees these \
         and nothing else, and noise is added to them alone.",
    ),
];

pub(super) fn write(out: &mut String, subject: &Subject<'_>) -> fmt::Result {
    writeln!(out, "<h2 id=\"glossary\">Glossary</h2>\n<dl>")?;
    let projected = subject.claim.projection.is_some();
    let mut words: Vec<_> = WORDS.iter().chain(PROJECTION_WORDS.iter().filter(|_| projected)).collect();
    let key = |word: &str| word.trim_start_matches(['α', 'κ', 'σ', ' ', '(']).to_lowercase();
    words.sort_by_key(|(word, _)| key(word));
    for (word, meaning) in words {
        writeln!(out, "<dt>{word}</dt><dd>{meaning}</dd>")?;
    }
    writeln!(out, "</dl>")
}
