//! Rows times a fixed matrix in single precision, for linear maps on the way into a network and back.
//!
//! The matrix is kept in panels of `PANEL` columns, each in one piece, so that a panel stays in cache while blocks of
//! rows pass by. Sums run over the depth in its order, with fused multiply-adds, so results do not depend on how many rows
//! share a call.

use super::kernel::{Isa, ROWS, add_rows_times};

/// Columns multiplied at once: whole registers of every machine.
const PANEL: usize = 64;

/// A matrix, depth × width, and a row that is added to every product.
#[derive(Clone, Debug, PartialEq)]
pub struct Panels {
    depth: usize,
    width: usize,
    /// Panel by panel, each depth × `PANEL`, the last filled up with zeros.
    entries: Vec<f32>,
    /// As many as the panels are wide.
    constant: Vec<f32>,
}

impl Panels {
    /// From entries by row and column, and no constant.
    pub fn new(depth: usize, width: usize, entry: impl Fn(usize, usize) -> f32) -> Self {
        let panels = width.div_ceil(PANEL);
        let mut entries = vec![0.0; panels * PANEL * depth];
        for (p, panel) in entries.chunks_exact_mut((depth * PANEL).max(1)).enumerate() {
            for (row, panel) in panel.chunks_exact_mut(PANEL).enumerate() {
                for (column, out) in (p * PANEL..width).zip(panel) {
                    *out = entry(row, column);
                }
            }
        }
        Self { depth, width, entries, constant: vec![0.0; panels * PANEL] }
    }

    /// The same with a row that is added, `width` numbers.
    ///
    /// Panics unless there are as many.
    #[must_use]
    pub fn plus(mut self, constant: &[f32]) -> Self {
        assert_eq!(constant.len(), self.width, "a number per column");
        self.constant[..self.width].copy_from_slice(constant);
        self
    }

    /// Numbers of a row that is multiplied.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Numbers of a product.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Products of `count` rows. Row i begins at `rows[i·stride]`, its product at `out[i·out_stride]`.
    ///
    /// Panics where rows or products lie beyond their ends.
    pub fn multiply(
        &self,
        isa: Isa,
        count: usize,
        (rows, stride): (&[f32], usize),
        (out, out_stride): (&mut [f32], usize),
    ) {
        let mut block = [0.0; ROWS * PANEL];
        let panels = self.entries.chunks_exact((self.depth * PANEL).max(1));
        for (p, (panel, constant)) in panels.zip(self.constant.chunks_exact(PANEL)).enumerate() {
            let kept = PANEL.min(self.width - p * PANEL);
            for top in (0..count).step_by(ROWS) {
                let some = ROWS.min(count - top);
                let row = |at: usize| &rows[(top + at.min(some - 1)) * stride..][..self.depth];
                let taken: [&[f32]; ROWS] = std::array::from_fn(row);
                let block = &mut block[..some * PANEL];
                block.chunks_exact_mut(PANEL).for_each(|row| row.copy_from_slice(constant));
                add_rows_times(isa, &taken[..some], panel, PANEL, block);
                for (at, block) in block.chunks_exact(PANEL).enumerate() {
                    let place = (top + at) * out_stride + p * PANEL;
                    out[place..place + kept].copy_from_slice(&block[..kept]);
                }
            }
        }
    }
}
