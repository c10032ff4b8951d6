//! `gambeson train`: a network from a spec.

mod figure;
mod live;

use crate::args::{TrainArguments, TrainRequest};
use crate::commands::data::data_dir;
use crate::ended::Ended;
use crate::json;
use crate::live_data::LiveData;
use crate::machine::Resources;
use crate::progress::{catch_interrupts, duration, say};
use crate::report::decimal::down;
use crate::screen::{command, shown, shown_path, wrapped};
use gambeson_learn::net::parameters::Places;
use gambeson_learn::train::clock::Spent;
use gambeson_learn::train::cost::{Timed, cost};
use gambeson_learn::train::run::{Metrics, NETWORK};
use gambeson_learn::train::setup::{self, Setup};
use gambeson_learn::train::{Outcome, TrainSpec, load, train};
pub(crate) use live::LiveTraining;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What `train --json` prints.
#[derive(Serialize)]
struct Trained<'a> {
    /// Folder of the run.
    run: std::borrow::Cow<'a, str>,
    /// Whether it came to its end.
    finished: bool,
    /// SHA-256 of its file; null before the end.
    network: Option<&'a str>,
    parameters: usize,
    sigma: f64,
    /// Numbers that noise is added to.
    rank: usize,
    /// channels, height, width of what the network is shown.
    grid: [usize; 3],
    /// Of training, without measuring: by the clock, and of all processors.
    #[serde(flatten)]
    spent: Spent,
    /// The last epoch.
    last: Option<&'a Metrics>,
}

/// What `train --dry-run --json` prints.
#[derive(Serialize)]
struct Cost {
    parameters: usize,
    sigma: f64,
    rank: usize,
    epochs: usize,
    steps: usize,
    /// Inputs per second.
    rate: f64,
    /// Of an epoch.
    seconds_epoch: f64,
    /// Of the run.
    seconds: f64,
    /// Whether less than a step of the run was timed.
    extrapolated: bool,
}

pub(super) fn run(
    arguments: &TrainArguments,
    stdout: &mut impl Write,
    resources: Resources,
) -> anyhow::Result<Ended> {
    let TrainRequest { spec, out } = arguments.request(resources.memory)?;
    let setup = prepare(spec, &arguments.spec, resources)?;
    if arguments.dry_run {
        return dry_run(setup, arguments.json, stdout);
    }
    catch_interrupts("stopping after this step; the run can go on later (press Ctrl-C again to quit)");
    let parameters = Places::new(&setup.architecture)?.parameters;
    if !arguments.json {
        writeln!(stdout, "{}", wrapped(&describe(&setup, parameters), 2))?;
        stdout.flush()?;
    }
    let mut live = LiveTraining::new(&setup, arguments.time_limit, !arguments.json);
    let outcome = train(&setup, out, arguments.checkpoint, &mut live);
    live.finish();
    let outcome = outcome?;
    draw(&outcome.metrics, out)?;
    report(&setup, out, parameters, &outcome, arguments.json, stdout)
}

/// Loss and accuracy by epoch, as `training.svg` and `.png` in the folder of a run.
pub(crate) fn draw(metrics: &[Metrics], folder: &Path) -> anyhow::Result<()> {
    if metrics.is_empty() {
        return Ok(());
    }
    Ok(figure::draw(metrics).write(&[folder.join("training.svg"), folder.join("training.png")])?)
}

/// Data, projection, network. A projection's file is looked for beside the spec.
pub(crate) fn prepare(spec: &TrainSpec, path: &Path, resources: Resources) -> anyhow::Result<Setup> {
    let data_dir = data_dir()?;
    let (Resources { threads, memory }, beside) = (resources, path.parent());
    let prepared =
        LiveData::watch(|progress| load::prepare(spec, beside, &data_dir, memory, threads, progress));
    Ok(prepared?)
}

