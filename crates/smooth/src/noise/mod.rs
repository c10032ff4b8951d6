//! Gaussian noise that is a function of (seed, input, draw, coordinate), and of nothing else.
//!
//! **Problem.** Draw d of input i must be the same whatever the number of threads, the size of a batch, the order of
//! inputs, the instructions of the machine, and whether the run was resumed. Certificates are theorems about *exactly*
//! Gaussian noise: for an arbitrary network, noise that is nearly Gaussian proves nothing (a classifier may read the last
//! places of its input, and then answers differ where the theorem says that they cannot). And a normal must cost less
//! than its share of the smallest network it is given to.
//!
//! **The law** ([`rounded`]). The smoothed classifier is g(z) = argmax_c P[F(Q(z + η)) = c], η ~ N(0, (s·h)²I), where Q(x)
//! are the whole numbers K nearest to x/h for the fixed [`grid`] h, and F is all that a machine does with K: normalisation,
//! decoding, the network. F∘Q is a function on R^r like any other, so Cohen's theorem holds for g as it stands: rounding
//! costs no radius. A centre is stored as c = h(m + φ) ([`centre`]), so K = m + round(s·N + φ) for N standard normal. The
//! level s = σ/h is rounded up, which can only make a radius for σ truer.
//!
//! **The sampler** draws K exactly: `normals` in single precision where that is certainly on one side of the edges of a
//! cell, `refine` in double precision and with more random bits where it is not. What is still not certain (7·10⁻¹² of
//! the coordinates) makes the draw *undecided*, which counts for no class and against all.
//!
//! **What is assumed**: that the words of ChaCha8 are independent and uniform, and were not known to whoever chose network
//! and input. A seed that is published is no secret: see [`crate::seed`] for what that means.
//!
//! **Streams.** ChaCha8 with a 64-bit block counter and a 64-bit nonce. The key is the seed, the index of the input and
//! the sixteen bytes of [`GENERATOR`], so different pairs have different keys; the nonce is the draw, its highest bit set
//! for selection draws, so that no selection draw is an estimation draw. A pair of normals takes two words of 32 bits: a
//! fixed number, so every position is known without drawing what comes before. The extra bits of pair j are the first four
//! words of block 2⁶³ + j, which no other pair uses. The share of randomised limits ([`limit_share`]) is the first word under
//! a key of another name.
//!
//! **Order.** Sixteen blocks make a group of 256 coordinates, or 128 pairs. Pair p of a group takes word ⌊p/16⌋ of block
//! p mod 16 and, of the same block, the word eight further. Its cosine is coordinate p of the group, its sine
//! coordinate 128 + p. Where noise is added to the input of the classifier, coordinates are counted in the order in
//! which the classifier takes them; otherwise in that of the projection.
//!
//! [`plain`] is the stream of single-precision normals that training takes: near to Gaussian, and no part of any proof.

pub mod centre;
mod chacha;
pub mod grid;
mod normals;
pub mod plain;
mod refine;
pub mod rounded;
mod stream;

pub use centre::{Centre, CentreError};
pub use grid::{Grid, GridError, Quantum};
pub use plain::Noise;
pub use rounded::RoundedNoise;
pub use stream::{Draw, GENERATOR, limit_share};

#[cfg(test)]
mod tests;
