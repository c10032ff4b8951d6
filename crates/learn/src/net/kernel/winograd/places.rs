//! The products ⊙ of all schemes: one matrix product per place of a transformed tile.

use super::tiles::SKEW;
use crate::net::kernel::isa::Isa;
use crate::net::kernel::product::{Columns, End, Rows, Sizes, product};

/// M[p] = V[p]·U[p] for every place p: `count` tiles × `terms` times terms × `outputs`.
pub(super) fn multiply(
    isa: Isa,
    (places, count): (usize, usize),
    (v, terms): (&[f32], usize),
    u: &[f32],
    (m, outputs): (&mut [f32], usize),
) {
    let (from_plane, to_plane) = (count * terms + SKEW, count * outputs + SKEW);
    let sizes = Sizes { rows: count, columns: outputs, segments: 1, depth: terms, out_row: outputs };
    let at = Rows { row: terms, segment: 0, term: 1 };
    for place in 0..places {
        let a = &v[place * from_plane..][..count * terms];
        let b = &u[place * terms * outputs..][..terms * outputs];
        let c = &mut m[place * to_plane..][..count * outputs];
        product(isa, sizes, (a, at), (b, Columns::Packed), c, End::Store);
    }
}
