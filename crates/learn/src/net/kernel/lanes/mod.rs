//! Eight or sixteen channels at a time: the type under the transforms and the element-wise passes.
//!
//! [`Lanes`] is what a loop is written in; [`Plain`] is an array, for any machine, [`Wide`] a register of AVX2 and
//! [`Double`] one of AVX-512. All compute the same bits, [`Plain`] if it fuses multiplications with additions.

#![allow(unsafe_code)]

/// Writes the loads, stores and sums of a type that holds one register, from its instructions.
#[cfg(target_arch = "x86_64")]
macro_rules! arithmetic {
    ($load:ident, $store:ident, $splat:ident, $zero:ident, $add:ident, $sub:ident, $times:ident, $fused:ident, $max:ident) => {
        #[inline(always)]
        unsafe fn load(x: *const f32) -> Self {
            Self(unsafe { $load(x) })
        }

        #[inline(always)]
        unsafe fn store(self, out: *mut f32) {
            unsafe { $store(out, self.0) }
        }

        #[inline(always)]
        fn splat(x: f32) -> Self {
            Self(unsafe { $splat(x) })
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Self(unsafe { $add(self.0, other.0) })
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Self(unsafe { $sub(self.0, other.0) })
        }

        #[inline(always)]
        fn times(self, other: Self) -> Self {
            Self(unsafe { $times(self.0, other.0) })
        }

        #[inline(always)]
        fn plus(self, a: Self, b: Self) -> Self {
            Self(unsafe { $fused(a.0, b.0, self.0) })
        }

        #[inline(always)]
        fn relu(self) -> Self {
            // The second operand is returned where one of them is NaN.
            Self(unsafe { $max($zero(), self.0) })
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod plain;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Wide;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Double;
pub(crate) use plain::Plain;

use super::isa::LANES;

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
