//! Blocked, multi-threaded Cholesky factorisation that only answers whether it ran to completion.
//!
//! Left-looking over tile columns: update the column by all finished ones, factorise its diagonal tile, solve
//! for the tiles below. Only the lower triangle is stored, n²/2 numbers, in the panel layout of
//! [`kernel`](crate::kernel), so every flop of weight goes through one register-blocked loop.
//!
//! What the proof in [`definite`](crate::quadratic::definite) needs of this file: each entry of the factor is computed as
//!
//! * l_ij = fl((b_ij − Σ_{k<j} l_ik·l_jk) / l_jj) for i > j, with a true division, and
//! * l_jj = fl(√(b_jj − Σ_{k<j} l_jk²)) where that difference is positive,
//!
//! the differences evaluated in *some* order with roundings to nearest, products fused or not. No reciprocals,
//! no inverses of diagonal blocks, no fast matrix multiplication: those would not be covered.

use crate::Rejected;
use crate::kernel::Isa;
use crate::kernel::panels::{PANEL, subtract_product};
use crate::threads::{Stop, share};

/// Columns in a tile; a multiple of `PANEL`. A panel of a tile (36 kB) fits the first-level cache.
const TILE: usize = 8 * PANEL;
/// Columns factorised at once inside a tile.
const STEP: usize = 8;

/// Some rows and columns of the lower triangle, in panel layout.
struct Tile {
    width: usize,
    /// ⌈rows / PANEL⌉ panels of `width · PANEL` values.
    data: Vec<f64>,
}

/// Lower triangle of a symmetric matrix, by tile columns: `columns[j][i - j]` is tile (i, j).
pub(crate) struct LowerTriangle {
    columns: Vec<Vec<Tile>>,
    threads: usize,
}

/// Fills column `j` of the lower triangle, rows `first..first + out.len()`, into `out`.
pub(crate) type FillColumn<'a> = &'a (dyn Fn(usize, usize, &mut [f64]) + Sync);

impl LowerTriangle {
    /// Reads the lower triangle of an n × n matrix. Rows above the diagonal may be asked for and are ignored.
    pub(crate) fn read(n: usize, threads: usize, fill: FillColumn<'_>) -> Self {
        let count = n.div_ceil(TILE);
        let size = |i: usize| TILE.min(n - i * TILE);
        let mut places: Vec<(usize, usize)> = Vec::new();
        for j in 0..count {
            places.extend((j..count).map(|i| (i, j)));
        }
        let mut tiles: Vec<Option<Tile>> = Vec::new();
        tiles.resize_with(places.len(), || None);
        share(threads, tiles.iter_mut().zip(&places), |(tile, &(i, j))| {
            let (rows, width) = (size(i), size(j));
            let mut data = vec![0.0; rows.div_ceil(PANEL) * PANEL * width];
            let mut column = [0.0; TILE];
            for k in 0..width {
                let column = &mut column[..rows];
                fill(j * TILE + k, i * TILE, column);
                for (panel, rows) in data.chunks_mut(PANEL * width).zip(column.chunks(PANEL)) {
                    panel[k * PANEL..][..rows.len()].copy_from_slice(rows);
                }
            }
            *tile = Some(Tile { width, data });
        });
        let mut tiles = tiles.into_iter().flatten();
        let columns = (0..count).map(|j| tiles.by_ref().take(count - j).collect()).collect();
        Self { columns, threads }
    }

    /// A matrix of zeros, to be filled in.
    pub(crate) fn zeros(n: usize, threads: usize) -> Self {
        Self::read(n, threads, &|_, _, out| out.fill(0.0))
    }

    /// Entry (i, j), i ≥ j.
    pub(crate) fn entry(&mut self, i: usize, j: usize) -> &mut f64 {
        let tile = &mut self.columns[j / TILE][i / TILE - j / TILE];
        let (row, column) = (i % TILE, j % TILE);
        &mut tile.data[(row / PANEL * tile.width + column) * PANEL + row % PANEL]
    }

    /// Factorises in place; true if every pivot was positive and finite. Asks between tile columns whether to stop.
    pub(crate) fn factorises(mut self, stop: Stop<'_>) -> Result<bool, Rejected> {
        let isa = Isa::detect();
        for j in 0..self.columns.len() {
            if stop() {
                return Err(Rejected::Stopped);
            }
            let (finished, rest) = self.columns.split_at_mut(j);
            let current = &mut rest[0];
            share(self.threads, current.iter_mut().enumerate(), |(below, tile)| {
                for (k, column) in finished.iter().enumerate() {
                    subtract_tile_product(isa, tile, &column[j + below - k], &column[j - k]);
                }
            });
            let (diagonal, below) =
                current.split_first_mut().expect("every tile column has its diagonal tile");
            if !factorise_tile(isa, diagonal) {
                return Ok(false);
            }
            let diagonal = &*diagonal;
            share(self.threads, below.iter_mut(), |tile| solve_tile(isa, tile, diagonal));
        }
        Ok(true)
    }
}

