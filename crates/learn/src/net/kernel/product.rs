//! Products of small matrices, the one innermost loop under every convolution and linear layer.
//!
//! C[p][j] ← (C[p][j] +) Σ_s Σ_k A[p, s, k]·B[s, k, j]
//!
//! Rows p and terms (s, k) of A lie wherever [`Rows`] says, so that a padded image serves as A without being copied: a
//! row of a convolution's kernel is one run of numbers, and the kernel a few such runs, the segments s. B is either packed
//! into panels of [`PANEL`] columns or lies row by row.
//!
//! A block of a few rows times one panel is kept in registers; each of its entries is added up over s and k in order,
//! one fused multiply-add per term. Blocks therefore change nothing about the result, nor does the instruction set
//! (unless it lacks fused multiply-adds).

#![allow(unsafe_code)]

use super::isa::{Isa, LANES, Level, NATIVE_FMA, multiply_add};

/// Columns of a panel of B. The last panel has [`LANES`] where the number of columns is odd in that unit.
pub(crate) const PANEL: usize = 16;

/// Where the numbers of A lie: A[p, s, k] at `p·row + s·segment + k·term`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) row: usize,
    pub(crate) segment: usize,
    pub(crate) term: usize,
}

/// Where the numbers of B lie.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Columns {
    /// Panel after panel, each with its terms (s, k) in order, [`PANEL`] numbers a term (fewer in the last panel).
    Packed,
    /// B[s, k, j] at `s·segment + k·term + j`.
    Strided { segment: usize, term: usize },
}

/// The sizes of a product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Rows of C.
    pub(crate) rows: usize,
    /// Columns of C, a multiple of [`LANES`].
    pub(crate) columns: usize,
    /// Segments s.
    pub(crate) segments: usize,
    /// Terms k of a segment.
    pub(crate) depth: usize,
    /// From a row of C to the next.
    pub(crate) out_row: usize,
}

/// Products of the same B that follow each other: number i has its A at `i·a` and its C at `i·c`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Series {
    pub(crate) count: usize,
    pub(crate) a: usize,
    pub(crate) c: usize,
}

/// What a block needs to know, in numbers of `f32`.
#[derive(Clone, Copy)]
struct Block {
    a_row: usize,
    a_segment: usize,
    a_term: usize,
    b_segment: usize,
    b_term: usize,
    segments: usize,
    depth: usize,
    c_row: usize,
    accumulate: bool,
}

/// One product. With `accumulate` it is added to what C holds.
///
/// Panics where A, B or C are too short for what is asked.
pub(crate) fn product(
    isa: Isa,
    sizes: Sizes,
    a: (&[f32], Rows),
    b: (&[f32], Columns),
    c: &mut [f32],
    accumulate: bool,
) {
    products(isa, Series { count: 1, a: 0, c: 0 }, sizes, a, b, c, accumulate);
}

/// A series of them.
///
/// Panics where A, B or C are too short for what is asked.
pub(crate) fn products(
    isa: Isa,
    series: Series,
    sizes: Sizes,
    (a, at): (&[f32], Rows),
    (b, bt): (&[f32], Columns),
    c: &mut [f32],
    accumulate: bool,
) {
    let Sizes { rows, columns, segments, depth, out_row } = sizes;
    if rows == 0 || columns == 0 || series.count == 0 {
        return;
    }
    assert!(columns.is_multiple_of(LANES) && segments > 0 && depth > 0, "a product of nothing");
    let last = series.count - 1;
    let furthest =
        last * series.a + (rows - 1) * at.row + (segments - 1) * at.segment + (depth - 1) * at.term;
    let b_needed = match bt {
        Columns::Packed => segments * depth * columns,
        Columns::Strided { segment, term } => (segments - 1) * segment + (depth - 1) * term + columns,
    };
    assert!(
        furthest < a.len()
            && b_needed <= b.len()
            && last * series.c + (rows - 1) * out_row + columns <= c.len(),
        "a product beyond its operands"
    );
    let most = isa.rows();
    // Blocks of nearly equal height: a thin one at the end would run at a fraction of the speed.
    let blocks = rows.div_ceil(most);
    for first in (0..columns).step_by(PANEL) {
        let width = PANEL.min(columns - first);
        let (b_at, b_segment, b_term) = match bt {
            Columns::Packed => (segments * depth * first, depth * width, width),
            Columns::Strided { segment, term } => (first, segment, term),
        };
        let block = Block {
            a_row: at.row,
            a_segment: at.segment,
            a_term: at.term,
            b_segment,
            b_term,
            segments,
            depth,
            c_row: out_row,
            accumulate,
        };
        let b = b[b_at..].as_ptr();
        for i in 0..blocks {
            let (low, high) = (i * rows / blocks, (i + 1) * rows / blocks);
            let (a, c) = (a[low * at.row..].as_ptr(), c[low * out_row + first..].as_mut_ptr());
            for place in 0..series.count {
                // SAFETY: the furthest numbers that a block of these rows and columns touches are within the slices, by
                // the assertion above; `Isa::detect` made `isa` after finding its instructions.
                unsafe {
                    let (a, c) = (a.add(place * series.a), c.add(place * series.c));
                    isa.block(high - low, width, a, b, c, &block);
                }
            }
        }
    }
}

