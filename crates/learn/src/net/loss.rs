//! Losses of scores, with their gradients.
//!
//! An input is shown to the network in m draws of noise. With p_j = softmax(s_j) the answer to draw j, P = (1/m) Σ_j p_j the
//! soft smoothed classifier G of eq. (6) of the paper, and q the target (the label, or (1 − t)·label + t/K with label
//! smoothing t):
//!
//! | loss of an input | gradient by s_j |
//! |---|---|
//! | mean cross-entropy: −(1/m) Σ_j Σ_k q_k log p_jk | (p_j − q)/m |
//! | cross-entropy of G, eq. (7): −Σ_k q_k log P_k | p_j ∘ (a − ⟨a, p_j⟩)/m, a_k = −q_k/P_k |
//! | consistency (Jeong and Shin 2020): mean cross-entropy + λ (1/m) Σ_j KL(P ‖ p_j) + η H(P) | (p_j − q)/m + λ (p_j − P)/m + p_j ∘ (a − ⟨a, p_j⟩)/m, a_k = (λ − η) log P_k − λ (1/m) Σ_j log p_jk |
//!
//! For m = 1 the first two are the same. Everything is computed in double precision from logarithms, so that no score is too
//! large; a batch's loss is the mean over its inputs.

use serde::{Deserialize, Serialize};

/// What is minimised over the draws of an input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// The mean over the draws of their cross-entropy.
    MeanCrossEntropy,
    /// The cross-entropy of the mean answer: that of G.
    SoftCrossEntropy,
    /// The mean cross-entropy, and answers that agree.
    Consistency(Consistency),
}

/// Weights of Jeong and Shin's regularisation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consistency {
    /// Of the divergence of the answers from their mean: λ.
    pub lambda: f64,
    /// Of the mean answer's entropy: η.
    pub eta: f64,
}

/// Inputs in a batch of scores.
#[derive(Clone, Copy, Debug)]
pub struct Targets<'a> {
    /// The class of each input.
    pub labels: &'a [u16],
    /// Rows of scores per input: m, one after the other.
    pub draws: usize,
    /// Scores per row.
    pub classes: usize,
    /// t, the share of the target that is spread over all classes.
    pub smoothing: f64,
}

/// A batch's loss.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LossValue {
    /// Sum over the inputs.
    pub sum: f64,
    /// Inputs whose mean answer is highest at the label.
    pub correct: usize,
}

impl Loss {
    /// The loss of a batch, and in `by_scores` the gradient of its mean by every score. Rows are inputs × draws.
    ///
    /// Panics unless there are as many rows as the targets say.
    pub fn of(self, scores: &[f32], targets: Targets<'_>, by_scores: &mut [f32]) -> LossValue {
        let Targets { labels, draws, classes, .. } = targets;
        let each = draws * classes;
        assert!(
            scores.len() == labels.len() * each && by_scores.len() == scores.len(),
            "a row of scores per draw"
        );
        let share = 1.0 / labels.len() as f64;
        let mut room = DrawScores::new(draws, classes);
        let mut value = LossValue::default();
        let inputs = scores.chunks_exact(each).zip(by_scores.chunks_exact_mut(each));
        for ((scores, by_scores), &label) in inputs.zip(labels) {
            let label = usize::from(label);
            room.take(scores);
            value.sum += self.of_input(&mut room, label, targets.smoothing);
            value.correct += usize::from(room.answer() == label);
            for (out, gradient) in by_scores.iter_mut().zip(&room.gradient) {
                #[allow(clippy::cast_possible_truncation)] // scores and their gradients are f32
                let rounded = (gradient * share) as f32;
                *out = rounded;
            }
        }
        value
    }

