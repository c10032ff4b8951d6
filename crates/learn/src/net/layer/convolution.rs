//! Convolution: y[r, q, o] = Σ_{a, b, i} x[r·s + a − p, q·s + b − p, i]·w[o, i, a, b], x zero outside the plane.
//!
//! By data: dx[i] = Σ_t dy↑[i + t]·w turned round, dy↑ the gradient spread out by the stride and padded with k − 1 − p zeros.
//! By weights: dw[a, b] = Σ x[r·s + a − p, q·s + b − p]·dy[r, q] over images, rows and columns.
//!
//! Each of the three is a product over padded images, by Winograd's transforms or by direct sums ([`Algorithm`]); see
//! `kernel/winograd.rs` and `kernel/direct.rs`.

use crate::net::kernel::Isa;
use crate::net::kernel::direct::{self, Geometry};
use crate::net::kernel::product::{End, pack};
use crate::net::kernel::winograd::{self, Epilogue, Layout, PLACES, TiledConvolution, Tiles, phases};
use crate::net::plan::{Algorithm, ConvolutionPlan};

/// Weights as the kernels want them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConvolutionWeights {
    forward: Vec<f32>,
    by_data: Vec<f32>,
}

/// Memory for one task at a time.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Padded images.
    pub(crate) x: Vec<f32>,
    /// Padded gradients.
    pub(crate) dy: Vec<f32>,
    /// Of the transforms.
    v: Vec<f32>,
    m: Vec<f32>,
    du: Vec<f32>,
    /// A row of a shortcut, or a gradient to be added.
    pub(crate) row: Vec<f32>,
}

/// At least so long; what is in it is not specified.
pub(crate) fn first_of(buffer: &mut Vec<f32>, length: usize) -> &mut [f32] {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    &mut buffer[..length]
}

impl ConvolutionPlan {
    /// w[o, i, a, b] to kernel × kernel × inputs × outputs as stored, each output scaled.
    pub(crate) fn spread(&self, weight: &[f32], scale: impl Fn(usize) -> f32) -> Vec<f32> {
        let taps = self.kernel * self.kernel;
        let mut w = vec![0.0; self.weights()];
        for (o, filter) in weight.chunks_exact(self.from.channels * taps).enumerate() {
            for (i, filter) in filter.chunks_exact(taps).enumerate() {
                for (tap, &value) in filter.iter().enumerate() {
                    w[(tap * self.inputs + i) * self.outputs + o] = value * scale(o);
                }
            }
        }
        w
    }

    /// The reverse of [`spread`](Self::spread), for gradients.
    pub(crate) fn gather(&self, dw: &[f32], weight: &mut [f32]) {
        let taps = self.kernel * self.kernel;
        for (o, filter) in weight.chunks_exact_mut(self.from.channels * taps).enumerate() {
            for (i, filter) in filter.chunks_exact_mut(taps).enumerate() {
                for (tap, value) in filter.iter_mut().enumerate() {
                    *value = dw[(tap * self.inputs + i) * self.outputs + o];
                }
            }
        }
    }

    /// Spread-out weights as the forward pass wants them.
    pub(crate) fn forward_weights(&self, isa: Isa, w: &[f32], out: &mut Vec<f32>) {
        match self.forward {
            Algorithm::Winograd => {
                out.resize(PLACES * self.inputs * self.outputs, 0.0);
                winograd::transform_weights(isa, w, self.inputs, self.outputs, out);
            }
            Algorithm::Phases => {
                out.resize(phases::PLACES * phases::PHASES * self.inputs * self.outputs, 0.0);
                phases::transform_weights(isa, w, self.inputs, self.outputs, out);
            }
            Algorithm::Direct => pack(w, self.kernel * self.inputs, self.outputs, out),
        }
    }

