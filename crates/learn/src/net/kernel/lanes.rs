//! Eight or sixteen channels at a time: the type under the transforms and the element-wise passes.
//!
//! [`Lanes`] is what a loop is written in; [`Plain`] is an array, for any machine, [`x86::Wide`] a register of AVX2 and
//! [`x86::Double`] one of AVX-512. All compute the same bits, [`Plain`] if it fuses multiplications with additions.

#![allow(unsafe_code)]

use super::isa::{LANES, multiply_add};

/// The same number of [`WIDTH`](Self::WIDTH) neighbouring channels.
pub(crate) trait Lanes: Copy {
    /// Channels: [`LANES`], or twice that.
    const WIDTH: usize;
    /// # Safety
    /// There must be as many numbers at `x`.
    unsafe fn load(x: *const f32) -> Self;
    /// # Safety
    /// There must be room for as many numbers at `out`.
    unsafe fn store(self, out: *mut f32);
    fn splat(x: f32) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// self + a·b.
    fn plus(self, a: Self, b: Self) -> Self;
    /// max(x, 0); NaN stays NaN.
    fn relu(self) -> Self;
    /// This where `of` is above 0, else 0.
    fn where_positive(self, of: Self) -> Self;
    /// The larger of this and another, and the bits that belong to it; of equal ones this. NaN counts as larger than any
    /// number.
    fn larger(self, place: Self, other: Self, other_place: Self) -> (Self, Self);

    /// Some pixels of three planes, channel by channel: a₀ b₀ c₀ a₁ ….
    fn interleaved(a: Self, b: Self, c: Self) -> [Self; 3];

    /// Even and odd numbers of two registers.
    fn parted(first: Self, second: Self) -> [Self; 2];

    /// The first columns of eight rows, `count` or as many as there are, each a run of eight numbers, `step` apart.
    ///
    /// # Safety
    /// There must be room for them at `out`.
    unsafe fn store_columns(rows: [Self; LANES], out: *mut f32, step: usize, count: usize);

    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }

    /// The first numbers of a slice.
    #[inline(always)]
    fn of(x: &[f32]) -> Self {
        assert!(x.len() >= Self::WIDTH, "that many channels");
        // SAFETY: there are as many.
        unsafe { Self::load(x.as_ptr()) }
    }

    #[inline(always)]
    fn put(self, out: &mut [f32]) {
        assert!(out.len() >= Self::WIDTH, "that many channels");
        // SAFETY: there is room.
        unsafe { self.store(out.as_mut_ptr()) }
    }

    /// self + factor·b.
    #[inline(always)]
    fn plus_times(self, factor: f32, b: Self) -> Self {
        self.plus(Self::splat(factor), b)
    }
}

/// An array.
#[derive(Clone, Copy)]
pub(crate) struct Plain<const FUSED: bool>([f32; LANES]);

impl<const FUSED: bool> Plain<FUSED> {
    #[inline(always)]
    fn with(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let mut out = self;
        for (x, y) in out.0.iter_mut().zip(&other.0) {
            *x = f(*x, *y);
        }
        out
    }
}

impl<const FUSED: bool> Lanes for Plain<FUSED> {
    const WIDTH: usize = LANES;

