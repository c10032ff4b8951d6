//! Normal quantiles and limits against numbers computed to the last bit elsewhere; radii and the error of encoding
//! against exact arithmetic.

use crate::cases::{generator, normal};
use crate::limits::{alpha, lower, proven, radius, tally, upper};
use crate::rational::{Dyadic, dot, sum};
use gambeson_checker::{
    Certificate, CheckError, Coordinates, CosineTransform, Domain, InfToTwoBound, LimitMethod, MatrixProblem,
    NoiseLevel, Quadratic, SamplingRule, Sides, SpectralBound, StatisticsError, encode,
    encoding_error_of_blocks, encoding_error_of_both, encoding_error_of_moved, encoding_error_within,
    farthest_input, grid_error, grid_error_everywhere, quotient_error,
};
use gambeson_lowrank::sdp::scale::{check, spectral_norm};
use gambeson_smooth::limit::{lower_limit, normal_quantile_above, normal_quantile_below};

/// Rows of numbers of a fixture, its first line left out.
fn rows(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().skip(1).map(|line| line.split(',').collect())
}

fn number(word: &str) -> f64 {
    word.parse().expect("a number")
}

/// Written by tests/fixtures/make_limits.py.
#[test]
fn limits_are_those_of_high_precision() {
    let mut worst: f64 = 0.0;
    for row in rows(include_str!("../fixtures/limits.csv")) {
        let (method, rule) = match row[0] {
            "clopper-pearson" => (LimitMethod::ClopperPearson, SamplingRule::Fixed),
            "mixture" => (LimitMethod::Mixture, SamplingRule::Anytime),
            other => panic!("{other}"),
        };
        let (n, k) = (row[1].parse().expect("a count"), row[2].parse().expect("a count"));
        let limit = lower_limit(rule, tally(k, n), method, alpha(number(row[3]))).expect("fits");
        let (p, q) = (number(row[4]), number(row[5]));
        assert!(limit.value() <= p && limit.complement() >= q, "{row:?}: {limit:?} is not safe");
        let loose = if p < 0.5 { 1.0 - limit.value() / p } else { limit.complement() / q - 1.0 };
        worst = worst.max(loose);
        assert!(loose < 2e-14, "{row:?}: {limit:?} is loose by {loose}");
    }
    assert!(worst > 0.0, "some limits should be a unit in the last place off");
}

/// Written by tests/fixtures/make_limits.py.
#[test]
fn quantiles_are_those_of_high_precision() {
    for row in rows(include_str!("../fixtures/quantiles.csv")) {
        let (p, below, above) = (number(row[0]), number(row[1]), number(row[2]));
        let (ours_below, ours_above) = (normal_quantile_below(p), normal_quantile_above(p));
        assert!(ours_below <= below && ours_above >= above, "{p}: {ours_below} {ours_above} {row:?}");
        let width = (ours_above - ours_below) / above.abs();
        assert!(width < 2e-14, "{p}: {ours_below} to {ours_above} is wide by {width}");
    }
}

#[test]
fn quantiles_are_odd_and_rise() {
    assert_eq!((normal_quantile_below(0.5), normal_quantile_above(0.5)), (0.0, 0.0));
    let mut before = f64::NEG_INFINITY;
    for i in 1..4096 {
        let p = f64::from(i) / 4096.0; // 1 − p is exact
        let (below, above) = (normal_quantile_below(p), normal_quantile_above(p));
        assert_eq!(below, -normal_quantile_above(1.0 - p), "{p}");
        assert!(below <= above && below > before, "{p}");
        before = above;
    }
    for p in [f64::NAN, 0.0, -1.0] {
        assert_eq!(normal_quantile_below(p), f64::NEG_INFINITY);
    }
    for p in [f64::NAN, 1.0, 2.0] {
        assert_eq!(normal_quantile_above(p), f64::INFINITY);
    }
    assert!(normal_quantile_below(1.0).is_finite() && normal_quantile_above(0.0).is_finite());
    assert!(normal_quantile_below(f64::from_bits(1)) < -38.0);
}

fn noise(level: f64) -> NoiseLevel {
    NoiseLevel::new(level).expect("positive")
}

