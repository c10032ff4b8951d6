//! Eight channels as an array, on any machine.

use super::operations::Lanes;
use crate::net::kernel::isa::{LANES, multiply_add};

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
