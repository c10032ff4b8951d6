//! `gambeson certify`: counts and radii for the inputs of a data set, one record each.

mod accuracy;
mod clean;
mod inputs;
mod live;
mod model;
pub(super) mod predict;
mod setup;
mod sources;
mod tsv;

use crate::args::CertifyArguments;
use crate::ended::Ended;
use crate::json;
use crate::machine::Resources;
use crate::report::decimal::down;
use anyhow::{Context, bail};
use gambeson_checker::NoiseLevel;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::projection::representation::Representation;
use gambeson_smooth::analysis::RunAccuracy;
use gambeson_smooth::record::{Derived, Record, merge_records};
use gambeson_smooth::runs::{Finished, certify_inputs, extend_inputs};
use gambeson_smooth::sequential::{Goal, RadiusNorm};
use gambeson_smooth::smoother::{Smoother, SmoothingParams, default_targets};
pub(crate) use inputs::interruptible;
use inputs::{Answered, Pace, ended};
pub(crate) use live::{Draws, Live};
pub(crate) use model::{hinted, normalisation};
use serde::Serialize;
pub(crate) use setup::Setup;
pub(crate) use sources::Sources;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// What `certify --json` prints.
#[derive(Serialize)]
struct Summary {
    #[serde(flatten)]
    answered: Answered,
    /// Half of the answers have a radius of at least this; abstentions count as 0.
    median_l2: f64,
    median_linf: f64,
    /// Selection and estimation draws of this run.
    draws: u64,
    /// Estimation draws per input, on average.
    mean_estimation: f64,
    #[serde(flatten)]
    pace: Pace,
    accuracy: RunAccuracy,
}

pub(crate) fn run(
    arguments: &CertifyArguments,
    stdout: &mut impl Write,
    resources: Resources,
) -> anyhow::Result<Ended> {
    interruptible(|| certify(arguments, stdout, resources))
}

fn certify(
    arguments: &CertifyArguments,
    stdout: &mut impl Write,
    resources: Resources,
) -> anyhow::Result<Ended> {
    let smooth = &arguments.smooth;
    let failure = setup::failure(smooth)?;
    let noise = setup::noise(smooth)?;
    let setup = Setup::load(smooth, resources)?;
    let goal = arguments.sequential.then(|| goal(arguments, noise, &setup));
    let (seed, nonce) = setup.seed(smooth, noise)?;
    let earlier = arguments.extend.as_deref().map(|path| earlier(path, resources.memory)).transpose()?;
    let params = SmoothingParams {
        noise,
        selection: arguments.n0,
        estimation: arguments.n,
        failure,
        batch: smooth.batch,
        seed,
        goal,
        extended_from: earlier.as_ref().map(|(last, _)| *last),
        grid_exponent: smooth.grid_exponent,
    };
    let smoother = Smoother::new(&setup.smoothed.classifier, Arc::clone(&setup.smoothed.space), params)?;
    let mut run = setup.run_params(smooth, nonce, resources.memory);
    if let Some((_, earlier)) = &earlier {
        run.indices.retain(|index| earlier.contains_key(index));
    }
    let draws = Draws { count: arguments.n0 + arguments.n, at_most: arguments.sequential };
    let mut live = Live::new(run.indices.len(), draws, smooth.time_limit);
    let finished = match &earlier {
        Some((_, earlier)) => extend_inputs(&smoother, &run, earlier, |index| setup.row(index), &mut live),
        None => certify_inputs(&smoother, &run, |index| setup.row(index), &mut live),
    };
    live.finish();
    let finished = finished?;
    if let Some(path) = &smooth.tsv {
        tsv::write(path, &tsv::certified(finished.records.values()))?;
    }
    let records = finished.records.values();
    let accuracy = RunAccuracy::of_records(&records, &setup.smoothed.space, noise.value(), setup.labelled());
    let summary = summary(&finished, &setup, accuracy, smooth.out.as_deref());
    json::print_or(smooth.json, &summary, stdout, |stdout| print(&summary, &setup, stdout))?;
    Ok(ended(&finished))
}

/// The records of a run to be extended, by index, and what its last look was planned for.
fn earlier(path: &Path, memory: MemoryLimit) -> anyhow::Result<(u64, BTreeMap<u64, Record>)> {
    let records = merge_records(&[path.to_path_buf()], memory)?;
    let Some(first) = records.first() else { bail!("{}: holds no records", path.display()) };
    let last = first.run.extendable().with_context(|| format!("{}: cannot be extended", path.display()))?;
    Ok((last, records.into_iter().map(|record| (record.index, record)).collect()))
}

/// What a sequential run is to settle: without targets and a tolerance, the radii 0, σ, 2σ, 3σ in z.
fn goal(arguments: &CertifyArguments, noise: NoiseLevel, setup: &Setup) -> Goal {
    let norm: RadiusNorm = arguments.norm.into();
    let mut targets = arguments.target.clone();
    if targets.is_empty() && arguments.tolerance.is_none() {
        targets = default_targets(&setup.smoothed.space, norm, noise);
    }
    Goal { targets, tolerance: arguments.tolerance, norm }
}

fn summary(finished: &Finished<Record>, setup: &Setup, accuracy: RunAccuracy, out: Option<&Path>) -> Summary {
    let records = &finished.records;
    let median = |radius: fn(&Derived) -> Option<f64>| {
        let mut radii: Vec<f64> =
            records.values().map(|record| radius(&record.derived).unwrap_or(0.0)).collect();
        radii.sort_by(f64::total_cmp);
        // The lower one of two, so that at least half reach it.
        radii.len().checked_sub(1).map_or(0.0, |last| radii[last / 2])
    };
    let estimation: u64 = records.values().map(Record::draws).sum();
    Summary {
        answered: Answered::new(finished, setup, |record| record.derived.class),
        median_l2: median(|derived| derived.l2),
        median_linf: median(|derived| derived.linf),
        draws: finished.draws,
        mean_estimation: estimation as f64 / records.len().max(1) as f64,
        pace: Pace::new(finished, out),
        accuracy,
    }
}

fn print(summary: &Summary, setup: &Setup, stdout: &mut impl Write) -> std::io::Result<()> {
    summary.answered.print(setup, stdout)?;
    let (l2, linf) = (down(summary.median_l2, 4), down(summary.median_linf, 4));
    let cosines = setup.smoothed.space.representation().is_some_and(Representation::is_cosine);
    let of = if cosines { " of cosine coefficients" } else { "" };
    writeln!(stdout, "median       l2 radius {l2}, l_inf radius {linf}{of}")?;
    let mean = format!("; {:.0} counted per input", summary.mean_estimation);
    summary.pace.print(summary.draws, &mean, stdout)?;
    accuracy::print(&summary.accuracy, cosines, stdout)
}
