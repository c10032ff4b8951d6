//! Products of small matrices, the one innermost loop under every convolution and linear layer.
//!
//! C[p][j] ← Σ_s Σ_k A[p, s, k]·B[s, k, j], and what [`End`] says.
//!
//! Rows p and terms (s, k) of A lie wherever [`Rows`] says, so that a padded image serves as A without being copied: a
//! row of a convolution's kernel is one run of numbers, and the kernel a few such runs, the segments s. B is either packed
//! into panels of [`PANEL`] columns or lies row by row.
//!
//! A block of a few rows times one panel is kept in registers; each of its entries is added up over s and k in order,
//! one fused multiply-add per term. Blocks therefore change nothing about the result, nor does the instruction set
//! (unless it lacks fused multiply-adds).
//!
//! **Half a panel** of packed columns is as much work as a whole one, done in half the time: its terms come in pairs. For
//! each column the sum over even k is kept apart from that over odd k, beside each other or in two registers, and the two are
//! added at the end, on every machine.

#![allow(unsafe_code)]

mod block;
mod dispatch;
mod pack;
mod plain;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::isa::{Isa, LANES};
pub(super) use block::PANEL;
use block::{Block, GROUP, GROUPS};
use pack::packed_len;
pub(crate) use pack::{pack, pack_from, packed_pair};

/// Where the numbers of A lie: A[p, s, k] at `p·row + s·segment + k·term`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) row: usize,
    pub(crate) segment: usize,
    /// 1 where B is packed.
    pub(crate) term: usize,
}

/// Where the numbers of B lie.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Columns {
    /// As [`pack`] and [`pack_from`] lay them.
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
pub(crate) struct ProductBatch {
    pub(crate) count: usize,
    pub(crate) a: usize,
    pub(crate) c: usize,
}

/// What becomes of the sums.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End<'a> {
    /// They replace what C holds.
    Store,
    /// They begin with what C holds. Not with packed columns.
    Accumulate,
    /// A number per column is added to each, then max(·, 0) is taken where asked for; NaN stays NaN.
    Close { bias: &'a [f32], relu: bool },
}

/// How a panel is computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    Whole,
    /// Half a panel, term by term.
    Half,
    /// Half a panel, two terms at a time.
    Pairs,
}

/// One product.
///
/// Panics where A, B or C are too short for what is asked.
pub(crate) fn product(
    isa: Isa,
    sizes: Sizes,
    a: (&[f32], Rows),
    b: (&[f32], Columns),
    c: &mut [f32],
    end: End<'_>,
) {
    products(isa, ProductBatch { count: 1, a: 0, c: 0 }, sizes, a, b, c, end);
}

/// A series of them.
///
/// Panics where A, B or C are too short for what is asked.
pub(crate) fn products(
    isa: Isa,
    series: ProductBatch,
    sizes: Sizes,
    (a, at): (&[f32], Rows),
    (b, bt): (&[f32], Columns),
    c: &mut [f32],
    end: End<'_>,
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
        Columns::Packed => packed_len(segments, depth, columns),
        Columns::Strided { segment, term } => (segments - 1) * segment + (depth - 1) * term + columns,
    };
    assert!(
        furthest < a.len()
            && b_needed <= b.len()
            && last * series.c + (rows - 1) * out_row + columns <= c.len(),
        "a product beyond its operands"
    );
    let packed = matches!(bt, Columns::Packed);
    let (bias, relu) = match end {
        End::Close { bias, relu } => (Some(bias), relu),
        End::Store | End::Accumulate => (None, false),
    };
    let accumulate = matches!(end, End::Accumulate);
    assert!(!packed || (at.term == 1 && !accumulate), "packed columns take neighbours, and begin new sums");
    assert!(bias.is_none_or(|bias| bias.len() >= columns), "a bias per column");
    let cut = Cut::new(isa, rows, series.count);
    for first in (0..columns).step_by(PANEL) {
        let width = match (columns - first >= PANEL, packed) {
            (true, _) => Width::Whole,
            (false, true) => Width::Pairs,
            (false, false) => Width::Half,
        };
        let (b_at, b_segment, b_term) = match (bt, width) {
            (Columns::Strided { segment, term }, _) => (first, segment, term),
            (Columns::Packed, Width::Whole) => (segments * depth * first, depth * PANEL, PANEL),
            (Columns::Packed, _) => (segments * depth * first, depth.div_ceil(2) * PANEL, PANEL),
        };
        let block = Block {
            a_row: at.row,
            a_groups: cut.groups(at.row, series.a),
            c_groups: cut.groups(out_row, series.c),
            a_segment: at.segment,
            a_term: at.term,
            b_segment,
            b_term,
            segments,
            depth,
            c_row: out_row,
            accumulate,
            bias: bias.map_or(std::ptr::null(), |bias| bias[first..].as_ptr()),
            relu,
        };
        let b = b[b_at..].as_ptr();
        for (low, high) in cut.blocks() {
            for place in (0..series.count).step_by(cut.lines) {
                // The last lines may be fewer.
                let lines = cut.lines.min(series.count - place);
                let height = (high - low) * lines;
                let a = a[place * series.a + low * at.row..].as_ptr();
                let c = c[place * series.c + low * out_row + first..].as_mut_ptr();
                // SAFETY: the furthest numbers that a block of these rows and columns touches are within the slices, by
                // the assertions above, in which rows of several lines are those of their products; `Isa::detect` made
                // `isa` after finding its instructions.
                unsafe { isa.block(height, width, a, b, c, &block) };
            }
        }
    }
}

/// How the rows of a series are cut into blocks: each of `lines` products, or each a part of one.
struct Cut {
    /// Rows of a product.
    rows: usize,
    lines: usize,
    parts: usize,
}

impl Cut {
    fn new(isa: Isa, rows: usize, count: usize) -> Self {
        let most = isa.rows();
        // Groups of rows lie within a line.
        let lines = if rows.is_multiple_of(GROUP) { (most / rows).clamp(1, count) } else { 1 };
        Self { rows, lines, parts: rows.div_ceil(most) }
    }

    /// Of nearly equal height: a thin one at the end would run at a fraction of the speed.
    fn blocks(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (rows, parts) = (self.rows, self.parts);
        (0..parts).map(move |i| (i * rows / parts, (i + 1) * rows / parts))
    }

    /// Where groups of rows begin, for rows and lines so far apart.
    fn groups(&self, row: usize, line: usize) -> [usize; GROUPS] {
        std::array::from_fn(|g| {
            let first = GROUP * g;
            if self.lines > 1 { first / self.rows * line + first % self.rows * row } else { first * row }
        })
    }
}

#[cfg(test)]
mod tests;
