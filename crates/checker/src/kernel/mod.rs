//! The hot loops, and the one place that looks at the CPU.
//!
//! [`subtract_product`] (C ← C − A·Bᵀ on register blocks, under the factorisation and the Gram forms) is in
//! `panels.rs`; [`add_rows_times`], [`dot`] and [`row_products`] (a few rows at a time, under lower ends,
//! estimates and solvers) are in `rows.rs`. This file finds out which instructions they may use.
//!
//! Every loop has a portable version and one for AVX2 + FMA, the two matrix products one for AVX-512 as well.
//! `unsafe` are only the calls into a version compiled for a wider instruction set, which stand behind the
//! run-time test for exactly those instructions ([`Isa::detect`]), and the vector loads and stores, each of
//! values inside one array.
//!
//! **Fused or not.** The AVX blocks use fused multiply-adds. The portable versions do so where the compiler may
//! assume them: on aarch64, and on x86 if built with `-C target-feature=+fma` or for a CPU that has it. On any
//! other target they multiply, then add. So [`subtract_product`] computes the same bits, whatever the vector
//! width, on x86-64 with AVX2 and FMA and on aarch64; other machines, and [`Isa::PORTABLE`] in an ordinary x86-64
//! build, may differ in the last places. No proof rests on it: the error bounds hold either way.

mod panels;
mod rows;
pub mod self_product;

pub use panels::{PANEL, subtract_product};
pub use rows::{ROWS, Real, add_rows_times, dot, row_products};

/// Whether every machine this build runs on has fused multiply-adds, so that `mul_add` is one instruction and
/// not a slow library call.
const NATIVE_FMA: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

/// Instruction set to use. Only [`Isa::detect`] makes a wider one than [`Isa::PORTABLE`], after finding it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// Nothing beyond what the target of the build has: see [`Real::multiply_add`].
    Portable,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512F (which includes 512-bit FMA).
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// What every machine has that the build is for.
    pub const PORTABLE: Isa = Isa(Level::Portable);

    /// The widest instruction set this machine has and there is code for.
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
