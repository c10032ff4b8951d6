//! One file a verb.

mod bound;
mod check;
mod quickstart;

use crate::Outcome;
use crate::args::{Arguments, Command};
use clap::CommandFactory;
use std::io::Write;

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let threads = arguments
        .threads
        .map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let mut stdout = std::io::stdout().lock();
    match arguments.command {
        Command::Quickstart => quickstart::run(&mut stdout, threads),
        Command::Bound(arguments) => bound::run(&arguments, &mut stdout, threads),
        Command::Check(arguments) => check::run(&arguments, &mut stdout, threads),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Arguments::command(), "gambeson", &mut stdout);
            Ok(Outcome::Success)
        }
        Command::Man => {
            clap_mangen::Man::new(Arguments::command()).render(&mut stdout)?;
            stdout.flush()?;
            Ok(Outcome::Success)
        }
    }
}
