//! Sixteen channels in a register of AVX-512.

use super::operations::Lanes;
use crate::net::kernel::columns;
use crate::net::kernel::isa::LANES;
use std::arch::x86_64::{
    __m512, _CMP_GT_OQ, _CMP_NLE_UQ, _CMP_ORD_Q, _mm512_add_ps, _mm512_cmp_ps_mask, _mm512_fmadd_ps,
    _mm512_loadu_ps, _mm512_mask_mov_ps, _mm512_maskz_mov_ps, _mm512_max_ps, _mm512_mul_ps,
    _mm512_permutexvar_ps, _mm512_set1_ps, _mm512_setr_epi32, _mm512_setzero_ps, _mm512_storeu_ps,
    _mm512_sub_ps,
};

/// A register of AVX-512. Made only inside functions compiled for it, which stand behind the test for it.
#[derive(Clone, Copy)]
pub(crate) struct Double(__m512);

// SAFETY, for all of these: a `Double` exists only where the instructions do.
impl Lanes for Double {
    const WIDTH: usize = 16;

    arithmetic!(
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm512_set1_ps,
        _mm512_setzero_ps,
        _mm512_add_ps,
        _mm512_sub_ps,
        _mm512_mul_ps,
        _mm512_fmadd_ps,
        _mm512_max_ps
    );

    #[inline(always)]
    fn where_positive(self, of: Self) -> Self {
        unsafe {
            let positive = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(of.0, _mm512_setzero_ps());
            Self(_mm512_maskz_mov_ps(positive, self.0))
        }
    }

    #[inline(always)]
    fn larger(self, place: Self, other: Self, other_place: Self) -> (Self, Self) {
        unsafe {
            // Above, or one of them NaN; but not this one.
            let above = _mm512_cmp_ps_mask::<_CMP_NLE_UQ>(other.0, self.0);
            let takes = above & _mm512_cmp_ps_mask::<_CMP_ORD_Q>(self.0, self.0);
            (
                Self(_mm512_mask_mov_ps(self.0, takes, other.0)),
                Self(_mm512_mask_mov_ps(place.0, takes, other_place.0)),
            )
        }
    }

    #[inline(always)]
    fn parted(first: Self, second: Self) -> [Self; 2] {
        let [even, odd] = unsafe { columns::parted_512(first.0, second.0) };
        [Self(even), Self(odd)]
    }

    #[inline(always)]
    unsafe fn store_columns(rows: [Self; LANES], out: *mut f32, step: usize, count: usize) {
        unsafe { columns::store_512(&rows.map(|row| row.0), out, step, count) }
    }

    #[inline(always)]
    fn interleaved(a: Self, b: Self, c: Self) -> [Self; 3] {
        unsafe {
            // Number 3p + channel of 48 goes to lane (3p + channel) mod 16, another one for every pixel p.
            let a = _mm512_permutexvar_ps(
                _mm512_setr_epi32(0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10, 5),
                a.0,
            );
            let b = _mm512_permutexvar_ps(
                _mm512_setr_epi32(5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10),
                b.0,
            );
            let c = _mm512_permutexvar_ps(
                _mm512_setr_epi32(10, 5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15),
                c.0,
            );
            // Lanes 0, 3, … of the first; 1, 4, … of the second; 2, 5, … of the third.
            let join = |first, second, third| {
                let two = _mm512_mask_mov_ps(first, 0b0010_0100_1001_0010, second);
                Self(_mm512_mask_mov_ps(two, 0b0100_1001_0010_0100, third))
            };
            [join(a, b, c), join(b, c, a), join(c, a, b)]
        }
    }
}
