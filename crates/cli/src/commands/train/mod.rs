//! `gambeson train`: a network from a spec.

mod live;

use crate::args::{REPORT, TrainArguments, TrainRequest};
use crate::commands::report;
use crate::ended::Ended;
use crate::json;
use crate::live_data::LiveData;
use crate::progress::{catch_interrupts, duration, say};
use crate::report::decimal::down;
use crate::screen::{command, shown, shown_path, wrapped};
use gambeson::train::{TrainParams, Trained, cost, prepare as make_ready, run as train};
use gambeson::{Context, ReportParams, training_figure};
use gambeson_learn::train::cost::Timed;
use gambeson_learn::train::run::{Metrics, NETWORK};
use gambeson_learn::train::setup::{self, TrainSetup};
pub(crate) use live::LiveTraining;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(super) fn run(
    arguments: &TrainArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    let TrainRequest { spec, out } = arguments.request(context.memory_limit())?;
    let by_default = TrainParams::default();
    let params = TrainParams {
        beside: arguments.spec.parent().map(Path::to_path_buf),
        checkpoint: arguments.checkpoint.unwrap_or(by_default.checkpoint),
        time_limit: arguments.time_limit,
        ..by_default
    };
    let setup = LiveData::observed(context, |context| make_ready(context, spec, &params))?;
    let about = describe(&setup, setup.parameters()?);
    if arguments.dry_run {
        return dry_run(setup, &about, arguments.json, stdout, context);
    }
    catch_interrupts("stopping after this step; the run can go on later (press Ctrl-C again to quit)");
    if !arguments.json {
        writeln!(stdout, "{}", wrapped(&about, 2))?;
        stdout.flush()?;
    }
    let trained = LiveTraining::new(&setup, !arguments.json)
        .observed(context, |context| train(context, &setup, out, &params))?;
    draw(&trained.metrics, out)?;
    let page = page(context, &trained)?;
    json::print_or(arguments.json, &trained, stdout, |stdout| {
        print(&setup, &trained, page.as_deref(), stdout)
    })?;
    if !trained.finished() && !arguments.json {
        say(&format!("stopped; the same command goes on from {}", out.display()));
    }
    Ok(if trained.finished() { Ended::AsAsked } else { Ended::FellShort })
}

/// Loss and accuracy by epoch, as `training.svg` and `.png` in the folder of a run.
pub(crate) fn draw(metrics: &[Metrics], folder: &Path) -> anyhow::Result<()> {
    if metrics.is_empty() {
        return Ok(());
    }
    Ok(training_figure(metrics).write(&[folder.join("training.svg"), folder.join("training.png")])?)
}

/// The run as a page in its folder; none before the first epoch, or where an interrupt ended the work on it.
fn page(context: &Context, trained: &Trained) -> anyhow::Result<Option<PathBuf>> {
    if trained.metrics.is_empty() {
        return Ok(None);
    }
    let path = trained.folder.join(REPORT);
    let params = ReportParams { out: Some(path.clone()), ..ReportParams::default() };
    match report::page(context, std::slice::from_ref(&trained.folder), params) {
        Err(error) if error.downcast_ref().is_some_and(gambeson::Error::is_stopped) => Ok(None),
        other => other.map(|_| Some(path)),
    }
}

/// One line on what is trained.
fn describe(setup: &TrainSetup, parameters: usize) -> String {
    let TrainSetup { spec, train, codec, sigma, .. } = setup;
    let noise = match (*sigma > 0.0, setup.projection.is_some()) {
        (false, _) => "without noise".to_owned(),
        (true, false) => format!("noise {sigma:.4} on all {} values", codec.rank()),
        (true, true) => format!("noise {sigma:.4} on {} coordinates of a projection", codec.rank()),
    };
    format!(
        "{} samples of {}, {noise}; {} parameters on images of {}; {} epochs of {} steps",
        train.len(),
        shown(train.name()),
        parameters,
        codec.output(),
        spec.optimiser.epochs,
        train.len() / spec.optimiser.batch,
    )
}

fn dry_run(
    setup: TrainSetup,
    about: &str,
    json: bool,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    let cost = cost(context, setup)?;
    json::print_or(json, &cost, stdout, |stdout| {
        let record = cost.record();
        writeln!(stdout, "{}", wrapped(about, 2))?;
        writeln!(stdout, "rate         {} inputs per second", down(record.rate, 3))?;
        let (epoch, all) = (duration(record.seconds_epoch), duration(record.seconds));
        writeln!(stdout, "time         {epoch} per epoch, {all} in all")?;
        if let Some(Timed { batch, attack }) = cost.extrapolated {
            let attack = if attack > 0 { format!(", {attack} of the attack") } else { String::new() };
            writeln!(stdout, "             extrapolated from steps of {batch} inputs{attack}")?;
        }
        Ok(())
    })?;
    Ok(Ended::AsAsked)
}

/// Where the network is, and how to certify it.
fn print(
    setup: &TrainSetup,
    trained: &Trained,
    page: Option<&Path>,
    stdout: &mut impl Write,
) -> std::io::Result<()> {
    if !trained.finished() {
        return Ok(());
    }
    let network = trained.folder.join(NETWORK);
    writeln!(stdout, "trained      {} in {}", shown_path(&network), duration(trained.spent.seconds))?;
    if let Some(page) = page {
        writeln!(stdout, "report       {}", shown_path(page))?;
    }
    if trained.sigma > 0.0 {
        let projection = if setup.projection.is_some() {
            format!(" --projection {}", shown_path(&trained.folder.join(setup::PROJECTION)))
        } else {
            String::new()
        };
        writeln!(stdout, "certify it with")?;
        let line = format!(
            "gambeson certify --model {} --data {} --sigma {}{projection} --out {}",
            shown_path(&network),
            shown(&setup.spec.data.name),
            trained.sigma,
            shown_path(&trained.folder.join("certified.jsonl"))
        );
        writeln!(stdout, "   {}", command(&line, 7))?;
    }
    Ok(())
}
