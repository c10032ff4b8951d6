//! `gambeson reproduce`: makes the missing runs of an experiment, then its table and figure.

use crate::args::ReproduceArguments;
use crate::ended::Ended;
use crate::hints::hint;
use crate::progress::{catch_interrupts, live_line, say, show};
use anyhow::{Context as _, bail};
use gambeson::Context;
use gambeson_reproduce::{ObjectName, Program, ReproduceEvent, ReproduceParams, Reproduced, reproduce};
use indicatif::ProgressBar;
use std::cell::OnceCell;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where the folder of reference data is named.
const REFERENCE_DATA: &str = "GAMBESON_REFERENCE_DATA";

pub(crate) fn run(
    arguments: &ReproduceArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    if arguments.list {
        for object in ObjectName::ALL {
            writeln!(stdout, "{:15} {}", object.name(), object.about())?;
        }
        stdout.flush()?;
        return Ok(Ended::AsAsked);
    }
    let name = arguments.name.context("no table or figure named")?; // clap requires one
    let params = ReproduceParams {
        scale: arguments.scale,
        results: arguments.results.clone(),
        runs: arguments.runs.clone(),
        experiments: arguments.experiments.clone(),
        data: arguments.data.clone(),
        reference_data: std::env::var_os(REFERENCE_DATA).filter(|value| !value.is_empty()).map(Into::into),
        render_only: arguments.render_only,
        time_limit: arguments.time_limit,
        ..ReproduceParams::new(name, Program { path: program()?, words: Vec::new() })
    };
    if !params.render_only {
        catch_interrupts("stopping; finished runs are kept (press Ctrl-C again to quit)");
    }
    let live = LiveRuns::default();
    let reproduced = reproduce(context, &params, &|event| live.see(event));
    live.finish();
    let report = match reproduced? {
        Reproduced::Interrupted => {
            let records = params.records();
            say(&format!("stopped; run the same command again to continue from {}", records.display()));
            return Ok(Ended::FellShort);
        }
        Reproduced::Done(report) => report,
    };
    report.files.iter().for_each(|path| say(&format!("wrote {}", path.display())));
    if arguments.json {
        report.records.iter().try_for_each(|record| writeln!(stdout, "{record}"))?;
    } else {
        write!(stdout, "{}", report.table.terminal())?;
    }
    stdout.flush()?;
    if report.failed > 0 {
        let failed = report.failed;
        bail!("{failed} runs failed, with the messages above; run the same command again to retry them");
    }
    let complete = report.missing == 0 && report.fell_short == 0;
    Ok(if complete { Ended::AsAsked } else { Ended::FellShort })
}

/// This program, even if its file has been replaced since it started.
fn program() -> anyhow::Result<PathBuf> {
    let running = Path::new("/proc/self/exe"); // what runs, not what has its name now
    if cfg!(target_os = "linux") && running.metadata().is_ok() {
        return Ok(running.to_owned());
    }
    std::env::current_exe().context("cannot find the program's own file")
}

/// A line that counts runs, and messages above it.
#[derive(Default)]
struct LiveRuns {
    bar: OnceCell<ProgressBar>,
}

impl LiveRuns {
    fn see(&self, event: &ReproduceEvent<'_>) {
        match event {
            ReproduceEvent::Begins { run, done, missing } => {
                let template = "{spinner} {elapsed} {pos} of {len} runs done, now {msg}";
                let bar = self.bar.get_or_init(|| live_line(Some(*missing as u64), template));
                bar.set_position(*done as u64);
                show(bar, run);
            }
            ReproduceEvent::Recorded { run, as_asked: false } => {
                say(&format!("{run}: fell short of what was asked"));
            }
            ReproduceEvent::Failed { run, reason } => {
                let hint = hint(*reason).map_or_else(String::new, |hint| format!("; {hint}"));
                say(&format!("{run}: failed: {reason}{hint}"));
            }
            ReproduceEvent::Skipped { run } => {
                say(&format!("{run}: not made: it needs the record of a run that failed"));
            }
            ReproduceEvent::Torn { path, line, removed: true } => {
                say(&format!("{}, line {line}: cut off and removed; that run is made again", path.display()));
            }
            ReproduceEvent::Torn { path, line, removed: false } => {
                say(&format!("{}, line {line}: cut off, ignored", path.display()));
            }
            ReproduceEvent::OtherSetup { path, records, setup } => {
                say(&format!("{}: {records} records are not of {setup} and are ignored", path.display()));
            }
            _ => {}
        }
    }

    fn finish(&self) {
        self.bar.get().into_iter().for_each(ProgressBar::finish_and_clear);
    }
}