impl Isa {
    /// Rows of a block: as many accumulators as leave registers for B and the number of A.
    fn rows(self) -> usize {
        match self.0 {
            Level::Portable | Level::PortableFused => 4,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => 6,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => 12,
        }
    }

    /// # Safety
    /// A, B and C must hold what `block` reaches from their pointers for `rows` rows and `width` columns, and the machine
    /// must have the instructions.
    unsafe fn block(
        self,
        rows: usize,
        width: usize,
        a: *const f32,
        b: *const f32,
        c: *mut f32,
        block: &Block,
    ) {
        macro_rules! heights {
            ($call:ident, $($height:literal)*) => {
                match rows {
                    $($height => $call!($height),)*
                    _ => unreachable!("no block is higher"),
                }
            };
        }
        // SAFETY: passed on to the caller.
        unsafe {
            match self.0 {
                Level::Portable => {
                    macro_rules! call {
                        ($h:literal) => {
                            if width == PANEL {
                                plain::<NATIVE_FMA, $h, PANEL>(a, b, c, block)
                            } else {
                                plain::<NATIVE_FMA, $h, LANES>(a, b, c, block)
                            }
                        };
                    }
                    heights!(call, 1 2 3 4);
                }
                Level::PortableFused => {
                    macro_rules! call {
                        ($h:literal) => {
                            if width == PANEL {
                                plain::<true, $h, PANEL>(a, b, c, block)
                            } else {
                                plain::<true, $h, LANES>(a, b, c, block)
                            }
                        };
                    }
                    heights!(call, 1 2 3 4);
                }
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => {
                    macro_rules! call {
                        ($h:literal) => {
                            if width == PANEL {
                                x86::avx2::<$h, 2>(a, b, c, block)
                            } else {
                                x86::avx2::<$h, 1>(a, b, c, block)
                            }
                        };
                    }
                    heights!(call, 1 2 3 4 5 6);
                }
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => {
                    macro_rules! call {
                        ($h:literal) => {
                            if width == PANEL {
                                x86::avx512::<$h>(a, b, c, block)
                            } else {
                                x86::avx512_half::<$h>(a, b, c, block)
                            }
                        };
                    }
                    heights!(call, 1 2 3 4 5 6 7 8 9 10 11 12);
                }
            }
        }
    }
}

