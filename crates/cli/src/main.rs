//! `gambeson`: certified adversarial robustness from low-rank structure, from the terminal.
//!
//! Results go to stdout, everything else to stderr. Exit codes: 0 done and as asked, 1 ran but fell short (a
//! certificate rejected, a gap not reached), 2 error.

mod args;
mod commands;
mod machine;
mod output;
mod progress;
mod report;
mod reproduce;
mod source;
mod symmetric;

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
        Err(error) => {
            progress::say(&format!("error: {error:#}"));
            ExitCode::from(2)
        }
    }
}
