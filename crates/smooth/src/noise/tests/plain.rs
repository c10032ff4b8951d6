//! The stream for training against `rand_chacha`, plain arithmetic, and the normal distribution.

use super::{cumulative, generator};
use crate::noise::chacha::{self, Words};
use crate::noise::normals::{is_rare, pair, rare_radius, turned};
use crate::noise::plain::{dispatch, fill};
use crate::noise::stream::key;
use crate::noise::{Draw, Noise};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// The name of its streams.
const NAME: &str = "gambeson noise 2";

/// u, exact but for one rounding: of two words (and, where they are rare, of two more) by the headers.
fn uniform(a: u32, place: impl FnOnce() -> u64) -> (f64, f64) {
    let rare = a >> 2 < 1 << 17 || a >> 2 >= (1 << 30) - (1 << 7);
    // In units of 2⁻⁹⁵.
    let half_cell = 1_u128 << 64;
    let units = (u128::from(a >> 2) << 65) + if rare { 2 * u128::from(place()) + 1 } else { half_cell };
    (units as f64 * 2.0_f64.powi(-95), ((1 << 95) - units) as f64 * 2.0_f64.powi(-95))
}

/// √(−2 ln u) from u and 1 − u.
fn plain_radius((u, rest): (f64, f64)) -> f64 {
    (-2.0 * if u < 0.5 { u.ln() } else { (-rest).ln_1p() }).sqrt()
}

/// Cosine and sine of b by the header.
fn direction(b: u32) -> (f64, f64) {
    // The low thirty bits as a signed number.
    let place = i64::from(b & 0x3fff_ffff) - if b & 0x2000_0000 == 0 { 0 } else { 1 << 30 };
    let angle = std::f64::consts::FRAC_PI_4 * (1.0 + place as f64 / f64::from(1 << 29));
    let signed = |value: f64, negative: u32| if negative == 0 { value } else { -value };
    (signed(angle.cos(), b >> 31), signed(angle.sin(), b >> 30 & 1))
}

/// Coordinate c of a draw by the formula of the headers, with the functions of `std`.
fn by_formula(rng: &mut ChaCha8Rng, c: usize) -> f64 {
    let (group, k) = (c / 256, c % 256);
    let p = k % 128;
    let mut word = |block: u64, word: usize| {
        rng.set_word_pos(16 * u128::from(block) + word as u128);
        rng.next_u32()
    };
    let block = (16 * group + p % 16) as u64;
    let (a, b) = (word(block, p / 16), word(block, p / 16 + 8));
    let more = (1 << 63) + (128 * group + p) as u64;
    let radius = plain_radius(uniform(a, || u64::from(word(more, 0)) << 32 | u64::from(word(more, 1))));
    let (cosine, sine) = direction(b);
    radius * if k < 128 { cosine } else { sine }
}

#[test]
fn a_draw_is_what_the_header_says() {
    for (seed, input, draw, stream) in [
        (0, 0, Draw::Estimation(0), 0),
        (7, 3, Draw::Estimation(99_999), 99_999),
        (u64::MAX, 1 << 40, Draw::Selection(12), (1 << 63) + 12),
    ] {
        for length in [1_usize, 127, 128, 129, 255, 256, 257, 500, 3072] {
            let mut rng = generator(seed, input, NAME, stream);
            let mut normals = vec![0.0; length];
            Noise::new(seed, input).standard(draw, &mut normals);
            for (c, normal) in normals.iter().enumerate() {
                let expected = by_formula(&mut rng, c);
                let error = (f64::from(*normal) - expected).abs();
                assert!(error < 1e-6, "coordinate {c} of {length}: {normal} against {expected}");
            }
        }
    }
}

/// Long enough for rare pairs, of which there is one in 8,000.
#[test]
fn rare_pairs_take_more_bits() {
    let (noise, mut rng) = (Noise::new(3, 4), generator(3, 4, NAME, 5));
    let mut normals = vec![0.0; 1 << 18];
    noise.standard(Draw::Estimation(5), &mut normals);
    let far = normals.iter().enumerate().filter(|(_, normal)| normal.abs() > 3.9).map(|(c, _)| c);
    let mut rare = 0;
    for c in far {
        let expected = by_formula(&mut rng, c);
        assert!((f64::from(normals[c]) - expected).abs() < 1e-6, "{c}: {} against {expected}", normals[c]);
        let pair = if c % 256 < 128 { normals[c + 128] } else { normals[c - 128] };
        rare += usize::from(normals[c].hypot(pair) > (26.0 * std::f32::consts::LN_2).sqrt());
    }
    assert!(rare > 5, "{rare}");
}

