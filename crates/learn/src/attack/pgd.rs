//! Projected gradient ascent (Madry et al. 2018) on the loss of a network or of the soft smoothed classifier.
//!
//! **Problem.** max over |d| ≤ ε of loss(z + L·d, y), for every input of a batch by itself; line 6 of Algorithm 1 of the
//! paper, with the loss of eq. (7).
//!
//! **Method.** d ← 0, or a random point of the ball; then `steps` times d ← Π(d + s·direction(∇)), with steps of length
//! s = factor·ε/steps. The noise of all draws is held fixed from the first step to the last (Salman et al. 2019, section 3).
//! The factor is 2 in ℓ2 (Salman et al.) and 2.5 in ℓ∞ (Madry et al.); FGSM (Goodfellow et al. 2015) is one step in ℓ∞ of
//! length ε, from 0.
//!
//! **Guarantee.** |d| ≤ ε; nothing else: an attack that fails proves nothing.
//!
//! **Deviations.** Values are kept within a range only where the ball is one of values: a code does not tell what the values
//! would be. Networks are in evaluation mode, and only gradients by the input are computed.

use super::ball::BallNorm;
use super::noisy::Noisy;
use super::perturbation_basis::PerturbationBasis;
use crate::input_codec::InputCodec;
use crate::net::loss::Loss;
use crate::net::pass::Pass;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use thiserror::Error;

/// Parameters of projected gradient ascent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PgdParams {
    /// The shape of the ball.
    pub norm: BallNorm,
    /// Steps, at least one.
    pub steps: usize,
    /// Length of a step times steps/ε.
    pub factor: f64,
    /// Whether to begin at a random point of the ball.
    pub random_start: bool,
    /// Keep values within these, where the ball is one of values.
    pub range: Option<(f32, f32)>,
}

/// Why parameters are refused.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PgdParamsError {
    /// No step.
    #[error("an attack needs at least one step")]
    NoSteps,
    /// A step that leads nowhere.
    #[error("a step of {factor} times epsilon/steps: must be a finite number above 0")]
    Factor {
        /// What was asked for.
        factor: f64,
    },
    /// A range without values.
    #[error("values cannot be kept between {from} and {to}")]
    Range {
        /// The least value.
        from: f32,
        /// The largest.
        to: f32,
    },
}

impl PgdParams {
    /// As in the papers: see the head of this file.
    pub fn new(norm: BallNorm, steps: usize) -> Self {
        let factor = match norm {
            BallNorm::L2 => 2.0,
            BallNorm::Linf => 2.5,
        };
        Self { norm, steps, factor, random_start: true, range: None }
    }

    /// The fast gradient sign method.
    pub fn fgsm() -> Self {
        Self { norm: BallNorm::Linf, steps: 1, factor: 1.0, random_start: false, range: None }
    }

    /// Checks every parameter once.
    pub fn validate(&self) -> Result<(), PgdParamsError> {
        if self.steps == 0 {
            return Err(PgdParamsError::NoSteps);
        }
        if !(self.factor > 0.0 && self.factor.is_finite()) {
            return Err(PgdParamsError::Factor { factor: self.factor });
        }
        match self.range {
            Some((from, to)) if !(from < to) => Err(PgdParamsError::Range { from, to }),
            _ => Ok(()),
        }
    }
}

/// Inputs to attack, one row each.
#[derive(Clone, Copy, Debug)]
pub struct Victims<'a> {
    /// Their values; read only where a range is kept.
    pub values: &'a [f32],
    /// Their codes.
    pub codes: &'a [f32],
    /// Their classes.
    pub labels: &'a [u16],
    /// The radius around each.
    pub epsilons: &'a [f64],
    /// The number of each, from which its random start follows.
    pub numbers: &'a [u64],
}

/// What an attack works on: a network whose weights are loaded, how it sees inputs, and their noise.
pub struct AttackedNetwork<'a> {
    /// The network.
    pub pass: &'a mut Pass,
    /// How it sees inputs.
    pub codec: &'a InputCodec,
    /// The noise, already drawn for these inputs.
    pub noisy: &'a mut Noisy,
    /// What is raised.
    pub loss: Loss,
}

/// Perturbations of inputs, and the codes they lead to.
#[derive(Clone, Debug, Default)]
pub struct Perturbed {
    /// d in the coordinates of the basis, one row per input.
    pub d: Vec<f32>,
    /// z + L·d.
    pub codes: Vec<f32>,
    by_d: Vec<f32>,
    by_codes: Vec<f32>,
    room: Vec<f32>,
}

/// Projected gradient ascent; the result is in `to`, whose memory is used again.
///
/// Panics unless there are as many of everything as there are labels.
pub fn pgd(
    params: &PgdParams,
    basis: &PerturbationBasis,
    victims: Victims<'_>,
    attacked: &mut AttackedNetwork<'_>,
    seed: u64,
    to: &mut Perturbed,
) {
    let Victims { values, codes, labels, epsilons, numbers } = victims;
    let (inputs, dim) = (labels.len(), basis.dim(attacked.codec));
    assert!(epsilons.len() == inputs && numbers.len() == inputs, "a radius and a number per input");
    let Perturbed { d, codes: moved, by_d, by_codes, room } = to;
    d.clear();
    d.resize(inputs * dim, 0.0);
    by_d.resize(inputs * dim, 0.0);
    by_codes.resize(codes.len(), 0.0);
    moved.resize(codes.len(), 0.0);
    let of_values = match basis {
        PerturbationBasis::Code => attacked.codec.is_values(),
        PerturbationBasis::Values => true,
        PerturbationBasis::Cosines(_) => false,
    };
    let range = params.range.filter(|_| of_values);
    let inside = |at: usize, d: &mut [f32]| {
        if let Some((from, most)) = range {
            let x = &values[at * dim..][..dim];
            d.iter_mut().zip(x).for_each(|(d, x)| *d = (x + *d).clamp(from, most) - x);
        }
        params.norm.project(epsilons[at], d);
    };
    if params.random_start {
        d.par_chunks_mut(dim).enumerate().for_each(|(at, d)| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(numbers[at]);
            params.norm.start(epsilons[at], &mut rng, d);
            inside(at, d);
        });
    }
    let codec = attacked.codec;
    let mut move_codes = |d: &[f32], moved: &mut [f32]| {
        basis.encode(codec, d, room, moved);
        moved.iter_mut().zip(codes).for_each(|(moved, z)| *moved += z);
    };
    for _ in 0..params.steps {
        move_codes(d, moved);
        attacked.noisy.gradient(attacked.pass, codec, attacked.loss, (moved, labels), by_codes);
        basis.encode_back(codec, by_codes, by_d);
        d.par_chunks_mut(dim).zip(by_d.par_chunks(dim)).enumerate().for_each(|(at, (d, by_d))| {
            let step = params.factor * epsilons[at] / params.steps as f64;
            params.norm.step(by_d, step, d);
            inside(at, d);
        });
    }
    move_codes(d, moved);
}
