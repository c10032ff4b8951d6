//! Largest eigenvalue of a symmetric matrix known by its products, from a fixed start vector.
//!
//! **Method.** The Lanczos process with full reorthogonalisation, from an irregular vector that is always the same. In exact
//! arithmetic M is tridiagonal in its basis, so the two diagonals are all that is kept, and bisection finds their largest
//! eigenvalue. It stops when that hardly rises any more.
//!
//! **Guarantee.** None: a Ritz value lies below the eigenvalue. But every bound proven without a shift is a multiple of this
//! number, so its bits are those of published bounds: do not reorder its arithmetic.

use crate::linalg::kernel::{Isa, dot};
use crate::linalg::orthonormal::take_out;

/// Most steps spent on an estimate.
const MOST_STEPS: usize = 80;
/// Steps between two looks at the estimate.
const LOOK: usize = 5;

/// The largest eigenvalue of a symmetric matrix, by estimate from below.
pub(crate) struct EigenvalueEstimate {
    /// The largest Ritz value.
    pub(crate) value: f64,
    /// How much it still rose lately, relative to itself.
    pub(crate) uncertainty: f64,
}

/// Of the n × n matrix that `apply` multiplies by.
pub(crate) fn largest_eigenvalue(n: usize, mut apply: impl FnMut(&[f64], &mut [f64])) -> EigenvalueEstimate {
    let isa = Isa::detect();
    let start = |i: usize| 0.5 + ((i as f64 + 1.0) * 0.618_033_988_749_894_9).fract();
    let signed = (0..n).map(|i| if (i * i / 3 + i) % 2 == 0 { start(i) } else { -start(i) });
    let mut basis: Vec<Vec<f64>> = vec![normalised(signed.collect()).0];
    let (mut diagonal, mut beside): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut estimate = EigenvalueEstimate { value: 0.0, uncertainty: 1.0 };
    for step in 1..=MOST_STEPS.min(n) {
        let mut next = vec![0.0; n];
        let last = basis.last().expect("the start vector is there");
        apply(last, &mut next);
        diagonal.push(dot(isa, last, &next));
        for _ in 0..2 {
            let units = basis.iter().map(Vec::as_slice);
            take_out(&mut next, units, |unit, next| dot(isa, unit, next), |_, _| ());
        }
        let (next, length) = normalised(next);
        let ended = length <= 1e-14 * diagonal[0].abs().max(f64::MIN_POSITIVE) || !length.is_finite();
        if step % LOOK == 0 || ended || step == MOST_STEPS.min(n) {
            let value = largest_of_tridiagonal(&diagonal, &beside);
            let rise = (value - estimate.value) / value.abs().max(f64::MIN_POSITIVE);
            estimate =
                EigenvalueEstimate { value, uncertainty: if step == n || ended { 0.0 } else { rise.abs() } };
            if ended || rise < 1e-7 {
                break;
            }
        }
        beside.push(length);
        basis.push(next);
    }
    estimate
}

fn normalised(mut vector: Vec<f64>) -> (Vec<f64>, f64) {
    // Through the largest entry, so that squares neither overflow nor vanish.
    let largest = vector.iter().fold(f64::MIN_POSITIVE, |largest: f64, v| largest.max(v.abs()));
    vector.iter_mut().for_each(|v| *v /= largest);
    let length = dot(Isa::detect(), &vector, &vector).sqrt().max(f64::MIN_POSITIVE);
    vector.iter_mut().for_each(|v| *v /= length);
    (vector, length * largest)
}

/// Largest eigenvalue of a symmetric tridiagonal matrix, by bisection on the signs of its pivots.
fn largest_of_tridiagonal(diagonal: &[f64], beside: &[f64]) -> f64 {
    let reach = |i: usize| {
        beside.get(i).copied().unwrap_or(0.0) + i.checked_sub(1).map_or(0.0, |before| beside[before])
    };
    let upper = (0..diagonal.len()).map(|i| diagonal[i] + reach(i)).fold(f64::NEG_INFINITY, f64::max);
    let lower = diagonal.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let exceeds_all = |x: f64| {
        let mut pivot = f64::INFINITY;
        diagonal.iter().enumerate().all(|(i, d)| {
            let before = i.checked_sub(1).map_or(0.0, |before| beside[before]);
            pivot = x - d - before * before / pivot;
            pivot > 0.0
        })
    };
    let (mut low, mut high) = (lower, upper);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if exceeds_all(middle) { high = middle } else { low = middle }
    }
    high
}
