//! Numbers in another order: rows of registers stored column by column, and even numbers parted from odd ones.

#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m256, __m512, _mm256_castpd_ps, _mm256_castps_pd, _mm256_permute2f128_ps, _mm256_permute4x64_pd,
    _mm256_shuffle_ps, _mm256_storeu_ps, _mm256_unpackhi_pd, _mm256_unpackhi_ps, _mm256_unpacklo_pd,
    _mm256_unpacklo_ps, _mm512_castpd_ps, _mm512_castps_pd, _mm512_castps512_ps256, _mm512_extractf64x4_pd,
    _mm512_permutex2var_pd, _mm512_permutex2var_ps, _mm512_setr_epi32, _mm512_setr_epi64, _mm512_unpackhi_pd,
    _mm512_unpackhi_ps, _mm512_unpacklo_pd, _mm512_unpacklo_ps,
};

/// Four rows as four registers of columns: the j-th 128 bits of register i hold column 4j + i, row by row.
macro_rules! fours {
    ($a:expr, $b:expr, $c:expr, $d:expr; $low:ident, $high:ident, $low2:ident, $high2:ident, $double:ident, $single:ident) => {{
        let (ab, cd) = ($low($a, $b), $low($c, $d));
        let (ab_high, cd_high) = ($high($a, $b), $high($c, $d));
        [
            $single($low2($double(ab), $double(cd))),
            $single($high2($double(ab), $double(cd))),
            $single($low2($double(ab_high), $double(cd_high))),
            $single($high2($double(ab_high), $double(cd_high))),
        ]
    }};
}

/// The first `count` columns of eight rows, `step` apart.
///
/// # Safety
/// There must be room for them at `out`; the machine must have AVX2.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) unsafe fn store_256(rows: &[__m256; 8], out: *mut f32, step: usize, count: usize) {
    let &[a, b, c, d, e, f, g, h] = rows;
    macro_rules! four {
        ($($row:ident),*) => {
            fours!($($row),*; _mm256_unpacklo_ps, _mm256_unpackhi_ps, _mm256_unpacklo_pd, _mm256_unpackhi_pd, _mm256_castps_pd, _mm256_castpd_ps)
        };
    }
    let (first, second) = (four!(a, b, c, d), four!(e, f, g, h));
    for i in 0..4 {
        let both = [
            _mm256_permute2f128_ps::<0x20>(first[i], second[i]),
            _mm256_permute2f128_ps::<0x31>(first[i], second[i]),
        ];
        for (half, columns) in both.into_iter().enumerate() {
            let column = 4 * half + i;
            if column < count {
                // SAFETY: the caller's.
                unsafe { _mm256_storeu_ps(out.add(column * step), columns) };
            }
        }
    }
}

/// The same for sixteen columns.
///
/// # Safety
/// There must be room for them at `out`; the machine must have AVX-512.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) unsafe fn store_512(rows: &[__m512; 8], out: *mut f32, step: usize, count: usize) {
    let &[a, b, c, d, e, f, g, h] = rows;
    macro_rules! four {
        ($($row:ident),*) => {
            fours!($($row),*; _mm512_unpacklo_ps, _mm512_unpackhi_ps, _mm512_unpacklo_pd, _mm512_unpackhi_pd, _mm512_castps_pd, _mm512_castpd_ps)
        };
    }
    let (first, second) = (four!(a, b, c, d), four!(e, f, g, h));
    // Of both: columns i and 4 + i, then 8 + i and 12 + i.
    let orders = [_mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15)];
    for i in 0..4 {
        let (low, high) = (_mm512_castps_pd(first[i]), _mm512_castps_pd(second[i]));
        for (half, order) in orders.into_iter().enumerate() {
            let two = _mm512_permutex2var_pd(low, order, high);
            let column = 8 * half + i;
            // SAFETY: the caller's.
            unsafe {
                if column < count {
                    _mm256_storeu_ps(out.add(column * step), _mm512_castps512_ps256(_mm512_castpd_ps(two)));
                }
                if column + 4 < count {
                    let last = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(two));
                    _mm256_storeu_ps(out.add((column + 4) * step), last);
                }
            }
        }
    }
}

/// Even and odd numbers of sixteen.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn parted_256(a: __m256, b: __m256) -> [__m256; 2] {
    let ordered = |x: __m256| _mm256_castpd_ps(_mm256_permute4x64_pd::<0b11_01_10_00>(_mm256_castps_pd(x)));
    let (even, odd) = (_mm256_shuffle_ps::<0b10_00_10_00>(a, b), _mm256_shuffle_ps::<0b11_01_11_01>(a, b));
    [ordered(even), ordered(odd)]
}

/// Even and odd numbers of thirty-two.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn parted_512(a: __m512, b: __m512) -> [__m512; 2] {
    let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    [_mm512_permutex2var_ps(a, even, b), _mm512_permutex2var_ps(a, odd, b)]
}
