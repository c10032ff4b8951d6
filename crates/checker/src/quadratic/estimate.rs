//! Where to try a proof: an estimate of the largest eigenvalue, and a search around it.
//!
//! **Nothing here is trusted.** A Ritz value lies below the eigenvalue, on the unsafe side; it only says at
//! which scale the factorisation is worth attempting, and the factorisation decides.

use crate::kernel::{Isa, dot};

/// Most Lanczos steps spent on an estimate.
const MOST_STEPS: usize = 80;
/// Steps between two looks at the estimate.
const LOOK: usize = 5;

pub(crate) struct Estimate {
    /// The largest Ritz value.
    pub(crate) value: f64,
    /// How much it still rose lately, relative to itself.
    pub(crate) uncertainty: f64,
}

/// Lanczos with full reorthogonalisation from a fixed, irregular start vector.
pub(crate) fn largest_eigenvalue(n: usize, mut apply: impl FnMut(&[f64], &mut [f64])) -> Estimate {
    let isa = Isa::detect();
    let start = |i: usize| 0.5 + ((i as f64 + 1.0) * 0.618_033_988_749_894_9).fract();
    let signed = (0..n).map(|i| if (i * i / 3 + i) % 2 == 0 { start(i) } else { -start(i) });
    let mut basis: Vec<Vec<f64>> = vec![normalised(signed.collect()).0];
    let (mut diagonal, mut beside): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut estimate = Estimate { value: 0.0, uncertainty: 1.0 };
    for step in 1..=MOST_STEPS.min(n) {
        let mut next = vec![0.0; n];
        let last = basis.last().expect("the start vector is there");
        apply(last, &mut next);
        diagonal.push(dot(isa, last, &next));
        for _ in 0..2 {
            for vector in &basis {
                let overlap = dot(isa, vector, &next);
                next.iter_mut().zip(vector).for_each(|(next, v)| *next -= overlap * v);
            }
        }
        let (next, length) = normalised(next);
        let ended = length <= 1e-14 * diagonal[0].abs().max(f64::MIN_POSITIVE) || !length.is_finite();
        if step % LOOK == 0 || ended || step == MOST_STEPS.min(n) {
            let value = largest_of_tridiagonal(&diagonal, &beside);
            let rise = (value - estimate.value) / value.abs().max(f64::MIN_POSITIVE);
            estimate = Estimate { value, uncertainty: if step == n || ended { 0.0 } else { rise.abs() } };
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
    // Through the largest entry, so that neither squares overflow nor vanish.
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

/// The least scale found at which `proves` holds, starting from the estimate and widening the margin.
/// `resolution` is the relative margin below which a proof cannot succeed by its own rounding errors.
pub(crate) fn search(
    estimate: &Estimate,
    resolution: f64,
    mut proves: impl FnMut(f64) -> bool,
) -> Option<f64> {
    let widen = 6.0;
    if !(estimate.value > 0.0 && estimate.value.is_finite()) {
        return None;
    }
    let at = |margin: f64| estimate.value * (1.0 + margin);
    let mut margin = (2.0 * resolution).max(0.5 * estimate.uncertainty).max(1e-12);
    let mut failed = None;
    while !proves(at(margin)) {
        failed = Some(margin);
        margin *= widen;
        if margin > 1e9 {
            return None;
        }
    }
    // Between the last failure and the first success lies a factor `widen`: halve it where it shows.
    if let Some(failed) = failed.filter(|_| margin > 1e-8) {
        let middle = (failed * margin).sqrt();
        if proves(at(middle)) {
            margin = middle;
        }
    }
    Some(at(margin))
}
