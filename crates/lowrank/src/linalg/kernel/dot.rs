//! Inner products of long vectors, one at a time or several rows of a triangle at once.
//!
//! They promise no order of summation, but keep to one on a given machine.

#![allow(unsafe_code)]

use super::rows::ROWS;
use gambeson_checker::kernel::Isa;

/// a·b, in an order of summation that is not specified.
///
/// Panics if the lengths differ.
pub fn dot(isa: Isa, a: &[f64], b: &[f64]) -> f64 {
    assert!(a.len() == b.len(), "misshapen vectors");
    #[cfg(target_arch = "x86_64")]
    if isa.has_avx2() {
        // SAFETY: AVX2 and FMA were found on this machine.
        return unsafe { dot_avx2(a, b) };
    }
    let _ = isa; // the only version there is
    dot_in_lanes(a, b)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn dot_avx2(a: &[f64], b: &[f64]) -> f64 {
    dot_in_lanes(a, b)
}

#[inline(always)]
fn dot_in_lanes(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_rest) = a.as_chunks::<16>();
    let (b, b_rest) = b.as_chunks::<16>();
    let mut sums = [0.0; 16];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..16 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    // In halves: one after the other, sixteen additions would take longer than a short product.
    for half in [8, 4, 2, 1] {
        for lane in 0..half {
            sums[lane] += sums[lane + half];
        }
    }
    sums[0] + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

/// Both products of a few rows of a lower triangle in one reading: `below` ← `below` + Σ_r factor_r·row_r, and
/// returns row_r·x. The order of summation is not specified.
///
/// Panics if the slices have different lengths.
pub fn row_products(
    isa: Isa,
    rows: [&[f64]; ROWS],
    x: &[f64],
    factors: [f64; ROWS],
    below: &mut [f64],
) -> [f64; ROWS] {
    assert!(rows.iter().all(|row| row.len() == x.len()) && x.len() == below.len(), "misshapen rows");
    #[cfg(target_arch = "x86_64")]
    if isa.has_avx2() {
        // SAFETY: AVX2 and FMA were found on this machine.
        return unsafe { row_products_avx2(rows, x, factors, below) };
    }
    let _ = isa; // the only version there is
    row_products_in_lanes(rows, x, factors, below)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn row_products_avx2(
    rows: [&[f64]; ROWS],
    x: &[f64],
    factors: [f64; ROWS],
    below: &mut [f64],
) -> [f64; ROWS] {
    row_products_in_lanes(rows, x, factors, below)
}

#[inline(always)]
fn row_products_in_lanes(
    rows: [&[f64]; ROWS],
    x: &[f64],
    factors: [f64; ROWS],
    below: &mut [f64],
) -> [f64; ROWS] {
    const LANES: usize = 8;
    let chunks = rows.map(|row| row.as_chunks::<LANES>().0);
    let (xs, x_rest) = x.as_chunks::<LANES>();
    let (belows, below_rest) = below.as_chunks_mut::<LANES>();
    let mut sums = [[0.0; LANES]; ROWS];
    let [a, b, c, d] = chunks;
    let entries = a.iter().zip(b).zip(c.iter().zip(d));
    for ((((a, b), (c, d)), x), below) in entries.zip(xs).zip(belows) {
        let rows = [a, b, c, d];
        let mut moved = *below;
        for r in 0..ROWS {
            for lane in 0..LANES {
                sums[r][lane] += rows[r][lane] * x[lane];
                moved[lane] += rows[r][lane] * factors[r];
            }
        }
        *below = moved;
    }
    let mut totals = sums.map(|sums| sums.iter().sum::<f64>());
    let done = xs.len() * LANES;
    for (at, (x, below)) in x_rest.iter().zip(below_rest).enumerate() {
        for r in 0..ROWS {
            totals[r] += rows[r][done + at] * x;
            *below += rows[r][done + at] * factors[r];
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_products_are_exact_on_small_integers() {
        for length in [0, 1, 7, 8, 37] {
            let row = |r: usize| (0..length).map(move |i| ((i + r) % 7) as f64 - 3.0).collect::<Vec<f64>>();
            let rows: [Vec<f64>; ROWS] = std::array::from_fn(row);
            let x: Vec<f64> = (0..length).map(|i| (i % 5) as f64).collect();
            for isa in [Isa::PORTABLE, Isa::detect()] {
                let mut below = vec![1.0; length];
                let factors = [2.0, -1.0, 0.5, 3.0];
                let sums = row_products(isa, std::array::from_fn(|r| &rows[r][..]), &x, factors, &mut below);
                for r in 0..ROWS {
                    assert_eq!(sums[r], rows[r].iter().zip(&x).map(|(a, b)| a * b).sum::<f64>());
                    assert_eq!(sums[r], dot(isa, &rows[r], &x));
                }
                for i in 0..length {
                    assert_eq!(below[i], 1.0 + (0..ROWS).map(|r| factors[r] * rows[r][i]).sum::<f64>());
                }
            }
        }
    }
}
