//! Attacks: adversarial examples, and certified inputs at their certified radii.
//!
//! `params` has what is asked, `target` what is attacked, `answers` what is said about it, `attacked`, `record` and `figure`
//! the result.

mod answers;
mod attacked;
mod figure;
mod params;
mod record;
mod target;

use crate::context::Context;
use crate::error::Error;
use crate::error::attack::AttackError;
use crate::event::Event;
use crate::progress::{AttackProgress, AttackStage};
pub use answers::Answers;
pub use attacked::Attacked;
pub use figure::attack_figure;
use gambeson_learn::attack::inputs::{self, Adversarial, Done, Victim, perturb_inputs};
use gambeson_learn::attack::perturbation_basis::PerturbationBasis;
use gambeson_learn::attack::pgd::PgdParams;
use gambeson_learn::attack::sparse::sparse_change;
use gambeson_learn::train::setup::value_range;
pub use params::{AttackMethod, AttackParams, AttackRadius, BallBasis, CertifiedInputs};
pub use record::{AttackPicture, AttackRecord};
use std::time::Instant;
pub use target::{AttackTarget, WhiteBoxParams, open_certified, open_white_box};

/// Attacks inputs of a data set, and asks what is answered before and after.
///
/// An interrupt or `Break` of the observer is no error: what was perturbed until then is returned.
pub fn attack(context: &Context, target: AttackTarget<'_>, params: &AttackParams) -> Result<Attacked, Error> {
    params.validate(target.model.is_some())?;
    let started = Instant::now();
    context.run(|| {
        let AttackTarget { data, model } = target;
        let mut inputs = target::victims(target, params)?;
        let basis = target::basis(model, params);
        let perturbed = perturbed(context, target, params, basis, &inputs)?;
        let mut stopped = perturbed.len() < inputs.len();
        inputs.truncate(perturbed.len());
        let answers = match model.filter(|_| !stopped) {
            Some(model) => {
                let answers = answers::answers(context, model, params, &inputs, &perturbed)?;
                stopped = answers.is_none();
                answers
            }
            None => None,
        };
        let epsilon = match params.radius {
            AttackRadius::Epsilon(epsilon) => Some(epsilon),
            AttackRadius::Certified(_) => None,
        };
        Ok(Attacked {
            inputs,
            perturbed,
            answers,
            basis,
            stopped,
            seconds: started.elapsed().as_secs_f64(),
            method: params.method,
            norm: params.norm,
            epsilon,
            sparsity: params.sparsity,
            shape: data.shape(),
            classes: data.classes().to_vec(),
            shown: params.pictures,
            misled_first: params.misled_first,
        })
    })
}

/// The perturbed inputs, in order; fewer if the observer ended it.
fn perturbed(
    context: &Context,
    AttackTarget { data, model }: AttackTarget<'_>,
    params: &AttackParams,
    basis: BallBasis,
    inputs: &[Victim],
) -> Result<Vec<Adversarial>, AttackError> {
    if let (AttackMethod::Sparse, Some(k)) = (params.method, params.sparsity) {
        let one = |input: &Victim| {
            let found = sparse_change(data.shape(), k, input.epsilon, params.seed, input.index)?;
            let values = input.values.iter().zip(&found.change).map(|(x, d)| x + d).collect();
            Ok(Adversarial { index: input.index, values, length: found.amplitude, largest: input.epsilon })
        };
        return inputs.iter().map(one).collect();
    }
    let model = model.ok_or(AttackError::NoModel)?;
    let pgd = match params.method {
        AttackMethod::Fgsm => PgdParams::fgsm(),
        AttackMethod::Pgd | AttackMethod::Sparse => PgdParams::new(params.norm, params.steps),
    };
    // A certificate holds for all values, also for those that no picture has.
    let free = params.any_values || matches!(params.radius, AttackRadius::Certified(_));
    let engine = inputs::PerturbParams {
        pgd: PgdParams { range: value_range(data).filter(|_| !free), ..pgd },
        basis: match basis {
            BallBasis::Values => PerturbationBasis::Values,
            BallBasis::Dct => PerturbationBasis::cosines(&model.codec)?,
        },
        sigma: params.sigma.unwrap_or(0.0),
        draws: if params.sigma.is_some() { params.draws } else { 1 },
        seed: params.seed,
        memory: context.memory_limit(),
    };
    let (mut done, total) = (0, inputs.len());
    let mut observer = |step: &Done| {
        done += step.inputs;
        context.tell(&Event::Attack(&AttackProgress { stage: AttackStage::Perturb, done, total }))
    };
    let found = perturb_inputs(&model.network, &model.codec, &engine, inputs, &mut observer);
    Ok(found.map_err(Box::new)?)
}
