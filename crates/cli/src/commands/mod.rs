//! One file a verb.

mod analyze;
pub(crate) mod bound;
mod certify;
pub(crate) mod check;
pub(crate) mod data;
pub(crate) mod project;
mod quickstart;
mod reproduce;

use crate::Outcome;
use crate::args::{Arguments, Command};
use crate::output::Output;
use clap::CommandFactory;
use std::io::Write;

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let threads = arguments
        .threads
        .map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let mut stdout = Output(std::io::stdout().lock());
    match arguments.command {
        Command::Quickstart => quickstart::run(&mut stdout, threads),
        Command::Bound(arguments) => bound::run(&arguments, &mut stdout, threads),
        Command::Check(arguments) => check::run(&arguments, &mut stdout, threads),
        Command::Reproduce(arguments) => reproduce::run(&arguments, &mut stdout, threads),
        Command::Data(command) => data::run(&command, &mut stdout),
        Command::Project(command) => project::run(&command, &mut stdout, threads),
        Command::Certify(arguments) => certify::run(&arguments, &mut stdout, threads),
        Command::Predict(arguments) => certify::predict::run(&arguments, &mut stdout, threads),
        Command::Analyze(arguments) => analyze::run(&arguments, &mut stdout),
        Command::Completions { shell } => {
            let mut script = Vec::new(); // generators panic where a writer fails
            clap_complete::generate(shell, &mut Arguments::command(), "gambeson", &mut script);
            stdout.write_all(&script)?;
            stdout.flush()?;
            Ok(Outcome::Success)
        }
        Command::Man => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Arguments::command()).render(&mut page)?;
            stdout.write_all(&page)?;
            stdout.flush()?;
            Ok(Outcome::Success)
        }
    }
}
