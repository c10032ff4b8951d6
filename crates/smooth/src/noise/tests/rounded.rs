//! Stages of the sampler against each other and against 200 bits; centres and grids.

use super::digits::Constants;
use super::{cases, generator};
use crate::input_map::{Affine, InputMap, Layout};
use crate::noise::chacha::{self, Words};
use crate::noise::normals::{self, is_rare, is_wide, radius, turned};
use crate::noise::refine::{self, MoreBits, cell, width_of_cell};
use crate::noise::rounded::{Tolerance, dispatch, fill, resolve};
use crate::noise::stream::key;
use crate::noise::{Centre, CentreError, Draw, GENERATOR, Grid, GridError, Quantum, RoundedNoise};
use rand::Rng;
use rayon::prelude::*;

/// Levels and fractions to look at: the default range, a coarse grid, one 64 times finer, the finest.
const LEVELS: [f32; 5] = [1.0, 128.0, 255.9, 16_384.0, 65_536.0];

/// A fraction of a coordinate that looks random.
fn fraction(word: u32) -> f32 {
    if word.is_multiple_of(3) { 0.0 } else { (word % 1023) as f32 / 1022.0 - 0.5 }
}

/// The words of group `group` of a stream.
fn words(seed: u64, group: u64) -> Words {
    let mut words = [0; 256];
    chacha::portable(&key(seed, 0, GENERATOR), 16 * group, 0, &mut words);
    words
}

#[derive(Clone, Copy, Default)]
struct Seen {
    coordinates: u64,
    flagged: u64,
    /// Decided by stage 2, of the flagged ones.
    second: u64,
    wrong: u64,
    worst: f64,
}

/// Every coordinate that stage 1 or 2 decides has the number that stage 3 finds, and stage 3 finds one.
#[test]
fn early_stages_decide_as_the_last_one_does() {
    let groups = cases(50_000_000) / 256 / LEVELS.len() as u64;
    let one = |mut seen: [Seen; 5], group: u64| {
        let words = words(1, group);
        let more = words.map(u64::from);
        for p in (0..128).filter(|&p| !is_rare(words[p])) {
            let (a, b) = (words[p], words[128 + p]);
            // Any bits will do: here those of other words.
            let bits = MoreBits {
                radius: more[(p + 1) % 256] << 32 | more[(p + 77) % 256],
                angle: more[(p + 5) % 256] << 32 | more[(p + 99) % 256],
            };
            let radius = radius(a);
            let (x, y) = turned(radius, b);
            let (middle_x, middle_y, rho) = refine::normals(a, b, MoreBits::MIDDLE).expect("not rare");
            let (last_x, last_y, _) = refine::normals(a, b, bits).expect("not rare");
            let width = width_of_cell(a, rho) + 4.0 * refine::ERROR;
            for (first, middle, last) in [(x, middle_x, last_x), (y, middle_y, last_y)] {
                for (seen, s) in seen.iter_mut().zip(LEVELS) {
                    let phi = fraction(a >> 5);
                    let found = cell(last, s.into(), phi.into(), refine::ERROR);
                    let t = s.mul_add(first, phi);
                    let k = t.round_ties_even();
                    let tolerance = Tolerance::new(s);
                    let flagged =
                        is_wide(a) || tolerance.is_open(tolerance.nearness((t - k).abs(), radius * radius));
                    let second = cell(middle, s.into(), phi.into(), width);
                    seen.coordinates += 1;
                    seen.flagged += u64::from(flagged);
                    seen.second += u64::from(flagged && second.is_some());
                    seen.wrong += u64::from(!flagged && found != Some(k));
                    seen.wrong += u64::from(second.is_some() && found != second);
                    seen.worst = seen.worst.max((f64::from(first) - last).abs());
                }
            }
        }
        seen
    };
    let join = |a: [Seen; 5], b: [Seen; 5]| {
        std::array::from_fn(|i| Seen {
            coordinates: a[i].coordinates + b[i].coordinates,
            flagged: a[i].flagged + b[i].flagged,
            second: a[i].second + b[i].second,
            wrong: a[i].wrong + b[i].wrong,
            worst: a[i].worst.max(b[i].worst),
        })
    };
    let seen =
        (0..groups).into_par_iter().fold(|| [Seen::default(); 5], one).reduce(|| [Seen::default(); 5], join);
    for (s, seen) in LEVELS.into_iter().zip(seen) {
        let share = |count: u64| count as f64 / seen.coordinates as f64;
        println!(
            "s = {s}: {} coordinates, {:.4} % flagged, {:.2e} left by stage 2, {} wrong, normals within {:.3e}",
            seen.coordinates,
            100.0 * share(seen.flagged),
            share(seen.flagged - seen.second),
            seen.wrong,
            seen.worst
        );
        assert_eq!(seen.wrong, 0, "s = {s}");
        assert!(seen.worst < 2.06e-6 && seen.worst > 1e-7, "{}", seen.worst);
        // The square of a radius is 1 in the mean; two roundings besides, and words that are wide and not rare.
        let wide = 2.0_f64.powi(-16) - 2.0_f64.powi(-23);
        let expected = 2.0 * (f64::from(s) * (normals::LEAST + normals::GROWTH) + 1.2e-7) + wide;
        let near = (share(seen.flagged) / expected - 1.0).abs() < 0.2;
        assert!(near || seen.flagged < 400, "{} against {expected}", share(seen.flagged));
    }
}

