//! What is answered before and after.

use super::scene::Scene;
use crate::args::AttackArguments;
use crate::progress::{interrupted, live_line};
use anyhow::{Context, bail};
use gambeson_checker::{FailureProbability, NoiseLevel};
use gambeson_learn::attack::inputs::{Adversarial, Victim};
use gambeson_smooth::classifier::NONE;
use gambeson_smooth::clean::classify_inputs;
use gambeson_smooth::smoother::{Smoother, SmoothingParams};
use std::sync::Arc;

/// Answers by input; none where PREDICT abstains or a network computes no number.
pub(super) struct Answers {
    pub(super) before: Vec<Option<u32>>,
    pub(super) after: Vec<Option<u32>>,
}

impl Scene {
    /// Without a network nothing is answered.
    pub(super) fn answers(
        &self,
        arguments: &AttackArguments,
        victims: &[Victim],
        perturbed: &[Adversarial],
    ) -> anyhow::Result<Option<Answers>> {
        if self.model.is_none() {
            return Ok(None);
        }
        let before: Vec<&[f64]> = victims.iter().map(|victim| &victim.values[..]).collect();
        let after: Vec<&[f64]> = perturbed.iter().map(|adversarial| &adversarial.values[..]).collect();
        let indices: Vec<u64> = victims.iter().map(|victim| victim.index).collect();
        let (before, after) =
            (self.ask(arguments, &indices, &before)?, self.ask(arguments, &indices, &after)?);
        Ok(Some(Answers { before, after }))
    }

    fn ask(
        &self,
        arguments: &AttackArguments,
        indices: &[u64],
        inputs: &[&[f64]],
    ) -> anyhow::Result<Vec<Option<u32>>> {
        const BATCH: usize = 64;
        let Some(model) = &self.model else { bail!("--model is missing") };
        let Some(sigma) = arguments.sigma else {
            let places: Vec<u64> = (0..inputs.len() as u64).collect();
            let values =
                |place: u64| model.smoothed.space.numbers(inputs[usize::try_from(place).unwrap_or(0)]);
            let answers = classify_inputs(
                &model.smoothed.classifier,
                &model.smoothed.space,
                BATCH,
                &places,
                values,
                &mut (),
            )?;
            let answers = answers.context("stopped")?; // nobody stops it
            return Ok(answers.into_iter().map(|answer| (answer != NONE).then_some(answer)).collect());
        };
        let params = SmoothingParams {
            selection: 1, // not drawn
            estimation: arguments.n,
            failure: FailureProbability::new(arguments.alpha).context("--alpha")?,
            batch: BATCH,
            // Other draws than those that the attack climbed by, or that a run with this seed certified by.
            seed: !arguments.seed,
            grid_exponent: self.grid_exponent(),
            ..SmoothingParams::new(NoiseLevel::new(sigma).context("--sigma")?)?
        };
        let smoother = Smoother::new(&model.smoothed.classifier, Arc::clone(&model.smoothed.space), params)?;
        let bar =
            live_line(Some(inputs.len() as u64), "{spinner} {elapsed} [{bar:20}] {pos} of {len} predicted");
        let mut answers = Vec::new();
        for (&index, values) in indices.iter().zip(inputs) {
            let found = smoother.predict(index, &model.smoothed.space.numbers(values), &mut ());
            answers.push(found.with_context(|| format!("input {index}"))?.context("stopped")?.class);
            bar.inc(1);
            if interrupted() {
                bail!("stopped before all inputs were predicted");
            }
        }
        bar.finish_and_clear();
        Ok(answers)
    }
}
