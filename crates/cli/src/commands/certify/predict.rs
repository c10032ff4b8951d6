//! `gambeson predict`: the class of the smoothed classifier for the inputs of a data set, or an abstention; with `--clean`,
//! what the network answers without noise.
//!
//! Records are lines of JSON like those of `certify`, with counts of one kind of draws and no radius; they begin with
//! `{"kind":"prediction"`, so that neither is taken for the other.

use super::live::{Draws, LiveInputs};
use super::{open, print, setup, write_table};
use crate::args::{PredictArguments, SmoothArguments};
use crate::ended::Ended;
use crate::json;
use crate::progress::{live_line, note, say};
use gambeson::{ClassifyParams, Context, Event, PredictParams};
use std::io::Write;
use std::ops::ControlFlow;

pub(crate) fn run(
    arguments: &PredictArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    super::interruptible(|| {
        if arguments.clean {
            return classify(&arguments.smooth, stdout, context);
        }
        let smooth = &arguments.smooth;
        let setup = open(smooth, context)?;
        let params = PredictParams { draws: setup::draw_params(smooth), n: arguments.n };
        let live = LiveInputs::new(Draws { count: params.n, at_most: false });
        let run = gambeson::predict(&live.observed(context), &setup.model, &setup.data, &params);
        live.finish();
        let run = run?;
        if let Some(path) = &smooth.tsv {
            write_table(path, &run.tsv())?;
        }
        json::print_or(smooth.json, &run, stdout, |stdout| print::predicted(run.record(), &setup, stdout))?;
        Ok(setup::ended(run.stopped))
    })
}

fn classify(smooth: &SmoothArguments, stdout: &mut impl Write, context: &Context) -> anyhow::Result<Ended> {
    let setup = open(smooth, context)?;
    let params = ClassifyParams {
        inputs: setup::selection(smooth),
        batch: smooth.batch,
        time_limit: smooth.time_limit,
    };
    let bar = live_line(None, "{spinner} {elapsed} [{bar:20}] {pos} of {len} inputs");
    let live = bar.clone();
    let observed = context.clone().with_observer(move |event| {
        if let Event::Classify { inputs, classified } = event {
            live.set_length(*inputs as u64);
            live.inc(*classified as u64);
        }
        note(event);
        ControlFlow::Continue(())
    });
    let answers = gambeson::classify(&observed, &setup.model, &setup.data, &params);
    bar.finish_and_clear();
    let Some(answers) = answers? else {
        say("stopped early");
        return Ok(Ended::FellShort);
    };
    let text = |stdout: &mut _| print::classified(answers.record(), &setup, stdout);
    json::print_or(smooth.json, &answers, stdout, text)?;
    Ok(Ended::AsAsked)
}