#[test]
fn radii_follow_from_limits() {
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(NoiseLevel::new(value), Err(StatisticsError::NoiseLevel { .. })));
    }
    let sigma = noise(0.25);
    // All of 100,000 at α = 0.001: p is the root of α, and the radius the largest in the logs of Cohen et al.
    let most = radius(100_000, 100_000, 1e-3, sigma).expect("above one half").value();
    let expected = 0.25 * normal_quantile_below(1e-3_f64.powf(1e-5));
    assert!((most / expected - 1.0).abs() < 1e-11 && (most - 0.953).abs() < 5e-4, "{most} {expected}");
    assert_eq!(radius(50, 100, 1e-3, sigma), None);
    assert_eq!(radius(0, 100, 1e-3, sigma), None);
    let mut before = 0.0;
    for k in 700..=1000 {
        let limit = lower(k, 1000, 1e-3);
        let radius = radius(k, 1000, 1e-3, sigma).expect("above one half").value();
        assert!(radius > before && radius <= 0.25 * normal_quantile_above(limit.value().next_up()), "{k}");
        assert!(
            radius >= 0.25 * normal_quantile_below(limit.value()) * (1.0 - 1e-15),
            "1 − p says no less than p"
        );
        before = radius;
    }
}

#[test]
fn two_limits_say_more_than_one_where_a_class_leads_without_a_majority() {
    let sigma = noise(0.5);
    let half = alpha(1e-3).half().value();
    let two = |count, runner_up, n| proven((count, runner_up, n), Sides::Two, 1e-3, sigma);
    // Three classes, 450, 300 and 250 of 1000.
    let (a, b) = (lower(450, 1000, half), upper(300, 1000, half));
    let found = two(450, 300, 1000);
    assert_eq!((found.lower(), found.upper()), (a, Some(b)), "half of alpha each");
    let lead = found.radius().expect("a lead");
    let plain = 0.25 * (normal_quantile_below(a.value()) - normal_quantile_above(b.value()));
    assert!(lead.value() <= plain && lead.value() > plain * (1.0 - 1e-12), "{lead:?} {plain}");
    assert_eq!(radius(450, 1000, half, sigma), None);
    assert_eq!(two(310, 300, 1000).radius(), None, "no proven lead");
    // Where the runner-up's own limit says less than 1 − p_A, the latter is used.
    for (count, runner_up) in [(1000, 0), (900, 100)] {
        let two_sided = two(count, runner_up, 1000).radius().expect("a lead").value();
        let one_sided = radius(count, 1000, half, sigma).expect("a majority").value();
        assert!((two_sided / one_sided - 1.0).abs() < 1e-14, "{two_sided} {one_sided}");
    }
    assert_eq!(two(0, 10, 10).radius(), None);
}

/// σ_max and κ of a random basis.
fn bounds(factor: &[f64], dim: usize, rank: usize) -> (SpectralBound, InfToTwoBound) {
    let certificate = Certificate { domain: Domain::Cube, weights: vec![1.0; dim], shift: None };
    let square =
        check(Quadratic::Gram { factor, dim, rank }, &certificate, 1).expect("weights prove something");
    (spectral_norm(factor, dim, rank, 1).expect("a bound"), square.sqrt())
}

#[test]
fn radii_in_input_space_are_rounded_down() {
    let rng = &mut generator(5);
    let at_most = |a: f64, b: f64, product: f64| &Dyadic::from(a) * &Dyadic::from(b) <= Dyadic::from(product);
    for k in 800..820 {
        let factor: Vec<f64> = (0..6 * 3).map(|_| normal(rng)).collect();
        let (spectral, kappa) = bounds(&factor, 6, 3);
        let latent = radius(k, 1000, 1e-3, noise(0.7)).expect("a majority");
        let (l2, linf) = (latent.to_l2(Some(spectral)).value(), latent.to_linf(kappa).value());
        assert!(
            at_most(l2, spectral.value(), latent.value()) && at_most(linf, kappa.value(), latent.value())
        );
        assert!(l2 * spectral.value() > latent.value() * (1.0 - 1e-15));
        assert_eq!((latent.over(kappa.value()), latent.to_l2(None).value()), (linf, latent.value()));
        let plain = latent.to_l2(None).to_linf_by_dimension(3072).value();
        let squared = &Dyadic::from(plain) * &Dyadic::from(plain);
        let square = &Dyadic::from(latent.value()) * &Dyadic::from(latent.value());
        assert!(
            &squared * &Dyadic::from(3072.0) <= square
                && plain * 3072_f64.sqrt() > latent.value() * (1.0 - 1e-15)
        );
        // Less what the encoding may be off.
        let less = latent.less(1e-9).expect("something left").value();
        assert!(&Dyadic::from(less) + &Dyadic::from(1e-9) <= Dyadic::from(latent.value()));
        assert_eq!(latent.less(0.0), Some(latent));
        for error in [latent.value(), 1e9, -1e-9, f64::NAN, f64::INFINITY] {
            assert_eq!(latent.less(error), None, "{error}");
        }
        for bound in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(latent.over(bound), 0.0, "{bound}");
        }
    }
    let (a, _) = bounds(&[2.0], 1, 1);
    let (b, _) = bounds(&[3.0], 1, 1);
    assert_eq!(SpectralBound::of_blocks([b, a]), b);
}

