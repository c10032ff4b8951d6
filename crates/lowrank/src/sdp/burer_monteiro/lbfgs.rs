//! The memory of L-BFGS, with the two-loop recursion done on inner products.
//!
//! **Reference.** Nocedal (Math. Comp. 35, 1980); the recursion in coefficients after Chen, Wang and Zhou
//! (NeurIPS 2014). The vectors are n·k numbers long and the recursion touches sixteen of them one after the other;
//! by inner products it reads them all in two passes, which is the cost of a step besides the product with M.

use crate::linalg::sphere::{combination, inner_products};
use std::collections::VecDeque;

/// Pairs of steps and gradient changes remembered.
const MEMORY: usize = 8;

/// Steps s and changes y of the gradient while minimising −⟨M, VVᵀ⟩/2, oldest first.
#[derive(Default)]
pub(crate) struct Memory {
    pairs: VecDeque<Pair>,
}

struct Pair {
    s: Vec<f64>,
    y: Vec<f64>,
    /// ⟨s, y_j⟩ with every pair j, in their order.
    s_y: VecDeque<f64>,
    /// ⟨y, y_j⟩.
    y_y: VecDeque<f64>,
}

impl Memory {
    pub(crate) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.pairs.clear();
    }

    /// Remembers a step if the curvature along it is clearly positive.
    pub(crate) fn push(&mut self, s: Vec<f64>, y: Vec<f64>) {
        if self.pairs.len() == MEMORY {
            self.pairs.pop_front();
            for pair in &mut self.pairs {
                pair.s_y.pop_front();
                pair.y_y.pop_front();
            }
        }
        let old = self.pairs.len();
        let mut all: Vec<&[f64]> = self.pairs.iter().flat_map(|pair| [&pair.s[..], &pair.y[..]]).collect();
        all.extend([&s[..], &y[..]]);
        let found = inner_products(&all, &[&s, &y]);
        let with = |vector: usize, new: usize| found[2 * vector + new];
        let (curvature, squares) = (with(2 * old, 1), with(2 * old, 0) * with(2 * old + 1, 1));
        if !(curvature > 1e-12 * squares.sqrt()) {
            return;
        }
        for (j, pair) in self.pairs.iter_mut().enumerate() {
            pair.s_y.push_back(with(2 * j, 1));
            pair.y_y.push_back(with(2 * j + 1, 1));
        }
        let s_y = (0..=old).map(|j| with(2 * j + 1, 0)).collect();
        let y_y = (0..=old).map(|j| with(2 * j + 1, 1)).collect();
        self.pairs.push_back(Pair { s, y, s_y, y_y });
    }

    /// H·gradient, H the inverse Hessian that the memory stands for; `scale` times the gradient without one.
    pub(crate) fn direction(&self, gradient: &[f64], scale: f64) -> Vec<f64> {
        let pairs = &self.pairs;
        let Some(newest) = pairs.len().checked_sub(1) else {
            return combination(&[(scale, gradient)]);
        };
        let all: Vec<&[f64]> = pairs.iter().flat_map(|pair| [&pair.s[..], &pair.y[..]]).collect();
        let found = inner_products(&all, &[gradient]);
        let (s_gradient, y_gradient) = (|i: usize| found[2 * i], |i: usize| found[2 * i + 1]);
        let curvature = |i: usize| pairs[i].s_y[i];
        let mut along_s = vec![0.0; pairs.len()];
        let mut along_y = vec![0.0; pairs.len()];
        // The first loop takes from the gradient multiples of the y, so only those occur in ⟨s_i, q⟩.
        for i in (0..=newest).rev() {
            let product: f64 = (i + 1..=newest).map(|j| along_y[j] * pairs[i].s_y[j]).sum();
            along_y[i] = -(s_gradient(i) + product) / curvature(i);
        }
        let factors: Vec<f64> = along_y.iter().map(|factor| -factor).collect();
        let scale = curvature(newest) / pairs[newest].y_y[newest];
        along_y.iter_mut().for_each(|factor| *factor *= scale);
        for i in 0..=newest {
            let by_y: f64 = (0..=newest).map(|j| along_y[j] * pairs[i].y_y[j]).sum();
            let by_s: f64 = (0..i).map(|j| along_s[j] * pairs[j].s_y[i]).sum();
            along_s[i] = factors[i] - (scale * y_gradient(i) + by_y + by_s) / curvature(i);
        }
        let mut terms = vec![(scale, gradient)];
        for ((pair, s), y) in pairs.iter().zip(along_s).zip(along_y) {
            terms.extend([(s, &pair.s[..]), (y, &pair.y[..])]);
        }
        combination(&terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::sphere::{add, inner};

    /// The recursion as the textbooks have it.
    fn two_loops(pairs: &[(Vec<f64>, Vec<f64>)], gradient: &[f64]) -> Vec<f64> {
        let mut q = gradient.to_vec();
        let mut factors = Vec::new();
        for (s, y) in pairs.iter().rev() {
            factors.push(inner(s, &q) / inner(s, y));
            add(&mut q, -factors[factors.len() - 1], y);
        }
        let (s, y) = pairs.last().expect("there are pairs");
        let scale = inner(s, y) / inner(y, y);
        q.iter_mut().for_each(|x| *x *= scale);
        for ((s, y), factor) in pairs.iter().zip(factors.iter().rev()) {
            let correction = factor - inner(y, &q) / inner(s, y);
            add(&mut q, correction, s);
        }
        q
    }

    #[test]
    fn it_is_the_two_loop_recursion() {
        let vector =
            |seed: usize| (0..50).map(|i| ((i * i + seed * 31) % 23) as f64 - 11.0).collect::<Vec<f64>>();
        let mut memory = Memory::default();
        let mut pairs = Vec::new();
        for step in 0..MEMORY + 3 {
            let s = vector(step);
            let y: Vec<f64> =
                s.iter().zip(vector(step + 40)).map(|(s, noise)| 2.0 * s + 0.3 * noise).collect();
            assert!(inner(&s, &y) > 0.0);
            memory.push(s.clone(), y.clone());
            pairs.push((s, y));
            let kept = &pairs[pairs.len().saturating_sub(MEMORY)..];
            let gradient = vector(step + 90);
            let (found, expected) = (memory.direction(&gradient, 1.0), two_loops(kept, &gradient));
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{found} {expected}");
            }
        }
        let before = memory.direction(&vector(3), 1.0);
        memory.push(vector(1), vector(1).iter().map(|x| -x).collect());
        assert_eq!(memory.pairs.len(), MEMORY - 1, "negative curvature is not remembered");
        assert!(before.iter().all(|x| x.is_finite()));
    }
}
