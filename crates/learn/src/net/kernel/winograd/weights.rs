//! Weights of F(4×4, 3×3): U = GwGᵀ, and dw = Gᵀ dU G.

#![allow(unsafe_code)] // calls of versions compiled for instructions that were found

use super::tile::put_packed;
use super::tiles::PLACES;
use crate::net::kernel::isa::LANES;
use crate::net::kernel::lanes::Lanes;
use crate::net::kernel::versions::versions;

const G: [[f32; 3]; 6] = [
    [0.25, 0.0, 0.0],
    [-1.0 / 6.0, -1.0 / 6.0, -1.0 / 6.0],
    [-1.0 / 6.0, 1.0 / 6.0, -1.0 / 6.0],
    [1.0 / 24.0, 1.0 / 12.0, 1.0 / 6.0],
    [1.0 / 24.0, -1.0 / 12.0, 1.0 / 6.0],
    [0.0, 0.0, 1.0],
];

versions! {
    /// U = GwGᵀ, packed into panels, from w: 3 × 3 × `inputs` × `outputs`.
    fn transform_weights<L>(w: &[f32], inputs: usize, outputs: usize, u: &mut [f32]) {
        let all = inputs * outputs;
        assert!(w.len() == 9 * all && u.len() == PLACES * all && inputs.is_multiple_of(2), "weights of 3 x 3");
        for o in (0..outputs).step_by(LANES) {
            for i in 0..inputs {
                // Plain loops: closures within `array::from_fn` are compiled without the wider instructions.
                let mut taps = [[L::zero(); 3]; 3];
                for (tap, t) in taps.as_flattened_mut().iter_mut().enumerate() {
                    *t = L::of(&w[tap * all + i * outputs + o..]);
                }
                for (r, g) in G.iter().enumerate() {
                    let mut row = [L::zero(); 3];
                    for (q, row) in row.iter_mut().enumerate() {
                        *row = combine(g, [taps[0][q], taps[1][q], taps[2][q]]);
                    }
                    for (q, g) in G.iter().enumerate() {
                        put_packed(combine(g, row), &mut u[(6 * r + q) * all..], (inputs, i), (outputs, o));
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn combine<L: Lanes>(g: &[f32; 3], x: [L; 3]) -> L {
    L::zero().plus_times(g[0], x[0]).plus_times(g[1], x[1]).plus_times(g[2], x[2])
}

versions! {
    /// dw = Gᵀ dU G, 3 × 3 × `all` numbers, from dU, 36 × `all`.
    fn weights_from_transformed<L by all>(du: &[f32], all: usize, dw: &mut [f32]) {
        assert!(dw.len() == 9 * all && du.len() >= PLACES * all && all.is_multiple_of(LANES), "weights of 3 x 3");
        for at in (0..all).step_by(L::WIDTH) {
            let mut t = [[L::zero(); 6]; 3];
            for (r, g) in G.iter().enumerate() {
                for q in 0..6 {
                    let d = L::of(&du[(6 * r + q) * all + at..]);
                    for k in 0..3 {
                        t[k][q] = t[k][q].plus_times(g[k], d);
                    }
                }
            }
            for (k, t) in t.iter().enumerate() {
                for j in 0..3 {
                    let sum = (0..6).fold(L::zero(), |sum, q| sum.plus_times(G[q][j], t[q]));
                    sum.put(&mut dw[(3 * k + j) * all + at..]);
                }
            }
        }
    }
}
