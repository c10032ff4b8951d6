//! From an instruction set, a height and a width to the loop that is compiled for them.

use super::block::{Block, MOST};
#[cfg(target_arch = "x86_64")]
use super::x86;
use super::{Width, plain};
#[cfg(target_arch = "x86_64")]
use crate::net::kernel::isa::Units;
use crate::net::kernel::isa::{Isa, Level, NATIVE_FMA};

/// Evaluates `$call`, in which `ROWS` is the constant that `$rows` is.
macro_rules! by_height {
    ($rows:expr, [$($height:literal)*], $call:expr) => {
        match $rows {
            $($height => {
                const ROWS: usize = $height;
                $call
            })*
            _ => unreachable!("no block is higher"),
        }
    };
}

impl Isa {
    /// Rows of a block: as many accumulators as leave registers for B and the number of A.
    pub(super) fn rows(self) -> usize {
        match self.0 {
            Level::Portable | Level::PortableFused => 4,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => 6,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(_) => MOST,
        }
    }

    /// # Safety
    /// A, B and C must hold what `block` reaches from their pointers for `rows` rows and a panel, and the machine must have
    /// the instructions.
    pub(super) unsafe fn block(
        self,
        rows: usize,
        width: Width,
        a: *const f32,
        b: *const f32,
        c: *mut f32,
        block: &Block,
    ) {
        macro_rules! by_width {
            ($whole:expr, $half:expr, $pairs:expr) => {
                match width {
                    Width::Whole => $whole(a, b, c, block),
                    Width::Half => $half(a, b, c, block),
                    Width::Pairs => $pairs(a, b, c, block),
                }
            };
        }
        macro_rules! plain {
            ($fused:expr) => {
                by_width!(
                    plain::whole::<ROWS, { $fused }>,
                    plain::half::<ROWS, { $fused }>,
                    plain::pairs::<ROWS, { $fused }>
                )
            };
        }
        macro_rules! avx512 {
            ($pairs:ident) => {
                by_width!(x86::avx512_whole::<ROWS>, x86::avx512_half::<ROWS>, x86::$pairs::<ROWS>)
            };
        }
        // SAFETY: passed on to the caller.
        unsafe {
            match self.0 {
                Level::Portable => by_height!(rows, [1 2 3 4], plain!(NATIVE_FMA)),
                Level::PortableFused => by_height!(rows, [1 2 3 4], plain!(true)),
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => by_height!(
                    rows,
                    [1 2 3 4 5 6],
                    by_width!(x86::avx2_whole::<ROWS>, x86::avx2_half::<ROWS>, x86::avx2_pairs::<ROWS>)
                ),
                #[cfg(target_arch = "x86_64")]
                Level::Avx512(units) => by_height!(
                    rows,
                    [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16],
                    match units {
                        Units::Whole => avx512!(avx512_pairs),
                        Units::Halves => avx512!(avx512_parted),
                    }
                ),
            }
        }
    }
}
