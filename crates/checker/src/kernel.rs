//! The one hot loop: C ← C − A·Bᵀ on small register blocks, and the one place that looks at the CPU.
//!
//! Everything here is ordinary safe Rust over slices. The loop is written once ([`block`]) and compiled
//! three times: for any machine, for AVX2 + FMA and for AVX-512. Only the call into a version compiled for
//! a wider instruction set is `unsafe`, and it stands behind the run-time test for exactly those
//! instructions ([`Isa::detect`]).
//!
//! **Panel layout.** A matrix of R rows and K columns is cut into panels of P = [`PANEL`] rows. A panel is
//! stored column after column: entry (i, k) lies at `(i / P)·P·K + k·P + i % P`. The last panel is padded
//! with zero rows. The same layout serves as left factor, right factor and result, so nothing is repacked.
//!
//! **Arithmetic.** Each entry of the result is `c − s`, where s = Σ_k a_k·b_k is accumulated in the order of k
//! by one chain of fused multiply-adds (or multiply, then add, where there is no FMA). Machines with FMA
//! therefore all compute the same bits, whatever their vector width.

#![allow(unsafe_code)]

use std::ops::Range;

/// Rows in a panel: a multiple of every vector width and of every block width below.
pub const PANEL: usize = 24;

/// Instruction set to use. Only [`Isa::detect`] makes a wider one than [`Isa::PORTABLE`], after finding it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// No assumption: multiply, then add.
    Portable,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512F (which includes 512-bit FMA).
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// What every machine has.
    pub const PORTABLE: Isa = Isa(Level::Portable);

    /// The widest instruction set this machine has and this file has code for.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 =
                std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma");
            if avx2 && std::arch::is_x86_feature_detected!("avx512f") {
                return Isa(Level::Avx512);
            }
            if avx2 {
                return Isa(Level::Avx2);
            }
        }
        Isa::PORTABLE
    }
}

/// `C ← C − A·Bᵀ` for one panel of A against some rows of one panel of B, both `depth` columns deep.
///
/// * `result`: `rows.len()` columns of a panel of C (`PANEL` values a column); column j is paired with row
///   `rows.start + j` of B's panel;
/// * `left`, `right`: the panels of A and B, `depth · PANEL` values each;
/// * `rows`: which rows of B's panel; the start must be a multiple of 8.
///
/// Panics if the slices do not have these lengths.
pub fn subtract_product(isa: Isa, result: &mut [f64], left: &[f64], right: &[f64], rows: Range<usize>) {
    assert!(
        rows.start.is_multiple_of(8)
            && rows.end <= PANEL
            && left.len() == right.len()
            && result.len() == rows.len() * PANEL,
        "misshapen block"
    );
    let job = Job { left: left.as_chunks().0, right: right.as_chunks().0, rows };
    match isa.0 {
        Level::Portable => portable(result, &job),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Isa::detect` makes `Avx2` only after finding AVX2 and FMA.
        Level::Avx2 => unsafe { avx2(result, &job) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Isa::detect` makes `Avx512` only after finding AVX-512F.
        Level::Avx512 => unsafe { avx512(result, &job) },
    }
}

struct Job<'a> {
    left: &'a [[f64; PANEL]],
    right: &'a [[f64; PANEL]],
    rows: Range<usize>,
}

/// Walks over the blocks of a panel: `ROWS` rows by `COLUMNS` columns each, summed by `block`.
#[inline(always)]
fn sweep<const ROWS: usize, const COLUMNS: usize>(
    result: &mut [f64],
    job: &Job<'_>,
    block: impl Fn(&[[f64; PANEL]], &[[f64; PANEL]], usize, usize) -> [[f64; ROWS]; COLUMNS],
) {
    for start in job.rows.clone().step_by(COLUMNS) {
        let written = COLUMNS.min(job.rows.end - start);
        let target = result[(start - job.rows.start) * PANEL..][..written * PANEL].as_chunks_mut::<PANEL>().0;
        for row in (0..PANEL).step_by(ROWS) {
            let sums = block(job.left, job.right, row, start);
            for (column, sum) in target.iter_mut().zip(&sums) {
                for (entry, sum) in column[row..row + ROWS].iter_mut().zip(sum) {
                    *entry -= sum;
                }
            }
        }
    }
}

