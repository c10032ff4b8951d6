//! A 4×4 convolution with stride 2 by two fifths of the multiplications.
//!
//! Split rows and columns of the padded image into even and odd ones. Then y[r] = Σ_a x[2r + a]·w[a] is, with a = 2t + φ,
//! the sum over both phases φ of convolutions with stride 1 and two taps: Σ_φ Σ_t x_φ[r + t]·w_φ[t]. In two dimensions
//! there are four phases, each like so many further channels, and each convolution is done by Winograd's F(4×4, 2×2):
//! Y = Aᵀ[(G w Gᵀ) ⊙ (Bᵀ d B)]A as in [`super`], with patches of 5×5 and interpolation at 0, 1, −1, 2 and ∞. The 25
//! products ⊙ are matrix products over 4·channels terms. Phases are read where they lie, every second number.
//!
//! Only forward: gradients of such layers are direct sums.

#![allow(unsafe_code)]

use super::places::multiply;
use super::tile::{Steps, Transform, put_packed, put_tiles, spread};
use super::tiles::{BATCH, Epilogue, Layout, SKEW, TiledConvolution, Tiles, batches};
use crate::net::kernel::isa::{Isa, LANES};
use crate::net::kernel::lanes::Lanes;
use crate::net::kernel::versions::versions;

/// Places of a transformed tile.
pub(crate) const PLACES: usize = 25;
/// Phases of a plane.
pub(crate) const PHASES: usize = 4;

/// Numbers of the scratch that [`convolve`] needs for so many terms, channels of all phases or channels of the output.
pub(crate) fn scratch(terms: usize) -> usize {
    PLACES * (BATCH * terms + SKEW)
}

/// Rows or columns that whole tiles read, for so many of the output.
pub(crate) fn reach(size: usize) -> usize {
    8 * size.div_ceil(4) + 2
}

struct Input;

impl<L: Lanes> Transform<L, 5, 5> for Input {
    #[inline(always)]
    fn of(d: [L; 5]) -> [L; 5] {
        let t = d[3].sub(d[1]);
        [
            t.plus_times(2.0, d[0].sub(d[2])),
            d[3].sub(d[2]).plus_times(-2.0, d[1]),
            d[3].plus_times(-3.0, d[2]).plus_times(2.0, d[1]),
            t,
            d[4].sub(d[2]).plus_times(-2.0, t),
        ]
    }
}

struct Output;

impl<L: Lanes> Transform<L, 5, 4> for Output {
    #[inline(always)]
    fn of(m: [L; 5]) -> [L; 4] {
        let (s, t) = (m[1].add(m[2]), m[1].sub(m[2]));
        [
            m[0].add(s).add(m[3]),
            t.plus_times(2.0, m[3]),
            s.plus_times(4.0, m[3]),
            t.plus_times(8.0, m[3]).add(m[4]),
        ]
    }
}

const G: [[f32; 2]; 5] =
    [[0.5, 0.0], [-0.5, -0.5], [-1.0 / 6.0, 1.0 / 6.0], [1.0 / 6.0, 1.0 / 3.0], [0.0, 1.0]];

versions! {
    /// V of the tiles `first..first + count` of padded images of `both`/2 channels: those of phase 0, those of phase 1, ….
    /// Even and odd pixels are neighbours, so the channels of both are taken as those of one pixel.
    fn transform_input<L by both>(x: &[f32], layout: Layout, tiles: Tiles, both: usize, first: usize, count: usize, v: &mut [f32]) {
        let plane = count * 2 * both + SKEW;
        let last = tiles.place(first + count - 1).0;
        let (down, across) = (reach(tiles.height), reach(tiles.width));
        let end = layout.first + last * layout.image + (down - 1) * layout.row + across * both / 2;
        assert!(end <= x.len() && PLACES * plane <= v.len() && both.is_multiple_of(2 * LANES), "tiles beyond the image");
        let steps = Steps { row: 2 * layout.row, column: both };
        let mut place = tiles.place(first);
        for tile in 0..count {
            let at = layout.tile(place, 8, both / 2);
            for down in 0..2 {
                for c in (0..both).step_by(L::WIDTH) {
                    // SAFETY: the patch is before `end`, the places within their planes, tile after tile.
                    unsafe {
                        let to = v.as_mut_ptr().add((2 * tile + down) * both + c);
                        spread::<L, Input, _, _>(x.as_ptr().add(at + down * layout.row + c), steps, to, plane);
                    }
                }
            }
            place = tiles.after(place);
        }
    }
}

versions! {
    /// The tiles of Y from M, with the epilogue.
    fn transform_output<L by channels>(m: &[f32], y: &mut [f32], layout: Layout, tiles: Tiles, channels: usize, first: usize, count: usize, epilogue: Epilogue<'_>) {
        put_tiles::<L, Output, 5>(m, y, layout, tiles, channels, (first, count), epilogue);
    }
}

versions! {
    /// U = GwGᵀ of every phase, packed into panels, from w: 4 × 4 × `inputs` × `outputs`.
    fn transform_weights<L>(w: &[f32], inputs: usize, outputs: usize, u: &mut [f32]) {
        let (all, depth) = (inputs * outputs, PHASES * inputs);
        assert!(w.len() == 16 * all && u.len() == PLACES * PHASES * all, "weights of 4 x 4");
        for o in (0..outputs).step_by(LANES) {
            for phase in 0..PHASES {
                let (down, across) = (phase / 2, phase % 2);
                for i in 0..inputs {
                    let mut taps = [[L::zero(); 2]; 2];
                    for (tap, t) in taps.as_flattened_mut().iter_mut().enumerate() {
                        let (a, b) = (2 * (tap / 2) + down, 2 * (tap % 2) + across);
                        *t = L::of(&w[(4 * a + b) * all + i * outputs + o..]);
                    }
                    for (r, g) in G.iter().enumerate() {
                        let row = [
                            L::zero().plus_times(g[0], taps[0][0]).plus_times(g[1], taps[1][0]),
                            L::zero().plus_times(g[0], taps[0][1]).plus_times(g[1], taps[1][1]),
                        ];
                        for (q, g) in G.iter().enumerate() {
                            let value = L::zero().plus_times(g[0], row[0]).plus_times(g[1], row[1]);
                            let u = &mut u[(5 * r + q) * depth * outputs..];
                            put_packed(value, u, (depth, phase * inputs + i), (outputs, o));
                        }
                    }
                }
            }
        }
    }
}

/// The convolution of padded images with transformed weights ([`transform_weights`]); `y` has `outputs` channels.
///
/// `x` has `inputs` channels, a multiple of the lanes; its first patch begins at `from.first`, and there must be zeros, or the
/// image, as far as whole tiles [`reach`].
pub(crate) fn convolve(isa: Isa, convolution: TiledConvolution<'_>, v: &mut [f32], m: &mut [f32]) {
    let TiledConvolution { tiles, x: (x, from, inputs), u, y: (y, to, outputs), epilogue } = convolution;
    for (first, count) in batches(tiles) {
        transform_input(isa, x, from, tiles, 2 * inputs, first, count, v);
        multiply(isa, (PLACES, count), (v, PHASES * inputs), u, (m, outputs));
        transform_output(isa, m, y, to, tiles, outputs, first, count, epilogue);
    }
}
