//! What the loops of all instruction sets are told about a block.

/// Columns of a panel of B. The last panel has [`LANES`](super::super::isa::LANES) where the number of columns is odd in that unit.
pub(in super::super) const PANEL: usize = 16;

/// The highest block.
pub(super) const MOST: usize = 16;
/// Rows that share a pointer: addresses have room for a few steps beyond it.
pub(super) const GROUP: usize = 4;
pub(super) const GROUPS: usize = MOST / GROUP;

/// What a block needs to know, in numbers of `f32`.
#[derive(Clone, Copy)]
pub(super) struct Block {
    pub(super) a_row: usize,
    /// Where rows 0, 4, 8, 12 of A and C begin.
    pub(super) a_groups: [usize; GROUPS],
    pub(super) c_groups: [usize; GROUPS],
    pub(super) a_segment: usize,
    pub(super) a_term: usize,
    pub(super) b_segment: usize,
    pub(super) b_term: usize,
    pub(super) segments: usize,
    pub(super) depth: usize,
    pub(super) c_row: usize,
    pub(super) accumulate: bool,
    /// One per column, or null.
    pub(super) bias: *const f32,
    pub(super) relu: bool,
}
