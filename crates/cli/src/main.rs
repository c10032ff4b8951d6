//! `gambeson`: certified adversarial robustness from low-rank structure, from the terminal.
//!
//! Results go to stdout, everything else to stderr. Exit codes: 0 done and as asked, 1 ran but fell short (a
//! certificate rejected, a gap not reached), 2 error.

mod args;
mod commands;
mod decimal;
mod progress;
mod source;

use clap::Parser;
use std::process::ExitCode;

/// How a command ended that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Done and as asked: 0.
    Success,
    /// Ran, but fell short: 1.
    FellShort,
}

fn main() -> ExitCode {
    let arguments = args::Arguments::parse(); // clap ends the program with 2 where the line is wrong
    match commands::run(arguments) {
        Ok(Outcome::Success) => ExitCode::SUCCESS,
        Ok(Outcome::FellShort) => ExitCode::from(1),
        // A closed pipe (`gambeson … | head`) is no error.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            progress::say(&format!("error: {error:#}"));
            ExitCode::from(2)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    causes.any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}
