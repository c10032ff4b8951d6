//! Blocks in registers of AVX2 and AVX-512.

use super::block::{Block, GROUP, GROUPS};
use std::arch::x86_64::{
    __m256, __m512, _mm256_add_ps, _mm256_castpd_ps, _mm256_castps_pd, _mm256_castsi256_ps, _mm256_fmadd_ps,
    _mm256_hadd_ps, _mm256_loadu_ps, _mm256_max_ps, _mm256_permute4x64_pd, _mm256_set1_epi64x,
    _mm256_set1_ps, _mm256_setzero_ps, _mm256_shuffle_ps, _mm256_storeu_ps, _mm512_add_ps, _mm512_castps_pd,
    _mm512_castps512_ps256, _mm512_castsi512_ps, _mm512_extractf64x4_pd, _mm512_fmadd_ps, _mm512_loadu_ps,
    _mm512_max_ps, _mm512_set1_epi64, _mm512_set1_ps, _mm512_setzero_ps, _mm512_storeu_ps,
};

/// Closes a sum: bias and ReLU. `max` returns its second operand where one is NaN.
macro_rules! closed {
    ($sum:expr, $bias:expr, $block:ident, $zero:ident, $load:ident, $add:ident, $max:ident) => {{
        let mut sum = $sum;
        if !$block.bias.is_null() {
            sum = $add(sum, $load($bias));
            if $block.relu {
                sum = $max($zero(), sum);
            }
        }
        sum
    }};
}