/// All flagged coordinates, all rare ones, and a sample of the others: against whole numbers of 220 places.
#[test]
fn what_is_decided_is_right_to_200_bits() {
    let judge = Constants::new();
    let groups = cases(30_000_000) / 600;
    let checked: u64 = (0..groups)
        .into_par_iter()
        .map(|group| {
            let words = words(2, group);
            let s = LEVELS[usize::try_from(group % 3).expect("small")];
            let mut checked = 0;
            for p in 0..128 {
                let (a, b) = (words[p], words[128 + p]);
                let block = chacha::block(&key(2, 0, GENERATOR), 1 << 63 | (128 * group + p as u64), 0);
                let bits = MoreBits::from_words([block[0], block[1], block[2], block[3]]);
                let phi = fraction(a >> 5);
                let radius = radius(a);
                let (x, y) = turned(radius, b);
                let open = |n: f32| {
                    let (t, tolerance) = (s.mul_add(n, phi), Tolerance::new(s));
                    let distance = (t - t.round_ties_even()).abs();
                    is_wide(a) || tolerance.is_open(tolerance.nearness(distance, radius * radius))
                };
                if !(is_rare(a) || open(x) || open(y) || p as u64 == group % 128) {
                    continue;
                }
                let truth = judge.normals(a, b, bits.radius, bits.angle);
                let (last_x, last_y, rho) = refine::normals(a, b, bits).expect("not that rare");
                let middle = refine::normals(a, b, MoreBits::MIDDLE).filter(|_| !is_rare(a));
                for (half, (first, last)) in [(x, last_x), (y, last_y)].into_iter().enumerate() {
                    let (k, edge_distance) = Constants::cell(&truth[half], s, phi);
                    let found = cell(last, s.into(), phi.into(), refine::ERROR);
                    assert!(found.is_some() || edge_distance < 3.0 * f64::from(s) * refine::ERROR);
                    assert!(found.is_none_or(|found| f64::from(found) == k as f64), "{a:#x} {b:#x}");
                    if let Some((x, y, _)) = middle {
                        let width = width_of_cell(a, rho) + 4.0 * refine::ERROR;
                        let second = cell(if half == 0 { x } else { y }, s.into(), phi.into(), width);
                        assert!(second.is_none_or(|second| f64::from(second) == k as f64), "{a:#x} {b:#x}");
                        let t = s.mul_add(first, phi);
                        assert!(open(first) || f64::from(t.round_ties_even()) == k as f64, "{a:#x} {b:#x}");
                    }
                    checked += 1;
                }
            }
            checked
        })
        .sum();
    println!("{checked} coordinates against 200 bits");
    assert!(checked >= 100_000, "{checked}");
}

