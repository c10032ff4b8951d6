//! Direct convolution, any kernel, stride and padding: sums of products over the padded image as it lies.
//!
//! y[r, q, o] = Σ_{a, b, i} x[r·stride + a, q·stride + b, i]·w[a, b, i, o], x padded with zeros.
//!
//! A row of the kernel meets one run of numbers of a row of the image, so the kernel's rows are the segments of a product
//! and nothing is copied. By data it is the same sum over the gradient, spread out to the grid of the input where the
//! stride is not 1, with the kernel turned round and its channels exchanged. By weights, pixels are the terms.

use super::isa::Isa;
use super::product::{Columns, End, ProductBatch, Rows, Sizes, product, products};

/// A convolution's sizes, with channels as they are stored (see [`padded`](super::padded)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    /// Rows and columns of the kernel.
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    /// Channels of the input; need not be a multiple of the lanes.
    pub(crate) inputs: usize,
    /// Channels of the output, a multiple of the lanes.
    pub(crate) outputs: usize,
    /// Rows of the output.
    pub(crate) height: usize,
    /// Columns of the output.
    pub(crate) width: usize,
}

/// One image: `x` padded, from the first number that the kernel meets, rows `x_row` apart; `w` packed
/// ([`pack`](super::product::pack)), kernel segments of kernel · inputs terms; `y` with rows `y_row` apart.
pub(crate) fn convolve(
    isa: Isa,
    geometry: Geometry,
    (x, x_row): (&[f32], usize),
    w: &[f32],
    (y, y_row): (&mut [f32], usize),
    end: End<'_>,
) {
    let Geometry { kernel, stride, inputs, outputs, height, width } = geometry;
    let sizes =
        Sizes { rows: width, columns: outputs, segments: kernel, depth: kernel * inputs, out_row: outputs };
    let at = Rows { row: stride * inputs, segment: x_row, term: 1 };
    let lines = ProductBatch { count: height, a: stride * x_row, c: y_row };
    products(isa, lines, sizes, (x, at), (w, Columns::Packed), y, end);
}

/// dw ← dw + Σ x·dy of one image: dw[a][b·inputs + i][o], kernel × (kernel · inputs) × outputs. Rows of `dy` are `dy_row`
/// apart, its pixels `dy_pixel`: it may be spread out.
pub(crate) fn weight_gradient(
    isa: Isa,
    geometry: Geometry,
    (x, x_row): (&[f32], usize),
    (dy, dy_row, dy_pixel): (&[f32], usize, usize),
    dw: &mut [f32],
) {
    /// Rows of the image whose numbers stay in the innermost cache meanwhile.
    const BAND: usize = 4;
    let Geometry { kernel, stride, inputs, outputs, height, width } = geometry;
    let taps = kernel * inputs;
    for top in (0..height).step_by(BAND) {
        let band = BAND.min(height - top);
        let sizes = Sizes { rows: taps, columns: outputs, segments: band, depth: width, out_row: outputs };
        let at = Rows { row: 1, segment: stride * x_row, term: stride * inputs };
        let gradients = Columns::Strided { segment: dy_row, term: dy_pixel };
        for a in 0..kernel {
            let x = &x[(top * stride + a) * x_row..];
            let dw = &mut dw[a * taps * outputs..][..taps * outputs];
            product(isa, sizes, (x, at), (&dy[top * dy_row..], gradients), dw, End::Accumulate);
        }
    }
}

/// The kernel turned round and its channels exchanged: w[a, b, i, o] to out[k − 1 − a, k − 1 − b, o, i], with room for
/// `stored` input channels (the rest zero).
pub(crate) fn turned(
    w: &[f32],
    kernel: usize,
    inputs: usize,
    outputs: usize,
    stored: usize,
    out: &mut [f32],
) {
    assert!(w.len() == kernel * kernel * inputs * outputs && out.len() == kernel * kernel * stored * outputs);
    out.fill(0.0);
    let taps = kernel * kernel;
    for (tap, w) in w.chunks_exact(inputs * outputs).enumerate() {
        let out = &mut out[(taps - 1 - tap) * stored * outputs..][..stored * outputs];
        for (i, row) in w.chunks_exact(outputs).enumerate() {
            for (o, value) in row.iter().enumerate() {
                out[o * stored + i] = *value;
            }
        }
    }
}
