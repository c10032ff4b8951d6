//! What is answered before and after.

use super::params::{AttackParams, AttackRadius};
use crate::context::Context;
use crate::error::attack::AttackError;
use crate::event::Event;
use crate::progress::{AttackProgress, AttackStage};
use gambeson_checker::{FailureProbability, NoiseLevel};
use gambeson_learn::attack::inputs::{Adversarial, Victim};
use gambeson_learn::runtime::OwnModel;
use gambeson_learn::smoothed::WhiteBoxModel;
use gambeson_smooth::classifier::NONE;
use gambeson_smooth::clean::{Classified, classify_inputs};
use gambeson_smooth::smoother::{Drawn, Smoother, SmoothingParams};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Inputs, or draws of one, that are classified together.
const BATCH: usize = 64;

/// Answers by input; `None` where PREDICT abstains or a network computes no number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers {
    /// About the inputs as they were.
    pub before: Vec<Option<u32>>,
    /// About the perturbed ones.
    pub after: Vec<Option<u32>>,
}

/// Answers about all inputs; `None` if an interrupt or the observer ended it.
pub(super) fn answers(
    context: &Context,
    model: &WhiteBoxModel,
    params: &AttackParams,
    inputs: &[Victim],
    perturbed: &[Adversarial],
) -> Result<Option<Answers>, AttackError> {
    let before: Vec<&[f64]> = inputs.iter().map(|input| &input.values[..]).collect();
    let after: Vec<&[f64]> = perturbed.iter().map(|adversarial| &adversarial.values[..]).collect();
    let indices: Vec<u64> = inputs.iter().map(|input| input.index).collect();
    let Some(sigma) = params.sigma else {
        let Some(before) = classes(context, model, &before)? else { return Ok(None) };
        return Ok(classes(context, model, &after)?.map(|after| Answers { before, after }));
    };
    let smoother = smoother(model, params, sigma)?;
    let stage = AttackStage::PredictBefore;
    let Some(before) = predicted(context, &smoother, &indices, &before, stage)? else { return Ok(None) };
    let after = predicted(context, &smoother, &indices, &after, AttackStage::PredictAfter)?;
    Ok(after.map(|after| Answers { before, after }))
}

/// The classes that the network itself gives.
fn classes(
    context: &Context,
    model: &WhiteBoxModel,
    inputs: &[&[f64]],
) -> Result<Option<Vec<Option<u32>>>, AttackError> {
    let numbers: Vec<u64> = (0..inputs.len() as u64).collect();
    let space = &model.smoothed.space;
    let values = |number: u64| space.numbers(inputs[usize::try_from(number).unwrap_or(0)]);
    let mut observer = |_: &Classified| interruption(context);
    let found = classify_inputs(&model.smoothed.classifier, space, BATCH, &numbers, values, &mut observer)?;
    Ok(found.map(|found| found.into_iter().map(|class| (class != NONE).then_some(class)).collect()))
}

fn smoother<'a>(
    model: &'a WhiteBoxModel,
    params: &AttackParams,
    sigma: f64,
) -> Result<Smoother<&'a OwnModel>, AttackError> {
    let certified = match &params.radius {
        AttackRadius::Epsilon(_) => None,
        AttackRadius::Certified(certified) => certified.records.first(),
    };
    let smoothing = SmoothingParams {
        selection: 1, // not drawn
        estimation: params.n,
        failure: FailureProbability::new(params.alpha).map_err(AttackError::Alpha)?,
        batch: BATCH,
        // Other draws than those of the gradients, or that a run with this seed certified by.
        seed: !params.seed,
        // The grid that noisy inputs are rounded to is part of the classifier that the records are about.
        grid_exponent: certified.map(|record| record.run.common.grid.exponent),
        ..SmoothingParams::new(NoiseLevel::new(sigma).map_err(AttackError::Sigma)?)
            .map_err(AttackError::Sigma)?
    };
    Ok(Smoother::new(&model.smoothed.classifier, Arc::clone(&model.smoothed.space), smoothing)?)
}

/// The classes that PREDICT answers.
fn predicted(
    context: &Context,
    smoother: &Smoother<&OwnModel>,
    indices: &[u64],
    inputs: &[&[f64]],
    stage: AttackStage,
) -> Result<Option<Vec<Option<u32>>>, AttackError> {
    let mut answers = Vec::with_capacity(inputs.len());
    for (&index, values) in indices.iter().zip(inputs) {
        let numbers = smoother.space().numbers(values);
        let found = smoother.predict(index, &numbers, &mut |_: &Drawn| interruption(context));
        let Some(found) = found.map_err(|reason| AttackError::Predict { index, reason })? else {
            return Ok(None);
        };
        answers.push(found.class);
        let progress = AttackProgress { stage, done: answers.len(), total: inputs.len() };
        if context.tell(&Event::Attack(&progress)).is_break() && answers.len() < inputs.len() {
            return Ok(None);
        }
    }
    Ok(Some(answers))
}

fn interruption(context: &Context) -> ControlFlow<()> {
    if context.is_interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