    /// The loss of the input in `room`, and its gradient there.
    fn of_input(self, room: &mut DrawScores, label: usize, smoothing: f64) -> f64 {
        let DrawScores { draws, classes, log, p, mean, a, gradient } = room;
        let (m, k) = (*draws as f64, *classes as f64);
        let q = |class: usize| smoothing / k + if class == label { 1.0 - smoothing } else { 0.0 };
        let cross_entropy = |log: &[f64]| -> f64 {
            let by_draw = |row: &[f64]| -> f64 { row.iter().enumerate().map(|(c, log)| -q(c) * log).sum() };
            log.chunks_exact(*classes).map(by_draw).sum::<f64>() / m
        };
        let plain = |gradient: &mut [f64], p: &[f64]| {
            for (at, (out, p)) in gradient.iter_mut().zip(p).enumerate() {
                *out = (p - q(at % *classes)) / m;
            }
        };
        match self {
            Loss::MeanCrossEntropy => {
                plain(gradient, p);
                cross_entropy(log)
            }
            Loss::SoftCrossEntropy => {
                // log P_k as logarithm of a sum of exponentials: P itself may be too small to divide by.
                let log_mean = |class: usize| {
                    let column = || log.iter().skip(class).step_by(*classes);
                    let most = column().copied().fold(f64::NEG_INFINITY, f64::max);
                    most + (column().map(|log| (log - most).exp()).sum::<f64>() / m).ln()
                };
                a.iter_mut().enumerate().for_each(|(class, a)| *a = log_mean(class));
                let loss = a.iter().enumerate().map(|(class, log)| -q(class) * log).sum();
                // p_jk/(m P_k) is the share w_jk of draw j in P_k: the gradient is −q_k w_jk + p_jk Σ_l q_l w_jl.
                for (gradient, log) in gradient.chunks_exact_mut(*classes).zip(log.chunks_exact(*classes)) {
                    let mut total = 0.0;
                    for (class, out) in gradient.iter_mut().enumerate() {
                        *out = -q(class) * (log[class] - a[class]).exp() / m;
                        total += *out;
                    }
                    gradient.iter_mut().zip(log).for_each(|(out, log)| *out -= log.exp() * total);
                }
                loss
            }
            Loss::Consistency(Consistency { lambda, eta }) => {
                plain(gradient, p);
                let mut loss = cross_entropy(log);
                for (class, a) in a.iter_mut().enumerate() {
                    let mean_log = log.iter().skip(class).step_by(*classes).sum::<f64>() / m;
                    let big = mean[class];
                    // 0·log 0 = 0; p ≥ e⁻⁷⁴⁵ otherwise, so the logarithm is finite.
                    let log_big = if big > 0.0 { big.ln() } else { mean_log };
                    loss += lambda * big * (log_big - mean_log) - eta * big * log_big;
                    *a = (lambda - eta) * log_big - lambda * mean_log;
                }
                for (gradient, p) in gradient.chunks_exact_mut(*classes).zip(p.chunks_exact(*classes)) {
                    let inner: f64 = a.iter().zip(p).map(|(a, p)| a * p).sum();
                    for (class, out) in gradient.iter_mut().enumerate() {
                        *out += (lambda * (p[class] - mean[class]) + p[class] * (a[class] - inner)) / m;
                    }
                }
                loss
            }
        }
    }
}

/// The answers to the draws of one input.
struct DrawScores {
    draws: usize,
    classes: usize,
    /// log p, draws × classes.
    log: Vec<f64>,
    /// p.
    p: Vec<f64>,
    /// P.
    mean: Vec<f64>,
    /// One number per class.
    a: Vec<f64>,
    gradient: Vec<f64>,
}

impl DrawScores {
    fn new(draws: usize, classes: usize) -> Self {
        let (all, row) = (vec![0.0; draws * classes], vec![0.0; classes]);
        Self { draws, classes, log: all.clone(), p: all.clone(), mean: row.clone(), a: row, gradient: all }
    }

    fn take(&mut self, scores: &[f32]) {
        self.mean.fill(0.0);
        let rows = self.log.chunks_exact_mut(self.classes).zip(self.p.chunks_exact_mut(self.classes));
        for ((log, p), scores) in rows.zip(scores.chunks_exact(self.classes)) {
            let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let below = |score: &f32| f64::from(*score) - f64::from(most);
            let sum: f64 = scores.iter().map(|score| below(score).exp()).sum();
            let normal = sum.ln();
            for (((log, p), score), mean) in log.iter_mut().zip(p).zip(scores).zip(&mut self.mean) {
                *log = below(score) - normal;
                *p = log.exp();
                *mean += *p / self.draws as f64;
            }
        }
    }

