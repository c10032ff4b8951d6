//! A few rows of a row-major matrix times a matrix with few columns, in either precision.
//!
//! Matrices are taken as they lie, row after row: each entry meets only a few columns, too few to pay for packing it
//! into panels.
//!
//! **Arithmetic.** [`add_rows_times`] sums in a fixed order, so that solvers repeat their runs. Blocks of columns use
//! fused multiply-adds on machines with AVX2; the columns left over are fused only where the target of the build has
//! FMA, so an entry there may depend on the vector width.

#![allow(unsafe_code)]

use gambeson_checker::kernel::Isa;
use std::ops::{Add, AddAssign, Mul};

/// Whether every machine this build runs on has fused multiply-adds, so that `mul_add` is one instruction and
/// not a slow library call.
const NATIVE_FMA: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

/// Rows handled at once by [`add_rows_times`].
pub const ROWS: usize = 4;

/// The two kinds of numbers [`add_rows_times`] takes: `f64`, and `f32` for the steps of solvers in between.
pub trait Real: Copy + Default + Send + Sync + Add<Output = Self> + Mul<Output = Self> + AddAssign {
    /// sum + a·b, fused where the target of the build has it, else multiply, then add.
    fn multiply_add(a: Self, b: Self, sum: Self) -> Self;

    /// [`add_rows_times`] for shapes that were checked.
    #[doc(hidden)]
    fn add_rows(isa: Isa, rows: &[&[Self]; ROWS], v: &[Self], columns: usize, out: &mut [Self]);
}

macro_rules! real {
    ($real:ty, $avx2:ident, $avx512:ident) => {
        impl Real for $real {
            #[inline(always)]
            fn multiply_add(a: Self, b: Self, sum: Self) -> Self {
                if NATIVE_FMA { a.mul_add(b, sum) } else { sum + a * b }
            }

            fn add_rows(isa: Isa, rows: &[&[Self]; ROWS], v: &[Self], columns: usize, out: &mut [Self]) {
                #[cfg(target_arch = "x86_64")]
                if isa.has_avx512() {
                    // SAFETY: AVX-512F was found on this machine.
                    return unsafe { $avx512(rows, v, columns, 0, out) };
                } else if isa.has_avx2() {
                    // SAFETY: AVX2 and FMA were found on this machine.
                    return unsafe { $avx2(rows, v, columns, 0, out) };
                }
                let _ = isa; // the only version there is
                rows_portable(rows, v, columns, out);
            }
        }
    };
}

real!(f64, rows_avx2, rows_avx512);
real!(f32, single_rows_avx2, single_rows_avx512);

/// `out` ← `out` + rows·V: some rows of a matrix times V, both row-major.
///
/// * `rows`: up to [`ROWS`] slices of equal length d;
/// * `v`: d rows of `columns` values;
/// * `out`: as many rows of `columns` values as there are `rows`.
///
/// The sum over d runs in the order of d within this call. Nothing happens if there are no `rows`, if d = 0 or
/// if `columns` = 0.
///
/// Panics if there are `rows`, but more than [`ROWS`] or of different lengths, or if `v` or `out` does not have
/// the length above.
pub fn add_rows_times<T: Real>(isa: Isa, rows: &[&[T]], v: &[T], columns: usize, out: &mut [T]) {
    let Some(&first) = rows.first() else { return };
    assert!(
        rows.len() <= ROWS
            && rows.iter().all(|row| row.len() == first.len())
            && first.len().checked_mul(columns) == Some(v.len())
            && rows.len().checked_mul(columns) == Some(out.len()),
        "misshapen rows"
    );
    if v.is_empty() {
        return; // d = 0 or columns = 0: there is nothing to add, and no chunk of v to walk over
    }
    let padded: [&[T]; ROWS] = std::array::from_fn(|r| rows.get(r).copied().unwrap_or(first));
    T::add_rows(isa, &padded, v, columns, out);
}

/// Columns `from..` of the product one by one, for what the blocks leave over.
#[inline(always)]
fn rows_rest<T: Real>(rows: &[&[T]; ROWS], v: &[T], columns: usize, from: usize, out: &mut [T]) {
    for (row, out) in rows.iter().zip(out.chunks_exact_mut(columns)) {
        for (column, out) in out.iter_mut().enumerate().skip(from) {
            let mut sum = T::default();
            for (a, v) in row.iter().zip(v[column..].iter().step_by(columns)) {
                sum = T::multiply_add(*a, *v, sum);
            }
            *out += sum;
        }
    }
}

fn rows_portable<T: Real>(rows: &[&[T]; ROWS], v: &[T], columns: usize, out: &mut [T]) {
    let blocks = columns / 8 * 8;
    for start in (0..blocks).step_by(8) {
        for (row, out) in rows.iter().zip(out.chunks_exact_mut(columns)) {
            let mut sums = [T::default(); 8];
            for (a, v) in row.iter().zip(v.chunks_exact(columns)) {
                for (sum, v) in sums.iter_mut().zip(&v[start..start + 8]) {
                    *sum = T::multiply_add(*a, *v, *sum);
                }
            }
            out[start..].iter_mut().zip(&sums).for_each(|(out, sum)| *out += *sum);
        }
    }
    rows_rest(rows, v, columns, blocks, out);
}