/// One line on what is trained.
fn describe(setup: &Setup, parameters: usize) -> String {
    let Setup { spec, train, view, sigma, .. } = setup;
    let noise = match (*sigma > 0.0, setup.projection.is_some()) {
        (false, _) => "without noise".to_owned(),
        (true, false) => format!("noise {sigma:.4} on all {} values", view.rank()),
        (true, true) => format!("noise {sigma:.4} on {} coordinates of a projection", view.rank()),
    };
    format!(
        "{} samples of {}, {noise}; {} parameters on images of {}; {} epochs of {} steps",
        train.len(),
        shown(train.name()),
        parameters,
        view.output(),
        spec.optimiser.epochs,
        train.len() / spec.optimiser.batch,
    )
}

fn dry_run(setup: Setup, json: bool, stdout: &mut impl Write) -> anyhow::Result<Ended> {
    const TIME: Duration = Duration::from_secs(4);
    let (sigma, rank, epochs) = (setup.sigma, setup.view.rank(), setup.spec.optimiser.epochs);
    let batch = setup.spec.optimiser.batch;
    let parameters = Places::new(&setup.architecture)?.parameters;
    let about = describe(&setup, parameters);
    let measured = cost(setup, TIME)?;
    let seconds_epoch = measured.seconds_step * measured.per_epoch as f64;
    let cost = Cost {
        parameters,
        sigma,
        rank,
        epochs,
        steps: measured.steps,
        rate: batch as f64 / measured.seconds_step,
        seconds_epoch,
        seconds: seconds_epoch * epochs as f64,
        extrapolated: measured.extrapolated.is_some(),
    };
    if json {
        writeln!(stdout, "{}", json::line(&cost)?)?;
    } else {
        writeln!(stdout, "{}", wrapped(&about, 2))?;
        writeln!(stdout, "rate         {} inputs per second", down(cost.rate, 3))?;
        writeln!(
            stdout,
            "time         {} per epoch, {} in all",
            duration(cost.seconds_epoch),
            duration(cost.seconds)
        )?;
        if let Some(Timed { batch, attack }) = measured.extrapolated {
            let attack = if attack > 0 { format!(", {attack} of the attack") } else { String::new() };
            writeln!(stdout, "             extrapolated from steps of {batch} inputs{attack}")?;
        }
    }
    stdout.flush()?;
    Ok(Ended::AsAsked)
}

fn report(
    setup: &Setup,
    out: &Path,
    parameters: usize,
    outcome: &Outcome,
    json: bool,
    stdout: &mut impl Write,
) -> anyhow::Result<Ended> {
    let shape = setup.view.output();
    let trained = Trained {
        run: out.to_string_lossy(),
        finished: outcome.network.is_some(),
        network: outcome.network.as_deref(),
        parameters,
        sigma: setup.sigma,
        rank: setup.view.rank(),
        grid: [shape.channels, shape.height, shape.width],
        spent: outcome.spent,
        last: outcome.metrics.last(),
    };
    if json {
        writeln!(stdout, "{}", json::line(&trained)?)?;
    } else if trained.finished {
        let network: PathBuf = out.join(NETWORK);
        writeln!(stdout, "trained      {} in {}", shown_path(&network), duration(outcome.spent.seconds))?;
        if setup.sigma > 0.0 {
            let projection = if setup.projection.is_some() {
                format!(" --projection {}", shown_path(&out.join(setup::PROJECTION)))
            } else {
                String::new()
            };
            writeln!(stdout, "certify it with")?;
            let line = format!(
                "gambeson certify --model {} --data {} --sigma {}{projection} --out {}",
                shown_path(&network),
                shown(&setup.spec.data.name),
                setup.sigma,
                shown_path(&out.join("certified.jsonl"))
            );
            writeln!(stdout, "   {}", command(&line, 7))?;
        }
    } else {
        say(&format!("stopped; the same command goes on from {}", out.display()));
    }
    stdout.flush()?;
    Ok(if trained.finished { Ended::AsAsked } else { Ended::FellShort })
}
