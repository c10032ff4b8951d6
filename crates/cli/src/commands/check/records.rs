//! `gambeson check RUN.jsonl --model M --data D`: the records of a run, drawn again or certified afresh.

use super::records_text;
use crate::args::{CheckArguments, ReplayArguments};
use crate::commands::certify::{interruptible, noise_levels, open_for_check, reading_params};
use crate::ended::Ended;
use crate::json;
use crate::progress::{live_line, note, say};
use anyhow::bail;
use gambeson::event::ReplayProgress;
use gambeson::{CheckRecordsParams, Context, Event, ModelParams, RecordSample, check_records, open_records};
use std::io::Write;
use std::ops::ControlFlow;

pub(super) fn run(
    arguments: &CheckArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    interruptible(|| check(arguments, stdout, context))
}

fn check(arguments: &CheckArguments, stdout: &mut impl Write, context: &Context) -> anyhow::Result<Ended> {
    refuse_other_questions(arguments)?;
    let replay = &arguments.replay;
    let (Some(model), Some(data)) = (&replay.model, &replay.data) else {
        bail!("give the --data that the records are about");
    };
    let file = open_records(context, &arguments.files)?;
    let checked = match (file.rejected(), file.head()) {
        (None, Some(head)) => {
            let params = model_params(replay, context)?;
            let named = (&**model, &**data);
            let (model, data) =
                open_for_check(context, named, &replay.reading, &params.replaying(&head.run))?;
            let params = check_params(arguments);
            let bar = live_line(None, "{spinner} {elapsed} [{bar:20}] {pos} of {len} records");
            let checked = check_records(&observed(context, &bar), &file, &model, &data, &params);
            bar.finish_and_clear();
            checked?
        }
        (rejected, _) => rejected.unwrap_or_default(),
    };
    json::print_or(arguments.json, &checked, stdout, |stdout| records_text::print(&checked, stdout))?;
    if checked.stopped {
        say("stopped before the check was done");
    }
    Ok(if checked.passed() { Ended::AsAsked } else { Ended::FellShort })
}

/// Options that are about matrices and projections.
pub(super) fn refuse_other_questions(arguments: &CheckArguments) -> anyhow::Result<()> {
    let CheckArguments { domain, norm, gram, at_most, .. } = arguments;
    if domain.is_some() || norm.is_some() || *gram || at_most.is_some() {
        bail!("--domain, --norm, --gram and --at-most do not apply to records");
    }
    Ok(())
}

/// The projection, and how the network is read.
pub(super) fn model_params(replay: &ReplayArguments, context: &Context) -> anyhow::Result<ModelParams> {
    Ok(ModelParams {
        projection: replay.projection.clone(),
        certificate: replay.projection_certificate.clone(),
        noise_levels: noise_levels(replay.noise_levels.as_deref(), context)?,
        ..reading_params(&replay.reading)
    })
}

pub(super) fn check_params(arguments: &CheckArguments) -> CheckRecordsParams {
    let replay = &arguments.replay;
    CheckRecordsParams {
        sample: sample(replay),
        nonce: replay.nonce,
        plan: replay.plan.clone(),
        time_limit: arguments.time_limit,
        ..CheckRecordsParams::default()
    }
}

/// The records to be drawn again: by default as many as the library takes.
fn sample(replay: &ReplayArguments) -> RecordSample {
    let chosen = replay.sample_seed;
    if let Some(index) = replay.only_input {
        return RecordSample::Input { index };
    }
    match (replay.all, replay.sample, RecordSample::default()) {
        (true, ..) => RecordSample::All,
        (false, Some(count), _) => RecordSample::Random { count, seed: chosen },
        (false, None, RecordSample::Timed { time, at_least, .. }) => {
            RecordSample::Timed { time, at_least, seed: chosen }
        }
        (false, None, other) => other,
    }
}

/// A context whose checks are seen on the line.
pub(super) fn observed(context: &Context, bar: &indicatif::ProgressBar) -> Context {
    let bar = bar.clone();
    context.clone().with_observer(move |event| {
        if let Event::Replay { records, progress } = event {
            bar.set_length(*records as u64);
            bar.inc(u64::from(*progress == ReplayProgress::Checked));
        }
        note(event);
        ControlFlow::Continue(())
    })
}
