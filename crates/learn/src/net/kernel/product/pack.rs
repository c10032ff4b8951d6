//! The layout of packed columns.
//!
//! Panel after panel; a whole one has its terms (s, k) in order, [`PANEL`] numbers each. Half a panel has for each segment
//! its terms in pairs, column by column both numbers of a pair; an odd last term is paired with zeros.

use super::block::PANEL;
use crate::net::kernel::isa::LANES;
use rayon::prelude::*;

/// Numbers of packed columns.
pub(super) fn packed_len(segments: usize, depth: usize, columns: usize) -> usize {
    let (whole, rest) = (columns / PANEL * PANEL, columns % PANEL);
    segments * (depth * whole + if rest > 0 { depth.div_ceil(2) * PANEL } else { 0 })
}

/// Packs B, rows of `columns` numbers (a multiple of [`LANES`]), one per term, `depth` terms a segment.
pub(crate) fn pack(b: &[f32], depth: usize, columns: usize, out: &mut Vec<f32>) {
    assert!(columns.is_multiple_of(LANES) && depth > 0 && b.len().is_multiple_of(depth * columns));
    let terms = b.len() / columns.max(1);
    out.clear();
    out.resize(packed_len(terms / depth, depth, columns), 0.0);
    let mut rest = &mut out[..];
    for first in (0..columns).step_by(PANEL) {
        if columns - first >= PANEL {
            let (panel, after) = rest.split_at_mut(terms * PANEL);
            rest = after;
            for (out, row) in panel.chunks_exact_mut(PANEL).zip(b.chunks_exact(columns)) {
                out.copy_from_slice(&row[first..first + PANEL]);
            }
        } else {
            let segments = rest.chunks_exact_mut(depth.div_ceil(2) * PANEL);
            for (out, rows) in segments.zip(b.chunks_exact(depth * columns)) {
                for (k, row) in rows.chunks_exact(columns).enumerate() {
                    for (j, &value) in row[first..].iter().enumerate() {
                        out[packed_pair(k, j)] = value;
                    }
                }
            }
        }
    }
}

/// Packs B of one segment from its numbers, asked for by term and column, panels side by side on all threads.
pub(crate) fn pack_from(
    depth: usize,
    columns: usize,
    number: impl Fn(usize, usize) -> f32 + Sync,
    out: &mut Vec<f32>,
) {
    assert!(columns.is_multiple_of(LANES) && depth > 0);
    // Every place is written below.
    out.resize(packed_len(1, depth, columns), 0.0);
    let whole = columns / PANEL * PANEL;
    let (panels, half) = out.split_at_mut(depth * whole);
    panels.par_chunks_mut(depth * PANEL).enumerate().for_each(|(at, panel)| {
        for (k, row) in panel.chunks_exact_mut(PANEL).enumerate() {
            row.iter_mut().enumerate().for_each(|(j, out)| *out = number(k, at * PANEL + j));
        }
    });
    if !half.is_empty() {
        for k in 0..depth.next_multiple_of(2) {
            for j in 0..columns - whole {
                half[packed_pair(k, j)] = if k < depth { number(k, whole + j) } else { 0.0 };
            }
        }
    }
}

/// Where the number of term k and column j lies in half a panel.
#[inline(always)]
pub(crate) fn packed_pair(k: usize, j: usize) -> usize {
    k / 2 * PANEL + 2 * j + k % 2
}
