//! Errors of encoding, added up in any order: never less than what they consist of, and infinite where anything is not a
//! number from 0 on.

use super::{Counts, sessions};
use crate::cases::{generator, normal, normals};
use crate::rational::{Dyadic, dot, matrix, sum, transpose};
use gambeson_checker::{
    CosineTransform, InfToTwoBound, MOST_DEVIATIONS, NoiseLevel, PreparedBasis, SpectralBound, encode,
    encoding_error_of_blocks, encoding_error_of_both, encoding_error_of_moved, encoding_error_within,
    farthest_input, grid_error, grid_error_everywhere, quotient_error, triangle_bound,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// An error with what it must not be below; none where nothing was known to begin with.
type Known = (f64, Option<Dyadic>);

fn judge((value, least): &Known, name: &'static str, counts: &Counts) {
    counts.add(name);
    match least {
        None => assert_eq!(*value, f64::INFINITY, "{name} hides what is not a number from 0 on"),
        Some(least) => {
            assert!(
                *value == f64::INFINITY || Dyadic::from(*value) >= *least,
                "{name}: {value} is too small"
            );
        }
    }
}

/// A number from 0 on, or none.
fn number(rng: &mut ChaCha8Rng) -> Known {
    let value = match rng.random_range(0..8) {
        0 => 0.0,
        1 => [-1.0, f64::NAN, f64::NEG_INFINITY, f64::INFINITY, -1e-300][rng.random_range(0..5)],
        2 => 10_f64.powf(rng.random_range(-300.0..300.0)),
        _ => 10_f64.powf(rng.random_range(-12.0..3.0)),
    };
    (value, (value >= 0.0 && value.is_finite()).then(|| value.into()))
}

/// U (rows × rank) with bounds on its singular values and on κ.
struct Basis {
    factor: Vec<f64>,
    rows: usize,
    rank: usize,
    spectral: SpectralBound,
    kappa: InfToTwoBound,
}

fn basis(rng: &mut ChaCha8Rng) -> Basis {
    let (rows, rank) = (rng.random_range(1..=7), rng.random_range(1..=4));
    let factor = normals(rng, rows * rank);
    let prepared = PreparedBasis::new(&factor, rows, rank, 1).expect("a basis");
    let gram = prepared.gram();
    let trace: f64 = (0..gram.rank()).map(|a| gram.entries()[a * gram.rank() + a]).sum();
    let spectral = prepared.bound(trace * 1.001 + gram.error()).expect("the trace is above");
    let kappa = triangle_bound(&factor, rows, rank, 1).expect("a factor").sqrt();
    Basis { factor, rows, rank, spectral, kappa }
}

/// Encodes an input: the true distance of what was computed, squared, as exact arithmetic has it.
fn encoded(rng: &mut ChaCha8Rng, basis: &Basis, counts: &Counts) -> Known {
    let Basis { factor, rows, rank, spectral, .. } = basis;
    let scale = 10_f64.powi(rng.random_range(-160..160));
    let input: Vec<f64> = (0..*rows).map(|_| scale * normal(rng)).collect();
    let Ok(found) = encode(factor, *rows, *rank, &input) else { return (0.0, Some(Dyadic::zero())) };
    let exact: Vec<Dyadic> = input.iter().map(|&u| u.into()).collect();
    let off = transpose(&matrix(factor, *rank)).into_iter().zip(&found.values).map(|(column, &z)| {
        let off = &dot(column.iter().zip(&exact)) - &Dyadic::from(z);
        &off * &off
    });
    let square = sum(&off.collect::<Vec<Dyadic>>());
    let error = Dyadic::from(found.error);
    counts.add("encodings");
    assert!(&error * &error >= square, "{} is too small", found.error);
    // For every input of this length, hence for this one.
    let length = input.iter().map(|u| u * u).sum::<f64>().sqrt() * (1.0 + 1e-12);
    let within = encoding_error_within(*rows, *rank, *spectral, length);
    let bound = Dyadic::from(if within.is_finite() { within } else { f64::MAX });
    assert!(&bound * &bound >= square, "{within} is too small");
    (found.error, Some(square.root_below()))
}

/// |y − m − φ|, m the nearest whole number or another one.
fn stored(rng: &mut ChaCha8Rng) -> Known {
    let y = match rng.random_range(0..4) {
        0 => 0.5_f64.next_down(),
        1 => [-0.5, 0.5, 1.5, 8_388_607.5, 1e-300][rng.random_range(0..5)],
        _ => normal(rng) * 10_f64.powf(rng.random_range(-3.0..7.5)),
    };
    #[allow(clippy::cast_possible_truncation)] // as centres are stored
    let (whole, fraction) = match rng.random_range(0..5) {
        0 => (1.0, -0.5),
        1 => (1e-30, y as f32),
        2 => (y.round() as f32 + 1.0, normal(rng) as f32),
        _ => (y.round() as f32, (y - y.round()) as f32),
    };
    let off = &(&Dyadic::from(y) - &Dyadic::from(f64::from(whole))) - &Dyadic::from(f64::from(fraction));
    let least = if off < Dyadic::zero() { &Dyadic::zero() - &off } else { off };
    for bad in [f32::NAN, f32::INFINITY] {
        assert_eq!(grid_error(y, bad, 0.0), f64::INFINITY);
        assert_eq!(grid_error(y, whole, bad), f64::INFINITY);
    }
    (grid_error(y, whole, fraction), Some(least))
}

fn combined(rng: &mut ChaCha8Rng, pool: &[Known], basis: &Basis) -> (Known, &'static str) {
    let mut any = || pool[rng.random_range(0..pool.len())].clone();
    let times = |a: Option<Dyadic>, b: f64| a.map(|a| &a * &Dyadic::from(b));
    let plus = |a: Option<Dyadic>, b: Option<Dyadic>| a.zip(b).map(|(a, b)| &a + &b);
    let ((first, a), (second, b)) = (any(), any());
    match rng.random_range(0..5) {
        0 => ((encoding_error_of_both(first, second), plus(a, b)), "two errors"),
        1 => {
            let moved = encoding_error_of_moved(first, second, basis.spectral);
            ((moved, plus(a, times(b, basis.spectral.value()))), "moved inputs")
        }
        2 => {
            let some: Vec<Known> =
                (0..rng.random_range(0..4)).map(|_| pool[rng.random_range(0..pool.len())].clone()).collect();
            let value = encoding_error_of_blocks(some.iter().map(|(error, _)| *error));
            let squares: Option<Vec<Dyadic>> =
                some.into_iter().map(|(_, least)| least.map(|least| &least * &least)).collect();
            ((value, squares.map(|squares| sum(&squares).root_below())), "blocks")
        }
        3 => ((quotient_error(basis.rows, first), times(a, f64::EPSILON / 2.0)), "quotients"),
        _ => {
            let within = encoding_error_within(basis.rows, basis.rank, basis.spectral, first);
            ((within, a.map(|_| Dyadic::zero())), "encodings within")
        }
    }
}

fn session(seed: u64, counts: &Counts) {
    let rng = &mut generator(seed.wrapping_mul(0xa076_1d64_78bd_642f));
    let basis = basis(rng);
    let mut pool = vec![encoded(rng, &basis, counts)];
    for _ in 0..6 {
        pool.push(number(rng));
        let stored = stored(rng);
        judge(&stored, "stored centres", counts);
        pool.push(stored);
    }
    // Infinite where nothing was known, and so is what follows from it.
    let start = pool.len();
    for _ in 0..20 {
        let (known, name) = combined(rng, &pool, &basis);
        judge(&known, name, counts);
        let least = known.1.clone().filter(|_| known.0.is_finite());
        pool.push((known.0, least));
    }
    assert!(pool[start..].iter().all(|(error, _)| *error >= 0.0), "none is negative, or none at all");
    let everywhere = Dyadic::from(grid_error_everywhere(basis.rank));
    let rank = Dyadic::from(f64::from(u8::try_from(basis.rank).expect("few"))).shifted(-52);
    assert!(&everywhere * &everywhere >= rank);
    let noise = NoiseLevel::new(0.25).expect("positive");
    let far = Dyadic::from(farthest_input(basis.rows, noise, basis.kappa, basis.spectral));
    let most = &Dyadic::from(MOST_DEVIATIONS) * &Dyadic::from(0.25);
    assert!(&far * &Dyadic::from(basis.spectral.value()) >= most, "of a radius in l2");
    let transform = CosineTransform::new(basis.rows, basis.rank).expect("a grid");
    for length in [-1.0, f64::NAN, f64::NEG_INFINITY] {
        assert_eq!(transform.error_within(length), f64::INFINITY, "{length}");
    }
}

#[test]
fn no_composition_of_calls_loses_an_error() {
    let (count, counts) = sessions(session);
    let names = [
        "encodings",
        "stored centres",
        "two errors",
        "moved inputs",
        "blocks",
        "quotients",
        "encodings within",
    ];
    counts.expect(count, &names, count / 4);
}