    /// The class of the highest mean answer, the lowest of equals.
    fn answer(&self) -> usize {
        let highest = self.mean.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.mean.iter().position(|&p| p == highest).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn losses() -> [Loss; 4] {
        let consistency = |lambda, eta| Loss::Consistency(Consistency { lambda, eta });
        [Loss::MeanCrossEntropy, Loss::SoftCrossEntropy, consistency(5.0, 0.5), consistency(0.0, 0.0)]
    }

    /// From the definitions, in plain double precision.
    fn by_definition(loss: Loss, scores: &[f64], label: usize, m: usize, k: usize, smoothing: f64) -> f64 {
        let q = |c: usize| smoothing / k as f64 + if c == label { 1.0 - smoothing } else { 0.0 };
        let p: Vec<Vec<f64>> = scores
            .chunks_exact(k)
            .map(|row| {
                let sum: f64 = row.iter().map(|s| s.exp()).sum();
                row.iter().map(|s| s.exp() / sum).collect()
            })
            .collect();
        let mean: Vec<f64> = (0..k).map(|c| p.iter().map(|p| p[c]).sum::<f64>() / m as f64).collect();
        let cross = |p: &[f64]| (0..k).map(|c| -q(c) * p[c].ln()).sum::<f64>();
        let mean_cross = p.iter().map(|p| cross(p)).sum::<f64>() / m as f64;
        match loss {
            Loss::MeanCrossEntropy => mean_cross,
            Loss::SoftCrossEntropy => cross(&mean),
            Loss::Consistency(Consistency { lambda, eta }) => {
                let kl = |p: &[f64]| (0..k).map(|c| mean[c] * (mean[c] / p[c]).ln()).sum::<f64>();
                let entropy = -(0..k).map(|c| mean[c] * mean[c].ln()).sum::<f64>();
                mean_cross + lambda * p.iter().map(|p| kl(p)).sum::<f64>() / m as f64 + eta * entropy
            }
        }
    }

    proptest! {
        #[test]
        fn losses_and_gradients_are_those_of_the_definitions(
            scores in prop::collection::vec(-4.0_f32..4.0, 24),
            labels in prop::collection::vec(0_u16..4, 6),
            draws in prop::sample::select(vec![1_usize, 2, 3]),
            smoothing in prop::sample::select(vec![0.0, 0.1]),
        ) {
            let (classes, inputs) = (4, 6 / draws);
            let targets = Targets { labels: &labels[..inputs], draws, classes, smoothing };
            let exact: Vec<f64> = scores.iter().map(|&s| f64::from(s)).collect();
            for loss in losses() {
                let mut by_scores = vec![0.0; 24];
                let value = loss.of(&scores, targets, &mut by_scores);
                let whole = |scores: &[f64]| -> f64 {
                    let each = scores.chunks_exact(draws * classes).zip(targets.labels);
                    each.map(|(s, &l)| by_definition(loss, s, l.into(), draws, classes, smoothing)).sum()
                };
                prop_assert!((value.sum - whole(&exact)).abs() < 1e-9 * (1.0 + value.sum.abs()));
                for at in 0..24 {
                    let moved = |step: f64| {
                        let mut moved = exact.clone();
                        moved[at] += step;
                        whole(&moved)
                    };
                    let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5 / inputs as f64;
                    prop_assert!((slope - f64::from(by_scores[at])).abs() < 2e-6, "{loss:?} {slope} {}", by_scores[at]);
                }
            }
        }
    }

    #[test]
    fn scores_far_apart_keep_finite_gradients() {
        let scores = [500.0, -500.0, 0.0, -300.0, 400.0, 0.0];
        for loss in losses() {
            for label in 0..3 {
                let mut by_scores = [0.0; 6];
                let targets = Targets { labels: &[label], draws: 2, classes: 3, smoothing: 0.0 };
                let value = loss.of(&scores, targets, &mut by_scores);
                assert!(
                    value.sum.is_finite() && by_scores.iter().all(|g| g.is_finite()),
                    "{loss:?} {by_scores:?}"
                );
            }
        }
    }

    #[test]
    fn the_mean_answer_decides_what_is_correct() {
        // Class 1 in the first draw, class 0 in the second, but surer of it.
        let scores = [0.0, 1.0, 5.0, 0.0];
        let correct = |label| {
            let targets = Targets { labels: &[label], draws: 2, classes: 2, smoothing: 0.0 };
            Loss::MeanCrossEntropy.of(&scores, targets, &mut [0.0; 4]).correct
        };
        assert_eq!((correct(0), correct(1)), (1, 0));
    }
}
