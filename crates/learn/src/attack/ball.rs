//! Balls around an input, as far as an attack needs them.
//!
//! | | step of length s along a gradient g | back into the ball of radius ε |
//! |---|---|---|
//! | ℓ2 | d + s·g/|g|₂ | d·min(1, ε/|d|₂) |
//! | ℓ∞ | d + s·sign(g) | min(max(d, −ε), ε) |
//!
//! Projections end strictly inside, by a millionth of ε, so that rounding does not lead out again.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

/// How a perturbation is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BallNorm {
    /// Euclidean.
    L2,
    /// Largest absolute entry.
    Linf,
}

/// What projections leave of a radius.
const INSIDE: f64 = 1.0 - 1e-6;

impl BallNorm {
    /// As in specs.
    pub fn name(self) -> &'static str {
        match self {
            Self::L2 => "l2",
            Self::Linf => "linf",
        }
    }

    /// The length of a vector.
    pub fn length(self, vector: &[f32]) -> f64 {
        match self {
            Self::L2 => vector.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt(),
            Self::Linf => vector.iter().map(|&x| f64::from(x).abs()).fold(0.0, f64::max),
        }
    }

    /// `d` moves by `step` along a gradient; stays where there is none.
    #[allow(clippy::cast_possible_truncation)] // perturbations are f32
    pub(crate) fn step(self, gradient: &[f32], step: f64, d: &mut [f32]) {
        match self {
            Self::L2 => {
                let length = self.length(gradient);
                if length > 0.0 && length.is_finite() {
                    let scale = (step / length) as f32;
                    d.iter_mut().zip(gradient).for_each(|(d, g)| *d += scale * g);
                }
            }
            Self::Linf => {
                let step = step as f32;
                for (d, g) in d.iter_mut().zip(gradient) {
                    *d += if *g > 0.0 {
                        step
                    } else if *g < 0.0 {
                        -step
                    } else {
                        0.0
                    };
                }
            }
        }
    }

    /// Brings `d` back into the ball of radius `epsilon`.
    #[allow(clippy::cast_possible_truncation)]
    pub(crate) fn project(self, epsilon: f64, d: &mut [f32]) {
        let inside = INSIDE * epsilon;
        match self {
            Self::L2 => {
                let length = self.length(d);
                if length > inside {
                    let scale = (inside / length) as f32;
                    d.iter_mut().for_each(|d| *d *= scale);
                }
            }
            Self::Linf => {
                let most = inside as f32;
                d.iter_mut().for_each(|d| *d = d.clamp(-most, most));
            }
        }
    }

    /// A random point: in ℓ∞ uniform in the ball, in ℓ2 of uniform direction and uniform length.
    #[allow(clippy::cast_possible_truncation)]
    pub(crate) fn start(self, epsilon: f64, rng: &mut impl Rng, d: &mut [f32]) {
        match self {
            Self::L2 => {
                for d in &mut *d {
                    let normal: f64 = StandardNormal.sample(rng);
                    *d = normal as f32;
                }
                let length = self.length(d);
                let scale = if length > 0.0 { epsilon * rng.random::<f64>() / length } else { 0.0 };
                d.iter_mut().for_each(|d| *d *= scale as f32);
            }
            Self::Linf => {
                for d in &mut *d {
                    *d = (epsilon * (2.0 * rng.random::<f64>() - 1.0)) as f32;
                }
            }
        }
        self.project(epsilon, d);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    proptest! {
        #[test]
        fn points_stay_inside_and_steps_ascend(
            gradient in prop::collection::vec(-1.0_f32..1.0, 1..300),
            epsilon in 1e-4_f64..10.0,
            length in 0.0_f64..4.0,
            seed in 0_u64..1000,
        ) {
            for norm in [BallNorm::L2, BallNorm::Linf] {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let mut d = vec![0.0; gradient.len()];
                norm.start(epsilon, &mut rng, &mut d);
                prop_assert!(norm.length(&d) <= epsilon);
                let product = |d: &[f32]| -> f64 {
                    d.iter().zip(&gradient).map(|(d, g)| f64::from(*d) * f64::from(*g)).sum()
                };
                let before = product(&d);
                norm.step(&gradient, length * epsilon, &mut d);
                prop_assert!(product(&d) >= before - 1e-4 * epsilon);
                norm.project(epsilon, &mut d);
                prop_assert!(norm.length(&d) <= epsilon, "{} {epsilon}", norm.length(&d));
                // A point inside stays where it is.
                let mut inside: Vec<f32> = d.iter().map(|d| 0.9 * d).collect();
                let same = inside.clone();
                norm.project(epsilon, &mut inside);
                prop_assert_eq!(inside, same);
            }
        }
    }

    #[test]
    fn a_gradient_of_zeros_moves_nothing() {
        for norm in [BallNorm::L2, BallNorm::Linf] {
            let mut d = [0.5, -0.25];
            norm.step(&[0.0, 0.0], 1.0, &mut d);
            assert_eq!(d, [0.5, -0.25]);
        }
    }
}
