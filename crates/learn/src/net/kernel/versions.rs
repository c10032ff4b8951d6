//! One loop, compiled for every instruction set.

/// Compiles a loop in [`Lanes`](super::lanes::Lanes) for every instruction set and writes the function that chooses:
/// `fn name(isa, arguments)`. Eight channels fill a register of AVX2. AVX-512 brings twice as many registers, and, where the
/// loop is written `<L by channels>`, registers of sixteen if that argument is a multiple of sixteen: on some machines they
/// are twice as fast, on others no slower. The body may call functions that are `#[inline(always)]`.
macro_rules! versions {
    ($(#[$meta:meta])* fn $name:ident<$lanes:ident>($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        $crate::net::kernel::versions::versions! {
            @write [$(#[$meta])*] $name $lanes ($($argument: $type),*) $body
            { body::<$crate::net::kernel::lanes::Wide>($($argument),*) }
        }
    };
    ($(#[$meta:meta])* fn $name:ident<$lanes:ident by $by:ident>($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        $crate::net::kernel::versions::versions! {
            @write [$(#[$meta])*] $name $lanes ($($argument: $type),*) $body
            {
                if $by.is_multiple_of(<$crate::net::kernel::lanes::Double as $crate::net::kernel::lanes::Lanes>::WIDTH) {
                    body::<$crate::net::kernel::lanes::Double>($($argument),*);
                } else {
                    body::<$crate::net::kernel::lanes::Wide>($($argument),*);
                }
            }
        }
    };
    (@write [$(#[$meta:meta])*] $name:ident $lanes:ident ($($argument:ident: $type:ty),*) $body:block $widest:block) => {
        $(#[$meta])*
        #[allow(clippy::too_many_arguments)]
        pub(crate) fn $name(isa: $crate::net::kernel::isa::Isa, $($argument: $type),*) {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn body<$lanes: $crate::net::kernel::lanes::Lanes>($($argument: $type),*) $body
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            #[allow(clippy::too_many_arguments)]
            fn avx2($($argument: $type),*) {
                body::<$crate::net::kernel::lanes::Wide>($($argument),*);
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,avx512f,avx512vl")]
            #[allow(clippy::too_many_arguments)]
            fn avx512($($argument: $type),*) {
                $widest
            }
            match isa.0 {
                $crate::net::kernel::isa::Level::Portable => {
                    body::<$crate::net::kernel::lanes::Plain<{ $crate::net::kernel::isa::NATIVE_FMA }>>($($argument),*);
                }
                $crate::net::kernel::isa::Level::PortableFused => {
                    body::<$crate::net::kernel::lanes::Plain<true>>($($argument),*);
                }
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Isa::detect` makes it only after finding AVX2 and FMA.
                $crate::net::kernel::isa::Level::Avx2 => unsafe { avx2($($argument),*) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as before, with AVX-512 F and VL.
                $crate::net::kernel::isa::Level::Avx512(_) => unsafe { avx512($($argument),*) },
            }
        }
    };
}
pub(crate) use versions;