fn portable(result: &mut [f64], job: &Job<'_>) {
    sweep::<4, 4>(result, job, |left, right, row, column| {
        let mut sums = [[0.0; 4]; 4];
        for (a, b) in left.iter().zip(right) {
            for (j, sum) in sums.iter_mut().enumerate() {
                for (i, sum) in sum.iter_mut().enumerate() {
                    *sum += a[row + i] * b[column + j];
                }
            }
        }
        sums
    });
}

/// Writes the vector versions: `$vectors` registers of `$lanes` lanes by `$columns` columns a block.
#[cfg(target_arch = "x86_64")]
macro_rules! vector_version {
    ($name:ident, $features:literal, $lanes:literal, $vectors:literal, $columns:literal,
     $load:ident, $store:ident, $splat:ident, $fused:ident) => {
        #[target_feature(enable = $features)]
        fn $name(result: &mut [f64], job: &Job<'_>) {
            use std::arch::x86_64::{$fused, $load, $splat, $store};
            sweep::<{ $lanes * $vectors }, $columns>(result, job, |left, right, row, column| {
                let mut sums = [[$splat(0.0); $vectors]; $columns];
                for (a, b) in left.iter().zip(right) {
                    let a: &[f64; $lanes * $vectors] =
                        a[row..].first_chunk().expect("block inside the panel");
                    let b: &[f64; $columns] = b[column..].first_chunk().expect("block inside the panel");
                    // SAFETY: each load reads `$lanes` values inside the array `a`.
                    let a: [_; $vectors] =
                        std::array::from_fn(|v| unsafe { $load(a[v * $lanes..][..$lanes].as_ptr()) });
                    for j in 0..$columns {
                        let b = $splat(b[j]);
                        for v in 0..$vectors {
                            sums[j][v] = $fused(a[v], b, sums[j][v]);
                        }
                    }
                }
                let mut out = [[0.0; $lanes * $vectors]; $columns];
                for (out, sums) in out.iter_mut().zip(&sums) {
                    for (out, sum) in out.as_chunks_mut::<$lanes>().0.iter_mut().zip(sums) {
                        // SAFETY: the store writes `$lanes` values into the array `out`.
                        unsafe { $store(out.as_mut_ptr(), *sum) };
                    }
                }
                out
            });
        }
    };
}

#[cfg(target_arch = "x86_64")]
vector_version!(
    avx2,
    "avx2,fma",
    4,
    3,
    4,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_set1_pd,
    _mm256_fmadd_pd
);
#[cfg(target_arch = "x86_64")]
vector_version!(
    avx512,
    "avx512f",
    8,
    3,
    8,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_set1_pd,
    _mm512_fmadd_pd
);

/// Rows handled at once by [`add_rows_times`].
pub const ROWS: usize = 4;

/// `out` ← `out` + rows·V: some rows of a matrix times V, both row-major.
///
/// * `rows`: up to [`ROWS`] slices of equal length d;
/// * `v`: d rows of `columns` values;
/// * `out`: as many rows of `columns` values as there are `rows`.
///
/// The sum over d runs in the order of d within this call, fused where there is FMA.
/// Panics if the lengths do not fit.
pub fn add_rows_times(isa: Isa, rows: &[&[f64]], v: &[f64], columns: usize, out: &mut [f64]) {
    let Some(&first) = rows.first() else { return };
    assert!(
        rows.len() <= ROWS
            && rows.iter().all(|row| row.len() == first.len())
            && v.len() == first.len() * columns
            && out.len() == rows.len() * columns,
        "misshapen rows"
    );
    let padded: [&[f64]; ROWS] = std::array::from_fn(|r| rows.get(r).copied().unwrap_or(first));
    match isa.0 {
        Level::Portable => rows_portable(&padded, v, columns, out),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Isa::detect` makes `Avx2` only after finding AVX2 and FMA.
        Level::Avx2 => unsafe { rows_avx2(&padded, v, columns, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Isa::detect` makes `Avx512` only after finding AVX-512F.
        Level::Avx512 => unsafe { rows_avx512(&padded, v, columns, out) },
    }
}

