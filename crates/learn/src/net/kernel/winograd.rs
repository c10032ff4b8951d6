//! Winograd's F(4×4, 3×3): a 3×3 convolution with stride 1 by a quarter of the multiplications.
//!
//! Y = Aᵀ[(G w Gᵀ) ⊙ (Bᵀ d B)]A for every 4×4 tile Y of the output, d the 6×6 patch of the input it depends on (Lavin
//! and Gray, *Fast algorithms for convolutional neural networks*, CVPR 2016, from Winograd 1980). Summed over channels, the
//! 36 products ⊙ are 36 matrix products: M[p] = V[p]·U[p], tiles × channels in times channels in × channels out.
//!
//! * Forward: V = BᵀdB, U = GwGᵀ, Y = AᵀMA.
//! * By data: the same with the taps of w turned round and its channels exchanged.
//! * By weights: dU[p] = V[p]ᵀ·Z[p] with Z = A·dY·Aᵀ, summed over all tiles; dw = Gᵀ dU G.
//!
//! Sizes that are no multiple of 4 have a last row and column of tiles that hang over: they read zeros, and what comes out
//! beyond the image is dropped.
//!
//! **Accuracy.** The transforms have entries up to 5 and 8, so in `f32` errors are a few times those of the direct sum; a
//! test holds both against `f64`.
//!
//! **Memory.** The 36 planes of V and M are [`SKEW`] numbers further apart than they are long: at a power of two they would
//! all fall into a few sets of the first-level cache, and the transforms be several times slower.

#![allow(unsafe_code)]

use super::isa::{Isa, LANES};
use super::lanes::Lanes;
use super::product::{Columns, End, PANEL, Rows, Sizes, packed_pair, product};
use super::versions::versions;

/// Places of a transformed tile.
pub(crate) const PLACES: usize = 36;
/// Numbers between two planes beyond their length.
const SKEW: usize = 16;
/// Tiles that are transformed and multiplied together.
pub(crate) const BATCH: usize = 32;

/// The tiles of some images: `down` × `across` for each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tiles {
    pub(crate) images: usize,
    /// Rows of an image of the output.
    pub(crate) height: usize,
    /// Columns of an image of the output.
    pub(crate) width: usize,
}

impl Tiles {
    pub(crate) fn down(self) -> usize {
        self.height.div_ceil(4)
    }

    pub(crate) fn across(self) -> usize {
        self.width.div_ceil(4)
    }

    /// Of one image.
    pub(crate) fn per_image(self) -> usize {
        self.down() * self.across()
    }

    /// Image, row and column of a tile.
    #[inline(always)]
    fn place(self, tile: usize) -> (usize, usize, usize) {
        let (per_image, across) = (self.per_image(), self.across());
        (tile / per_image, tile % per_image / across, tile % across)
    }

    /// The tile after.
    #[inline(always)]
    fn after(self, (image, row, column): (usize, usize, usize)) -> (usize, usize, usize) {
        if column + 1 < self.across() {
            (image, row, column + 1)
        } else if row + 1 < self.down() {
            (image, row + 1, 0)
        } else {
            (image + 1, 0, 0)
        }
    }
}

/// Where images lie: pixel (row, column) of image i at `first + i·image + row·row + column·channels`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) first: usize,
    pub(crate) image: usize,
    pub(crate) row: usize,
}

/// What is done to each number of the output before it is stored.
#[derive(Clone, Copy, Default)]
pub(crate) struct Epilogue<'a> {
    /// Added, one per channel.
    pub(crate) bias: Option<&'a [f32]>,
    /// Added, laid out like the output.
    pub(crate) shortcut: Option<&'a [f32]>,
    /// max(·, 0) after that.
    pub(crate) relu: bool,
}

/// Numbers of the scratch that [`convolve`] and [`weight_gradient`] need.
pub(crate) fn scratch(channels: usize) -> usize {
    PLACES * (BATCH * channels + SKEW)
}

#[inline(always)]
fn input_row<L: Lanes>(d: [L; 6]) -> [L; 6] {
    let (t1, t2) = (d[4].plus_times(-4.0, d[2]), d[3].plus_times(-4.0, d[1]));
    let (t3, t4) = (d[4].sub(d[2]), d[3].sub(d[1]));
    [
        d[4].plus_times(-5.0, d[2]).plus_times(4.0, d[0]),
        t1.add(t2),
        t1.sub(t2),
        t3.plus_times(2.0, t4),
        t3.plus_times(-2.0, t4),
        d[5].plus_times(-5.0, d[3]).plus_times(4.0, d[1]),
    ]
}

