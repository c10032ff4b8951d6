//! The hot loops of the networks, and the one place that looks at the CPU.
//!
//! [`product`] multiplies blocks of matrices; [`winograd`] and [`direct`] are convolutions made of such products;
//! [`lanes`] are plain loops over eight channels at a time. Everything is stored pixel by pixel, channels innermost
//! (N, H, W, C), with channels filled up with zeros to a multiple of [`LANES`].
//!
//! **Instruction sets.** Each loop is compiled several times: for what every machine of the target has, for AVX2 with FMA,
//! and for AVX-512. Which one runs is found out once per call of the network ([`Isa::detect`]) and handed down. Loops
//! vectorise over channels and add up in the order they are written in, so the width of a register changes no bit.
//!
//! **Fused or not.** AVX2 and AVX-512 fuse multiplications with additions, and so does aarch64. The portable loops of an
//! ordinary x86-64 build do not, since without the instruction a fused operation is a slow library call: they differ in
//! the last places. [`Isa::PORTABLE_FUSED`] is the same portable code with that slow call, for tests: equal to the bit.
//!
//! `unsafe` is confined to `product.rs`, for the loads and stores of its innermost loop, and to the calls of versions
//! compiled for instructions that were found to be there.

pub(crate) mod direct;
pub(crate) mod elementwise;
pub(crate) mod lanes;
pub(crate) mod product;
pub(crate) mod winograd;

/// Channels are stored in multiples of this.
pub const LANES: usize = 8;

/// Channels as they are stored: rounded up to a multiple of [`LANES`].
pub const fn padded(channels: usize) -> usize {
    channels.next_multiple_of(LANES)
}

/// Instruction set to use. Only [`Isa::detect`] makes a wider one than the portable ones, after finding it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
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
const NATIVE_FMA: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

/// sum + a·b, fused or not.
#[inline(always)]
pub(crate) fn multiply_add<const FUSED: bool>(a: f32, b: f32, sum: f32) -> f32 {
    if FUSED { a.mul_add(b, sum) } else { sum + a * b }
}

/// Compiles a loop in [`Lanes`](lanes::Lanes) for every instruction set and writes the function that chooses:
/// `fn name(isa, arguments)`. Eight channels fill a register of AVX2; allowed wider ones, the compiler only loses time
/// with putting them together. The body may call functions that are `#[inline(always)]`.
macro_rules! versions {
    ($(#[$meta:meta])* fn $name:ident<$lanes:ident>($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        $(#[$meta])*
        #[allow(clippy::too_many_arguments)]
        pub(crate) fn $name(isa: $crate::net::kernel::Isa, $($argument: $type),*) {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn body<$lanes: $crate::net::kernel::lanes::Lanes>($($argument: $type),*) $body
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            #[allow(clippy::too_many_arguments)]
            fn avx2($($argument: $type),*) {
                body::<$crate::net::kernel::lanes::x86::Wide>($($argument),*);
            }
            match isa.0 {
                $crate::net::kernel::Level::Portable => {
                    body::<$crate::net::kernel::lanes::Plain<{ $crate::net::kernel::NATIVE_FMA }>>($($argument),*);
                }
                $crate::net::kernel::Level::PortableFused => {
                    body::<$crate::net::kernel::lanes::Plain<true>>($($argument),*);
                }
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Isa::detect` makes both only after finding AVX2 and FMA.
                $crate::net::kernel::Level::Avx2 | $crate::net::kernel::Level::Avx512 => unsafe {
                    avx2($($argument),*)
                },
            }
        }
    };
}
pub(crate) use versions;
