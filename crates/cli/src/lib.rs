//! `gambeson`: certified adversarial robustness from low-rank structure, in the terminal.
//!
//! A map, from the bottom up; nothing imports what stands below it:
//!
//! * `args` is the command line: verbs, options, help;
//! * `hints` tells which options an error of a library calls for;
//! * `screen` is colour and the width of a page; `progress` and `live_data` the live line on stderr and Ctrl-C; `output` stdout and
//!   files to be written; `machine` what the system reports about itself; `ended` the exit codes;
//! * `json` has the objects that commands print with `--json` and `reproduce` reads back;
//! * `files` knows what every command reads and writes, and refuses what would destroy an input;
//! * `commands` has one file or folder per verb.
//!
//! Results go to stdout, everything else to stderr. Exit codes: 0 done and as asked, 1 ran but fell short, 2 error.
//!
//! A library with one function, and a binary that calls it: a binary would be compiled only after all that it links.

mod args;
mod commands;
mod ended;
mod files;
mod hints;
mod json;
mod live_data;
mod machine;
mod output;
mod progress;
mod screen;

use clap::Parser;
use gambeson_report as report;
use gambeson_reproduce::ENDS_WITH_STDIN;
use std::io::Write;
use std::process::ExitCode;

/// The program, from the command line to an exit code.
pub fn main() -> ExitCode {
    if std::env::var_os(ENDS_WITH_STDIN).is_some() {
        std::thread::spawn(end_with_stdin);
    }
    let arguments = match args::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refused(&error),
    };
    match commands::run(arguments) {
        Ok(ended) => ended.into(),
        Err(error) => {
            progress::fail(&error);
            ExitCode::from(2)
        }
    }
}

/// Ends the process when its standard input does: as a kill would, which leaves nothing half-written.
#[allow(clippy::exit)] // nobody is left who waits for what is under way
fn end_with_stdin() {
    let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink()); // whatever it was, it is over
    std::process::exit(1);
}

/// Prints help, the version, or what is wrong with the command line.
fn refused(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // A reader that has left is not an error, a full disk is.
        let mut stdout = output::Output(std::io::stdout().lock());
        let text = error.render();
        let coloured = screen::coloured(&std::io::stdout());
        let text = if coloured { text.ansi().to_string() } else { text.to_string() };
        return match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                progress::fail(&error.into());
                ExitCode::from(2)
            }
        };
    }
    progress::complain(&error.render());
    ExitCode::from(2)
}
