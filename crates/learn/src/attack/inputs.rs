//! Attacks on inputs of a data set: perturbed inputs in double precision, as whoever answers for them takes them.

use super::noisy::Noisy;
use super::perturbation_basis::PerturbationBasis;
use super::pgd::{AttackedNetwork, Perturbed, PgdParams, PgdParamsError, Victims, pgd};
use crate::input_codec::InputCodec;
use crate::net::architecture::ArchitectureError;
use crate::net::kernel::Isa;
use crate::net::loss::Loss;
use crate::net::pass::Pass;
use crate::net::plan::Choice;
use crate::weights::network::Network;
use gambeson_data::dataset::Shape;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::observe::Observer;
use thiserror::Error;

/// Inputs that are attacked together.
const TOGETHER: usize = 32;

/// How inputs are attacked.
#[derive(Clone, Debug)]
pub struct PerturbParams {
    /// The steps.
    pub pgd: PgdParams,
    /// In which coordinates the ball is meant: values or cosine coefficients.
    pub basis: PerturbationBasis,
    /// σ of the smoothed classifier; 0 for the network itself.
    pub sigma: f64,
    /// Draws of noise that stand for the smoothed classifier.
    pub draws: usize,
    /// Of noise and random starts.
    pub seed: u64,
    /// What the images that are attacked together may take in memory.
    pub memory: MemoryLimit,
}

/// An input to attack.
#[derive(Clone, Debug, PartialEq)]
pub struct Victim {
    /// Its number.
    pub index: u64,
    /// Its values.
    pub values: Vec<f64>,
    /// The class to lead away from.
    pub class: u16,
    /// How far it may be moved.
    pub epsilon: f64,
}

/// A perturbed input.
#[derive(Clone, Debug, PartialEq)]
pub struct Adversarial {
    /// Number of the input.
    pub index: u64,
    /// Its values now: those of the input, and the perturbation added in double precision.
    pub values: Vec<f64>,
    /// The length of the perturbation in its basis and norm.
    pub length: f64,
    /// The largest change of a value.
    pub largest: f64,
}

/// Some inputs were attacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// How many.
    pub inputs: usize,
}

/// Why inputs cannot be attacked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PerturbError {
    /// Layers that do not fit together.
    #[error(transparent)]
    Architecture(#[from] ArchitectureError),
    /// The parameters of the steps.
    #[error(transparent)]
    Params(#[from] PgdParamsError),
    /// Noise that is none, or more draws than fit into memory.
    #[error("draws {draws}, noise {sigma}: noise must be at least 0, and draws between 1 and {MOST_DRAWS}")]
    Noise {
        /// σ.
        sigma: f64,
        /// How many.
        draws: usize,
    },
    /// A network for other images than the codec gives.
    #[error("the network takes images of {taken}, but is shown {shown}")]
    Shape {
        /// What it takes.
        taken: Shape,
        /// What the codec gives.
        shown: Shape,
    },
    /// A ball of codes was asked for, which says nothing about inputs.
    #[error("a ball of codes says nothing about inputs: values or cosine coefficients are needed")]
    PerturbationBasis,
    /// Invalid radius, shape or class.
    #[error("input {index}: {values} values, radius {epsilon}, class {class}: cannot be attacked")]
    Victim {
        /// Number of the input.
        index: u64,
        /// How many it has.
        values: usize,
        /// Its radius.
        epsilon: f64,
        /// Its class.
        class: u16,
    },
}

/// Most noise samples per gradient.
const MOST_DRAWS: usize = 4096;

/// Attacks inputs, in their order; fewer come back where the observer ended it.
pub fn perturb_inputs(
    network: &Network,
    codec: &InputCodec,
    params: &PerturbParams,
    victims: &[Victim],
    observer: &mut dyn Observer<Done>,
) -> Result<Vec<Adversarial>, PerturbError> {
    let PerturbParams { pgd: steps, basis, sigma, draws, seed, memory } = params;
    steps.validate()?;
    if !(*sigma >= 0.0 && sigma.is_finite() && (1..=MOST_DRAWS).contains(draws)) {
        return Err(PerturbError::Noise { sigma: *sigma, draws: *draws });
    }
    let (taken, shown) = (network.architecture.input, codec.output());
    if taken != shown {
        return Err(PerturbError::Shape { taken, shown });
    }
    if matches!(basis, PerturbationBasis::Code) {
        return Err(PerturbError::PerturbationBasis);
    }
    let wrong = |victim: &&Victim| {
        let class = usize::from(victim.class) < network.architecture.classes;
        let radius = victim.epsilon >= 0.0 && victim.epsilon.is_finite();
        !class || !radius || victim.values.len() != codec.input().len()
    };
    if let Some(&Victim { index, ref values, class, epsilon }) = victims.iter().find(wrong) {
        return Err(PerturbError::Victim { index, values: values.len(), epsilon, class });
    }
    let rows = TOGETHER * draws;
    let mut pass = Pass::new(&network.architecture, rows, Choice::ByShape, Isa::detect(), *memory)?;
    pass.load(&network.weights);
    let (mut noisy, mut perturbed) = (Noisy::default(), Perturbed::default());
    let dim = basis.dim(codec);
    let mut all = Vec::with_capacity(victims.len());
    for some in victims.chunks(TOGETHER) {
        #[allow(clippy::cast_possible_truncation)] // a network's numbers are f32
        let values: Vec<f32> = some.iter().flat_map(|victim| &victim.values).map(|&x| x as f32).collect();
        let labels: Vec<u16> = some.iter().map(|victim| victim.class).collect();
        let epsilons: Vec<f64> = some.iter().map(|victim| victim.epsilon).collect();
        let numbers: Vec<u64> = some.iter().map(|victim| victim.index).collect();
        let mut codes = vec![0.0; some.len() * codec.rank()];
        codec.encode(&values, &mut codes);
        noisy.draw(*seed, &numbers, *sigma, *draws, codec.rank());
        let batch = Victims {
            values: &values,
            codes: &codes,
            labels: &labels,
            epsilons: &epsilons,
            numbers: &numbers,
        };
        let mut attacked =
            AttackedNetwork { pass: &mut pass, codec, noisy: &mut noisy, loss: Loss::SoftCrossEntropy };
        pgd(steps, basis, batch, &mut attacked, *seed, &mut perturbed);
        for (victim, d) in some.iter().zip(perturbed.d.chunks_exact(dim)) {
            let mut change: Vec<f64> = d.iter().map(|&d| f64::from(d)).collect();
            basis.invert(&mut change);
            let largest = change.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            let values = victim.values.iter().zip(change).map(|(x, d)| x + d).collect();
            all.push(Adversarial { index: victim.index, values, length: steps.norm.length(d), largest });
        }
        if observer.observe(&Done { inputs: some.len() }).is_break() {
            break;
        }
    }
    Ok(all)
}
