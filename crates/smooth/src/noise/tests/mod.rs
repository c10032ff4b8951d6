//! The noise against other programs, exact arithmetic and the normal distribution.
//!
//! `GAMBESON_NOISE_CASES=N` draws N coordinates in the tests of the law and of the stages, in place of some millions: 10¹⁰
//! take half a minute for the law, 10⁹ as long for the stages. `--nocapture` shows what was found.

#![allow(clippy::print_stdout)]

/// Multi-precision normals: 200 bits.
mod digits;
/// Counts against exact probabilities.
mod law;
/// The stream for training.
mod plain;
/// Stages of the sampler, centres and grids.
mod rounded;
/// Shares of randomised limits.
mod shares;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Coordinates to draw.
fn cases(default: u64) -> u64 {
    let given = std::env::var("GAMBESON_NOISE_CASES").ok().and_then(|text| text.parse().ok());
    given.unwrap_or(default)
}

/// The blocks of a draw as another implementation makes them.
fn generator(seed: u64, input: u64, name: &str, stream: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&input.to_le_bytes());
    key[16..].copy_from_slice(name.as_bytes());
    let mut rng = ChaCha8Rng::from_seed(key);
    rng.set_stream(stream);
    rng
}

/// Φ by the series Σ x^{2k+1}/(2k+1)!! near 0 and the continued fraction beyond: nothing of the file's own.
fn cumulative(x: f64) -> f64 {
    let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if x.abs() < 3.0 {
        let (mut term, mut sum, mut k) = (x, x, 1.0);
        while term.abs() > 1e-17 * sum.abs() {
            k += 2.0;
            term *= x * x / k;
            sum += term;
        }
        return 0.5 + density * sum;
    }
    let fraction = (1..=60).rev().fold(x.abs(), |below, k| x.abs() + f64::from(k) / below);
    let tail = density / fraction;
    if x > 0.0 { 1.0 - tail } else { tail }
}
