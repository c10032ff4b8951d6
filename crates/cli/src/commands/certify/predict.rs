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
use anyhow::{Context, bail};
use gambeson_checker::FailureProbability;
use gambeson_learn::error::DataError;
use gambeson_lowrank::smoothing::{Counts, Smoother, SmoothingParams, predicted};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Prediction,
}

/// What all predictions of a file have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Run {
    n: u64,
    sigma: f64,
    alpha: f64,
    seed: u64,
    model: String,
    data: String,
    projection: Option<String>,
    noise: Option<String>,
}

/// One input.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PredictionRecord {
    kind: Kind,
    version: u32,
    index: u64,
    label: Option<u32>,
    /// Draws by class,
    counts: Vec<u64>,
    /// and without one.
    none: u64,
    #[serde(flatten)]
    run: Run,
    /// Null: abstained.
    class: Option<u32>,
    seconds: f64,
}

const VERSION: u32 = 1;
const START: &[u8] = b"{\"kind\":\"prediction\"";

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
    let run = Run {
        n: arguments.n,
        sigma: noise.value(),
        alpha: failure.value(),
        seed: smooth.seed,
        model: setup.model_name.clone(),
        data: setup.data_name(),
        projection: setup.projection_sha256.clone(),
        noise: setup.levels_sha256.clone(),
    };
    let mut records = BTreeMap::new();
    let mut log = None;
    if let Some(out) = &smooth.out {
        let (file, there) = open_to_append(out, &run, failure)?;
        log = Some(file);
        let asked: std::collections::BTreeSet<u64> =
            setup.indices.iter().map(|&index| index as u64).collect();
        let there = there.into_iter().filter(|record| asked.contains(&record.index));
        records.extend(there.map(|record| (record.index, record)));
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
        let record = PredictionRecord {
            kind: Kind::Prediction,
            version: VERSION,
            index: key,
            label: setup.label(index),
            counts: padded(&found.counts, setup.classes()),
            none: found.counts.none,
            run: run.clone(),
            class: found.class,
            seconds: begun.elapsed().as_secs_f64(),
        };
        if let (Some(file), Some(path)) = (&mut log, &smooth.out) {
            let mut line = serde_json::to_vec(&record)?;
            line.push(b'\n');
            let kept = file.write_all(&line).and_then(|()| file.sync_data());
            kept.with_context(|| path.display().to_string())?;
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

/// Opens or creates a file of predictions of this run, and reads those that are there. A last line that was broken off
/// is cut off; anything else is refused.
fn open_to_append(
    path: &Path,
    run: &Run,
    failure: FailureProbability,
) -> anyhow::Result<(File, Vec<PredictionRecord>)> {
    let named = || path.display().to_string();
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).with_context(named)?;
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        bail!("{}: another run is writing to it", path.display());
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).with_context(named)?;
    let (mut records, mut kept) = (Vec::new(), 0);
    for (at, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let place = || format!("{}, line {}", path.display(), at + 1);
        match serde_json::from_slice::<PredictionRecord>(line) {
            Ok(record) if record.run == *run && record.version == VERSION => {
                let counts = Counts { classes: record.counts.clone(), none: record.none };
                if counts.draws() != run.n || predicted(&counts, failure)? != record.class {
                    bail!("{}: its counts do not prove its class", place());
                }
                records.push(record);
            }
            Ok(_) => bail!("{}: a record of another run; give another --out", place()),
            // Only the start of a record, or zeros, can be what a kill has left.
            Err(error) => {
                let broken =
                    line.starts_with(START) || START.starts_with(line) || line.iter().all(|&b| b == 0);
                if line.ends_with(b"\n") || !broken || error.is_data() {
                    return Err(error).with_context(|| format!("{}: not a prediction", place()));
                }
                break;
            }
        }
        kept += line.len();
    }
    if kept < bytes.len() {
        file.set_len(kept as u64).with_context(named)?;
    }
    if kept > 0 && bytes[kept - 1] != b'\n' {
        file.write_all(b"\n").with_context(named)?;
    }
    Ok((file, records))
}