    #[inline(always)]
    unsafe fn load(x: *const f32) -> Self {
        // SAFETY: the caller's.
        Self(unsafe { x.cast::<[f32; LANES]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn store(self, out: *mut f32) {
        // SAFETY: the caller's.
        unsafe { out.cast::<[f32; LANES]>().write_unaligned(self.0) }
    }

    #[inline(always)]
    fn splat(x: f32) -> Self {
        Self([x; LANES])
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.with(other, |x, y| x + y)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.with(other, |x, y| x - y)
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self.with(other, |x, y| x * y)
    }

    #[inline(always)]
    fn plus(self, a: Self, b: Self) -> Self {
        let mut out = self;
        for ((sum, a), b) in out.0.iter_mut().zip(&a.0).zip(&b.0) {
            *sum = multiply_add::<FUSED>(*a, *b, *sum);
        }
        out
    }

    #[inline(always)]
    fn relu(self) -> Self {
        self.with(self, |x, _| if 0.0 > x { 0.0 } else { x })
    }

    #[inline(always)]
    fn where_positive(self, of: Self) -> Self {
        // By bits: as a choice between numbers the compiler makes jumps of it.
        self.with(of, |x, y| f32::from_bits(x.to_bits() & u32::from(y > 0.0).wrapping_neg()))
    }

    #[inline(always)]
    fn larger(mut self, mut place: Self, other: Self, other_place: Self) -> (Self, Self) {
        for lane in 0..LANES {
            let (x, y) = (self.0[lane], other.0[lane]);
            let takes = y > x || (y.is_nan() && !x.is_nan());
            self.0[lane] = if takes { y } else { x };
            place.0[lane] = if takes { other_place.0[lane] } else { place.0[lane] };
        }
        (self, place)
    }

    #[inline(always)]
    fn parted(first: Self, second: Self) -> [Self; 2] {
        let all = [first.0, second.0];
        [0, 1].map(|odd| Self(std::array::from_fn(|p| all.as_flattened()[2 * p + odd])))
    }

    #[inline(always)]
    unsafe fn store_columns(rows: [Self; LANES], out: *mut f32, step: usize, count: usize) {
        for column in 0..count.min(LANES) {
            for (row, numbers) in rows.iter().enumerate() {
                // SAFETY: the caller's.
                unsafe { *out.add(column * step + row) = numbers.0[column] };
            }
        }
    }

    #[inline(always)]
    fn interleaved(a: Self, b: Self, c: Self) -> [Self; 3] {
        let mut all = [0.0; 3 * LANES];
        for (pixel, out) in all.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            *out = [a.0[pixel], b.0[pixel], c.0[pixel]];
        }
        let mut out = [a; 3];
        for (out, all) in out.iter_mut().zip(all.as_chunks::<LANES>().0) {
            out.0 = *all;
        }
        out
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    use super::Lanes;
    use crate::net::kernel::columns;
    use crate::net::kernel::isa::LANES;
    use std::arch::x86_64::{
        __m256, __m512, _CMP_GT_OQ, _CMP_NLE_UQ, _CMP_ORD_Q, _mm256_add_ps, _mm256_and_ps, _mm256_blend_ps,
        _mm256_blendv_ps, _mm256_cmp_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_max_ps, _mm256_mul_ps,
        _mm256_permutevar8x32_ps, _mm256_set1_ps, _mm256_setr_epi32, _mm256_setzero_ps, _mm256_storeu_ps,
        _mm256_sub_ps, _mm512_add_ps, _mm512_cmp_ps_mask, _mm512_fmadd_ps, _mm512_loadu_ps,
        _mm512_mask_mov_ps, _mm512_maskz_mov_ps, _mm512_max_ps, _mm512_mul_ps, _mm512_permutexvar_ps,
        _mm512_set1_ps, _mm512_setr_epi32, _mm512_setzero_ps, _mm512_storeu_ps, _mm512_sub_ps,
    };

    /// A register. Made only inside functions compiled for AVX2 and FMA, which stand behind the test for them.
    #[derive(Clone, Copy)]
    pub(crate) struct Wide(__m256);

    // SAFETY, for all of these: a `Wide` exists only where the instructions do.
    impl Lanes for Wide {
        const WIDTH: usize = 8;

        #[inline(always)]
        unsafe fn load(x: *const f32) -> Self {
            Self(unsafe { _mm256_loadu_ps(x) })
        }

        #[inline(always)]
        unsafe fn store(self, out: *mut f32) {
            unsafe { _mm256_storeu_ps(out, self.0) }
        }

        #[inline(always)]
        fn splat(x: f32) -> Self {
            Self(unsafe { _mm256_set1_ps(x) })
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Self(unsafe { _mm256_add_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Self(unsafe { _mm256_sub_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn times(self, other: Self) -> Self {
            Self(unsafe { _mm256_mul_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn plus(self, a: Self, b: Self) -> Self {
            Self(unsafe { _mm256_fmadd_ps(a.0, b.0, self.0) })
        }

        #[inline(always)]
        fn relu(self) -> Self {
            // The second operand is returned where one of them is NaN.
            Self(unsafe { _mm256_max_ps(_mm256_setzero_ps(), self.0) })
        }

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

    /// A register of AVX-512. Made only inside functions compiled for it, which stand behind the test for it.
    #[derive(Clone, Copy)]
    pub(crate) struct Double(__m512);

    // SAFETY, for all of these: a `Double` exists only where the instructions do.
    impl Lanes for Double {
        const WIDTH: usize = 16;

        #[inline(always)]
        unsafe fn load(x: *const f32) -> Self {
            Self(unsafe { _mm512_loadu_ps(x) })
        }

        #[inline(always)]
        unsafe fn store(self, out: *mut f32) {
            unsafe { _mm512_storeu_ps(out, self.0) }
        }

        #[inline(always)]
        fn splat(x: f32) -> Self {
            Self(unsafe { _mm512_set1_ps(x) })
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Self(unsafe { _mm512_add_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Self(unsafe { _mm512_sub_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn times(self, other: Self) -> Self {
            Self(unsafe { _mm512_mul_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn plus(self, a: Self, b: Self) -> Self {
            Self(unsafe { _mm512_fmadd_ps(a.0, b.0, self.0) })
        }

        #[inline(always)]
        fn relu(self) -> Self {
            // The second operand is returned where one of them is NaN.
            Self(unsafe { _mm512_max_ps(_mm512_setzero_ps(), self.0) })
        }

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
}
