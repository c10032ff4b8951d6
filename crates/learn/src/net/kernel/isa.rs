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
    Avx512(Units),
}

/// How a machine computes with registers of 512 bits. It decides which of two loops is the faster one, never a result.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Units {
    /// All at once.
    Whole,
    /// One half after the other.
    Halves,
}

#[cfg(target_arch = "x86_64")]
impl Units {
    /// Zen 4: the machines of AMD's family 19h that have AVX-512. Others with halves are taken as whole ones, which is slower
    /// and not wrong.
    #[allow(unsafe_code, unused_unsafe)] // safe from Rust 1.94 on
    fn detect() -> Self {
        use std::arch::x86_64::__cpuid;
        // SAFETY: every x86-64 has this instruction.
        let (vendor, version) = unsafe { (__cpuid(0), __cpuid(1).eax) };
        let is_amd = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).concat() == b"AuthenticAMD";
        let family = (version >> 8 & 0xf) + (version >> 20 & 0xff);
        if is_amd && family == 0x19 { Self::Halves } else { Self::Whole }
    }
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
                return Isa(Level::Avx512(Units::detect()));
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
            if matches!(best.0, Level::Avx512(_)) {
                all.extend([Units::Whole, Units::Halves].map(|units| Isa(Level::Avx512(units))));
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
