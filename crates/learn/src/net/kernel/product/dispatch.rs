//! From an instruction set, a height and a width to the loop that is compiled for them.

use super::block::{Block, MOST};
#[cfg(target_arch = "x86_64")]
use super::x86;
use super::{Width, plain};
#[cfg(target_arch = "x86_64")]
use crate::net::kernel::isa::Units;
use crate::net::kernel::isa::{Isa, Level, NATIVE_FMA};

/// A, B and C.
type Operands = (*const f32, *const f32, *mut f32);

/// Calls `$call!` with the height that `$rows` is.
macro_rules! heights {
    ($rows:expr, $call:ident, $($height:literal)*) => {
        match $rows {
            $($height => $call!($height),)*
            _ => unreachable!("no block is higher"),
        }
    };
}

/// Calls the loop of the width that `$width` is.
macro_rules! widths {
    ($width:expr, $operands:expr, $block:expr, $whole:expr, $half:expr, $pairs:expr) => {{
        let (a, b, c) = $operands;
        match $width {
            Width::Whole => $whole(a, b, c, $block),
            Width::Half => $half(a, b, c, $block),
            Width::Pairs => $pairs(a, b, c, $block),
        }
    }};
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
    #[inline(always)] // operands stay in registers
    pub(super) unsafe fn block(self, rows: usize, width: Width, operands: Operands, block: &Block) {
        // SAFETY: passed on to the caller.
        unsafe {
            match self.0 {
                Level::Portable => portable::<NATIVE_FMA>(rows, width, operands, block),
                Level::PortableFused => portable::<true>(rows, width, operands, block),
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => avx2(rows, width, operands, block),
                #[cfg(target_arch = "x86_64")]
                Level::Avx512(units) => avx512(units, rows, width, operands, block),
            }
        }
    }
}

/// # Safety
/// As of [`Isa::block`].
#[inline(always)]
unsafe fn portable<const FUSED: bool>(rows: usize, width: Width, operands: Operands, block: &Block) {
    macro_rules! call {
        ($h:literal) => {
            // SAFETY: passed on to the caller.
            unsafe {
                widths!(
                    width,
                    operands,
                    block,
                    plain::whole::<$h, FUSED>,
                    plain::half::<$h, FUSED>,
                    plain::pairs::<$h, FUSED>
                )
            }
        };
    }
    heights!(rows, call, 1 2 3 4);
}

/// # Safety
/// As of [`Isa::block`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn avx2(rows: usize, width: Width, operands: Operands, block: &Block) {
    macro_rules! call {
        ($h:literal) => {
            // SAFETY: passed on to the caller.
            unsafe {
                widths!(
                    width,
                    operands,
                    block,
                    x86::avx2_whole::<$h>,
                    x86::avx2_half::<$h>,
                    x86::avx2_pairs::<$h>
                )
            }
        };
    }
    heights!(rows, call, 1 2 3 4 5 6);
}

/// # Safety
/// As of [`Isa::block`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn avx512(units: Units, rows: usize, width: Width, operands: Operands, block: &Block) {
    macro_rules! call {
        ($h:literal) => {
            // SAFETY: passed on to the caller.
            unsafe {
                match units {
                    Units::Whole => widths!(
                        width,
                        operands,
                        block,
                        x86::avx512_whole::<$h>,
                        x86::avx512_half::<$h>,
                        x86::avx512_pairs::<$h>
                    ),
                    Units::Halves => widths!(
                        width,
                        operands,
                        block,
                        x86::avx512_whole::<$h>,
                        x86::avx512_half::<$h>,
                        x86::avx512_parted::<$h>
                    ),
                }
            }
        };
    }
    heights!(rows, call, 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
}