/// Writes the vector versions, for the columns `from..`: blocks of `$vectors` ≤ 4 registers of `$lanes` columns, then of
/// what fits; `$rest` does the others.
#[cfg(target_arch = "x86_64")]
macro_rules! vector_rows {
    ($name:ident, $rest:ident, $real:ty, $features:literal, $lanes:literal, $vectors:literal, $load:ident,
     $store:ident, $splat:ident, $fused:ident) => {
        #[target_feature(enable = $features)]
        fn $name(rows: &[&[$real]; ROWS], v: &[$real], columns: usize, from: usize, out: &mut [$real]) {
            #[target_feature(enable = $features)]
            fn block<const VECTORS: usize>(
                rows: &[&[$real]; ROWS],
                v: &[$real],
                columns: usize,
                start: usize,
                out: &mut [$real],
            ) {
                use std::arch::x86_64::{$fused, $load, $splat, $store};
                let mut sums = [[$splat(0.0); VECTORS]; ROWS];
                let [a, b, c, d] = rows;
                let entries = a.iter().zip(*b).zip(c.iter().zip(*d));
                for (((a, b), (c, d)), v) in entries.zip(v.chunks_exact(columns)) {
                    let v = v[start..start + $lanes * VECTORS].as_chunks::<$lanes>().0;
                    // SAFETY: each load reads one array of `$lanes` values.
                    let v: [_; VECTORS] = std::array::from_fn(|k| unsafe { $load(v[k].as_ptr()) });
                    for (sums, entry) in sums.iter_mut().zip([a, b, c, d]) {
                        let entry = $splat(*entry);
                        for k in 0..VECTORS {
                            sums[k] = $fused(entry, v[k], sums[k]);
                        }
                    }
                }
                for (sums, out) in sums.iter().zip(out.chunks_exact_mut(columns)) {
                    let out = out[start..start + $lanes * VECTORS].as_chunks_mut::<$lanes>().0;
                    for (sum, out) in sums.iter().zip(out) {
                        let mut lanes = [0.0; $lanes];
                        // SAFETY: the store writes one array of `$lanes` values.
                        unsafe { $store(lanes.as_mut_ptr(), *sum) };
                        out.iter_mut().zip(&lanes).for_each(|(out, lane)| *out += lane);
                    }
                }
            }
            let mut start = from;
            while start + $lanes * $vectors <= columns {
                block::<$vectors>(rows, v, columns, start, out);
                start += $lanes * $vectors;
            }
            let rest = (columns - start) / $lanes;
            match rest {
                0 => {}
                1 => block::<1>(rows, v, columns, start, out),
                2 => block::<2>(rows, v, columns, start, out),
                _ => block::<3>(rows, v, columns, start, out),
            }
            start += rest * $lanes;
            if start < columns {
                $rest(rows, v, columns, start, out);
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
vector_rows!(
    rows_avx2,
    rows_rest,
    f64,
    "avx2,fma",
    4,
    3,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_set1_pd,
    _mm256_fmadd_pd
);
#[cfg(target_arch = "x86_64")]
vector_rows!(
    single_rows_avx2,
    rows_rest,
    f32,
    "avx2,fma",
    8,
    3,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_set1_ps,
    _mm256_fmadd_ps
);
#[cfg(target_arch = "x86_64")]
vector_rows!(
    rows_avx512,
    rows_avx2,
    f64,
    "avx512f",
    8,
    4,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_set1_pd,
    _mm512_fmadd_pd
);
#[cfg(target_arch = "x86_64")]
vector_rows!(
    single_rows_avx512,
    single_rows_avx2,
    f32,
    "avx512f",
    16,
    4,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_set1_ps,
    _mm512_fmadd_ps
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_times_is_exact_on_small_integers() {
        rows_times_is_exact(f64::from);
        rows_times_is_exact(f32::from);
    }

    fn rows_times_is_exact<T: Real + PartialEq + std::fmt::Debug>(real: impl Fn(i8) -> T + Copy) {
        let entry = |residue: usize, less: i8| real(i8::try_from(residue).expect("small") - less);
        for (depth, columns, count) in [(1, 1, 1), (7, 3, 4), (19, 32, 3), (40, 45, 4), (9, 64, 4), (5, 8, 2)]
        {
            let row = |r: usize| (0..depth).map(move |j| entry((r * 5 + j) % 7, 3)).collect::<Vec<T>>();
            let rows: Vec<Vec<T>> = (0..count).map(row).collect();
            let rows: Vec<&[T]> = rows.iter().map(Vec::as_slice).collect();
            let v: Vec<T> = (0..depth * columns).map(|i| entry(i % 11, 5)).collect();
            for isa in [Isa::PORTABLE, Isa::detect()] {
                let mut out = vec![real(1); count * columns];
                add_rows_times(isa, &rows, &v, columns, &mut out);
                for r in 0..count {
                    for c in 0..columns {
                        let sum = (0..depth).fold(real(1), |sum, j| sum + rows[r][j] * v[j * columns + c]);
                        assert_eq!(out[r * columns + c], sum, "{isa:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn empty_rows_and_columns_add_nothing() {
        for isa in [Isa::PORTABLE, Isa::detect()] {
            add_rows_times::<f64>(isa, &[&[1.0, 2.0], &[3.0, 4.0]], &[], 0, &mut []);
            let mut out = [1.0; 6];
            add_rows_times(isa, &[&[], &[]], &[], 3, &mut out);
            add_rows_times(isa, &[], &[], 3, &mut out);
            assert_eq!(out, [1.0; 6]);
        }
    }
}
