//! Which instructions the machine has, and what all loops share.

/// Channels are stored in multiples of this.
pub const LANES: usize = 8;

/// Channels as they are stored: rounded up to a multiple of [`LANES`].
pub const fn padded(channels: usize) -> usize {
    channels.next_multiple_of(LANES)
}

/// Instruction set to use. Only [`Isa::detect`] makes a wider one than the portable ones, after finding it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(pub(super) Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// What the target of the build has.
    Portable,
    /// The same, with fused multiply-adds even where they are slow.
    PortableFused,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F and VL.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// What every machine has that the build is for.
    pub const PORTABLE: Isa = Isa(Level::Portable);
    /// The portable loops with fused multiply-adds: slow on x86-64, and equal to AVX2 and AVX-512 to the bit.
    pub const PORTABLE_FUSED: Isa = Isa(Level::PortableFused);

    /// The widest instruction set this machine has and there is code for.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 =
                std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma");
            let avx512 = std::arch::is_x86_feature_detected!("avx512f")
                && std::arch::is_x86_feature_detected!("avx512vl");
            if avx2 && avx512 {
                return Isa(Level::Avx512);
            }
            if avx2 {
                return Isa(Level::Avx2);
            }
        }
        Isa::PORTABLE
    }

    /// All that can run here: for tests.
    pub fn all() -> Vec<Self> {
        let mut all = vec![Isa::PORTABLE, Isa::PORTABLE_FUSED];
        #[cfg(target_arch = "x86_64")]
        {
            let best = Isa::detect();
            if best != Isa::PORTABLE {
                all.push(Isa(Level::Avx2));
            }
            if best == Isa(Level::Avx512) {
                all.push(best);
            }
        }
        all
    }
}

/// Whether every machine this build runs on has fused multiply-adds.
pub(super) const NATIVE_FMA: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

/// sum + a·b, fused or not.
#[inline(always)]
pub(crate) fn multiply_add<const FUSED: bool>(a: f32, b: f32, sum: f32) -> f32 {
    if FUSED { a.mul_add(b, sum) } else { sum + a * b }
}
