//! `gambeson predict`: the class of the smoothed classifier for the inputs of a data set, or an abstention.
//!
//! Records are lines of JSON as those of `certify`, with counts of one kind of draws and no radius; they begin with
//! `{"kind":"prediction"`, so that neither is taken for the other.

use super::live::Live;
use super::setup::{self, Setup, padded};
use super::tsv;
use crate::Outcome;
use crate::args::PredictArguments;
use crate::progress::{catch_interrupts, say};
use gambeson_learn::error::DataError;
use gambeson_lowrank::record::{PredictionLog, PredictionRecord, PredictionRun};
use gambeson_lowrank::smoothing::noise::GENERATOR;
use gambeson_lowrank::smoothing::{Counts, Smoother, SmoothingParams};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

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
    /// Forward passes a second, noise included.
    rate: f64,
    stopped: bool,
    out: Option<PathBuf>,
}

pub(crate) fn run(
    arguments: &PredictArguments,
    stdout: &mut impl Write,
    threads: usize,
) -> anyhow::Result<Outcome> {
    catch_interrupts("stopping; finished inputs are kept (press again to quit)");
    match predict(arguments, stdout, threads) {
        Err(error) if matches!(error.downcast_ref(), Some(DataError::Stopped)) => {
            say("stopped; nothing was drawn");
            Ok(Outcome::FellShort)
        }
        other => other,
    }
}

fn predict(arguments: &PredictArguments, stdout: &mut impl Write, threads: usize) -> anyhow::Result<Outcome> {
    let smooth = &arguments.smooth;
    let (failure, noise) = (setup::failure(smooth)?, setup::noise(smooth)?);
    let setup = Setup::load(smooth, threads)?;
    let params = SmoothingParams {
        noise,
        selection: 1, // not drawn
        estimation: arguments.n,
        failure,
        batch: smooth.batch,
        seed: smooth.seed,
        goal: None,
    };
    let smoother = Smoother::new(&setup.model, &setup.space, params)?;
    let run = PredictionRun {
        n: arguments.n,
        sigma: noise.value(),
        alpha: failure.value(),
        seed: smooth.seed,
        generator: Some(GENERATOR.to_owned()),
        model: setup.model_name.clone(),
        data: setup.data_name(),
        projection: setup.projection_sha256.clone(),
        noise: setup.levels_sha256.clone(),
    };
    let mut records = BTreeMap::new();
    let mut log = None;
    if let Some(out) = &smooth.out {
        let (file, mut there) = PredictionLog::open_to_append(out, &run)?;
        log = Some(file);
        let asked = setup.indices.iter().map(|&index| index as u64);
        records.extend(asked.filter_map(|index| there.remove_entry(&index)));
    }
    let resumed = records.len();
    let (started, mut live) = (Instant::now(), Live::new(setup.indices.len(), smooth.time_limit));
    let mut stopped = false;
    for &index in &setup.indices {
        let key = index as u64;
        if records.contains_key(&key) {
            live.skip();
            continue;
        }
        let begun = Instant::now();
        let Some(found) = smoother.predict(key, &setup.values(index), &|draws| live.draws(draws))? else {
            stopped = true;
            break;
        };
        let counts = Counts { classes: padded(&found.counts, setup.classes()), none: found.counts.none };
        let seconds = begun.elapsed().as_secs_f64();
        let record =
            PredictionRecord::new(key, setup.label(index), counts, run.clone(), found.class, seconds);
        if let Some(log) = &mut log {
            log.append(&record)?;
        }
        records.insert(key, record);
        live.done();
    }
    let draws = live.finish();
    let seconds = started.elapsed().as_secs_f64();
    let right = |record: &&PredictionRecord| record.class.is_some() && record.class == record.label;
    let summary = Summary {
        inputs: setup.indices.len(),
        done: records.len(),
        resumed,
        abstained: records.values().filter(|record| record.class.is_none()).count(),
        correct: setup.labelled().then(|| records.values().filter(right).count()),
        draws,
        seconds,
        rate: draws as f64 / seconds.max(1e-9),
        stopped,
        out: smooth.out.clone(),
    };
    if let Some(path) = &smooth.tsv {
        let mut text = String::from("idx\tlabel\tpredict\tcorrect\ttime\n");
        for record in records.values() {
            tsv::line(&mut text, record.index, record.label, record.class, None, record.seconds);
        }
        tsv::write(path, &text)?;
    }
    if smooth.json {
        writeln!(stdout, "{}", serde_json::to_string(&summary)?)?;
    } else {
        print(&summary, &setup, stdout)?;
    }
    stdout.flush()?;
    if stopped {
        say("stopped early: the same command goes on where it was, if it has --out");
    }
    Ok(if stopped { Outcome::FellShort } else { Outcome::Success })
}

fn print(summary: &Summary, setup: &Setup, stdout: &mut impl Write) -> std::io::Result<()> {
    let Summary { inputs, done, abstained, .. } = summary;
    writeln!(stdout, "{}", setup.describe())?;
    writeln!(stdout, "inputs       {done} of {inputs}; {abstained} abstentions")?;
    if let Some(correct) = summary.correct {
        let share = 100.0 * correct as f64 / (*done).max(1) as f64;
        writeln!(stdout, "correct      {correct}, {share:.1} %")?;
    }
    writeln!(
        stdout,
        "draws        {} in {:.1} s, {:.0} a second",
        summary.draws, summary.seconds, summary.rate
    )
}
