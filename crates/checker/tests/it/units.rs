//! Numbers of one unit in another, against exact arithmetic.

use crate::cases::{generator, normal};
use crate::rational::{Dyadic, sum};
use gambeson_checker::{CheckError, Coordinates, MatrixProblem, Rejected, in_units};
use rand::RngExt;
use std::num::NonZeroU32;

fn unit(per_one: u32) -> NonZeroU32 {
    NonZeroU32::new(per_one).expect("not zero")
}

/// Whether Σ(x/a − p/b)² ≤ error², times a²b².
fn covered(numbers: &[f64], (from, to): (u32, u32), Coordinates { values, error }: &Coordinates) -> bool {
    let (a, b) = (Dyadic::from(f64::from(from)), Dyadic::from(f64::from(to)));
    let squares: Vec<Dyadic> = numbers
        .iter()
        .zip(values)
        .map(|(&number, &value)| {
            let off = &(&Dyadic::from(number) * &b) - &(&Dyadic::from(value) * &a);
            &off * &off
        })
        .collect();
    let bound = &(&Dyadic::from(*error) * &a) * &b;
    sum(&squares) <= &bound * &bound
}

#[test]
fn errors_of_units_are_no_smaller_than_the_distance() {
    let rng = &mut generator(28);
    let bytes: Vec<f64> = (0..256).map(f64::from).collect();
    let least = f64::from_bits(1);
    // Subnormal numbers, whose quotients and products underflow, and large ones.
    let extreme = [0.0, -0.0, least, -3.0 * least, 254.0 * least, 2.3e-308, 1e-300, 7.7e295, -1e298];
    for from in [1, 2, 3, 255, 256, 32_768, 65_535, u32::MAX] {
        for to in [1, 2, 3, 255, 256, 32_768, 65_535, u32::MAX] {
            let convert = |numbers: &[f64]| {
                let found = in_units(numbers, unit(from), unit(to)).expect("finite");
                assert!(covered(numbers, (from, to), &found), "{numbers:?} from {from} to {to}: {found:?}");
                found
            };
            for number in bytes.iter().chain(&extreme) {
                let Coordinates { values, error } = convert(&[*number]);
                assert!(error <= 1e-15 * number.abs() + 1e-300, "{number} from {from} to {to}: {error}");
                assert!(from != to || values == [*number] && error == 0.0, "{number} from {from} to {to}");
            }
            for _ in 0..50 {
                let length = rng.random_range(1..40);
                let numbers: Vec<f64> = (0..length).map(|_| normal(rng) * 1000.0).collect();
                let error = convert(&numbers).error;
                let exact = from == to || from.is_power_of_two() && to.is_power_of_two();
                assert!(!exact || error == 0.0, "{numbers:?} from {from} to {to}: {error}");
            }
        }
    }
    // Bytes as values: each nearest to k/255, some of them no number of a machine.
    let one = |number| in_units(&[number], unit(255), unit(1)).expect("finite");
    assert_eq!((one(255.0).error, one(0.0).error), (0.0, 0.0));
    assert!((0..256).all(|byte| one(byte.into()).values == [f64::from(byte) / 255.0]));
    assert!(one(241.0).error > 2e-17 && one(241.0).error < 6e-17);
}

#[test]
fn numbers_without_a_value_in_another_unit_are_refused() {
    let convert = |numbers: &[f64]| in_units(numbers, unit(255), unit(32_768));
    let not_finite = |row| Err(CheckError::Matrix(MatrixProblem::NotFinite { row, column: 0 }));
    assert_eq!(convert(&[1.0, f64::NAN]), not_finite(1));
    assert_eq!(convert(&[f64::NEG_INFINITY]), not_finite(0));
    assert_eq!(convert(&[1.0, f64::MAX]), Err(Rejected::TooLarge.into()));
    assert_eq!(convert(&[]), Ok(Coordinates { values: vec![], error: 0.0 }));
}
