//! `gambeson project`: fit projections, inspect them, compare methods.

mod energies;
mod fit;
mod inspect;
mod live;
mod method;
mod spectrum;
mod sweep;

use crate::args::ProjectCommand;
use crate::ended::Ended;
use crate::progress::catch_interrupts;
use gambeson::Context;
use std::io::Write;

pub(crate) fn run(
    command: &ProjectCommand,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    catch_interrupts("stopping with the best result so far (press Ctrl-C again to quit)");
    let done = match command {
        ProjectCommand::Fit(arguments) => fit::run(arguments, stdout, context),
        ProjectCommand::Inspect(arguments) => inspect::run(arguments, stdout, context),
        ProjectCommand::Sweep(arguments) => sweep::run(arguments, context),
        ProjectCommand::Spectrum(arguments) => spectrum::run(arguments, stdout, context),
    };
    match done {
        Err(error) if error.downcast_ref().is_some_and(gambeson::Error::is_stopped) => {
            crate::progress::say("stopped; nothing was written");
            Ok(Ended::FellShort)
        }
        other => other,
    }
}
