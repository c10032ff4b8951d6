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
mod operations;
mod plain;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Wide;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Double;
pub(crate) use operations::Lanes;
pub(crate) use plain::Plain;