#[inline(always)]
fn output_row<L: Lanes>(m: [L; 6]) -> [L; 4] {
    let (s1, s2) = (m[1].add(m[2]), m[1].sub(m[2]));
    let (s3, s4) = (m[3].add(m[4]), m[3].sub(m[4]));
    [m[0].add(s1).add(s3), s2.plus_times(2.0, s4), s1.plus_times(4.0, s3), s2.plus_times(8.0, s4).add(m[5])]
}

#[inline(always)]
fn gradient_row<L: Lanes>(y: [L; 4]) -> [L; 6] {
    let (even, odd) = (y[0].add(y[2]), y[1].add(y[3]));
    let (even4, odd4) = (y[0].plus_times(4.0, y[2]), y[1].plus_times(4.0, y[3]));
    [y[0], even.add(odd), even.sub(odd), even4.plus_times(2.0, odd4), even4.plus_times(-2.0, odd4), y[3]]
}

versions! {
    /// V of the tiles `first..first + count` of padded images: patch by patch, plane by plane.
    fn transform_input<L by channels>(x: &[f32], layout: Layout, tiles: Tiles, channels: usize, first: usize, count: usize, v: &mut [f32]) {
        let plane = count * channels + SKEW;
        let last = tiles.place(first + count - 1).0;
        let reach = layout.first + last * layout.image + (4 * tiles.down() + 1) * layout.row + (4 * tiles.across() + 2) * channels;
        assert!(reach <= x.len() && PLACES * plane <= v.len() && channels.is_multiple_of(LANES), "tiles beyond the image");
        let mut place = tiles.place(first);
        for tile in 0..count {
            let (image, row, column) = place;
            let at = layout.first + image * layout.image + 4 * row * layout.row + 4 * column * channels;
            for c in (0..channels).step_by(L::WIDTH) {
                let mut t = [[L::zero(); 6]; 6];
                // SAFETY: within `reach`.
                let from = unsafe { x.as_ptr().add(at + c) };
                for j in 0..6 {
                    // SAFETY: as before; the patch ends with the tile's, at most at `reach`.
                    let mut d = [L::zero(); 6];
                    for (i, d) in d.iter_mut().enumerate() {
                        *d = unsafe { L::load(from.add(i * layout.row + j * channels)) };
                    }
                    for (i, out) in input_row(d).into_iter().enumerate() {
                        t[i][j] = out;
                    }
                }
                // SAFETY: planes 0 to 35, each of `plane` numbers, tile after tile.
                let to = unsafe { v.as_mut_ptr().add(tile * channels + c) };
                for (i, t) in t.into_iter().enumerate() {
                    for (j, out) in input_row(t).into_iter().enumerate() {
                        // SAFETY: as before.
                        unsafe { out.store(to.add((6 * i + j) * plane)) };
                    }
                }
            }
            place = tiles.after(place);
        }
    }
}

