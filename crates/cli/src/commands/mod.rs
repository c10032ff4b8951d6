//! The verbs, one file or folder each: they read arguments, call the libraries, and print.

mod analyze;
mod attack;
mod bound;
mod bundle;
mod certify;
mod check;
mod data;
mod demo;
mod export;
mod man;
mod matrix;
mod project;
mod quickstart;
mod report;
mod reproduce;
mod train;

use crate::args::{Arguments, Command};
use crate::ended::Ended;
use crate::files;
use crate::machine::free_memory;
use crate::output::Output;
use crate::progress::interrupted;
use clap::CommandFactory;
use gambeson::{Context, ContextParams};
use gambeson_lowrank::MemoryLimit;
use std::io::Write;
use std::num::NonZeroUsize;

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Ended> {
    // Before anything is read: sizes are compared with what there is, so that no allocation ends the program.
    let memory = arguments.memory_limit.or_else(|| free_memory().map(|free| free / 10 * 8));
    let memory = memory.map_or(MemoryLimit::NONE, MemoryLimit::bytes);
    files::guard(&arguments.command, arguments.force, memory)?;
    let threads = arguments
        .threads
        .map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    let context = ContextParams { threads: NonZeroUsize::new(threads), memory_limit: memory };
    let context = &Context::new(context)?.with_interrupt(interrupted);
    // Not locked: observers print from the threads of the context.
    let mut stdout = Output(std::io::stdout());
    match arguments.command {
        Command::Quickstart(arguments) => quickstart::run(&arguments, &mut stdout, context),
        Command::Bound(arguments) if arguments.demo => demo::run(&mut stdout, context),
        Command::Bound(arguments) => bound::run(&arguments, &mut stdout, context),
        Command::Check(arguments) => check::run(&arguments, &mut stdout, context),
        Command::Data(command) => data::run(&command, &mut stdout, context),
        Command::Project(command) => project::run(&command, &mut stdout, context),
        Command::Train(arguments) => train::run(&arguments, &mut stdout, context),
        Command::Certify(arguments) => certify::run(&arguments, &mut stdout, context),
        Command::Bundle(arguments) => bundle::run(&arguments, &mut stdout, context),
        Command::Predict(arguments) => certify::predict::run(&arguments, &mut stdout, context),
        Command::Attack(arguments) => attack::run(&arguments, &mut stdout, context),
        Command::Analyze(arguments) => analyze::run(&arguments, &mut stdout, context),
        Command::Report(arguments) => report::run(&arguments, &mut stdout, context),
        Command::Export(arguments) => export::run(&arguments, &mut stdout, context),
        Command::Reproduce(arguments) => reproduce::run(&arguments, &mut stdout, context),
        Command::Completions { shell } => {
            let mut script = Vec::new(); // generators panic if a writer fails
            clap_complete::generate(shell, &mut Arguments::command(), "gambeson", &mut script);
            stdout.write_all(&script)?;
            stdout.flush()?;
            Ok(Ended::AsAsked)
        }
        Command::Man(arguments) => man::run(&arguments, &mut stdout),
    }
}
