//! Numbers of one unit in another, with a proven error.
//!
//! # Problem
//! A data set stores whole numbers in units of 1/a (bytes are 255ths); noise is added to numbers in units of 1/b. A
//! stored number x stands for x/a, which is x·b/a in units of 1/b. p = fl(fl(x/a)·b) is computed; how far is p/b from x/a?
//!
//! # Guarantee
//! With q = fl(x/a), |x/a − p/b| ≤ |x − q·a|/a + |q·b − p|/b. Both differences are numbers of a machine, so that a fused
//! multiply-add computes them exactly:
//! * |x − q·a| ≤ a·ulp(q)/2, and x is a multiple of ulp(q), since x = q for a = 1 and ulp(x) ≥ ulp(q) for a ≥ 2; so is q·a,
//!   for a is whole. Multiples of ulp(q) up to 2³²·ulp(q) have no more than 33 digits, and ulp(q) is never below 2⁻¹⁰⁷⁴.
//! * |q·b − p| ≤ ulp(p)/2 is a multiple of ulp(q) likewise, and ulp(p) ≤ 2³³·ulp(q).
//!
//! The rest is rounded up. What is exact has the error 0, and numbers that keep their unit are not touched.

use crate::encoding::product::{Coordinates, encoding_error_of_blocks};
use crate::rounding::{add_up, div_up, ensure_ieee};
use crate::{CheckError, MatrixProblem, Rejected};
use std::num::NonZeroU32;

/// Numbers in units of 1/`from` as numbers in units of 1/`to`. The error is the Euclidean distance from what they stand for,
/// in units of 1.
pub fn in_units(numbers: &[f64], from: NonZeroU32, to: NonZeroU32) -> Result<Coordinates, CheckError> {
    ensure_ieee()?;
    if from == to {
        return Ok(Coordinates { values: numbers.to_vec(), error: 0.0 });
    }
    let (a, b) = (f64::from(from.get()), f64::from(to.get()));
    let mut values = Vec::with_capacity(numbers.len());
    let mut errors = Vec::with_capacity(numbers.len());
    for &number in numbers {
        let quotient = number / a;
        let value = quotient * b;
        let divided = quotient.mul_add(-a, number).abs();
        let multiplied = quotient.mul_add(b, -value).abs();
        errors.push(add_up(div_up(divided, a), div_up(multiplied, b)));
        values.push(value);
    }
    match encoding_error_of_blocks(errors) {
        error if error.is_finite() => Ok(Coordinates { values, error }),
        _ => Err(match numbers.iter().position(|number| !number.is_finite()) {
            Some(row) => MatrixProblem::NotFinite { row, column: 0 }.into(),
            None => Rejected::TooLarge.into(),
        }),
    }
}
