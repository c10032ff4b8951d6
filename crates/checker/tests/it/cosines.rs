//! The cosine transform against one of two hundred bits.

use crate::cases::{generator, normal};
use gambeson_checker::{CheckError, CosineTransform, MatrixProblem};
use num_bigint::BigInt;

/// Places behind the point; what is computed here is good to nearly all of them.
const PLACES: u32 = 200;

/// Multiples of 2⁻²⁰⁰.
fn times(a: &BigInt, b: &BigInt) -> BigInt {
    (a * b) >> PLACES
}

/// A number that is no smaller than 2⁻²⁰⁰, or nearly so.
fn fixed(value: f64) -> BigInt {
    let (bits, negative) = (value.abs().to_bits(), value < 0.0);
    let exponent = i64::try_from((bits >> 52).max(1)).expect("small") - 1075;
    let mantissa = BigInt::from(bits & ((1 << 52) - 1) | if bits >> 52 == 0 { 0 } else { 1 << 52 });
    let shift = exponent + i64::from(PLACES);
    let size = if shift < 0 { mantissa >> -shift } else { mantissa << shift };
    if negative { -size } else { size }
}

fn one() -> BigInt {
    BigInt::from(1) << PLACES
}

/// π by Machin: 16 arctan(1/5) − 4 arctan(1/239).
fn pi() -> BigInt {
    let arctan = |of: i32| {
        let (mut power, mut sum, mut k) = (one() / of, BigInt::ZERO, 1);
        while power != BigInt::ZERO {
            let term: BigInt = &power / k;
            sum += if k % 4 == 1 { term } else { -term };
            power /= of * of;
            k += 2;
        }
        sum
    };
    16 * arctan(5) - 4 * arctan(239)
}

/// cos(πm/2n) by its series.
fn cosine(m: usize, n: usize, pi: &BigInt) -> BigInt {
    let angle = pi * (m % (4 * n)) / (2 * n);
    let square = times(&angle, &angle);
    let (mut term, mut sum, mut k) = (one(), BigInt::ZERO, 0_u32);
    while term != BigInt::ZERO {
        sum += &term;
        term = -times(&term, &square) / ((k + 1) * (k + 2));
        k += 2;
    }
    sum
}

/// O for n values.
fn matrix(n: usize) -> Vec<Vec<BigInt>> {
    let pi = pi();
    let table: Vec<BigInt> = (0..4 * n).map(|m| cosine(m, n, &pi)).collect();
    let row = |k: usize| {
        let scale = ((BigInt::from(if k == 0 { 1 } else { 2 }) << (2 * PLACES)) / n).sqrt();
        (0..n).map(|i| times(&scale, &table[k * (2 * i + 1) % (4 * n)])).collect()
    };
    (0..n).map(row).collect()
}

fn dot(a: &[BigInt], b: impl Iterator<Item = BigInt>) -> BigInt {
    a.iter().zip(b).map(|(a, b)| times(a, &b)).sum()
}

/// Ox along rows and columns.
fn transformed(values: &[f64], height: usize, width: usize) -> Vec<BigInt> {
    let (rows, columns) = (matrix(width), matrix(height));
    let values: Vec<BigInt> = values.iter().map(|&value| fixed(value)).collect();
    let middle: Vec<Vec<BigInt>> = values
        .chunks_exact(width)
        .map(|row| rows.iter().map(|cosines| dot(cosines, row.iter().cloned())).collect())
        .collect();
    let column = |k: usize| middle.iter().map(move |row| row[k].clone());
    (0..height * width).map(|at| dot(&columns[at / width], column(at % width))).collect()
}

#[test]
fn the_error_is_what_is_proven() {
    let mut rng = generator(5);
    let mut tightest: f64 = 0.0;
    for (height, width) in [(1, 1), (1, 2), (1, 7), (1, 96), (4, 4), (8, 3), (32, 32), (5, 1)] {
        let transform = CosineTransform::new(height, width).expect("a grid");
        for scale in [1.0, 1e-30, 1e12] {
            let values: Vec<f64> = (0..height * width).map(|_| scale * normal(&mut rng)).collect();
            let found = transform.forward(&values).expect("finite");
            let exact = transformed(&values, height, width);
            let squares: BigInt = found
                .values
                .iter()
                .zip(&exact)
                .map(|(u, exact)| {
                    let difference = fixed(*u) - exact;
                    &difference * &difference
                })
                .sum();
            let bound = fixed(found.error);
            assert!(squares <= &bound * &bound, "{height} x {width}, {scale}: {}", found.error);
            let length = values.iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!(found.error <= 1e-12 * length, "{height} x {width}: {}", found.error / length);
            let ratio = squares.sqrt() * BigInt::from(1_000_000) / bound.max(BigInt::from(1));
            tightest = tightest.max(f64::from(i32::try_from(ratio).expect("at most 1")) * 1e-6);
        }
    }
    // Not so loose that a forgotten term would go unseen: a thousandth of it is reached.
    assert!(tightest > 1e-3, "{tightest}");
}

#[test]
fn what_has_no_transform_is_refused() {
    assert_eq!(CosineTransform::new(0, 5).map(|_| ()), Err(MatrixProblem::Empty.into()));
    let transform = CosineTransform::new(2, 3).expect("a grid");
    let length = MatrixProblem::WrongLength { rows: 2, columns: 3, found: 5 };
    assert_eq!(transform.forward(&[0.0; 5]), Err(length.into()));
    let place = MatrixProblem::NotFinite { row: 1, column: 2 };
    assert_eq!(transform.forward(&[0.0, 1.0, 2.0, 3.0, 4.0, f64::NAN]), Err(place.into()));
    assert!(matches!(transform.forward(&[f64::MAX; 6]), Err(CheckError::Rejected(_))));
}
