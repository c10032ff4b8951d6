//! Batch normalisation (Ioffe and Szegedy 2015), and a bias as its simplest case.
//!
//! z = γ·(y − μ)/√(v + ε) + β per channel, which is one line: z = scale·y + shift.
//!
//! * Training: μ and v are mean and variance of the batch over images, rows and columns. With m = 1/(number of those),
//!   x̂ = (y − μ)/√(v + ε), s₁ = Σ dz, s₂ = Σ dz·x̂:
//!   dβ = s₁, dγ = s₂, dy = scale·(dz − m·s₁ − m·s₂·x̂), again one line per channel in dz and y: dy = ka·dz + kb·y + kc.
//! * Evaluation: μ and v are the running statistics, constants: dy = scale·dz.
//! * Without normalisation scale = 1 and shift = bias: dbias = s₁, dy = dz.
//!
//! Sums are in `f32` within an image and in `f64` across images, about the running mean, so that a large mean does not
//! take the variance with it.

use crate::net::kernel::elementwise::{Affine, AffineGradient};

/// ε, as in PyTorch and ONNX.
pub(crate) const EPSILON: f64 = 1e-5;

/// The lines of one layer, per channel as stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct BatchNorm {
    pub(crate) scale: Vec<f32>,
    pub(crate) shift: Vec<f32>,
    /// μ.
    pub(crate) mean: Vec<f32>,
    /// 1/√(v + ε).
    pub(crate) inverse: Vec<f32>,
    ka: Vec<f32>,
    kb: Vec<f32>,
    kc: Vec<f32>,
    /// What sums are taken about: the running mean.
    pub(crate) about: Vec<f32>,
    running_variance: Vec<f32>,
    /// Variance of the batch, for the running statistics.
    pub(crate) variance: Vec<f32>,
    gamma: Vec<f32>,
    beta: Vec<f32>,
}

/// γ, β and the running statistics of a layer; empty slices where it has none.
#[derive(Clone, Copy)]
pub(crate) struct NormWeights<'a> {
    pub(crate) gamma: &'a [f32],
    pub(crate) beta: &'a [f32],
    pub(crate) mean: &'a [f32],
    pub(crate) variance: &'a [f32],
}

#[allow(clippy::cast_possible_truncation)] // lines are f32
impl BatchNorm {
    pub(crate) fn new(stored: usize) -> Self {
        let zeros = vec![0.0; stored];
        Self {
            scale: zeros.clone(),
            shift: zeros.clone(),
            mean: zeros.clone(),
            inverse: vec![1.0; stored],
            ka: zeros.clone(),
            kb: zeros.clone(),
            kc: zeros.clone(),
            about: zeros.clone(),
            running_variance: zeros.clone(),
            variance: zeros.clone(),
            gamma: zeros.clone(),
            beta: zeros,
        }
    }

    /// The lines of evaluation: by the running statistics, or the bias alone. Channels that only fill up get scale 0.
    pub(crate) fn load(&mut self, channels: usize, weights: NormWeights<'_>) {
        for c in 0..channels {
            let beta = weights.beta.get(c).copied().unwrap_or(0.0);
            let Some(&gamma) = weights.gamma.get(c) else {
                (self.scale[c], self.shift[c]) = (1.0, beta);
                continue;
            };
            (self.gamma[c], self.beta[c]) = (gamma, beta);
            (self.about[c], self.running_variance[c]) = (weights.mean[c], weights.variance[c]);
            self.set(c, f64::from(weights.mean[c]), f64::from(weights.variance[c]));
        }
    }

    /// The lines of evaluation again, after a batch had its own.
    pub(crate) fn take_running(&mut self, channels: usize) {
        for c in 0..channels {
            self.set(c, f64::from(self.about[c]), f64::from(self.running_variance[c]));
        }
    }

    fn set(&mut self, c: usize, mean: f64, variance: f64) {
        let inverse = 1.0 / (variance + EPSILON).sqrt();
        let scale = f64::from(self.gamma[c]) * inverse;
        self.mean[c] = mean as f32;
        self.variance[c] = variance as f32;
        self.inverse[c] = inverse as f32;
        self.scale[c] = scale as f32;
        self.shift[c] = (f64::from(self.beta[c]) - mean * scale) as f32;
    }

    /// The lines of training, from Σ (y − about) and Σ (y − about)² of each chunk, over `count` numbers per channel.
    pub(crate) fn take_batch(&mut self, channels: usize, sums: &[f64], count: f64) {
        let stored = self.scale.len();
        for c in 0..channels {
            let (first, second) = totals(sums, stored, c);
            let off = first / count;
            let variance = (second / count - off * off).max(0.0);
            self.set(c, f64::from(self.about[c]) + off, variance);
        }
    }

    /// From s₁ and s₂ of each chunk to dγ and dβ, and the line of the backward pass. Without `count`: evaluation.
    pub(crate) fn backward(&mut self, channels: usize, sums: &[f64], count: Option<f64>) -> Vec<(f64, f64)> {
        let stored = self.scale.len();
        (0..channels)
            .map(|c| {
                let (first, second) = totals(sums, stored, c);
                let scale = f64::from(self.scale[c]);
                let (m1, m2) = count.map_or((0.0, 0.0), |count| (first / count, second / count));
                let (mean, inverse) = (f64::from(self.mean[c]), f64::from(self.inverse[c]));
                self.ka[c] = scale as f32;
                self.kb[c] = (-scale * inverse * m2) as f32;
                self.kc[c] = (scale * (mean * inverse * m2 - m1)) as f32;
                (first, second)
            })
            .collect()
    }

    pub(crate) fn affine(&self) -> Affine<'_> {
        Affine { scale: &self.scale, shift: &self.shift }
    }

    pub(crate) fn gradient(&self) -> AffineGradient<'_> {
        AffineGradient { ka: &self.ka, kb: &self.kb, kc: &self.kc }
    }
}

/// Both sums of a channel over all chunks, in their order.
fn totals(sums: &[f64], stored: usize, c: usize) -> (f64, f64) {
    sums.chunks_exact(2 * stored).fold((0.0, 0.0), |(a, b), chunk| (a + chunk[c], b + chunk[stored + c]))
}
