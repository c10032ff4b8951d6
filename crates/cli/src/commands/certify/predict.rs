//! `gambeson predict`: the class of the smoothed classifier for the inputs of a data set, or an abstention.
//!
//! Records are lines of JSON like those of `certify`, with counts of one kind of draws and no radius; they begin with
//! `{"kind":"prediction"`, so that neither is taken for the other.

use super::clean;
use super::inputs::{Answered, Pace, ended, interruptible};
use super::live::{Draws, Live};
use super::setup::{self, Setup};
use super::tsv;
use crate::args::PredictArguments;
use crate::ended::Ended;
use crate::json;
use crate::machine::Resources;
use crate::report::mark::PREDICTED;
use gambeson_smooth::runs::predict_inputs;
use gambeson_smooth::smoother::{Smoother, SmoothingParams};
use serde::Serialize;
use std::io::Write;
use std::sync::Arc;

/// What `predict --json` prints.
#[derive(Serialize)]
struct Summary {
    #[serde(flatten)]
    answered: Answered,
    draws: u64,
    #[serde(flatten)]
    pace: Pace,
}

pub(crate) fn run(
    arguments: &PredictArguments,
    stdout: &mut impl Write,
    resources: Resources,
) -> anyhow::Result<Ended> {
    interruptible(|| {
        if arguments.clean {
            return clean::run(&arguments.smooth, stdout, resources);
        }
        predict(arguments, stdout, resources)
    })
}

fn predict(
    arguments: &PredictArguments,
    stdout: &mut impl Write,
    resources: Resources,
) -> anyhow::Result<Ended> {
    let smooth = &arguments.smooth;
    let (failure, noise) = (setup::failure(smooth)?, setup::noise(smooth)?);
    let setup = Setup::load(smooth, resources)?;
    let (seed, nonce) = setup.seed(smooth, noise)?;
    let params = SmoothingParams {
        selection: 1, // not drawn
        estimation: arguments.n,
        failure,
        batch: smooth.batch,
        seed,
        grid_exponent: smooth.grid_exponent,
        ..SmoothingParams::new(noise)?
    };
    let smoother = Smoother::new(&setup.smoothed.classifier, Arc::clone(&setup.smoothed.space), params)?;
    let run = setup.run_params(smooth, nonce, resources.memory);
    let draws = Draws { count: arguments.n, at_most: false };
    let mut live = Live::new(run.indices.len(), draws, smooth.time_limit);
    let finished = predict_inputs(&smoother, &run, |index| setup.row(index), &mut live);
    live.finish();
    let finished = finished?;
    let summary = Summary {
        answered: Answered::new(&finished, &setup, |record| record.class),
        draws: finished.draws,
        pace: Pace::new(&finished, smooth.out.as_deref()),
    };
    if let Some(path) = &smooth.tsv {
        let mut text = format!("{PREDICTED}\n");
        for record in finished.records.values() {
            tsv::line(&mut text, record.index, record.label, record.class, None, record.seconds);
        }
        tsv::write(path, &text)?;
    }
    json::print_or(smooth.json, &summary, stdout, |stdout| print(&summary, &setup, stdout))?;
    Ok(ended(&finished))
}

fn print(summary: &Summary, setup: &Setup, stdout: &mut impl Write) -> std::io::Result<()> {
    let Answered { done, abstained, correct, .. } = &summary.answered;
    summary.answered.print(setup, stdout)?;
    summary.pace.print(summary.draws, "", stdout)?;
    let share = |count: usize| 100.0 * count as f64 / (*done).max(1) as f64;
    match *correct {
        Some(correct) => {
            writeln!(
                stdout,
                "accuracy     {:.1} % ({correct} of {done}; abstentions count as wrong)",
                share(correct)
            )
        }
        None => writeln!(stdout, "answered     {:.1} %; the data have no labels", share(done - abstained)),
    }
}