#[test]
fn the_error_of_encoding_is_bounded() {
    let rng = &mut generator(6);
    for (dim, rank, size) in [(1, 1, 1.0), (50, 3, 1.0), (400, 7, 1e-3), (30, 2, 1e150), (40, 2, 1e-162)] {
        let basis: Vec<f64> = (0..dim * rank).map(|_| normal(rng) * size).collect();
        let input: Vec<f64> = (0..dim).map(|_| normal(rng) * size).collect();
        let Coordinates { values, error: bound } = encode(&basis, dim, rank, &input).expect("finite");
        let column = |j: usize| (0..dim).map(move |i| i * rank + j);
        let mut squares = Vec::new();
        for j in 0..rank {
            let products = column(j).zip(&input).map(|(at, u)| (Dyadic::from(basis[at]), Dyadic::from(*u)));
            let products: Vec<(Dyadic, Dyadic)> = products.collect();
            let exact = dot(products.iter().map(|(a, b)| (a, b)));
            // Forwards, backwards, fused: the worst of several orders.
            let terms: Vec<(f64, f64)> = column(j).zip(&input).map(|(at, u)| (basis[at], *u)).collect();
            let plain = terms.iter().map(|(a, b)| a * b).sum::<f64>();
            let backwards = terms.iter().rev().map(|(a, b)| a * b).sum::<f64>();
            let fused = terms.iter().fold(0.0, |sum, (a, b)| a.mul_add(*b, sum));
            let error = |computed: f64| &Dyadic::from(computed) - &exact;
            let square = |computed: f64| &error(computed) * &error(computed);
            assert_eq!(values[j], plain, "summed in the order of the rows");
            squares.push(square(plain).max(square(backwards)).max(square(fused)));
        }
        let total = sum(&squares);
        assert!(
            total <= &Dyadic::from(bound) * &Dyadic::from(bound),
            "{dim} x {rank}, {size}: {bound} is exceeded"
        );
        let length = input.iter().map(|u| u.abs() * size).sum::<f64>();
        assert!(bound <= 8.0 * (dim * rank) as f64 * f64::EPSILON * length + 1e-300, "{bound} for {length}");
    }
}

#[test]
#[allow(clippy::cast_possible_truncation)] // rounding to single precision is what is looked at
fn the_error_of_centres_on_a_grid_is_bounded() {
    let rng = &mut generator(7);
    for size in [1.0, 1e-20, 1e5, 1e-3, 8e6] {
        for _ in 0..50 {
            let y: f64 = size * (normal(rng) / 6.0).clamp(-1.0, 1.0);
            let whole = y.round_ties_even();
            // Also where the fraction is left out or wrong: whatever is stored, its error is bounded.
            for fraction in [(y - whole) as f32, 0.0, 0.25] {
                let bound = grid_error(y, whole as f32, fraction);
                let stored = &Dyadic::from(whole) + &Dyadic::from(f64::from(fraction));
                let error = &Dyadic::from(y) - &stored;
                assert!(
                    &error * &error <= &Dyadic::from(bound) * &Dyadic::from(bound),
                    "{y} {fraction}: {bound}"
                );
            }
            let nearest = grid_error(y, whole as f32, (y - whole) as f32);
            assert!(nearest <= grid_error_everywhere(1), "{y}: {nearest}");
        }
    }
    assert_eq!(grid_error(-3.25, -3.0, -0.25), 0.0);
    assert!(grid_error(3.25, 4.0, -0.75).is_infinite() && grid_error(f64::NAN, 0.0, 0.0).is_infinite());
    assert!(grid_error(1e9, 1e9, 0.0).is_infinite(), "no room for noise");
    // √100·2⁻²⁶, the largest error there is: a half and less than a unit in its last place.
    let everywhere = grid_error_everywhere(100);
    assert!(everywhere >= 10.0 * 2_f64.powi(-26) && everywhere < 10.000_001 * 2_f64.powi(-26));
    let (a, _) = bounds(&[2.0], 1, 1);
    assert!(encoding_error_of_moved(1.0, 0.5, a) >= 2.0 && encoding_error_of_moved(1.0, 0.5, a) < 2.000_1);
    assert!(encoding_error_of_both(1.0, 0.5) >= 1.5 && encoding_error_of_both(1.0, 0.5) < 1.500_001);
}