    pub(crate) fn load(&self, isa: Isa, weight: &[f32], by_data: bool, to: &mut ConvolutionWeights) {
        let w = self.spread(weight, |_| 1.0);
        self.forward_weights(isa, &w, &mut to.forward);
        if !by_data {
            return;
        }
        let mut turned = vec![0.0; self.kernel * self.kernel * self.gradient * self.outputs];
        direct::turned(&w, self.kernel, self.inputs, self.outputs, self.gradient, &mut turned);
        match self.by_data {
            Algorithm::Winograd => {
                to.by_data.resize(PLACES * self.outputs * self.gradient, 0.0);
                winograd::transform_weights(isa, &turned, self.outputs, self.gradient, &mut to.by_data);
            }
            Algorithm::Phases | Algorithm::Direct => {
                pack(&turned, self.kernel * self.outputs, self.gradient, &mut to.by_data);
            }
        }
    }

    /// y of some images, from their frames in `scratch.x`.
    pub(crate) fn forward(
        &self,
        isa: Isa,
        weights: &ConvolutionWeights,
        images: usize,
        scratch: &mut Scratch,
        y: &mut [f32],
    ) {
        let frame = self.input_frame();
        let from = Layout { first: 0, image: frame.len(self.inputs), row: frame.columns * self.inputs };
        let to = Layout {
            first: 0,
            image: self.to.height * self.to.width * self.outputs,
            row: self.to.width * self.outputs,
        };
        let x = std::mem::take(&mut scratch.x);
        self.forward_into(isa, &weights.forward, images, (&x, from), (y, to), Epilogue::default(), scratch);
        scratch.x = x;
    }