/// # Safety
/// As [`Isa::block`].
#[inline(always)]
unsafe fn plain<const FUSED: bool, const ROWS: usize, const WIDTH: usize>(
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
                *sums = c.add(p * block.c_row).cast::<[f32; WIDTH]>().read_unaligned();
            }
        }
        for s in 0..block.segments {
            let (mut a, mut b) = (a.add(s * block.a_segment), b.add(s * block.b_segment));
            for _ in 0..block.depth {
                let columns = b.cast::<[f32; WIDTH]>().read_unaligned();
                for (p, sums) in sums.iter_mut().enumerate() {
                    let x = *a.add(p * block.a_row);
                    for (sum, y) in sums.iter_mut().zip(&columns) {
                        *sum = multiply_add::<FUSED>(x, *y, *sum);
                    }
                }
                (a, b) = (a.add(block.a_term), b.add(block.b_term));
            }
        }
        for (p, sums) in sums.iter().enumerate() {
            c.add(p * block.c_row).cast::<[f32; WIDTH]>().write_unaligned(*sums);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Block;
    use std::arch::x86_64::{
        _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps,
        _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_storeu_ps,
    };

    /// The highest block.
    const MOST: usize = 12;
    /// Rows that share a pointer: addresses have room for one or two steps beyond it.
    const GROUP: usize = 3;

    /// Writes one version: `$vectors` registers of `$lanes` columns per row.
    macro_rules! block {
        ($(#[$meta:meta])* $name:ident, $features:literal, [$($vectors:tt)*], $count:expr, $lanes:literal, $zero:ident,
         $load:ident, $store:ident, $splat:ident, $fused:ident) => {
            $(#[$meta])*
            #[target_feature(enable = $features)]
            pub(super) unsafe fn $name<const ROWS: usize $($vectors)*>(
                a: *const f32,
                b: *const f32,
                c: *mut f32,
                block: &Block,
            ) {
                let mut sums = [[$zero(); $count]; ROWS];
                // SAFETY: the caller's, for every load and store below.
                unsafe {
                    if block.accumulate {
                        for p in 0..ROWS {
                            for v in 0..$count {
                                sums[p][v] = $load(c.add(p * block.c_row + $lanes * v));
                            }
                        }
                    }
                    for s in 0..block.segments {
                        let (a, mut b) = (a.add(s * block.a_segment), b.add(s * block.b_segment));
                        // One pointer per three rows: one for all would be a chain of additions as long as the products.
                        let mut a: [*const f32; MOST / GROUP] =
                            std::array::from_fn(|g| a.add((GROUP * g).min(ROWS - 1) * block.a_row));
                        for _ in 0..block.depth {
                            let columns: [_; $count] = std::array::from_fn(|v| $load(b.add($lanes * v)));
                            for p in 0..ROWS {
                                let x = $splat(*a[p / GROUP].add(p % GROUP * block.a_row));
                                for v in 0..$count {
                                    sums[p][v] = $fused(x, columns[v], sums[p][v]);
                                }
                            }
                            for g in 0..ROWS.div_ceil(GROUP) {
                                a[g] = a[g].add(block.a_term);
                            }
                            b = b.add(block.b_term);
                        }
                    }
                    for p in 0..ROWS {
                        for v in 0..$count {
                            $store(c.add(p * block.c_row + $lanes * v), sums[p][v]);
                        }
                    }
                }
            }
        };
    }
    block!(
        /// # Safety
        /// As [`Isa::block`](super::Isa), with AVX2 and FMA.
        avx2, "avx2,fma", [, const VECTORS: usize], VECTORS, 8,
        _mm256_setzero_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps, _mm256_fmadd_ps
    );
    block!(
        /// # Safety
        /// As [`Isa::block`](super::Isa), with AVX-512.
        avx512, "avx512f", [], 1, 16,
        _mm512_setzero_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps, _mm512_fmadd_ps
    );
    block!(
        /// # Safety
        /// As [`Isa::block`](super::Isa), with AVX2 and FMA, and AVX-512's registers.
        avx512_half, "avx2,fma,avx512f,avx512vl", [], 1, 8,
        _mm256_setzero_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps, _mm256_fmadd_ps
    );
}

/// Packs B, `terms` rows of `columns` numbers (a multiple of [`LANES`]), into panels.
pub(crate) fn pack(b: &[f32], columns: usize, out: &mut [f32]) {
    assert!(b.len() == out.len() && columns.is_multiple_of(LANES));
    let terms = b.len() / columns.max(1);
    let mut rest = out;
    for first in (0..columns).step_by(PANEL) {
        let width = PANEL.min(columns - first);
        let (panel, after) = rest.split_at_mut(terms * width);
        rest = after;
        for (out, row) in panel.chunks_exact_mut(width).zip(b.chunks_exact(columns)) {
            out.copy_from_slice(&row[first..first + width]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small integers: every order of summation gives the same.
    #[test]
    fn products_are_exact_on_small_integers() {
        for (rows, columns, segments, depth) in [(1, 8, 1, 1), (5, 24, 3, 7), (13, 16, 2, 5), (37, 40, 1, 9)]
        {
            let term = |i: usize| f32::from(i8::try_from(i % 13).expect("small")) - 6.0;
            let (row, segment) = (depth + 2, rows * (depth + 2) + 3);
            let a: Vec<f32> = (0..segments * segment + row).map(|i| term(i * 7)).collect();
            let b: Vec<f32> = (0..segments * depth * columns).map(|i| term(i * 5 + 3)).collect();
            let mut packed = vec![0.0; b.len()];
            pack(&b, columns, &mut packed);
            for isa in Isa::all() {
                for (accumulate, columns_of) in [
                    (false, Columns::Packed),
                    (true, Columns::Strided { segment: depth * columns, term: columns }),
                ] {
                    let out_row = columns + 8;
                    let mut c = vec![1.0; rows * out_row];
                    let from = if matches!(columns_of, Columns::Packed) { &packed } else { &b };
                    let sizes = Sizes { rows, columns, segments, depth, out_row };
                    let at = Rows { row, segment, term: 1 };
                    product(isa, sizes, (&a, at), (from, columns_of), &mut c, accumulate);
                    for p in 0..rows {
                        for j in 0..columns {
                            let mut sum = if accumulate { 1.0 } else { 0.0 };
                            for s in 0..segments {
                                for k in 0..depth {
                                    sum += a[p * row + s * segment + k] * b[(s * depth + k) * columns + j];
                                }
                            }
                            assert_eq!(c[p * out_row + j], sum, "{isa:?} {p} {j}");
                        }
                        assert!(c[p * out_row + columns..][..8].iter().all(|x| *x == 1.0), "nothing beyond");
                    }
                }
            }
        }
    }
}
