//! Products of row-major matrices with the right factor packed into strips that stay in the innermost cache.

use crate::linalg::aligned::Aligned;
use crate::linalg::kernel::{Isa, ROWS, add_rows_times};

/// Columns of a strip at most.
pub(super) const WIDTH: usize = 64;
/// Rows of a strip multiplied at once: with [`WIDTH`] columns they fill two thirds of the innermost cache.
const DEPTH: usize = 64;

/// A depth × columns matrix cut into strips of columns; each strip is row-major, the last padded with zeros.
pub(super) struct Strips {
    depth: usize,
    columns: usize,
    width: usize,
    data: Aligned<f64>,
}

impl Strips {
    /// Packs the matrix with these rows, all of `columns` entries.
    pub(super) fn pack<'a>(columns: usize, rows: impl ExactSizeIterator<Item = &'a [f64]>) -> Self {
        let depth = rows.len();
        let width = columns.min(WIDTH).next_multiple_of(8);
        let mut data = Aligned::default();
        let entries = data.resized(columns.div_ceil(width.max(1)) * width * depth);
        for (s, row) in rows.enumerate() {
            for (strip, part) in row.chunks(width).enumerate() {
                entries[(strip * depth + s) * width..][..part.len()].copy_from_slice(part);
            }
        }
        Self { depth, columns, width, data }
    }

    /// `out` ← `out` + L·B on the columns before `end`, or a few more: B is this matrix, L has rows of `depth`
    /// entries at distance `left_stride`. Row r of the result starts at `out[r·stride]`.
    ///
    /// Sums run in the order of the depth, over blocks of fixed size.
    pub(super) fn add_product(
        &self,
        isa: Isa,
        left: (&[f64], usize),
        out: (&mut [f64], usize),
        rows: usize,
        end: usize,
    ) {
        let ((left, left_stride), (out, stride)) = (left, out);
        if self.depth == 0 || rows == 0 {
            return;
        }
        let mut tile = vec![0.0; rows.next_multiple_of(ROWS) * self.width];
        let columns = end.min(self.columns);
        for (strip, start) in (0..columns).step_by(self.width).enumerate() {
            let strip = &self.data.values()[strip * self.depth * self.width..][..self.depth * self.width];
            tile.fill(0.0);
            for (part, right) in strip.chunks(DEPTH * self.width).enumerate() {
                let range = part * DEPTH..part * DEPTH + right.len() / self.width;
                for (group, tile) in tile.chunks_exact_mut(ROWS * self.width).enumerate() {
                    // Rows beyond the last repeat it; their products are not read.
                    let row = |r: usize| {
                        &left[(group * ROWS + r).min(rows - 1) * left_stride..][range.start..range.end]
                    };
                    let factors: [&[f64]; ROWS] = std::array::from_fn(row);
                    add_rows_times(isa, &factors, right, self.width, tile);
                }
            }
            let width = self.width.min(self.columns - start);
            for (r, tile) in tile.chunks_exact(self.width).take(rows).enumerate() {
                let out = &mut out[r * stride + start..][..width];
                out.iter_mut().zip(tile).for_each(|(out, sum)| *out += sum);
            }
        }
    }
}
