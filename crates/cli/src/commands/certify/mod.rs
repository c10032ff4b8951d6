//! `gambeson certify`: counts and radii for the inputs of a data set, one record each.

mod accuracy;
mod inputs;
mod live;
mod model;
pub(super) mod predict;
mod setup;
mod tsv;

use crate::args::CertifyArguments;
use crate::ended::Ended;
use crate::report::decimal::down;
use crate::screen::wrapped;
use accuracy::Accuracy;
use anyhow::bail;
use gambeson_checker::SamplingRule;
use gambeson_lowrank::projection::representation::Representation;
use gambeson_smooth::noise::GENERATOR;
use gambeson_smooth::record::{Derived, Record, RecordLog, Rule, Run, VERSION};
use gambeson_smooth::sequential::{Goal, RadiusNorm};
use gambeson_smooth::smoother::{Certification, Certified, Smoother, SmoothingParams, Watch};
use inputs::{Finished, each_input, interruptible};
use live::Draws;
pub(crate) use model::{vector, vector_sha256};
use serde::Serialize;
use setup::{Setup, padded};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

/// What `certify --json` prints.
#[derive(Serialize)]
struct Summary {
    /// Inputs asked for.
    inputs: usize,
    /// Inputs with a record, now or before.
    done: usize,
    /// Of these, recorded before.
    resumed: usize,
    abstained: usize,
    /// Answers that are the label; null without labels.
    correct: Option<usize>,
    /// Half of the answers have a radius of at least this; abstentions count as 0.
    median_l2: f64,
    median_linf: f64,
    /// Selection and estimation draws of this run.
    draws: u64,
    /// Estimation draws per input, on average.
    mean_estimation: f64,
    seconds: f64,
    /// Forward passes per second, noise included.
    rate: f64,
    /// Whether Ctrl-C or the time limit cut it short.
    stopped: bool,
    out: Option<PathBuf>,
    accuracy: Accuracy,
}

pub(crate) fn run(
    arguments: &CertifyArguments,
    stdout: &mut impl Write,
    threads: usize,
) -> anyhow::Result<Ended> {
    interruptible(|| certify(arguments, stdout, threads))
}

fn certify(arguments: &CertifyArguments, stdout: &mut impl Write, threads: usize) -> anyhow::Result<Ended> {
    let smooth = &arguments.smooth;
    let failure = setup::failure(smooth)?;
    let noise = setup::noise(smooth)?;
    let setup = Setup::load(smooth, threads)?;
    let goal = arguments.sequential.then(|| goal(arguments, noise.value(), &setup));
    let params = SmoothingParams {
        noise,
        selection: arguments.n0,
        estimation: arguments.n,
        failure,
        batch: smooth.batch,
        seed: smooth.seed,
        goal,
    };
    let smoother = Smoother::new(&setup.model, &setup.space, params.clone())?;
    let run = Run {
        rule: match smoother.rule() {
            SamplingRule::Fixed => Rule::Fixed,
            SamplingRule::Staged { looks } => {
                Rule::Staged { looks: looks.iter().map(|look| (look.trials, look.share)).collect() }
            }
            SamplingRule::Anytime => Rule::Anytime,
        },
        goal: params.goal.clone(),
        n0: params.selection,
        n: params.estimation,
        sigma: noise.value(),
        alpha: failure.value(),
        seed: params.seed,
        generator: Some(GENERATOR.to_owned()),
        model: setup.model_name.clone(),
        data: setup.data_name(),
        projection: setup.projection_sha256.clone(),
        representation: setup.representation,
        noise: setup.levels_sha256.clone(),
        kappa: setup.space.kappa().map(gambeson_checker::InfToTwoBound::value),
        spectral: setup.space.spectral().map(gambeson_checker::SpectralBound::value),
        dimension: setup.space.input_dim() as u64,
    };
    let (mut log, there) = match &smooth.out {
        Some(out) => RecordLog::open_to_append(out, &run).map(|(log, there)| (Some(log), there))?,
        None => (None, BTreeMap::new()),
    };
    for &index in &setup.indices {
        if let Some(record) = there.get(&(index as u64)) {
            let proven = smoother.encoding_error(&setup.values(index))?;
            if record.encoding_error < proven {
                bail!(
                    "the record of input {index} has the encoding error {}, but only {proven} is proven",
                    record.encoding_error
                );
            }
        }
    }
    let draws = Draws { count: arguments.n0 + arguments.n, at_most: arguments.sequential };
    let make =
        |index: usize, watch: Watch<'_>| Ok(smoother.certify(index as u64, &setup.values(index), watch)?);
    let keep = |index, found: Certification, seconds| {
        let record = record(index as u64, setup.label(index), setup.classes(), &found, run.clone(), seconds);
        if let Some(log) = &mut log {
            log.append(&record)?;
        }
        Ok(record)
    };
    let finished = each_input(&setup, smooth, draws, there, make, keep)?;
    if let Some(path) = &smooth.tsv {
        tsv::write(path, &tsv::certified(finished.records.values()))?;
    }
    let accuracy = Accuracy::new(&finished.records.values(), &run, setup.labelled());
    let summary = summary(&finished, &setup, accuracy, smooth.out.clone());
    if smooth.json {
        writeln!(stdout, "{}", serde_json::to_string(&summary)?)?;
    } else {
        print(&summary, &setup, stdout)?;
    }
    stdout.flush()?;
    Ok(finished.outcome())
}

