//! Blocks as plain loops, for any machine.

use super::block::{Block, GROUP, PANEL};
use crate::net::kernel::isa::{LANES, multiply_add};

/// Where row p begins.
#[inline(always)]
fn row(groups: &[usize], step: usize, p: usize) -> usize {
    groups[p / GROUP] + p % GROUP * step
}

/// # Safety
/// As [`Isa::block`](super::Isa).
#[inline(always)]
pub(super) unsafe fn whole<const ROWS: usize, const FUSED: bool>(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    block: &Block,
) {
    // SAFETY: the caller's.
    unsafe { terms::<FUSED, ROWS, PANEL>(a, b, c, block) }
}

/// # Safety
/// As [`Isa::block`](super::Isa).
#[inline(always)]
pub(super) unsafe fn half<const ROWS: usize, const FUSED: bool>(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    block: &Block,
) {
    // SAFETY: the caller's.
    unsafe { terms::<FUSED, ROWS, LANES>(a, b, c, block) }
}

/// # Safety
/// As [`Isa::block`](super::Isa).
#[inline(always)]
unsafe fn terms<const FUSED: bool, const ROWS: usize, const WIDTH: usize>(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    block: &Block,
) {
    let mut sums = [[0.0_f32; WIDTH]; ROWS];
    // SAFETY: the caller's.
    unsafe {
        if block.accumulate {
            for (p, sums) in sums.iter_mut().enumerate() {
                *sums = c.add(row(&block.c_groups, block.c_row, p)).cast::<[f32; WIDTH]>().read_unaligned();
            }
        }
        for s in 0..block.segments {
            let (mut a, mut b) = (a.add(s * block.a_segment), b.add(s * block.b_segment));
            for _ in 0..block.depth {
                let columns = b.cast::<[f32; WIDTH]>().read_unaligned();
                for (p, sums) in sums.iter_mut().enumerate() {
                    let x = *a.add(row(&block.a_groups, block.a_row, p));
                    for (sum, y) in sums.iter_mut().zip(&columns) {
                        *sum = multiply_add::<FUSED>(x, *y, *sum);
                    }
                }
                (a, b) = (a.wrapping_add(block.a_term), b.wrapping_add(block.b_term));
            }
        }
        for (p, sums) in sums.iter().enumerate() {
            end(*sums, c.add(row(&block.c_groups, block.c_row, p)), block);
        }
    }
}

/// # Safety
/// As [`Isa::block`](super::Isa).
#[inline(always)]
pub(super) unsafe fn pairs<const ROWS: usize, const FUSED: bool>(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    block: &Block,
) {
    let mut sums = [[0.0_f32; PANEL]; ROWS];
    // SAFETY: the caller's.
    unsafe {
        for s in 0..block.segments {
            let (a, b) = (a.add(s * block.a_segment), b.add(s * block.b_segment));
            for k in (0..block.depth).step_by(2) {
                let columns = b.add(k / 2 * PANEL).cast::<[f32; PANEL]>().read_unaligned();
                for (p, sums) in sums.iter_mut().enumerate() {
                    let x = a.add(row(&block.a_groups, block.a_row, p) + k);
                    let x = [*x, if k + 1 < block.depth { *x.add(1) } else { 0.0 }];
                    for (j, (sum, y)) in sums.iter_mut().zip(&columns).enumerate() {
                        *sum = multiply_add::<FUSED>(x[j % 2], *y, *sum);
                    }
                }
            }
        }
        for (p, sums) in sums.iter().enumerate() {
            let sums: [f32; LANES] = std::array::from_fn(|j| sums[2 * j] + sums[2 * j + 1]);
            end(sums, c.add(row(&block.c_groups, block.c_row, p)), block);
        }
    }
}

/// # Safety
/// There must be room at `c`, and a bias per column.
#[inline(always)]
unsafe fn end<const WIDTH: usize>(mut sums: [f32; WIDTH], c: *mut f32, block: &Block) {
    // SAFETY: the caller's.
    unsafe {
        if !block.bias.is_null() {
            let bias = block.bias.cast::<[f32; WIDTH]>().read_unaligned();
            for (sum, bias) in sums.iter_mut().zip(&bias) {
                *sum += bias;
                *sum = if block.relu && 0.0 > *sum { 0.0 } else { *sum };
            }
        }
        c.cast::<[f32; WIDTH]>().write_unaligned(sums);
    }
}