/// Writes one version: `$count` registers of `$lanes` columns per row.
macro_rules! terms {
    ($(#[$meta:meta])* $name:ident, $features:literal, $count:literal, $lanes:literal, $zero:ident,
     $load:ident, $store:ident, $splat:ident, $fused:ident, $add:ident, $max:ident) => {
        $(#[$meta])*
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $name<const ROWS: usize>(
            a: *const f32,
            b: *const f32,
            c: *mut f32,
            block: &Block,
        ) {
            let mut sums = [[$zero(); $count]; ROWS];
            // SAFETY: the caller's, for every load and store below.
            unsafe {
                if block.accumulate {
                    for p in 0..ROWS {
                        for v in 0..$count {
                            let c = c.add(block.c_groups[p / GROUP] + p % GROUP * block.c_row);
                            sums[p][v] = $load(c.add($lanes * v));
                        }
                    }
                }
                for s in 0..block.segments {
                    let (a, mut b) = (a.add(s * block.a_segment), b.add(s * block.b_segment));
                    // One pointer per group: one for all would be a chain of additions as long as the products.
                    let mut a: [*const f32; GROUPS] = std::array::from_fn(|g| a.wrapping_add(block.a_groups[g]));
                    for _ in 0..block.depth {
                        let columns: [_; $count] = std::array::from_fn(|v| $load(b.add($lanes * v)));
                        for p in 0..ROWS {
                            let x = $splat(*a[p / GROUP].add(p % GROUP * block.a_row));
                            for v in 0..$count {
                                sums[p][v] = $fused(x, columns[v], sums[p][v]);
                            }
                        }
                        for g in 0..ROWS.div_ceil(GROUP) {
                            a[g] = a[g].wrapping_add(block.a_term);
                        }
                        b = b.wrapping_add(block.b_term);
                    }
                }
                for p in 0..ROWS {
                    let c = c.add(block.c_groups[p / GROUP] + p % GROUP * block.c_row);
                    for v in 0..$count {
                        let bias = block.bias.wrapping_add($lanes * v);
                        let sum = closed!(sums[p][v], bias, block, $zero, $load, $add, $max);
                        $store(c.add($lanes * v), sum);
                    }
                }
            }
        }
    };
}
terms!(
    /// # Safety
    /// As [`Isa::block`](super::Isa), with AVX2 and FMA.
    avx2_whole, "avx2,fma", 2, 8, _mm256_setzero_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps,
    _mm256_fmadd_ps, _mm256_add_ps, _mm256_max_ps
);
terms!(
    /// # Safety
    /// As [`Isa::block`](super::Isa), with AVX2 and FMA.
    avx2_half, "avx2,fma", 1, 8, _mm256_setzero_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps,
    _mm256_fmadd_ps, _mm256_add_ps, _mm256_max_ps
);
terms!(
    /// # Safety
    /// As [`Isa::block`](super::Isa), with AVX-512.
    avx512_whole, "avx512f", 1, 16, _mm512_setzero_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps,
    _mm512_fmadd_ps, _mm512_add_ps, _mm512_max_ps
);
terms!(
    /// # Safety
    /// As [`Isa::block`](super::Isa), with AVX2 and FMA, and AVX-512's registers.
    avx512_half, "avx2,fma,avx512f,avx512vl", 1, 8, _mm256_setzero_ps, _mm256_loadu_ps, _mm256_storeu_ps,
    _mm256_set1_ps, _mm256_fmadd_ps, _mm256_add_ps, _mm256_max_ps
);

/// Writes one version for half a panel of packed columns: `$count` registers of pairs per row. `$splat` repeats 64 bits,
/// two neighbouring terms, or one and a zero.
macro_rules! pairs {
    ($(#[$meta:meta])* $name:ident, $features:literal, $count:literal, $lanes:literal, $zero:ident,
     $load:ident, $splat:ident, $fused:ident, $added:ident) => {
        $(#[$meta])*
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $name<const ROWS: usize>(
            a: *const f32,
            b: *const f32,
            c: *mut f32,
            block: &Block,
        ) {
            let mut sums = [[$zero(); $count]; ROWS];
            // SAFETY: the caller's, for every load and store below.
            unsafe {
                for s in 0..block.segments {
                    let (a, mut b) = (a.add(s * block.a_segment), b.add(s * block.b_segment));
                    let mut a: [*const f32; GROUPS] = std::array::from_fn(|g| a.wrapping_add(block.a_groups[g]));
                    for _ in 0..block.depth / 2 {
                        let columns: [_; $count] = std::array::from_fn(|v| $load(b.add($lanes * v)));
                        for p in 0..ROWS {
                            let x = a[p / GROUP].add(p % GROUP * block.a_row).cast::<i64>().read_unaligned();
                            for v in 0..$count {
                                sums[p][v] = $fused($splat(x), columns[v], sums[p][v]);
                            }
                        }
                        for g in 0..ROWS.div_ceil(GROUP) {
                            a[g] = a[g].add(2);
                        }
                        b = b.wrapping_add(block.b_term);
                    }
                    if block.depth % 2 == 1 {
                        let columns: [_; $count] = std::array::from_fn(|v| $load(b.add($lanes * v)));
                        for p in 0..ROWS {
                            let x = *a[p / GROUP].add(p % GROUP * block.a_row);
                            for v in 0..$count {
                                let x = $splat(i64::from(x.to_bits()));
                                sums[p][v] = $fused(x, columns[v], sums[p][v]);
                            }
                        }
                    }
                }
                for p in 0..ROWS {
                    let c = c.add(block.c_groups[p / GROUP] + p % GROUP * block.c_row);
                    let sum = closed!(
                        $added(sums[p]), block.bias, block,
                        _mm256_setzero_ps, _mm256_loadu_ps, _mm256_add_ps, _mm256_max_ps
                    );
                    _mm256_storeu_ps(c, sum);
                }
            }
        }
    };
}
pairs!(
    /// # Safety
    /// As [`Isa::block`](super::Isa), with AVX2 and FMA.
    avx2_pairs, "avx2,fma", 2, 8, _mm256_setzero_ps, _mm256_loadu_ps, splat_256, _mm256_fmadd_ps, added_256
);
pairs!(
    /// # Safety
    /// As [`Isa::block`](super::Isa), with AVX2 and AVX-512.
    avx512_pairs, "avx2,fma,avx512f", 1, 16, _mm512_setzero_ps, _mm512_loadu_ps, splat_512, _mm512_fmadd_ps,
    added_512
);

#[target_feature(enable = "avx2")]
#[inline]
fn splat_256(pair: i64) -> __m256 {
    _mm256_castsi256_ps(_mm256_set1_epi64x(pair))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn splat_512(pair: i64) -> __m512 {
    _mm512_castsi512_ps(_mm512_set1_epi64(pair))
}

/// Even and odd numbers added, eight in order.
#[target_feature(enable = "avx2")]
#[inline]
fn added_256([low, high]: [__m256; 2]) -> __m256 {
    // Columns 0, 1, 4, 5, 2, 3, 6, 7.
    let sums = _mm256_hadd_ps(low, high);
    _mm256_castpd_ps(_mm256_permute4x64_pd::<0b11_01_10_00>(_mm256_castps_pd(sums)))
}

#[target_feature(enable = "avx2,avx512f")]
#[inline]
fn added_512([all]: [__m512; 1]) -> __m256 {
    let high = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(all)));
    added_256([_mm512_castps512_ps256(all), high])
}

/// As [`avx512_pairs`], to the bit, in registers of half the width: sums over even terms apart from those over odd ones.
///
/// # Safety
/// As [`Isa::block`](super::Isa), with AVX2 and FMA, and AVX-512's registers.
#[target_feature(enable = "avx2,fma,avx512f,avx512vl")]
pub(super) unsafe fn avx512_parted<const ROWS: usize>(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    block: &Block,
) {
    macro_rules! parts {
        ($($rows:literal: $first:literal, $rest:literal;)*) => {
            match ROWS {
                $($rows => {
                    parted::<$first>(a, b, c, block, 0);
                    parted::<$rest>(a, b, c, block, $first / GROUP);
                })*
                _ => parted::<ROWS>(a, b, c, block, 0),
            }
        };
    }
    // SAFETY: the caller's. Whole groups first, and no thin rest.
    unsafe {
        parts! { 9: 4, 5; 10: 4, 6; 11: 8, 3; 12: 8, 4; 13: 8, 5; 14: 8, 6; 15: 8, 7; 16: 8, 8; }
    }
}

/// Rows at a time: sixteen sums.
const PARTED: usize = 8;

/// Rows of the groups from the first on.
///
/// # Safety
/// As [`avx512_parted`].
#[target_feature(enable = "avx2,fma,avx512f,avx512vl")]
unsafe fn parted<const ROWS: usize>(a: *const f32, b: *const f32, c: *mut f32, block: &Block, first: usize) {
    let mut sums = [[_mm256_setzero_ps(); 2]; ROWS];
    // SAFETY: the caller's, for every load and store below.
    unsafe {
        for s in 0..block.segments {
            let (a, mut b) = (a.add(s * block.a_segment), b.add(s * block.b_segment));
            let mut a: [*const f32; PARTED / GROUP] =
                std::array::from_fn(|g| a.wrapping_add(block.a_groups[first + g]));
            for _ in 0..block.depth / 2 {
                let (low, high) = (_mm256_loadu_ps(b), _mm256_loadu_ps(b.add(8)));
                // Of columns 0, 1, 4, 5, 2, 3, 6, 7.
                let even = _mm256_shuffle_ps::<0b10_00_10_00>(low, high);
                let odd = _mm256_shuffle_ps::<0b11_01_11_01>(low, high);
                for p in 0..ROWS {
                    let x = a[p / GROUP].add(p % GROUP * block.a_row);
                    sums[p][0] = _mm256_fmadd_ps(_mm256_set1_ps(*x), even, sums[p][0]);
                    sums[p][1] = _mm256_fmadd_ps(_mm256_set1_ps(*x.add(1)), odd, sums[p][1]);
                }
                for g in 0..ROWS.div_ceil(GROUP) {
                    a[g] = a[g].add(2);
                }
                b = b.wrapping_add(block.b_term);
            }
            if block.depth % 2 == 1 {
                let (low, high) = (_mm256_loadu_ps(b), _mm256_loadu_ps(b.add(8)));
                let even = _mm256_shuffle_ps::<0b10_00_10_00>(low, high);
                let odd = _mm256_shuffle_ps::<0b11_01_11_01>(low, high);
                for p in 0..ROWS {
                    let x = _mm256_set1_ps(*a[p / GROUP].add(p % GROUP * block.a_row));
                    sums[p][0] = _mm256_fmadd_ps(x, even, sums[p][0]);
                    // As a pair with zero, which makes 0 of −0.
                    sums[p][1] = _mm256_fmadd_ps(_mm256_setzero_ps(), odd, sums[p][1]);
                }
            }
        }
        for p in 0..ROWS {
            let c = c.add(block.c_groups[first + p / GROUP] + p % GROUP * block.c_row);
            let sum = _mm256_add_ps(sums[p][0], sums[p][1]);
            let sum = _mm256_castpd_ps(_mm256_permute4x64_pd::<0b11_01_10_00>(_mm256_castps_pd(sum)));
            let sum = closed!(
                sum,
                block.bias,
                block,
                _mm256_setzero_ps,
                _mm256_loadu_ps,
                _mm256_add_ps,
                _mm256_max_ps
            );
            _mm256_storeu_ps(c, sum);
        }
    }
}
