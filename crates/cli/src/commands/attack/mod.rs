//! `gambeson attack`: adversarial examples, and certified inputs at their certified radii.

mod live;

use crate::args::{AttackArguments, FigureFiles};
use crate::ended::Ended;
use crate::json;
use crate::live_data::LiveData;
use crate::output::writable;
use crate::progress::{catch_interrupts, duration, noted, say};
use crate::screen::{shown, shown_path, wrapped};
use anyhow::{Context as _, ensure};
use gambeson::attack::AttackRecord;
use gambeson::{
    AttackParams, AttackRadius, AttackTarget, Context, DataParams, WhiteBoxParams, attack, attack_figure,
    open_certified, open_data, open_white_box,
};
use gambeson_lowrank::file::write_file;
pub(crate) use live::LiveAttack;
use std::io::Write;
use std::time::Instant;

/// Pictures in a figure unless asked otherwise.
const PICTURES: usize = 6;

pub(super) fn run(
    arguments: &AttackArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    let figures = arguments.figure.figure.iter().flat_map(FigureFiles::paths);
    for path in figures.chain(&arguments.out) {
        writable(path)?;
    }
    let mut params = params(arguments, context)?;
    params.validate(arguments.model.is_some())?;
    ensure!(arguments.pictures != Some(0), "--pictures 0: must be at least 1");
    catch_interrupts("stopping (press Ctrl-C again to quit)");
    let started = Instant::now();
    let reading = DataParams { split: arguments.split.into(), ..DataParams::default() };
    let data = LiveData::observed(context, |context| open_data(context, &arguments.data, &reading))?;
    params.indices = Some(arguments.range.of(data.len())?.collect());
    let white_box = WhiteBoxParams {
        projection: arguments.projection.clone(),
        certificate: arguments.certificate.clone(),
        mean: arguments.normalisation.mean.clone(),
        std: arguments.normalisation.std.clone(),
    };
    let model = arguments.model.as_deref().map(|path| open_white_box(context, path, &data, &white_box));
    let model = model.transpose()?;
    let target = AttackTarget { data: &data, model: model.as_ref() };
    let attacked = LiveAttack::observed(context, |context| attack(context, target, &params));
    let mut attacked = attacked?;
    if attacked.stopped {
        say("stopped before all inputs were attacked and predicted");
        return Ok(Ended::FellShort);
    }
    attacked.seconds = started.elapsed().as_secs_f64();
    if let Some(path) = &arguments.out {
        write_file(path, &attacked.to_npy()).with_context(|| path.display().to_string())?;
    }
    if let Some(files) = &arguments.figure.figure {
        attack_figure(&attacked).draw().write(files.paths())?;
    }
    json::print_or(arguments.json, &attacked, stdout, |stdout| {
        print(&attacked.record(), arguments, data.name(), stdout)
    })?;
    Ok(if attacked.broken().is_some_and(|broken| broken > 0) { Ended::FellShort } else { Ended::AsAsked })
}

/// What is asked, without the inputs that are chosen: how many there are is not known yet.
fn params(arguments: &AttackArguments, context: &Context) -> anyhow::Result<AttackParams> {
    let radius = match &arguments.certified {
        Some(path) => AttackRadius::Certified(open_certified(&noted(context), path)?),
        None => AttackRadius::Epsilon(arguments.epsilon.context("--epsilon is missing")?), // clap asks for it
    };
    let by_default = if arguments.figure.figure.is_some() { PICTURES } else { 0 };
    Ok(AttackParams {
        method: arguments.method.into(),
        norm: arguments.norm.into(),
        basis: arguments.basis.map(Into::into),
        steps: arguments.steps,
        sparsity: arguments.sparsity,
        any_values: arguments.any_values,
        sigma: arguments.sigma,
        draws: arguments.draws,
        n: arguments.n,
        alpha: arguments.alpha,
        seed: arguments.seed,
        pictures: arguments.pictures.unwrap_or(by_default),
        // In a figure of this command; a record has the first ones.
        misled_first: arguments.figure.figure.is_some(),
        ..AttackParams::new(radius)
    })
}

fn print(
    record: &AttackRecord,
    arguments: &AttackArguments,
    data: &str,
    stdout: &mut impl Write,
) -> std::io::Result<()> {
    let data = shown(data);
    let what = match (&arguments.model, arguments.sigma) {
        (None, _) => data,
        (Some(path), None) => format!("{} on {data}", shown_path(path)),
        (Some(path), Some(sigma)) => format!("{} on {data}, smoothed by noise {sigma}", shown_path(path)),
    };
    writeln!(stdout, "{}", wrapped(&what, 2))?;
    let basis = if record.basis == "dct" { "cosine coefficients" } else { "values" };
    let AttackRecord { method, norm, .. } = record;
    let ball = match (record.epsilon, *method) {
        (None, _) => format!("{method} at certified radii in {norm}, median {:.4}", record.median_epsilon),
        (Some(epsilon), "sparse") => format!(
            "{} random cosine coefficients, largest change of a value {epsilon}",
            record.sparsity.unwrap_or(0)
        ),
        (Some(epsilon), _) => format!("{method} in {norm} of {basis}, radius {epsilon}"),
    };
    writeln!(stdout, "attack       {ball}")?;
    writeln!(stdout, "inputs       {} in {}", record.inputs, duration(record.seconds))?;
    if let (Some(before), Some(after), Some(abstained)) = (record.before, record.after, record.abstained) {
        let name = if record.broken.is_some() { "kept" } else { "accuracy" };
        writeln!(
            stdout,
            "{name:<12} {:.1} % before, {:.1} % after; {abstained} without an answer",
            100.0 * before,
            100.0 * after
        )?;
    }
    if let Some(broken) = record.broken {
        writeln!(stdout, "broken       {broken} of {} certificates", record.inputs)?;
    }
    writeln!(stdout, "changed      values by at most {:.4}", record.largest)?;
    for path in arguments.out.iter().chain(arguments.figure.figure.iter().flat_map(FigureFiles::paths)) {
        writeln!(stdout, "wrote        {}", shown_path(path))?;
    }
    Ok(())
}