/// Columns `from..` of the product one by one, for what the blocks leave over.
#[inline(always)]
fn rows_rest(rows: &[&[f64]; ROWS], v: &[f64], columns: usize, from: usize, out: &mut [f64]) {
    for (row, out) in rows.iter().zip(out.chunks_exact_mut(columns)) {
        for (column, out) in out.iter_mut().enumerate().skip(from) {
            *out += row.iter().zip(v[column..].iter().step_by(columns)).map(|(a, v)| a * v).sum::<f64>();
        }
    }
}

fn rows_portable(rows: &[&[f64]; ROWS], v: &[f64], columns: usize, out: &mut [f64]) {
    let blocks = columns / 8 * 8;
    for start in (0..blocks).step_by(8) {
        for (row, out) in rows.iter().zip(out.chunks_exact_mut(columns)) {
            let mut sums = [0.0; 8];
            for (a, v) in row.iter().zip(v.chunks_exact(columns)) {
                sums.iter_mut().zip(&v[start..start + 8]).for_each(|(sum, v)| *sum += a * v);
            }
            out[start..].iter_mut().zip(&sums).for_each(|(out, sum)| *out += sum);
        }
    }
    rows_rest(rows, v, columns, blocks, out);
}

/// Writes the vector versions: blocks of `$vectors` ≤ 4 registers of `$lanes` columns, then of what fits.
#[cfg(target_arch = "x86_64")]
macro_rules! vector_rows {
    ($name:ident, $features:literal, $lanes:literal, $vectors:literal, $load:ident, $store:ident, $splat:ident,
     $fused:ident) => {
        #[target_feature(enable = $features)]
        fn $name(rows: &[&[f64]; ROWS], v: &[f64], columns: usize, out: &mut [f64]) {
            #[target_feature(enable = $features)]
            fn block<const VECTORS: usize>(
                rows: &[&[f64]; ROWS],
                v: &[f64],
                columns: usize,
                start: usize,
                out: &mut [f64],
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
            let mut start = 0;
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
            rows_rest(rows, v, columns, start, out);
        }
    };
}

#[cfg(target_arch = "x86_64")]
vector_rows!(rows_avx2, "avx2,fma", 4, 3, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_set1_pd, _mm256_fmadd_pd);
#[cfg(target_arch = "x86_64")]
vector_rows!(
    rows_avx512,
    "avx512f",
    8,
    4,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_set1_pd,
    _mm512_fmadd_pd
);

/// a·b, in an order of summation that is not specified: for estimates and solvers.
///
/// Panics if the lengths differ.
pub fn dot(isa: Isa, a: &[f64], b: &[f64]) -> f64 {
    assert!(a.len() == b.len(), "misshapen vectors");
    match isa.0 {
        Level::Portable => dot_in_lanes(a, b),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Isa::detect` makes both only after finding AVX2 and FMA.
        Level::Avx2 | Level::Avx512 => unsafe { dot_avx2(a, b) },
    }
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
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

/// Both products of one row of a lower triangle in one reading: `below` ← `below` + factor·row, and returns row·x.
/// For estimates and solvers: the order of summation is not specified.
///
/// Panics if the three slices have different lengths.
pub fn row_products(isa: Isa, row: &[f64], x: &[f64], factor: f64, below: &mut [f64]) -> f64 {
    assert!(row.len() == x.len() && row.len() == below.len(), "misshapen row");
    match isa.0 {
        Level::Portable => row_products_in_lanes(row, x, factor, below),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Isa::detect` makes both only after finding AVX2 and FMA.
        Level::Avx2 | Level::Avx512 => unsafe { row_products_avx2(row, x, factor, below) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn row_products_avx2(row: &[f64], x: &[f64], factor: f64, below: &mut [f64]) -> f64 {
    row_products_in_lanes(row, x, factor, below)
}

#[inline(always)]
fn row_products_in_lanes(row: &[f64], x: &[f64], factor: f64, below: &mut [f64]) -> f64 {
    const LANES: usize = 16;
    let (rows, row_rest) = row.as_chunks::<LANES>();
    let (xs, x_rest) = x.as_chunks::<LANES>();
    let (belows, below_rest) = below.as_chunks_mut::<LANES>();
    let mut sums = [0.0; LANES];
    for ((row, x), below) in rows.iter().zip(xs).zip(belows) {
        for lane in 0..LANES {
            sums[lane] += row[lane] * x[lane];
            below[lane] += row[lane] * factor;
        }
    }
    let mut sum = sums.iter().sum();
    for ((row, x), below) in row_rest.iter().zip(x_rest).zip(below_rest) {
        sum += row * x;
        *below += row * factor;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_times_is_exact_on_small_integers() {
        for (depth, columns, count) in [(1, 1, 1), (7, 3, 4), (19, 32, 3), (40, 45, 4), (5, 8, 2)] {
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
                        let sum: f64 = (0..depth).map(|j| rows[r][j] * v[j * columns + c]).sum();
                        assert_eq!(out[r * columns + c], 1.0 + sum, "{isa:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn row_products_are_exact_on_small_integers() {
        for length in [0, 1, 15, 16, 37] {
            let row: Vec<f64> = (0..length).map(|i| (i % 7) as f64 - 3.0).collect();
            let x: Vec<f64> = (0..length).map(|i| (i % 5) as f64).collect();
            for isa in [Isa::PORTABLE, Isa::detect()] {
                let mut below = vec![1.0; length];
                let sum = row_products(isa, &row, &x, 2.0, &mut below);
                assert_eq!(sum, row.iter().zip(&x).map(|(a, b)| a * b).sum::<f64>());
                assert_eq!(sum, dot(isa, &row, &x));
                assert!(below.iter().zip(&row).all(|(below, row)| *below == 1.0 + 2.0 * row));
            }
        }
    }

    #[test]
    fn every_instruction_set_agrees_with_the_plain_sum() {
        let depth = 37;
        let value = |seed: usize| ((seed * 7919) % 1009) as f64 / 64.0 - 7.0; // sums are exact in any order
        let left: Vec<f64> = (0..depth * PANEL).map(value).collect();
        let right: Vec<f64> = (0..depth * PANEL).map(|i| value(i + 5)).collect();
        let mut sets = vec![Isa::PORTABLE, Isa::detect()];
        #[cfg(target_arch = "x86_64")]
        if Isa::detect() == Isa(Level::Avx512) {
            sets.push(Isa(Level::Avx2)); // `detect` has found AVX2 and FMA as well
        }
        for isa in sets {
            for rows in [0..24, 8..13, 16..24, 0..1] {
                let mut result = vec![1.0; rows.len() * PANEL];
                subtract_product(isa, &mut result, &left, &right, rows.clone());
                for j in rows.clone() {
                    for i in 0..PANEL {
                        let sum: f64 = (0..depth).map(|k| left[k * PANEL + i] * right[k * PANEL + j]).sum();
                        assert_eq!(result[(j - rows.start) * PANEL + i], 1.0 - sum, "{isa:?} ({i}, {j})");
                    }
                }
            }
        }
    }
}
