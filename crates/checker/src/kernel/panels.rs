//! C ← C − A·Bᵀ on small register blocks: where nearly all the time of a factorisation goes.
//!
//! The walk over the blocks is written once (`sweep`); the sum over one block is written for any machine and,
//! by one macro, for AVX2 + FMA and for AVX-512, each in the shape that fills the registers.
//!
//! Matrices come in the panel layout described at [`PANEL`], which serves as left factor, right factor and
//! result alike, so nothing is repacked.
//!
//! **Arithmetic.** Each entry of the result is `c − s`, where s = Σ_k a_k·b_k is accumulated in the order of k
//! by one chain of fused multiply-adds (or multiply, then add: the [parent module](super) says where).

#![allow(unsafe_code)]

use super::{Isa, Level, multiply_add};
use std::ops::Range;

/// Rows in a panel: a multiple of every vector width and of every block width of the kernel.
///
/// **Panel layout.** A matrix of R rows and K columns is cut into panels of P = `PANEL` rows. A panel is stored
/// column after column: entry (i, k) lies at `(i / P)·P·K + k·P + i % P`. The last panel is padded with zero rows.
pub(crate) const PANEL: usize = 24;

/// `C ← C − A·Bᵀ` for one panel of A against some rows of one panel of B, both `depth` columns deep.
///
/// * `result`: `rows.len()` columns of a panel of C (`PANEL` values per column); column j is paired with row
///   `rows.start + j` of B's panel;
/// * `left`, `right`: the panels of A and B, `depth · PANEL` values each;
/// * `rows`: which rows of B's panel; the start must be a multiple of 8.
///
/// Panics if the slices do not have these lengths (those of `left` and `right` must be the same multiple of
/// [`PANEL`]), if `rows` reaches beyond the panel or if its start is not a multiple of 8.
pub(crate) fn subtract_product(
    isa: Isa,
    result: &mut [f64],
    left: &[f64],
    right: &[f64],
    rows: Range<usize>,
) {
    assert!(
        rows.start.is_multiple_of(8)
            && rows.end <= PANEL
            && left.len() == right.len()
            && left.len().is_multiple_of(PANEL)
            && result.len() == rows.len() * PANEL,
        "misshapen block"
    );
    let job = Job { left: left.as_chunks().0, right: right.as_chunks().0, rows };
    match isa.0 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Isa::detect` makes `Avx2` only after finding AVX2 and FMA.
        Level::Avx2 => unsafe { avx2(result, &job) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Isa::detect` makes `Avx512` only after finding AVX-512F.
        Level::Avx512 => unsafe { avx512(result, &job) },
        _ => portable(result, &job),
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
                    *sum = multiply_add(a[row + i], b[column + j], *sum);
                }
            }
        }
        sums
    });
}

/// Writes the vector versions: `$vectors` registers of `$lanes` lanes by `$columns` columns per block.
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
vector_version! {
    avx2, "avx2,fma", 4, 3, 4, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_set1_pd, _mm256_fmadd_pd
}
#[cfg(target_arch = "x86_64")]
vector_version! {
    avx512, "avx512f", 8, 3, 8, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_set1_pd, _mm512_fmadd_pd
}

#[cfg(test)]
mod tests {
    use super::super::NATIVE_FMA;
    use super::*;

    /// Every instruction set that this machine has.
    fn instruction_sets() -> Vec<Isa> {
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
        let mut sets = vec![Isa::PORTABLE, Isa::detect()];
        #[cfg(target_arch = "x86_64")]
        if Isa::detect() == Isa(Level::Avx512) {
            sets.push(Isa(Level::Avx2)); // `detect` has found AVX2 and FMA as well
        }
        sets
    }

    #[test]
    fn every_instruction_set_agrees_with_the_plain_sum() {
        let depth = 37;
        let value = |seed: usize| ((seed * 7919) % 1009) as f64 / 64.0 - 7.0; // sums are exact in any order
        let left: Vec<f64> = (0..depth * PANEL).map(value).collect();
        let right: Vec<f64> = (0..depth * PANEL).map(|i| value(i + 5)).collect();
        for isa in instruction_sets() {
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

    #[test]
    fn fused_versions_compute_the_same_bits() {
        let depth = 37;
        let left: Vec<f64> = (0..depth * PANEL).map(|i| (i as f64).sqrt() - 14.0).collect();
        let right: Vec<f64> = (0..depth * PANEL).map(|i| 1.0 / (i as f64 + 3.0)).collect();
        for isa in instruction_sets() {
            if isa == Isa::PORTABLE && !NATIVE_FMA {
                continue;
            }
            let mut result = vec![0.0; PANEL * PANEL];
            subtract_product(isa, &mut result, &left, &right, 0..PANEL);
            for j in 0..PANEL {
                for i in 0..PANEL {
                    let chain =
                        (0..depth).fold(0.0, |s, k| left[k * PANEL + i].mul_add(right[k * PANEL + j], s));
                    assert_eq!(result[j * PANEL + i], -chain, "{isa:?} ({i}, {j})");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "misshapen block")]
    fn a_part_of_a_column_is_refused() {
        let panel = [0.0; 2 * PANEL + 1];
        subtract_product(Isa::PORTABLE, &mut [0.0; PANEL], &panel, &panel, 0..1);
    }
}