versions! {
    /// Z of the tiles of padded gradients.
    fn transform_gradient<L by channels>(x: &[f32], layout: Layout, tiles: Tiles, channels: usize, first: usize, count: usize, z: &mut [f32]) {
        let plane = count * channels + SKEW;
        let last = tiles.place(first + count - 1).0;
        let reach = layout.first + last * layout.image + (4 * tiles.down() - 1) * layout.row + 4 * tiles.across() * channels;
        assert!(reach <= x.len() && PLACES * plane <= z.len() && channels.is_multiple_of(LANES), "tiles beyond the image");
        let mut place = tiles.place(first);
        for tile in 0..count {
            let (image, row, column) = place;
            let at = layout.first + image * layout.image + 4 * row * layout.row + 4 * column * channels;
            for c in (0..channels).step_by(L::WIDTH) {
                let mut t = [[L::zero(); 4]; 6];
                // SAFETY: within `reach`.
                let from = unsafe { x.as_ptr().add(at + c) };
                for j in 0..4 {
                    // SAFETY: as before.
                    let mut d = [L::zero(); 4];
                    for (i, d) in d.iter_mut().enumerate() {
                        *d = unsafe { L::load(from.add(i * layout.row + j * channels)) };
                    }
                    for (i, out) in gradient_row(d).into_iter().enumerate() {
                        t[i][j] = out;
                    }
                }
                // SAFETY: planes 0 to 35, each of `plane` numbers, tile after tile.
                let to = unsafe { z.as_mut_ptr().add(tile * channels + c) };
                for (i, t) in t.into_iter().enumerate() {
                    for (j, out) in gradient_row(t).into_iter().enumerate() {
                        // SAFETY: as before.
                        unsafe { out.store(to.add((6 * i + j) * plane)) };
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
        let plane = count * channels + SKEW;
        let last = tiles.place(first + count - 1).0;
        let reach = layout.first + last * layout.image + (tiles.height - 1) * layout.row + tiles.width * channels;
        assert!(reach <= y.len() && PLACES * plane <= m.len() && channels.is_multiple_of(LANES), "tiles beyond the image");
        assert!(epilogue.bias.is_none_or(|bias| bias.len() >= channels), "a bias per channel");
        assert!(epilogue.shortcut.is_none_or(|shortcut| reach <= shortcut.len()), "a shortcut of the output's size");
        let mut place = tiles.place(first);
        for tile in 0..count {
            let (image, row, column) = place;
            let at = layout.first + image * layout.image + 4 * row * layout.row + 4 * column * channels;
            let (rows, columns) = ((tiles.height - 4 * row).min(4), (tiles.width - 4 * column).min(4));
            for c in (0..channels).step_by(L::WIDTH) {
                let mut t = [[L::zero(); 6]; 4];
                // SAFETY: planes 0 to 35, each of `plane` numbers, tile after tile.
                let from = unsafe { m.as_ptr().add(tile * channels + c) };
                for j in 0..6 {
                    // SAFETY: as before.
                    let mut d = [L::zero(); 6];
                    for (i, d) in d.iter_mut().enumerate() {
                        *d = unsafe { L::load(from.add((6 * i + j) * plane)) };
                    }
                    for (i, out) in output_row(d).into_iter().enumerate() {
                        t[i][j] = out;
                    }
                }
                let bias = epilogue.bias.map_or(L::zero(), |bias| L::of(&bias[c..]));
                let mut put = |i: usize, j: usize, mut out: L| {
                    let at = at + c + i * layout.row + j * channels;
                    if epilogue.bias.is_some() {
                        out = out.add(bias);
                    }
                    if let Some(shortcut) = epilogue.shortcut {
                        // SAFETY: within `reach`.
                        out = out.add(unsafe { L::load(shortcut.as_ptr().add(at)) });
                    }
                    if epilogue.relu {
                        out = out.relu();
                    }
                    // SAFETY: within `reach`, as rows and columns beyond the image are left out.
                    unsafe { out.store(y.as_mut_ptr().add(at)) };
                };
                // Two loops: with a known number of steps everything stays in registers.
                if rows == 4 && columns == 4 {
                    for (i, t) in t.into_iter().enumerate() {
                        for (j, out) in output_row(t).into_iter().enumerate() {
                            put(i, j, out);
                        }
                    }
                } else {
                    for (i, t) in t.into_iter().enumerate().take(rows) {
                        for (j, out) in output_row(t).into_iter().enumerate().take(columns) {
                            put(i, j, out);
                        }
                    }
                }
            }
            place = tiles.after(place);
        }
    }
}

/// The convolution of padded images with transformed weights ([`transform_weights`]).
///
/// `x` has `inputs` channels; its first patch begins at `from.first`, and there must be zeros, or the image, as far as whole
/// tiles reach: 4·⌈height/4⌉ + 2 rows, and as many columns by the width. `y` has `outputs` channels.
#[allow(clippy::too_many_arguments)]
pub(crate) fn convolve(
    isa: Isa,
    tiles: Tiles,
    (x, from, inputs): (&[f32], Layout, usize),
    u: &[f32],
    (y, to, outputs): (&mut [f32], Layout, usize),
    epilogue: Epilogue<'_>,
    v: &mut [f32],
    m: &mut [f32],
) {
    for (first, count) in batches(tiles) {
        transform_input(isa, x, from, tiles, inputs, first, count, v);
        let (from_plane, to_plane) = (count * inputs + SKEW, count * outputs + SKEW);
        let sizes = Sizes { rows: count, columns: outputs, segments: 1, depth: inputs, out_row: outputs };
        let at = Rows { row: inputs, segment: 0, term: 1 };
        for place in 0..PLACES {
            let a = &v[place * from_plane..][..count * inputs];
            let b = &u[place * inputs * outputs..][..inputs * outputs];
            let c = &mut m[place * to_plane..][..count * outputs];
            product(isa, sizes, (a, at), (b, Columns::Packed), c, End::Store);
        }
        transform_output(isa, m, y, to, tiles, outputs, first, count, epilogue);
    }
}

/// dU ← dU + Σ VᵀZ over the tiles: `x` padded images, `dy` the padded gradients of the output, both as in [`convolve`].
#[allow(clippy::too_many_arguments)]
pub(crate) fn weight_gradient(
    isa: Isa,
    tiles: Tiles,
    (x, from, inputs): (&[f32], Layout, usize),
    (dy, at_dy, outputs): (&[f32], Layout, usize),
    du: &mut [f32],
    v: &mut [f32],
    z: &mut [f32],
) {
    for (first, count) in batches(tiles) {
        transform_input(isa, x, from, tiles, inputs, first, count, v);
        transform_gradient(isa, dy, at_dy, tiles, outputs, first, count, z);
        let (from_plane, to_plane) = (count * inputs + SKEW, count * outputs + SKEW);
        let sizes = Sizes { rows: inputs, columns: outputs, segments: 1, depth: count, out_row: outputs };
        let at = Rows { row: 1, segment: 0, term: inputs };
        for place in 0..PLACES {
            let a = &v[place * from_plane..][..count * inputs];
            let b = &z[place * to_plane..][..count * outputs];
            let c = &mut du[place * inputs * outputs..][..inputs * outputs];
            product(
                isa,
                sizes,
                (a, at),
                (b, Columns::Strided { segment: 0, term: outputs }),
                c,
                End::Accumulate,
            );
        }
    }
}

/// Nearly equal batches of at most [`BATCH`] tiles.
fn batches(tiles: Tiles) -> impl Iterator<Item = (usize, usize)> {
    let total = tiles.images * tiles.per_image();
    let batches = total.div_ceil(BATCH);
    (0..batches).map(move |b| {
        let (first, end) = (b * total / batches, (b + 1) * total / batches);
        (first, end - first)
    })
}

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
            let panel = o / PANEL * PANEL;
            let whole = outputs - panel >= PANEL;
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
                        let u = &mut u[(6 * r + q) * all + inputs * panel..];
                        if whole {
                            combine(g, row).put(&mut u[i * PANEL + (o - panel)..]);
                        } else {
                            let mut lanes = [0.0; LANES];
                            combine(g, row).put(&mut lanes);
                            for (j, &lane) in lanes.iter().enumerate() {
                                u[packed_pair(i, j)] = lane;
                            }
                        }
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

#[cfg(test)]
mod tests {
    use super::super::direct::{self, Geometry};
    use super::super::product::pack;
    use super::*;

    /// Errors of both algorithms against the sum in double precision, relative to the largest number: 64 channels, the worst
    /// of the sizes that occur. The bounds are what is claimed: 2e-5 for Winograd, 2e-6 for direct sums.
    #[test]
    fn winograd_rounds_a_few_times_worse_than_direct_sums() {
        let (c, size) = (64, 11);
        let (rows, row) = (14, 14 * c);
        let number = |i: usize| (((i * 7919 + i / 13 * 104_729) % 2003) as f32 / 1001.0) - 1.0;
        let mut x = vec![0.0; rows * row];
        for r in 0..size {
            for q in 0..size * c {
                x[(r + 1) * row + c + q] = number(r * size * c + q);
            }
        }
        let w: Vec<f32> = (0..9 * c * c).map(|i| number(3 * i + 1)).collect();
        let exact = |r: usize, q: usize, o: usize| -> f64 {
            let mut sum = 0.0;
            for a in 0..3 {
                for b in 0..3 * c {
                    sum += f64::from(x[(r + a) * row + q * c + b]) * f64::from(w[(a * 3 * c + b) * c + o]);
                }
            }
            sum
        };
        for isa in Isa::all() {
            let tiles = Tiles { images: 1, height: size, width: size };
            let (mut u, mut packed) = (vec![0.0; PLACES * c * c], Vec::new());
            transform_weights(isa, &w, c, c, &mut u);
            pack(&w, 3 * c, c, &mut packed);
            let (mut v, mut m) = (vec![0.0; scratch(c)], vec![0.0; scratch(c)]);
            let (mut tiled, mut summed) = (vec![0.0; size * size * c], vec![0.0; size * size * c]);
            let from = Layout { first: 0, image: x.len(), row };
            let to = Layout { first: 0, image: tiled.len(), row: size * c };
            let epilogue = Epilogue::default();
            convolve(isa, tiles, (&x, from, c), &u, (&mut tiled, to, c), epilogue, &mut v, &mut m);
            let geometry =
                Geometry { kernel: 3, stride: 1, inputs: c, outputs: c, height: size, width: size };
            direct::convolve(isa, geometry, (&x, row), &packed, (&mut summed, size * c), End::Store);
            let (mut largest, mut worst, mut worst_direct) = (0.0_f64, 0.0_f64, 0.0_f64);
            for at in 0..size * size * c {
                let exact = exact(at / c / size, at / c % size, at % c);
                largest = largest.max(exact.abs());
                worst = worst.max((f64::from(tiled[at]) - exact).abs());
                worst_direct = worst_direct.max((f64::from(summed[at]) - exact).abs());
            }
            assert!(worst <= 2e-5 * largest, "{isa:?}: {worst} of {largest}");
            assert!(worst_direct <= 2e-6 * largest, "{isa:?}: {worst_direct} of {largest}");
        }
    }
}
