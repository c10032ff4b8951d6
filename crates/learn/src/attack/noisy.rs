//! A batch of inputs under noise: what the network is shown, and the gradient of a loss by the codes.
//!
//! **Objective.** With the draws η_1 … η_m of an input held fixed, w_j = D(z + ση_j) and s_j the scores of w_j: any
//! [`Loss`] of s_1 … s_m, in particular the cross-entropy of the soft smoothed classifier G (eq. (6) and (7) of the paper;
//! Salman et al. 2019, eq. (6)). Its gradient by z is Dᵀ Σ_j ∂loss/∂w_j: the sum first, so that a batch is multiplied by Dᵀ
//! once per input and not once per draw.

use crate::input_codec::InputCodec;
use crate::net::loss::{Loss, LossValue, Targets};
use crate::net::pass::{Mode, Pass, Wanted};
use gambeson_smooth::noise::{Draw, Noise};
use rayon::prelude::*;

/// The noise of a batch, and room to show it to a network.
#[derive(Clone, Debug, Default)]
pub struct Noisy {
    draws: usize,
    rank: usize,
    /// σ·η, inputs × draws × rank; empty where σ = 0.
    noise: Vec<f32>,
    codes: Vec<f32>,
    rows: Vec<f32>,
    by_scores: Vec<f32>,
    by_rows: Vec<f32>,
    sums: Vec<f32>,
}

impl Noisy {
    /// Draws noise of level `sigma` for inputs: draw j of an input depends on the seed and the input's number alone.
    pub fn draw(&mut self, seed: u64, inputs: &[u64], sigma: f64, draws: usize, rank: usize) {
        (self.draws, self.rank) = (draws, rank);
        self.noise.clear();
        if sigma == 0.0 {
            return;
        }
        self.noise.resize(inputs.len() * draws * rank, 0.0);
        #[allow(clippy::cast_possible_truncation)] // a network's numbers are f32
        let level = sigma as f32;
        self.noise.par_chunks_mut(draws * rank).zip(inputs).for_each(|(noise, &input)| {
            let own = Noise::new(seed, input);
            for (draw, noise) in noise.chunks_exact_mut(rank).enumerate() {
                own.standard(Draw::Estimation(draw as u64), noise);
                noise.iter_mut().for_each(|x| *x *= level);
            }
        });
    }

    /// Rows that the network is shown per input.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// What the network is shown for inputs of these codes: inputs × draws rows.
    pub fn rows(&mut self, codec: &InputCodec, codes: &[f32]) -> &[f32] {
        let (rank, draws) = (self.rank, self.draws);
        let inputs = codes.len() / rank;
        self.rows.resize(inputs * draws * codec.output().len(), 0.0);
        if self.noise.is_empty() && draws == 1 {
            codec.decode(codes, &mut self.rows);
            return &self.rows;
        }
        self.codes.resize(inputs * draws * rank, 0.0);
        let noise = &self.noise;
        self.codes.par_chunks_mut(rank).enumerate().for_each(|(row, out)| {
            let code = &codes[row / draws * rank..][..rank];
            match noise.get(row * rank..(row + 1) * rank) {
                Some(noise) => {
                    out.iter_mut().zip(code).zip(noise).for_each(|((out, z), noise)| *out = z + noise);
                }
                None => out.copy_from_slice(code),
            }
        });
        codec.decode(&self.codes, &mut self.rows);
        &self.rows
    }

    /// The loss of a network around codes by its running statistics, and in `by_codes` its gradient by the codes. The
    /// network's weights are loaded; nothing of it changes.
    pub fn gradient(
        &mut self,
        pass: &mut Pass,
        codec: &InputCodec,
        loss: Loss,
        (codes, labels): (&[f32], &[u16]),
        by_codes: &mut [f32],
    ) -> LossValue {
        self.rows(codec, codes);
        let scores = pass.forward(&self.rows, Mode::Evaluation);
        self.by_scores.resize(scores.len(), 0.0);
        let classes = scores.len() / (labels.len() * self.draws);
        let targets = Targets { labels, draws: self.draws, classes, smoothing: 0.0 };
        let value = loss.of(scores, targets, &mut self.by_scores);
        pass.backward(&self.by_scores, Wanted { weights: false, input: true });
        self.by_rows.resize(self.rows.len(), 0.0);
        pass.input_gradient(&mut self.by_rows);
        let (each, draws) = (codec.output().len(), self.draws);
        if draws == 1 {
            codec.decode_back(&self.by_rows, by_codes);
            return value;
        }
        self.sums.resize(labels.len() * each, 0.0);
        let by_rows = &self.by_rows;
        self.sums.par_chunks_mut(each).zip(by_rows.par_chunks(draws * each)).for_each(|(sum, rows)| {
            sum.copy_from_slice(&rows[..each]);
            for row in rows[each..].chunks_exact(each) {
                sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            }
        });
        codec.decode_back(&self.sums, by_codes);
        value
    }
}