/// Double precision against 200 bits where it is worst: radii near 0 and near 8, angles near the axes.
#[test]
fn double_precision_keeps_its_budget() {
    let judge = Constants::new();
    let words =
        [1_u32 << 2, 2 << 2, 5 << 2, 1 << 19, 1 << 30, 0xb5c2_8f5c, 0xb504_f333, 0xffff_fe00, u32::MAX];
    let more = [0, 1, 1 << 48, (1 << 48) + 1, 1 << 63, u64::MAX - 1, u64::MAX];
    let angles = [0, 0x1fff_ffff, 0x2000_0000, 0x3fff_ffff, 0xdead_beef];
    let mut worst = 0.0_f64;
    for (a, b) in words.iter().chain([&0]).flat_map(|&a| angles.map(|b| (a, b))) {
        for (radius, angle) in
            more.iter().flat_map(|&radius| [0, u64::MAX, 1 << 40].map(|angle| (radius, angle)))
        {
            let Some((x, y, _)) = refine::normals(a, b, MoreBits { radius, angle }) else {
                assert!(a >> 2 == 0 && radius < 1 << 48, "only where u < 2^-46");
                continue;
            };
            // Both ends of the cell are within half a cell of its middle, which is what is asked about.
            let truth = judge.normals(a, b, radius, angle);
            for (x, truth) in [x, y].into_iter().zip(&truth) {
                #[allow(clippy::cast_possible_truncation)]
                let near = num_bigint::BigInt::from((x * 2_f64.powi(55)).round() as i64) << (220 - 55);
                let off: num_bigint::BigInt = (near - truth) >> (220 - 80);
                let off = i64::try_from(off).expect("near") as f64 / 2_f64.powi(80);
                worst = worst.max(off.abs());
            }
        }
    }
    println!("double precision: worst {worst:.2e}, budget {:.2e}", refine::ERROR);
    assert!(worst < 0.5 * refine::ERROR, "{worst}");
}

/// A row, coordinate by coordinate, from the blocks of another implementation of ChaCha8, by 200 bits alone.
#[test]
fn a_draw_is_what_the_headers_say() {
    let judge = Constants::new();
    for (seed, input, draw, stream) in [
        (0, 0, Draw::Estimation(0), 0),
        (7, 3, Draw::Estimation(99_999), 99_999),
        (u64::MAX, 1 << 40, Draw::Selection(12), (1 << 63) + 12),
    ] {
        for length in [1_usize, 127, 129, 256, 257, 500] {
            let row: Vec<f64> = (0..length).map(|i| (i * 37 % 256) as f64).collect();
            let (sigma, grid) = (0.25, Grid { quantum: Quantum::Byte, exponent: 1 });
            let centre = Centre::new(&row, sigma, grid, None).expect("a centre");
            let mut out = vec![0.0; length];
            assert!(RoundedNoise::new(seed, input).perturb(draw, &centre, &mut out));
            let mut rng = generator(seed, input, GENERATOR, stream);
            for (c, out) in out.iter().enumerate() {
                let (group, k) = (c / 256, c % 256);
                let p = k % 128;
                let mut word = |block: u64, word: usize| {
                    rng.set_word_pos(16 * u128::from(block) + word as u128);
                    rng.next_u32()
                };
                let block = (16 * group + p % 16) as u64;
                let (a, b) = (word(block, p / 16), word(block, p / 16 + 8));
                let more = (1 << 63) + (128 * group + p) as u64;
                let mut join = |at| u64::from(word(more, at)) << 32 | u64::from(word(more, at + 1));
                let normals = judge.normals(a, b, join(0), join(2));
                // Bytes lie at halves of this grid.
                let y = row[c] / 2.0;
                #[allow(clippy::cast_possible_truncation)] // 0 or ½
                let fraction = (y - y.round_ties_even()) as f32;
                let (k, _) = Constants::cell(&normals[usize::from(k >= 128)], 31.875, fraction);
                let expected = (y.round_ties_even() + k as f64) * (2.0 / 255.0);
                assert!(
                    (f64::from(*out) - expected).abs() < 1e-6,
                    "{c} of {length}: {out} against {expected}"
                );
            }
        }
    }
}

#[test]
fn every_instruction_set_gives_the_same_numbers() {
    let key = key(5, 6, GENERATOR);
    for s in [128.0, 16_384.0] {
        let fractions: Vec<f32> = (0..100_001).map(fraction).collect();
        let centre = Centre::of_parts(vec![3.0; fractions.len()], fractions, s);
        let bits = |row: &[f32]| row.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
        let mut widest = vec![0.0; 100_001];
        let decided = dispatch(&key, 77, &centre, &mut widest);
        let mut portable = vec![0.0; widest.len()];
        let words = |counter, words: &mut Words| chacha::portable(&key, counter, 77, words);

        assert_eq!(fill(&key, 77, &centre, &mut portable, words, resolve), decided);
        assert_eq!(bits(&widest), bits(&portable));
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            let mut narrower = vec![0.0; widest.len()];
            // SAFETY: AVX2 and FMA were just found.
            #[allow(unsafe_code)]
            let same = unsafe { crate::noise::rounded::fill_avx2(&key, 77, &centre, &mut narrower) };
            assert_eq!((bits(&widest), decided), (bits(&narrower), same));
        }
        // Whole numbers, and never a negative zero.
        assert!(widest.iter().all(|k| k.fract() == 0.0 && k.to_bits() != (-0.0_f32).to_bits()));
    }
}

