//! A few rows of a row-major matrix times a matrix with few columns, for lower ends.
//!
//! **Arithmetic.** The sum over the depth runs in its order, one chain per entry. In the columns that fill blocks of four
//! the multiply-adds of machines with AVX2 are fused; the columns left over are fused where the target of the build has
//! FMA. The error bounds of [`lower`](crate::quadratic) hold either way.

#![allow(unsafe_code)]

use super::{Isa, Level, NATIVE_FMA, multiply_add};

/// Rows handled at once.
pub(crate) const ROWS: usize = 4;

/// `out` ← `out` + rows·V: up to [`ROWS`] rows of one length d times V, d rows of `columns` values, into as many rows of
/// `columns` values.
pub(crate) fn add_rows_times(isa: Isa, rows: &[&[f64]], v: &[f64], columns: usize, out: &mut [f64]) {
    match isa.0 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Isa::detect` makes both only after finding AVX2 and FMA.
        Level::Avx2 | Level::Avx512 => unsafe { with_avx2(rows, v, columns, out) },
        _ => in_blocks::<NATIVE_FMA>(rows, v, columns, out),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2(rows: &[&[f64]], v: &[f64], columns: usize, out: &mut [f64]) {
    in_blocks::<true>(rows, v, columns, out);
}

#[inline(always)]
fn in_blocks<const FUSED: bool>(rows: &[&[f64]], v: &[f64], columns: usize, out: &mut [f64]) {
    let add = |a: f64, b: f64, sum: f64| if FUSED { a.mul_add(b, sum) } else { sum + a * b };
    let (eights, fours) = (columns / 8 * 8, columns / 4 * 4);
    for start in (0..eights).step_by(8) {
        block::<8>(rows, v, columns, start, out, add);
    }
    if eights < fours {
        block::<4>(rows, v, columns, eights, out, add);
    }
    for start in fours..columns {
        block::<1>(rows, v, columns, start, out, multiply_add);
    }
}

/// Columns `start..start + WIDTH` of the product.
#[inline(always)]
fn block<const WIDTH: usize>(
    rows: &[&[f64]],
    v: &[f64],
    columns: usize,
    start: usize,
    out: &mut [f64],
    multiply_add: impl Fn(f64, f64, f64) -> f64,
) {
    let padded: [&[f64]; ROWS] = std::array::from_fn(|r| rows.get(r).copied().unwrap_or(rows[0]));
    let [a, b, c, d] = padded;
    let mut sums = [[0.0; WIDTH]; ROWS];
    for (((a, b), (c, d)), v) in a.iter().zip(b).zip(c.iter().zip(d)).zip(v.chunks_exact(columns)) {
        let v: &[f64; WIDTH] = v[start..].first_chunk().expect("the block lies inside the row");
        for (sums, entry) in sums.iter_mut().zip([a, b, c, d]) {
            for (sum, v) in sums.iter_mut().zip(v) {
                *sum = multiply_add(*entry, *v, *sum);
            }
        }
    }
    for (sums, out) in sums.iter().zip(out.chunks_exact_mut(columns)) {
        out[start..].iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_exact_on_small_integers() {
        for (depth, columns, count) in [(1, 1, 1), (7, 3, 4), (19, 32, 3), (40, 45, 4), (9, 64, 4), (5, 8, 2)]
        {
            let row =
                |r: usize| (0..depth).map(move |j| ((r * 5 + j) % 7) as f64 - 3.0).collect::<Vec<f64>>();
            let rows: Vec<Vec<f64>> = (0..count).map(row).collect();
            let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
            let v: Vec<f64> = (0..depth * columns).map(|i| (i % 11) as f64 - 5.0).collect();
            for isa in [Isa::PORTABLE, Isa::detect()] {
                let mut out = vec![1.0; count * columns];
                add_rows_times(isa, &rows, &v, columns, &mut out);
                for r in 0..count {
                    for c in 0..columns {
                        let sum = (0..depth).fold(1.0, |sum, j| sum + rows[r][j] * v[j * columns + c]);
                        assert_eq!(out[r * columns + c], sum, "{isa:?}");
                    }
                }
            }
        }
    }
}
