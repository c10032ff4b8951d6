//! Values at vertices: never above the truth, and the truth itself where the entries have few digits.

use crate::rational::{Dyadic, dot, matrix, sum, transpose};
use gambeson_checker::{Quadratic, vertex_value};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const CASES: u64 = 4000;

/// A symmetric matrix with entries of so many binary digits times a power of two, some of them zero.
fn symmetric(rng: &mut ChaCha8Rng, n: usize, digits: u32, unit: f64) -> Vec<f64> {
    let mut entries = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            if rng.random_range(0..4) > 0 {
                let value = number(rng, digits) * unit;
                (entries[i * n + j], entries[j * n + i]) = (value, value);
            }
        }
    }
    entries
}

/// A whole number of at most so many binary digits.
fn number(rng: &mut ChaCha8Rng, digits: u32) -> f64 {
    let size = rng.random_range(0..1_u64 << digits) as f64;
    if rng.random() { size } else { -size }
}

/// Rows with their columns and values, without the zeros.
fn compressed(entries: &[f64], n: usize) -> (Vec<usize>, Vec<usize>, Vec<f64>) {
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in entries.chunks(n) {
        for (j, &value) in row.iter().enumerate().filter(|&(_, &value)| value != 0.0) {
            indices.push(j);
            values.push(value);
        }
        offsets.push(indices.len());
    }
    (offsets, indices, values)
}

/// Whether these sizes, multiples of the unit, add up to less than 2^53 units.
fn is_small<'a>(sizes: impl IntoIterator<Item = &'a Dyadic>, unit: f64) -> bool {
    let most = &Dyadic::from(9_007_199_254_740_992.0) * &Dyadic::from(unit);
    sum(sizes) < most
}

fn absolute(values: &[f64]) -> Vec<Dyadic> {
    values.iter().map(|value| value.abs().into()).collect()
}

#[test]
fn numbers_of_few_digits_have_exact_values() {
    let mut counts = [0_u32; 2];
    for seed in 0..CASES {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let n = rng.random_range(1..9);
        // Up to the last digit that leaves room for the sum, and beyond.
        let digits = *[1, 20, 46, 48, 50, 52, 53].get(rng.random_range(0..7)).expect("seven");
        let unit = 2f64.powi(*[-1074, -300, -2, 0, 3, 900].get(rng.random_range(0..6)).expect("six"));
        let entries = symmetric(&mut rng, n, digits, unit);
        let x: Vec<f64> = (0..n).map(|_| if rng.random() { 1.0 } else { -1.0 }).collect();
        let exact = matrix(&entries, n);
        let signs: Vec<Dyadic> = x.iter().map(|&x| x.into()).collect();
        let image: Vec<Dyadic> = exact.iter().map(|row| dot(row.iter().zip(&signs))).collect();
        let truth = dot(image.iter().zip(&signs));
        let small = is_small(&absolute(&entries), unit);
        counts[usize::from(small)] += 1;
        let (offsets, indices, values) = compressed(&entries, n);
        let dense = Quadratic::Dense { entries: &entries, dim: n };
        let sparse = Quadratic::Sparse { dim: n, offsets: &offsets, indices: &indices, values: &values };
        for form in [dense, sparse] {
            let value = vertex_value(form, &x, 1).expect("a vertex").value();
            if !value.is_finite() {
                continue; // says nothing
            }
            assert!(Dyadic::from(value) <= truth, "seed {seed}: {value} is above the value at its vertex");
            let equal = Dyadic::from(value) == truth;
            assert!(!small || equal, "seed {seed}: {value} is below a value that has no rounding");
        }
    }
    assert!(counts.iter().all(|&count| u64::from(count) > CASES / 5), "{counts:?}");
}

#[test]
fn factors_of_few_digits_have_exact_values() {
    let mut counts = [0_u32; 2];
    for seed in 0..CASES {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (n, rank) = (rng.random_range(1..9), rng.random_range(1..6));
        let digits = *[1, 10, 20, 23, 25, 26, 27].get(rng.random_range(0..7)).expect("seven");
        let unit = 2f64.powi(*[-540, -537, -2, 0, 3, 400].get(rng.random_range(0..6)).expect("six"));
        let factor: Vec<f64> = (0..n * rank).map(|_| number(&mut rng, digits) * unit).collect();
        let x: Vec<f64> = (0..n).map(|_| if rng.random() { 1.0 } else { -1.0 }).collect();
        let signs: Vec<Dyadic> = x.iter().map(|&x| x.into()).collect();
        let columns = transpose(&matrix(&factor, rank));
        let sums: Vec<Dyadic> = columns.iter().map(|column| dot(column.iter().zip(&signs))).collect();
        let squares: Vec<Dyadic> = sums.iter().map(|sum| sum * sum).collect();
        let truth = sum(&squares);
        // Squares of units below the least number have no number for their own unit.
        let small = unit >= 2f64.powi(-537) && is_small(&squares, unit * unit);
        counts[usize::from(small)] += 1;
        let form = Quadratic::Gram { factor: &factor, dim: n, rank };
        let value = vertex_value(form, &x, 1).expect("a vertex").value();
        assert!(Dyadic::from(value) <= truth, "seed {seed}: {value} is above the value at its vertex");
        let equal = Dyadic::from(value) == truth;
        assert!(!small || equal, "seed {seed}: {value} is below a value that has no rounding");
    }
    assert!(counts.iter().all(|&count| u64::from(count) > CASES / 5), "{counts:?}");
}

/// Sums that rounding would get right by accident in one order, and not in another.
#[test]
fn a_sum_that_only_seems_exact_is_rounded_down() {
    let large = 9_007_199_254_740_992.0; // 2^53: one more has no number
    let entries = [large, 1.0, 1.0, 1.0];
    let form = Quadratic::Dense { entries: &entries, dim: 2 };
    // 2^53 + 1 + 2·1 = 2^53 + 3: between 2^53 + 2 and 2^53 + 4.
    let value = vertex_value(form, &[1.0, 1.0], 1).expect("a vertex").value();
    assert!(value <= large + 2.0, "{value}");
    // The same digits with room for them.
    let entries = [large / 4.0, 1.0, 1.0, 1.0];
    let form = Quadratic::Dense { entries: &entries, dim: 2 };
    assert_eq!(vertex_value(form, &[1.0, 1.0], 1).expect("a vertex").value(), large / 4.0 + 3.0);
    assert_eq!(vertex_value(form, &[1.0, -1.0], 1).expect("a vertex").value(), large / 4.0 - 1.0);
}