#[test]
fn every_instruction_set_computes_the_same_bits() {
    let key = key(5, 6, NAME);
    let mut widest = vec![0.0; 100_000];
    dispatch(&key, 77, &mut widest);
    let mut portable = vec![0.0; widest.len()];
    let words = |counter, words: &mut Words| chacha::portable(&key, counter, 77, words);
    fill(&key, 77, &mut portable, words);
    let bits = |normals: &[f32]| normals.iter().map(|normal| normal.to_bits()).collect::<Vec<u32>>();
    assert_eq!(bits(&widest), bits(&portable));
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        let mut narrower = vec![0.0; widest.len()];
        // SAFETY: AVX2 and FMA were just found.
        #[allow(unsafe_code)]
        unsafe {
            crate::noise::plain::fill_avx2(&key, 77, &mut narrower);
        }
        assert_eq!(bits(&widest), bits(&narrower));
    }
}

#[test]
fn words_at_every_border_give_their_normals() {
    let borders = [0, 1 << 2, 1 << 19, 1 << 20, 0xb504_f333, 0xffff_fe00, u32::MAX, 1 << 31, 1 << 30];
    let near = borders.iter().flat_map(|&a| (0..16).map(move |d| a.wrapping_add(d).wrapping_sub(8)));
    let directions = [0, 1, 0x1fff_ffff, 0x2000_0000, 0x3fff_ffff, 0x7fff_ffff, u32::MAX, 0xdead_beef];
    // Words of the largest errors that a search found.
    let worst = [(0xd_5934, 0x1ff5_bf8d), (0, 0x1ff5_bf8d)];
    for (a, b) in near.flat_map(|a| directions.map(|b| (a, b))).chain(worst) {
        for place in [0, 1, 0x7d8d, 0xb9_c3e2, 1 << 40, u64::MAX] {
            let (x, y) = if is_rare(a) { turned(rare_radius(a, place), b) } else { pair(a, b) };
            let (radius, (cosine, sine)) = (plain_radius(uniform(a, || place)), direction(b));
            let error = (f64::from(x) - radius * cosine).hypot(f64::from(y) - radius * sine);
            let most = if is_rare(a) { 2.3e-6 } else { 1.1e-6 };
            assert!(error < most, "{a:#x} {b:#x} {place}: ({x}, {y}), {error}");
            assert!(x.hypot(y) < 11.5);
        }
    }
    let (x, y) = turned(rare_radius(0, 0), 0x2000_0000); // u = 2⁻⁹⁵, angle 0
    assert!((f64::from(x) - (190.0 * std::f64::consts::LN_2).sqrt()).abs() < 2e-6 && y.abs() < 2e-6);
}

/// Half a cell, by which the radius may be off, moves it by less than 10⁻⁶ where no more bits are taken.
#[test]
fn cells_are_narrow() {
    let mut state = 1_u32;
    let random = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state
    });
    let borders = [1 << 19, (1 << 19) + 4, 0xffff_fdff, 0xffff_fdf0];
    for a in borders.into_iter().chain(random.take(200_000)).filter(|&a| !is_rare(a)) {
        let cell = 2.0_f64.powi(-30);
        let (low, exact) = (f64::from(a >> 2) * cell, plain_radius(uniform(a, || 0)));
        for end in [low, low + cell] {
            let moved = plain_radius((end, (f64::from(1 << 30) - f64::from(a >> 2)) * cell - (end - low)));
            assert!((moved - exact).abs() < 1e-6, "{a}: {}", moved - exact);
        }
        let (x, y) = pair(a, a.rotate_left(7));
        assert!((f64::from(x).hypot(f64::from(y)) - exact).abs() < 1e-6, "{a}: {x}, {y}");
    }
}

#[test]
fn draws_are_normal_and_independent() {
    let (draws, dim) = (1600_u64, 250);
    let mut all = Vec::new();
    let mut row = vec![0.0; dim];
    for draw in 0..draws {
        Noise::new(1, 2).standard(Draw::Estimation(draw), &mut row);
        all.extend(row.iter().map(|&normal| f64::from(normal)));
    }
    let count = all.len() as f64;
    // Neighbours in a draw, cosine and sine of a pair, the same coordinate of the next draw: uncorrelated, to five
    // standard errors; so are their squares.
    for lag in [1, 16, 128, dim] {
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
    // Selection and estimation draws, inputs and seeds have streams of their own.
    let first = |noise: Noise, draw| {
        let mut out = [0.0_f32];
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
