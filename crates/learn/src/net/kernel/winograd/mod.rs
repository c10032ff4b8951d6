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
//! [`phases`] does the like for 4×4 kernels with stride 2.
//!
//! **Accuracy.** The transforms have entries up to 5 and 8, so in `f32` errors are a few times those of the direct sum; a
//! test holds both against `f64`.
//!
//! **Memory.** The 36 planes of V and M are [`SKEW`] numbers further apart than they are long: at a power of two they would
//! all fall into a few sets of the first-level cache, and the transforms be several times slower.

pub(crate) mod phases;
mod places;
#[cfg(test)]
mod tests;
mod tile;
mod tiles;
mod transforms;
mod weights;

use super::isa::Isa;
use super::product::{Columns, End, Rows, Sizes, product};
use places::multiply;
pub(crate) use tiles::{BATCH, Epilogue, Layout, PLACES, TiledConvolution, Tiles};
use tiles::{SKEW, batches};
use transforms::{transform_gradient, transform_input, transform_output};
pub(crate) use weights::{transform_weights, weights_from_transformed};

/// Numbers of the scratch that [`convolve`] and [`weight_gradient`] need.
pub(crate) fn scratch(channels: usize) -> usize {
    PLACES * (BATCH * channels + SKEW)
}

/// The convolution of padded images with transformed weights ([`transform_weights`]).
///
/// `x` has `inputs` channels; its first patch begins at `from.first`, and there must be zeros, or the image, as far as whole
/// tiles reach: 4·⌈height/4⌉ + 2 rows, and as many columns by the width. `y` has `outputs` channels.
pub(crate) fn convolve(isa: Isa, convolution: TiledConvolution<'_>, v: &mut [f32], m: &mut [f32]) {
    let TiledConvolution { tiles, x: (x, from, inputs), u, y: (y, to, outputs), epilogue } = convolution;
    for (first, count) in batches(tiles) {
        transform_input(isa, x, from, tiles, inputs, first, count, v);
        multiply(isa, (PLACES, count), (v, inputs), u, (m, outputs));
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
