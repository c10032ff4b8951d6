//! `gambeson predict`: the class of the smoothed classifier for the inputs of a data set, or an abstention.
//!
//! Records are lines of JSON like those of `certify`, with counts of one kind of draws and no radius; they begin with
//! `{"kind":"prediction"`, so that neither is taken for the other.

use super::clean;
use super::inputs::{ended, interruptible};
use super::live::{Draws, Live};
use super::setup::{self, Setup};
use super::tsv;
use crate::args::PredictArguments;
use crate::ended::Ended;
use crate::json;
use crate::report::mark::PREDICTED;
use crate::screen::{shown_path, wrapped};
use gambeson_smooth::record::PredictionRecord;
use gambeson_smooth::runs::predict_inputs;
use gambeson_smooth::smoother::{Smoother, SmoothingParams};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// What `predict --json` prints.
#[derive(Serialize)]
struct Summary {
    inputs: usize,
    done: usize,
    resumed: usize,
    abstained: usize,
    /// Answers that are the label; null without labels.
    correct: Option<usize>,
    draws: u64,
    seconds: f64,
    /// Forward passes per second, noise included.
    rate: f64,
    stopped: bool,
    #[serde(serialize_with = "crate::json::lossy")]
    out: Option<PathBuf>,
}

pub(crate) fn run(
    arguments: &PredictArguments,
    stdout: &mut impl Write,
    threads: usize,
) -> anyhow::Result<Ended> {
    interruptible(|| {
        if arguments.clean {
            return clean::run(&arguments.smooth, stdout, threads);
        }
        predict(arguments, stdout, threads)
    })
}

fn predict(arguments: &PredictArguments, stdout: &mut impl Write, threads: usize) -> anyhow::Result<Ended> {
    let smooth = &arguments.smooth;
    let (failure, noise) = (setup::failure(smooth)?, setup::noise(smooth)?);
    let setup = Setup::load(smooth, threads)?;
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
    let smoother = Smoother::new(&setup.smoothed.classifier, &setup.smoothed.space, params)?;
    let run = setup.run_params(smooth, nonce);
    let draws = Draws { count: arguments.n, at_most: false };
    let mut live = Live::new(run.indices.len(), draws, smooth.time_limit);
    let finished = predict_inputs(&smoother, &run, |index| setup.row(index), &mut live);
    live.finish();
    let finished = finished?;
    let records = &finished.records;
    let right = |record: &&PredictionRecord| record.class.is_some() && record.class == record.label;
    let summary = Summary {
        inputs: setup.indices.len(),
        done: records.len(),
        resumed: finished.resumed,
        abstained: records.values().filter(|record| record.class.is_none()).count(),
        correct: setup.labelled().then(|| records.values().filter(right).count()),
        draws: finished.draws,
        seconds: finished.seconds,
        rate: finished.rate(),
        stopped: finished.stopped,
        out: smooth.out.clone(),
    };
    if let Some(path) = &smooth.tsv {
        let mut text = format!("{PREDICTED}\n");
        for record in records.values() {
            tsv::line(&mut text, record.index, record.label, record.class, None, record.seconds);
        }
        tsv::write(path, &text)?;
    }
    if smooth.json {
        writeln!(stdout, "{}", json::line(&summary)?)?;
    } else {
        print(&summary, &setup, stdout)?;
    }
    stdout.flush()?;
    Ok(ended(&finished))
}

fn print(summary: &Summary, setup: &Setup, stdout: &mut impl Write) -> std::io::Result<()> {
    let Summary { inputs, done, resumed, abstained, .. } = summary;
    writeln!(stdout, "{}", wrapped(&setup.describe(), 2))?;
    let before = if *resumed > 0 { format!(", {resumed} of them before") } else { String::new() };
    writeln!(stdout, "inputs       {done} of {inputs}{before}; {abstained} abstained")?;
    writeln!(
        stdout,
        "draws        {} in {:.1} s, {:.0} per second",
        summary.draws, summary.seconds, summary.rate
    )?;
    if let Some(out) = &summary.out {
        writeln!(stdout, "records      {}", shown_path(out))?;
    }
    let share = |count: usize| 100.0 * count as f64 / (*done).max(1) as f64;
    match summary.correct {
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