/// Whether ℓ∞ is measured in coefficients of a cosine transform, which is not ℓ∞ of pixels or samples.
pub(crate) fn cosines(representation: Option<Representation>) -> bool {
    matches!(representation, Some(Representation::Dct1 | Representation::Dct2))
}

/// What a sequential run is to settle: without targets and a tolerance, the radii 0, σ, 2σ, 3σ in z.
fn goal(arguments: &CertifyArguments, sigma: f64, setup: &Setup) -> Goal {
    let norm: RadiusNorm = arguments.norm.into();
    let mut targets = arguments.target.clone();
    if targets.is_empty() && arguments.tolerance.is_none() {
        let unit = match (norm, setup.space.kappa(), setup.space.spectral()) {
            (RadiusNorm::L2, _, spectral) => spectral.map_or(1.0, gambeson_checker::SpectralBound::value),
            (RadiusNorm::Linf, Some(kappa), _) => kappa.value(),
            (RadiusNorm::Linf, None, _) => (setup.space.input_dim() as f64).sqrt(),
        };
        targets.extend((0..4).map(|k| f64::from(k) * sigma / unit));
    }
    Goal { targets, tolerance: arguments.tolerance, norm }
}

fn record(
    index: u64,
    label: Option<u32>,
    classes: usize,
    found: &Certification,
    run: Run,
    seconds: f64,
) -> Record {
    let derived = |certified: Certified| Derived {
        class: Some(certified.class),
        latent: Some(certified.latent.value()),
        l2: Some(certified.l2.value()),
        linf: Some(certified.linf.value()),
    };
    Record {
        version: VERSION,
        index,
        label,
        selection: padded(&found.selection, classes),
        estimation: padded(&found.estimation, classes),
        selection_none: found.selection.none,
        estimation_none: found.estimation.none,
        run,
        encoding_error: found.encoding_error,
        derived: found.certified.map(derived).unwrap_or_default(),
        seconds,
    }
}

fn summary(finished: &Finished<Record>, setup: &Setup, accuracy: Accuracy, out: Option<PathBuf>) -> Summary {
    let records = &finished.records;
    let median = |radius: fn(&Derived) -> Option<f64>| {
        let mut radii: Vec<f64> =
            records.values().map(|record| radius(&record.derived).unwrap_or(0.0)).collect();
        radii.sort_by(f64::total_cmp);
        // The lower one of two, so that at least half reach it.
        radii.len().checked_sub(1).map_or(0.0, |last| radii[last / 2])
    };
    let correct = |record: &&Record| record.derived.class.is_some() && record.derived.class == record.label;
    let estimation: u64 = records.values().map(Record::draws).sum();
    Summary {
        inputs: setup.indices.len(),
        done: records.len(),
        resumed: finished.resumed,
        abstained: records.values().filter(|record| record.derived.class.is_none()).count(),
        correct: setup.labelled().then(|| records.values().filter(correct).count()),
        median_l2: median(|derived| derived.l2),
        median_linf: median(|derived| derived.linf),
        draws: finished.draws,
        mean_estimation: estimation as f64 / records.len().max(1) as f64,
        seconds: finished.seconds,
        rate: finished.rate(),
        stopped: finished.stopped,
        out,
        accuracy,
    }
}

fn print(summary: &Summary, setup: &Setup, stdout: &mut impl Write) -> std::io::Result<()> {
    let Summary { inputs, done, resumed, abstained, .. } = summary;
    writeln!(stdout, "{}", wrapped(&setup.describe(), 2))?;
    let before = if *resumed > 0 { format!(", {resumed} of them before") } else { String::new() };
    writeln!(stdout, "inputs       {done} of {inputs}{before}; {abstained} abstained")?;
    let (l2, linf) = (down(summary.median_l2, 4), down(summary.median_linf, 4));
    let of = if cosines(setup.representation) { " of cosine coefficients" } else { "" };
    writeln!(stdout, "median       l2 radius {l2}, l_inf radius {linf}{of}")?;
    writeln!(
        stdout,
        "draws        {} in {:.1} s, {:.0} per second; {:.0} counted per input",
        summary.draws, summary.seconds, summary.rate, summary.mean_estimation
    )?;
    if let Some(out) = &summary.out {
        writeln!(stdout, "records      {}", out.display())?;
    }
    summary.accuracy.print(cosines(setup.representation), stdout)
}
