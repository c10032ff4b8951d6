//! Eight channels in a register of AVX2.

use super::operations::Lanes;
use crate::net::kernel::columns;
use crate::net::kernel::isa::LANES;
use std::arch::x86_64::{
    __m256, _CMP_GT_OQ, _CMP_NLE_UQ, _CMP_ORD_Q, _mm256_add_ps, _mm256_and_ps, _mm256_blend_ps,
    _mm256_blendv_ps, _mm256_cmp_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_max_ps, _mm256_mul_ps,
    _mm256_permutevar8x32_ps, _mm256_set1_ps, _mm256_setr_epi32, _mm256_setzero_ps, _mm256_storeu_ps,
    _mm256_sub_ps,
};

/// A register. Made only inside functions compiled for AVX2 and FMA, which stand behind the test for them.
#[derive(Clone, Copy)]
pub(crate) struct Wide(__m256);

// SAFETY, for all of these: a `Wide` exists only where the instructions do.
impl Lanes for Wide {
    const WIDTH: usize = 8;

    arithmetic!(
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_set1_ps,
        _mm256_setzero_ps,
        _mm256_add_ps,
        _mm256_sub_ps,
        _mm256_mul_ps,
        _mm256_fmadd_ps,
        _mm256_max_ps
    );

    #[inline(always)]
    fn where_positive(self, of: Self) -> Self {
        Self(unsafe { _mm256_and_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(of.0, _mm256_setzero_ps()), self.0) })
    }

    #[inline(always)]
    fn larger(self, place: Self, other: Self, other_place: Self) -> (Self, Self) {
        unsafe {
            // Above, or one of them NaN; but not this one.
            let above = _mm256_cmp_ps::<_CMP_NLE_UQ>(other.0, self.0);
            let takes = _mm256_and_ps(above, _mm256_cmp_ps::<_CMP_ORD_Q>(self.0, self.0));
            (
                Self(_mm256_blendv_ps(self.0, other.0, takes)),
                Self(_mm256_blendv_ps(place.0, other_place.0, takes)),
            )
        }
    }

    #[inline(always)]
    fn parted(first: Self, second: Self) -> [Self; 2] {
        let [even, odd] = unsafe { columns::parted_256(first.0, second.0) };
        [Self(even), Self(odd)]
    }

    #[inline(always)]
    unsafe fn store_columns(rows: [Self; LANES], out: *mut f32, step: usize, count: usize) {
        unsafe { columns::store_256(&rows.map(|row| row.0), out, step, count) }
    }

    #[inline(always)]
    fn interleaved(a: Self, b: Self, c: Self) -> [Self; 3] {
        unsafe {
            // Number 3p + channel of 24 goes to lane (3p + channel) mod 8, another one for every pixel p.
            let a = _mm256_permutevar8x32_ps(a.0, _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5));
            let b = _mm256_permutevar8x32_ps(b.0, _mm256_setr_epi32(5, 0, 3, 6, 1, 4, 7, 2));
            let c = _mm256_permutevar8x32_ps(c.0, _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7));
            // Lanes 0, 3, 6 of the first; 1, 4, 7 of the second; 2, 5 of the third.
            macro_rules! join {
                ($first:ident, $second:ident, $third:ident) => {
                    Self(_mm256_blend_ps::<0b0010_0100>(
                        _mm256_blend_ps::<0b1001_0010>($first, $second),
                        $third,
                    ))
                };
            }
            [join!(a, b, c), join!(c, a, b), join!(b, c, a)]
        }
    }
}
