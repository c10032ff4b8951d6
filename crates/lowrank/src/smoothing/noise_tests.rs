//! The noise against `rand_chacha`, plain arithmetic, and the normal distribution.

use super::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The words of a draw as another implementation makes them.
fn words(seed: u64, input: u64, stream: u64, count: usize) -> Vec<u32> {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&input.to_le_bytes());
    key[16..].copy_from_slice(b"gambeson noise 1");
    let mut rng = ChaCha8Rng::from_seed(key);
    rng.set_stream(stream);
    (0..count).map(|_| rng.next_u32()).collect()
}

/// Coordinate c of a draw by the formula of the header, with the functions of `std`.
fn by_formula(words: &[u32], c: usize) -> f64 {
    let (group, k) = (c / 64, c % 64);
    let at = 16 * (8 * group + k % 8) + 4 * (k / 16);
    let word = |at: usize| u64::from(words[at + 1]) << 32 | u64::from(words[at]);
    let (a, b) = (word(at), word(at + 2));
    // 1 − (a + ½)/2⁶⁴ in integers: (2·(2⁶⁴ − a) − 1)/2⁶⁵.
    let numerator = 2 * ((1_u128 << 64) - u128::from(a)) - 1;
    let uniform = numerator as f64 * 2.0_f64.powi(-65);
    let turn = (b << 2 >> 12) as f64 / 2.0_f64.powi(52);
    let angle = turn * std::f64::consts::FRAC_PI_2;
    let (value, sign) = if k % 16 < 8 { (angle.cos(), b >> 63) } else { (angle.sin(), b >> 62 & 1) };
    (-2.0 * uniform.ln()).sqrt() * if sign == 1 { -value } else { value }
}

#[test]
fn a_draw_is_what_the_header_says() {
    for (seed, input, draw, stream) in [
        (0, 0, Draw::Estimation(0), 0),
        (7, 3, Draw::Estimation(99_999), 99_999),
        (u64::MAX, 1 << 40, Draw::Selection(12), (1 << 63) + 12),
    ] {
        for length in [1_usize, 63, 64, 65, 200, 3072] {
            let words = words(seed, input, stream, 16 * 8 * length.div_ceil(64));
            let mut normals = vec![0.0; length];
            Noise::new(seed, input).standard(draw, &mut normals);
            for (c, normal) in normals.iter().enumerate() {
                let expected = by_formula(&words, c);
                assert!((normal - expected).abs() < 4e-15, "coordinate {c}: {normal} against {expected}");
            }
        }
    }
}

#[test]
fn every_instruction_set_computes_the_same_bits() {
    let key = Noise::new(5, 6).key;
    let mut widest = vec![0.0; 1000];
    dispatch(&key, 77, &mut Standard { out: &mut widest });
    let mut portable = vec![0.0; 1000];
    fill(&key, 77, &mut Standard { out: &mut portable });
    assert_eq!(widest, portable);
    let centre: Vec<f64> = (0..1000).map(|i| f64::from(i) / 7.0).collect();
    let mut perturbed = vec![0.0; 1000];
    Noise::new(5, 6).perturb(Draw::Estimation(77), &centre, 0.25, &mut perturbed);
    #[allow(clippy::cast_possible_truncation)]
    let expected: Vec<f32> = portable.iter().zip(&centre).map(|(g, c)| (c + 0.25 * g) as f32).collect();
    assert_eq!(perturbed, expected);
}

#[test]
fn extreme_words_give_extreme_normals_and_no_nonsense() {
    for (a, b) in [(0, 0), (u64::MAX, 0), (u64::MAX, u64::MAX), (0, u64::MAX), (u64::MAX - 1, 1 << 63)] {
        let (x, y) = normal_pair(a, b);
        let radius = (x * x + y * y).sqrt();
        let uniform = ((1_u128 << 65) - 2 * u128::from(a) - 1) as f64 * 2.0_f64.powi(-65);
        assert!((radius - (-2.0 * uniform.ln()).sqrt()).abs() < 1e-14, "{a}: {radius}");
        assert!(radius < 9.5);
    }
    let (x, y) = normal_pair(u64::MAX, 0); // u = 2⁻⁶⁵, angle 0
    assert!((x - (130.0 * std::f64::consts::LN_2).sqrt()).abs() < 1e-14 && y.abs() < 1e-14);
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

#[test]
fn draws_are_normal_and_independent() {
    let (draws, dim) = (4000_u64, 100);
    let mut all = Vec::new();
    let mut row = vec![0.0; dim];
    for draw in 0..draws {
        Noise::new(1, 2).standard(Draw::Estimation(draw), &mut row);
        all.extend_from_slice(&row);
    }
    let count = all.len() as f64;
    // Neighbours in a draw, cosine and sine of a pair, the same coordinate of the next draw: uncorrelated, to five
    // standard errors; so are their squares.
    for lag in [1, 8, 16, 64, dim] {
        let pairs = all.iter().zip(&all[lag..]);
        let (product, squares) = pairs.fold((0.0, 0.0), |(product, squares), (x, y)| {
            (product + x * y, squares + (x * x - 1.0) * (y * y - 1.0))
        });
        assert!(product.abs() < 5.0 * count.sqrt(), "lag {lag}: {product}");
        assert!(squares.abs() < 5.0 * 2.0 * count.sqrt(), "lag {lag}: {squares}");
    }
    // Kolmogorov: P(√n·D > 2.7) < 1e-6.
    all.sort_by(f64::total_cmp);
    let distance = all
        .iter()
        .enumerate()
        .map(|(i, &x)| {
            let p = cumulative(x);
            (p - i as f64 / count).abs().max((p - (i + 1) as f64 / count).abs())
        })
        .fold(0.0, f64::max);
    assert!(distance * count.sqrt() < 2.7, "{}", distance * count.sqrt());
    // Selection and estimation draws, inputs and seeds are other streams.
    let first = |noise: Noise, draw| {
        let mut out = [0.0];
        noise.standard(draw, &mut out);
        out[0].to_bits()
    };
    let several = [
        first(Noise::new(1, 2), Draw::Estimation(0)),
        first(Noise::new(1, 2), Draw::Selection(0)),
        first(Noise::new(1, 2), Draw::Estimation(1)),
        first(Noise::new(1, 3), Draw::Estimation(0)),
        first(Noise::new(2, 2), Draw::Estimation(0)),
    ];
    assert!((0..5).all(|i| (0..i).all(|j| several[i] != several[j])), "{several:?}");
}