/// C ← C − A·Bᵀ for whole tiles.
fn subtract_tile_product(isa: Isa, c: &mut Tile, a: &Tile, b: &Tile) {
    let width = c.width;
    for (c, a) in c.data.chunks_mut(width * PANEL).zip(a.data.chunks(a.width * PANEL)) {
        for (c, b) in c.chunks_mut(PANEL * PANEL).zip(b.data.chunks(b.width * PANEL)) {
            subtract_product(isa, c, a, b, 0..c.len() / PANEL);
        }
    }
}

/// The unit of the factorisation inside tiles: rows and columns `start..start + count` of the diagonal tile.
struct Step {
    count: usize,
    /// `factor[c][b]`: entry (start + c, start + b) of L, b ≤ c.
    factor: [[f64; STEP]; STEP],
}

impl Step {
    /// Solves X·Lᵀ = B for the `count` columns in `block` (PANEL rows each), in place.
    fn solve(&self, block: &mut [f64]) {
        let block = block.as_chunks_mut::<PANEL>().0;
        for c in 0..self.count {
            let (solved, rest) = block.split_at_mut(c);
            let column = &mut rest[0];
            for (b, solved) in solved.iter().enumerate() {
                let factor = self.factor[c][b];
                for (entry, solved) in column.iter_mut().zip(solved) {
                    *entry -= solved * factor;
                }
            }
            let pivot = self.factor[c][c];
            for entry in column.iter_mut() {
                *entry /= pivot;
            }
        }
    }

    /// Puts the factor itself into the diagonal block: `solve` has divided its pivots instead of rooting them.
    fn write(&self, block: &mut [f64], offset: usize) {
        for (b, column) in block.as_chunks_mut::<PANEL>().0.iter_mut().enumerate() {
            for c in b..self.count {
                column[offset + c] = self.factor[c][b];
            }
        }
    }

    /// Factorises the diagonal block that starts at row `offset` of the panel columns in `block`.
    fn factorise(count: usize, block: &mut [f64], offset: usize) -> Option<Self> {
        let mut step = Step { count, factor: [[0.0; STEP]; STEP] };
        let block = block.as_chunks_mut::<PANEL>().0;
        for c in 0..count {
            for row in c..count {
                let mut entry = block[c][offset + row];
                for b in 0..c {
                    entry -= step.factor[row][b] * step.factor[c][b];
                }
                step.factor[row][c] = if row > c {
                    entry / step.factor[c][c]
                } else if entry > 0.0 && entry.is_finite() {
                    entry.sqrt()
                } else {
                    return None; // not positive, or NaN, which compares with nothing
                };
            }
        }
        Some(step)
    }

    /// Reads the factor of rows and columns `start..start + count` from a panel of the factorised tile.
    fn read(count: usize, panel: &[f64], start: usize) -> Self {
        let mut step = Step { count, factor: [[0.0; STEP]; STEP] };
        for c in 0..count {
            for b in 0..=c {
                step.factor[c][b] = panel[(start + b) * PANEL + start % PANEL + c];
            }
        }
        step
    }
}

/// L·Lᵀ = C in place; false at the first pivot that is not positive and finite.
fn factorise_tile(isa: Isa, tile: &mut Tile) -> bool {
    let width = tile.width;
    for start in (0..width).step_by(STEP) {
        let count = STEP.min(width - start);
        let rows = start % PANEL..start % PANEL + count;
        let first = start / PANEL;
        let right = tile.data[first * PANEL * width..][..start * PANEL].to_vec();
        let mut step: Option<Step> = None;
        for panel in tile.data.chunks_mut(PANEL * width).skip(first) {
            let (left, rest) = panel.split_at_mut(start * PANEL);
            let block = &mut rest[..count * PANEL];
            subtract_product(isa, block, left, &right, rows.clone());
            if let Some(step) = &step {
                step.solve(block);
                continue;
            }
            // The first panel holds the diagonal block; its rows above are never read.
            let Some(first) = Step::factorise(count, block, rows.start) else { return false };
            first.solve(block);
            first.write(block, rows.start);
            step = Some(first);
        }
    }
    true
}

/// X·Lᵀ = C in place, L the factorised diagonal tile.
fn solve_tile(isa: Isa, tile: &mut Tile, diagonal: &Tile) {
    let width = tile.width;
    for start in (0..width).step_by(STEP) {
        let count = STEP.min(width - start);
        let rows = start % PANEL..start % PANEL + count;
        let panel = &diagonal.data[(start / PANEL) * PANEL * width..][..PANEL * width];
        let step = Step::read(count, panel, start);
        for target in tile.data.chunks_mut(PANEL * width) {
            let (left, rest) = target.split_at_mut(start * PANEL);
            let block = &mut rest[..count * PANEL];
            subtract_product(isa, block, left, &panel[..start * PANEL], rows.clone());
            step.solve(block);
        }
    }
}