/// The bounds for all inputs of a length are no smaller than that at any of them, and not far above the largest.
#[test]
fn errors_within_a_length_are_those_of_every_input() {
    let rng = &mut generator(8);
    for (dim, rank) in [(1, 1), (48, 5), (300, 40)] {
        let basis: Vec<f64> = (0..dim * rank).map(|_| normal(rng)).collect();
        let (spectral, kappa) = bounds(&basis, dim, rank);
        let cosines =
            CosineTransform::new(if dim % 6 == 0 { 6 } else { 1 }, if dim % 6 == 0 { dim / 6 } else { dim });
        let cosines = cosines.expect("a transform");
        for _ in 0..20 {
            let input: Vec<f64> = (0..dim).map(|_| normal(rng)).collect();
            let length = encoding_error_of_blocks(input.iter().map(|x| x.abs()));
            let error = encode(&basis, dim, rank, &input).expect("finite").error;
            let bound = encoding_error_within(dim, rank, spectral, length);
            assert!(
                error <= bound * (1.0 + 1e-9) && bound < 100.0 * error,
                "{dim} x {rank}: {error} {bound}"
            );
            let error = cosines.forward(&input).expect("finite").error;
            let bound = cosines.error_within(length);
            assert!(error <= bound * (1.0 + 1e-9) && bound <= 10.0 * error, "{dim}: {error} {bound}");
        }
        let noise = NoiseLevel::new(0.5).expect("a level");
        let farthest = farthest_input(dim, noise, kappa, spectral);
        assert!(farthest * spectral.value() >= 20.0);
        assert!(farthest * kappa.value() >= 20.0 * (dim as f64).sqrt());
        assert!(encoding_error_within(dim, rank, spectral, f64::NAN).is_infinite());
    }
    // 1/255 of whole numbers: half a unit in the last place each.
    let quotients: Vec<f64> = (0..256).map(|k| f64::from(k) / 255.0).collect();
    let length = encoding_error_of_blocks(quotients.iter().copied());
    let error = quotients.iter().enumerate().map(|(k, q)| {
        let off = &(&Dyadic::from(*q) * &Dyadic::from(255.0)) - &Dyadic::from(k as f64);
        &off * &off
    });
    let error = sum(&error.collect::<Vec<_>>());
    let bound = Dyadic::from(255.0 * quotient_error(256, length));
    assert!(error <= &bound * &bound);
}

#[test]
fn encoding_refuses_what_does_not_fit() {
    let wrong =
        |rows, columns, found| Err(CheckError::Matrix(MatrixProblem::WrongLength { rows, columns, found }));
    assert_eq!(encode(&[1.0; 5], 2, 3, &[1.0; 2]), wrong(2, 3, 5));
    assert_eq!(encode(&[1.0; 6], 2, 3, &[1.0; 3]), wrong(2, 1, 3));
    assert_eq!(encode(&[], 0, 3, &[]), Err(CheckError::Matrix(MatrixProblem::Empty)));
    let not_finite = |row, column| Err(CheckError::Matrix(MatrixProblem::NotFinite { row, column }));
    assert_eq!(encode(&[1.0, f64::NAN], 1, 2, &[1.0]), not_finite(0, 1));
    assert_eq!(encode(&[1.0; 2], 2, 1, &[1.0, f64::INFINITY]), not_finite(1, 0));
    assert!(encode(&[1e308; 2], 2, 1, &[1e308; 2]).is_err(), "an overflow");
    assert!(
        encoding_error_of_blocks([3.0, 4.0]) >= 5.0 && encoding_error_of_blocks([3.0, 4.0]) < 5.000_000_1
    );
    assert_eq!(encoding_error_of_blocks([]), 0.0);
}