    /// The same from and into any layout, with an epilogue; `from.first` is the first number that the kernel meets.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn forward_into(
        &self,
        isa: Isa,
        weights: &[f32],
        images: usize,
        (x, from): (&[f32], Layout),
        (y, to): (&mut [f32], Layout),
        epilogue: Epilogue<'_>,
        scratch: &mut Scratch,
    ) {
        let Scratch { v, m, .. } = scratch;
        match self.forward {
            Algorithm::Winograd => {
                let tiles = Tiles { images, height: self.to.height, width: self.to.width };
                let v = first_of(v, winograd::scratch(self.inputs));
                let m = first_of(m, winograd::scratch(self.outputs));
                let (x, y) = ((x, from, self.inputs), (y, to, self.outputs));
                winograd::convolve(isa, TiledConvolution { tiles, x, u: weights, y, epilogue }, v, m);
            }
            Algorithm::Phases => {
                let tiles = Tiles { images, height: self.to.height, width: self.to.width };
                let v = first_of(v, phases::scratch(phases::PHASES * self.inputs));
                let m = first_of(m, phases::scratch(self.outputs));
                let (x, y) = ((x, from, self.inputs), (y, to, self.outputs));
                phases::convolve(isa, TiledConvolution { tiles, x, u: weights, y, epilogue }, v, m);
            }
            Algorithm::Direct => {
                assert!(
                    epilogue.shortcut.is_none() && (epilogue.bias.is_some() || !epilogue.relu),
                    "direct sums are closed with a bias, and shortcuts are added elsewhere"
                );
                let end = epilogue.bias.map_or(End::Store, |bias| End::Close { bias, relu: epilogue.relu });
                for i in 0..images {
                    let y = &mut y[to.first + i * to.image..];
                    direct::convolve(
                        isa,
                        self.geometry(),
                        (&x[from.first + i * from.image..], from.row),
                        weights,
                        (y, to.row),
                        end,
                    );
                }
            }
        }
    }

    fn geometry(&self) -> Geometry {
        Geometry {
            kernel: self.kernel,
            stride: self.stride,
            inputs: self.inputs,
            outputs: self.outputs,
            height: self.to.height,
            width: self.to.width,
        }
    }

    /// Begins the sum of [`by_weights`](Self::by_weights).
    pub(crate) fn begin_by_weights(&self, scratch: &mut Scratch, dw: &mut [f32]) {
        match self.by_weights {
            Algorithm::Winograd => first_of(&mut scratch.du, PLACES * self.inputs * self.outputs).fill(0.0),
            Algorithm::Phases | Algorithm::Direct => dw.fill(0.0),
        }
    }

    /// Adds some images, from their frames in `scratch.x` and `scratch.dy`.
    pub(crate) fn by_weights(&self, isa: Isa, images: usize, scratch: &mut Scratch, dw: &mut [f32]) {
        let Scratch { x, dy, v, m, du, .. } = scratch;
        let (fx, fd) = (self.input_frame(), self.gradient_frame());
        let first = (fd.before * fd.columns + fd.before) * self.outputs;
        let (x_row, dy_row) = (fx.columns * self.inputs, fd.columns * self.outputs);
        match self.by_weights {
            Algorithm::Winograd => {
                let tiles = Tiles { images, height: self.to.height, width: self.to.width };
                let from = Layout { first: 0, image: fx.len(self.inputs), row: x_row };
                let to = Layout { first, image: fd.len(self.outputs), row: dy_row };
                let v = first_of(v, winograd::scratch(self.inputs));
                let m = first_of(m, winograd::scratch(self.outputs));
                winograd::weight_gradient(
                    isa,
                    tiles,
                    (x, from, self.inputs),
                    (dy, to, self.outputs),
                    du,
                    v,
                    m,
                );
            }
            Algorithm::Phases | Algorithm::Direct => {
                for i in 0..images {
                    let x = &x[i * fx.len(self.inputs)..];
                    let dy = &dy[i * fd.len(self.outputs) + first..];
                    direct::weight_gradient(
                        isa,
                        self.geometry(),
                        (x, x_row),
                        (dy, fd.step * dy_row, fd.step * self.outputs),
                        dw,
                    );
                }
            }
        }
    }

    /// Ends the sum: kernel × kernel × inputs × outputs.
    pub(crate) fn end_by_weights(&self, isa: Isa, scratch: &Scratch, dw: &mut [f32]) {
        if self.by_weights == Algorithm::Winograd {
            let all = self.inputs * self.outputs;
            winograd::weights_from_transformed(isa, &scratch.du[..PLACES * all], all, dw);
        }
    }

    /// dx of some images, from their frames in `scratch.dy`.
    pub(crate) fn by_data(
        &self,
        isa: Isa,
        weights: &ConvolutionWeights,
        images: usize,
        scratch: &mut Scratch,
        dx: &mut [f32],
    ) {
        let Scratch { dy, v, m, .. } = scratch;
        let frame = self.gradient_frame();
        let (height, width) = (self.from.height, self.from.width);
        let (row, image) = (frame.columns * self.outputs, frame.len(self.outputs));
        let to = Layout { first: 0, image: height * width * self.gradient, row: width * self.gradient };
        match self.by_data {
            Algorithm::Winograd => {
                let tiles = Tiles { images, height, width };
                let from = Layout { first: 0, image, row };
                let v = first_of(v, winograd::scratch(self.outputs));
                let m = first_of(m, winograd::scratch(self.gradient));
                let (x, y) = ((&dy[..], from, self.outputs), (dx, to, self.gradient));
                let (u, epilogue) = (&weights.by_data[..], Epilogue::default());
                winograd::convolve(isa, TiledConvolution { tiles, x, u, y, epilogue }, v, m);
            }
            Algorithm::Phases | Algorithm::Direct => {
                let geometry = Geometry {
                    kernel: self.kernel,
                    stride: 1,
                    inputs: self.outputs,
                    outputs: self.gradient,
                    height,
                    width,
                };
                for i in 0..images {
                    let (x, dx) = (&dy[i * image..], &mut dx[i * to.image..]);
                    direct::convolve(isa, geometry, (x, row), &weights.by_data, (dx, to.row), End::Store);
                }
            }
        }
    }
}