#[test]
fn centres_are_exact_for_bytes_and_samples() {
    for (quantum, sigma) in
        [(Quantum::Byte, 0.12), (Quantum::Byte, 1.0), (Quantum::Byte, 40.0), (Quantum::Sample, 0.01)]
    {
        let grid = Grid::new(sigma, quantum, None).expect("a grid");
        let s = f64::from(grid.cells(sigma));
        assert!((128.0..=256.0).contains(&s) && s * grid.step_above() >= sigma, "{grid:?} {s}");
        assert!(s * grid.step() <= sigma * (1.0 + 2.4e-7));
        let row: Vec<f64> = (0..256).map(f64::from).collect();
        assert_eq!(Centre::new(&row, sigma, grid, None).expect("a centre").error(), 0.0);
    }
    // Other numbers lose a little, whole steps nothing, and what lies beyond is refused.
    let grid = Grid::new(0.5, Quantum::One, None).expect("a grid");
    assert_eq!(grid, Grid { quantum: Quantum::One, exponent: -8 });
    let some = Centre::new(&[0.1, 1.0 / 3.0, -7.3], 0.5, grid, None).expect("a centre");
    let most = 3.0_f64.sqrt() * 2_f64.powi(-26 - 8);
    assert!(some.error() > 0.0 && some.error() <= most * 1.000_001, "{}", some.error());
    assert_eq!(Centre::new(&[0.5, -1.25, -0.0], 0.5, grid, None).expect("a centre").error(), 0.0);
    let refused = |x| Centre::new(&[0.0, x], 0.5, grid, None).expect_err("refused");
    for x in [32_769.0, -1e300, f64::NAN, f64::INFINITY] {
        assert!(matches!(refused(x), CentreError::TooFar { index: 1, .. }), "{x}");
    }
    for (sigma, exponent) in [(1e-40, None), (1e39, None), (f64::MIN_POSITIVE, None), (1.0, Some(95))] {
        assert!(matches!(Grid::new(sigma, Quantum::One, exponent), Err(GridError::Level { .. })), "{sigma}");
    }
    for exponent in [1, -17] {
        assert!(matches!(Grid::new(1.0, Quantum::One, Some(exponent)), Err(GridError::Cells { .. })));
    }
    assert!(Grid::new(1.0, Quantum::One, Some(-16)).is_ok());
}

#[test]
fn classifiers_get_their_normalisation_after_the_grid() {
    let row: Vec<f64> = (0..600).map(|i| f64::from(i % 256)).collect();
    let maps: Vec<Affine> = [(4.0, -1.5), (0.3, 2.0)].map(|(scale, shift)| Affine { scale, shift }).to_vec();
    let (sigma, noise, draw) = (0.1, RoundedNoise::new(5, 6), Draw::Estimation(77));
    let grid = Grid::new(sigma, Quantum::Byte, None).expect("a grid");
    for layout in [Layout::ChannelsFirst, Layout::ChannelsLast] {
        let map = InputMap::new(maps.clone(), 300, layout).expect("a map");
        let mapped = Centre::new(&row, sigma, grid, Some(&map)).expect("a centre");
        let mut out = vec![0.0; 600];
        assert!(noise.perturb(draw, &mapped, &mut out));
        // The same whole numbers, as they are.
        let mut places = vec![0.0; 600];
        (0..600).for_each(|index| places[map.place(index).0] = row[index]);
        let plain = Centre::new(&places, sigma, grid, None).expect("a centre");
        let mut values = vec![0.0; 600];
        assert!(noise.perturb(draw, &plain, &mut values));
        for index in 0..600 {
            let (place, Affine { scale, shift }) = map.place(index);
            let expected = scale * f64::from(values[place]) + shift;
            assert!((f64::from(out[place]) - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{index}");
            let steps = f64::from(values[place]) / grid.step();
            assert!((steps - steps.round()).abs() < 1e-2, "on the grid: {steps}");
        }
    }
}
