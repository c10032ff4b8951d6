//! The hot loops under the proofs, and the one place that looks at the CPU.
//!
//! `panels.rs` has C ← C − A·Bᵀ on register blocks, under the factorisation and the Gram forms; `rows.rs` the product of
//! a few rows with a few columns, under lower ends. [`self_product`] is open to generators and solvers too. This file
//! finds out which instructions they may use.
//!
//! Every loop has a portable version and one for AVX2 + FMA, the panels one for AVX-512 as well. `unsafe` are only the
//! calls into a version compiled for a wider instruction set, which stand behind the run-time test for exactly those
//! instructions ([`Isa::detect`]), and the vector loads and stores, each of values inside one array.
//!
//! **Fused or not.** The AVX blocks use fused multiply-adds. The portable versions do so where the compiler may assume
//! them: on aarch64, and on x86 if built with `-C target-feature=+fma` or for a CPU that has it. On any other target they
//! multiply, then add. So the panels compute the same bits, whatever the vector width, on x86-64 with AVX2 and FMA and on
//! aarch64; other machines, and [`Isa::PORTABLE`] in an ordinary x86-64 build, may differ in the last places. No proof
//! rests on it: the error bounds hold either way.

pub(crate) mod panels;
pub(crate) mod rows;
pub mod self_product;

/// Whether every machine this build runs on has fused multiply-adds, so that `mul_add` is one instruction and
/// not a slow library call.
const NATIVE_FMA: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

/// sum + a·b, fused where the target of the build has it, else multiply, then add.
#[inline(always)]
fn multiply_add(a: f64, b: f64, sum: f64) -> f64 {
    if NATIVE_FMA { a.mul_add(b, sum) } else { sum + a * b }
}

/// Instruction set to use. Only [`Isa::detect`] makes a wider one than [`Isa::PORTABLE`], after finding it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
enum Level {
    /// Nothing beyond what the target of the build has.
    Portable,
    /// AVX2 and FMA.
    Avx2,
    /// AVX-512F (which includes 512-bit FMA).
    Avx512,
}

impl Isa {
    /// What every machine has that the build is for.
    pub const PORTABLE: Isa = Isa(Level::Portable);

    /// The widest instruction set this machine has and there is code for.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            let wider = std::arch::is_x86_feature_detected!("avx512f");
            return Isa(if wider { Level::Avx512 } else { Level::Avx2 });
        }
        Isa::PORTABLE
    }
    /// Whether AVX2 and FMA were found.
    pub fn has_avx2(self) -> bool {
        self != Isa::PORTABLE
    }

    /// Whether AVX-512F was found.
    pub fn has_avx512(self) -> bool {
        self.0 == Level::Avx512
    }
}
