//! Certified inputs attacked at their certified radii: what a certificate says cannot happen, tried.
//!
//! An input certified for a class within a radius is perturbed within that radius to raise the loss of that class, and
//! PREDICT is asked about the result. Another class comes back only if the certificate is false, which it is with probability
//! at most α, or if PREDICT errs, with a probability of its own; abstaining is no contradiction.

use super::ball::BallNorm;
use super::inputs::{Adversarial, Done, PerturbError, PerturbParams, Victim, perturb_inputs};
use crate::input_codec::InputCodec;
use crate::weights::network::Network;
use gambeson_lowrank::observe::Observer;
use gambeson_smooth::classifier::Classifier;
use gambeson_smooth::record::Record;
use gambeson_smooth::smoother::{Prediction, Smoother, SmoothingError};
use std::ops::ControlFlow;
use thiserror::Error;

/// What became of an input.
#[derive(Clone, Debug, PartialEq)]
pub struct Challenged {
    /// The perturbed input.
    pub adversarial: Adversarial,
    /// The class that was certified.
    pub class: u16,
    /// The radius within which it was.
    pub epsilon: f64,
    /// What PREDICT answers; none where it abstains.
    pub answer: Option<u32>,
}

impl Challenged {
    /// Whether PREDICT contradicts the certificate.
    pub fn broken(&self) -> bool {
        self.answer.is_some_and(|answer| answer != u32::from(self.class))
    }
}

/// Why inputs could not be attacked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ChallengeError<E: std::error::Error + 'static> {
    /// The attack.
    #[error(transparent)]
    Attack(#[from] PerturbError),
    /// PREDICT.
    #[error("input {index}: {reason}")]
    Predict {
        /// Number of the input.
        index: u64,
        /// Why not.
        reason: SmoothingError<E>,
    },
}

/// The certified inputs of records, with their classes and radii; those without a radius above 0 are left out.
pub fn certified_victims<'a>(
    records: impl IntoIterator<Item = &'a Record>,
    norm: BallNorm,
    values: impl Fn(u64) -> Vec<f64>,
) -> Vec<Victim> {
    let victim = |record: &Record| {
        let radius = match norm {
            BallNorm::L2 => record.derived.l2,
            BallNorm::Linf => record.derived.linf,
        };
        let epsilon = radius.filter(|&radius| radius > 0.0)?;
        let class = u16::try_from(record.derived.class?).ok()?;
        Some(Victim { index: record.index, values: values(record.index), class, epsilon })
    };
    records.into_iter().filter_map(victim).collect()
}

/// Attacks inputs and predicts what becomes of them, by other draws than those of the attack if the seeds differ, in their order; fewer come back where the observer ended it, which is
/// called once for every input that was attacked and once when it was predicted.
pub fn challenge<C: Classifier>(
    (network, codec): (&Network, &InputCodec),
    smoother: &Smoother<C>,
    params: &PerturbParams,
    victims: &[Victim],
    observer: &mut dyn Observer<Done>,
) -> Result<Vec<Challenged>, ChallengeError<C::Error>> {
    let attacked = perturb_inputs(network, codec, params, victims, observer)?;
    let mut all = Vec::with_capacity(attacked.len());
    for (adversarial, victim) in attacked.into_iter().zip(victims) {
        let index = victim.index;
        let found = smoother.predict(index, &smoother.space().numbers(&adversarial.values), &mut ());
        let Some(Prediction { class: answer, .. }) =
            found.map_err(|reason| ChallengeError::Predict { index, reason })?
        else {
            break; // never: nobody stops it
        };
        let Victim { class, epsilon, .. } = *victim;
        all.push(Challenged { adversarial, class, epsilon, answer });
        if observer.observe(&Done { inputs: 1 }) == ControlFlow::Break(()) {
            break;
        }
    }
    Ok(all)
}
