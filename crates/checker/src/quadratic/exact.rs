//! Values at a vertex without any rounding, where the entries of the matrix allow it: integer weights give integers.
//!
//! # Theorem
//! Let q be a power of two, no less than the least positive number 2⁻¹⁰⁷⁴, of which all numbers m_k are multiples, and let
//! the sum of all |m_k| in plain arithmetic, s, be less than 2⁵³·q. Then every sum of some of the ±m_k in plain arithmetic is
//! exact, in whatever order.
//!
//! # Why
//! Multiples of q of size up to 2⁵³·q are binary64 numbers, and an operation whose exact result is one returns it. So a sum
//! is exact as long as the sizes so far add up to at most 2⁵³·q. They do: take the first of the sums of sizes that is more
//! than 2⁵³·q. Those before it are exact, and rounding is monotone, so it is computed as at least 2⁵³·q, and later ones are
//! no smaller: s would not be less.
//!
//! # The forms
//! * Dense and sparse: xᵀMx is a sum of ±m_ij.
//! * M = UUᵀ: xᵀMx = Σ_l c_l² with c_l = Σ_i x_i·u_il. The c_l are exact by the theorem, one by one, with one q for all. Their
//!   squares are multiples of q². Where q² ≥ 2⁻¹⁰⁷⁴ and the computed sum of the squares is less than 2⁵³·q², every square is
//!   exact by the same argument, and so is the sum.

use crate::quadratic::form::Quadratic;
use crate::rounding::{DIGITS, LEAST_EXPONENT, lowest_bit, power_of_two};

/// xᵀMx at the vertex `x` of a validated matrix, without any error; `None` where that is not certain.
pub(crate) fn vertex_value(matrix: &Quadratic<'_>, x: &[f64]) -> Option<f64> {
    match *matrix {
        Quadratic::Dense { .. } | Quadratic::Sparse { .. } => {
            let (mut unit, mut sizes, mut sum) = (Unit::NONE, 0.0, 0.0);
            for (i, own) in x.iter().enumerate() {
                let mut row = 0.0;
                for (j, entry) in matrix.row(i) {
                    unit.take_in(entry);
                    sizes += entry.abs();
                    row += x[j] * entry;
                }
                sum += own * row;
                unit.holds(sizes, 1)?; // most matrices fail in their first row
            }
            Some(sum)
        }
        Quadratic::Gram { rank, .. } => {
            let mut unit = Unit::NONE;
            let (mut sizes, mut sums) = (vec![0.0; rank], vec![0.0; rank]);
            for (i, own) in x.iter().enumerate() {
                for (l, entry) in matrix.row(i) {
                    unit.take_in(entry);
                    sizes[l] += entry.abs();
                    sums[l] += own * entry;
                }
                unit.holds(sizes.iter().copied().fold(0.0, f64::max), 1)?;
            }
            let sum: f64 = sums.iter().map(|sum| sum * sum).sum();
            unit.holds(sum, 2).map(|()| sum)
        }
    }
}

/// The largest power of two of which all numbers so far are multiples.
struct Unit {
    /// `None` before the first number that is not zero.
    exponent: Option<i32>,
}

impl Unit {
    const NONE: Self = Self { exponent: None };

    fn take_in(&mut self, value: f64) {
        if value != 0.0 {
            let lowest = lowest_bit(value);
            self.exponent = Some(self.exponent.map_or(lowest, |exponent| exponent.min(lowest)));
        }
    }

    /// Whether `sum` is less than 2⁵³ times this `power` of the unit, itself at least the least positive number. An
    /// infinite sum or NaN is not.
    fn holds(&self, sum: f64, power: i32) -> Option<()> {
        let Some(exponent) = self.exponent else { return Some(()) }; // zeros only
        let exponent = power * exponent;
        if exponent < LEAST_EXPONENT {
            return None;
        }
        let most = match exponent + DIGITS {
            large if large >= f64::MAX_EXP => f64::INFINITY,
            exponent => power_of_two(exponent),
        };
        (sum < most).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_the_lowest_bits() {
        let unit = |values: &[f64]| {
            let mut unit = Unit::NONE;
            values.iter().for_each(|&value| unit.take_in(value));
            unit
        };
        assert_eq!(unit(&[0.0, -0.0]).exponent, None);
        assert_eq!(unit(&[6.0, 0.0, -12.0]).exponent, Some(1));
        assert_eq!(unit(&[6.0, 0.75]).exponent, Some(-2));
        let integers = unit(&[1.0]);
        assert!(integers.holds(9_007_199_254_740_991.0, 1).is_some(), "2^53 - 1");
        assert!(integers.holds(9_007_199_254_740_992.0, 1).is_none(), "2^53");
        assert!(integers.holds(f64::INFINITY, 1).is_none() && integers.holds(f64::NAN, 1).is_none());
        // Squares may have no number for their unit; large units have no number for 2^53 of them.
        assert!(unit(&[power_of_two(-538)]).holds(0.0, 2).is_none());
        assert!(unit(&[power_of_two(-537)]).holds(0.0, 2).is_some());
        assert!(unit(&[power_of_two(1000)]).holds(f64::MAX, 1).is_some());
        assert!(unit(&[power_of_two(1000)]).holds(f64::INFINITY, 1).is_none());
    }
}
