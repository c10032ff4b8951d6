//! `gambeson project`: fit projections, inspect them, compare methods.

mod energies;
mod fit;
mod frontier;
mod inspect;
mod live;
mod method;
mod spectrum;
mod sweep;

use crate::args::ProjectCommand;
use crate::ended::Ended;
use crate::machine::Resources;
use crate::progress::catch_interrupts;
use gambeson_data::error::DataError;
use std::io::Write;

pub(crate) fn run(
    command: &ProjectCommand,
    stdout: &mut impl Write,
    resources: Resources,
) -> anyhow::Result<Ended> {
    catch_interrupts("stopping with the best result so far (press Ctrl-C again to quit)");
    let done = match command {
        ProjectCommand::Fit(arguments) => fit::run(arguments, stdout, resources),
        ProjectCommand::Inspect(arguments) => inspect::run(arguments, stdout, resources),
        ProjectCommand::Sweep(arguments) => sweep::run(arguments, stdout, resources),
        ProjectCommand::Spectrum(arguments) => spectrum::run(arguments, stdout, resources.memory),
    };
    match done {
        Err(error) if matches!(error.downcast_ref(), Some(DataError::Stopped)) => {
            crate::progress::say("stopped; nothing was written");
            Ok(Ended::FellShort)
        }
        other => other,
    }
}
