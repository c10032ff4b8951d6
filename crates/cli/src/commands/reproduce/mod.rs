//! `gambeson reproduce`: makes the missing runs of experiments, then their tables and figures.

mod dry_run;
mod live;
mod params;

use super::report;
use crate::args::ReproduceArguments;
use crate::ended::Ended;
use crate::progress::{catch_interrupts, fail, say};
use anyhow::bail;
use gambeson::{Context, ReportParams};
use gambeson_report::table::Table;
use gambeson_reproduce::{
    ObjectName, ObjectReport, ReproduceError, ReproduceParams, Reproduced, page, reproduce,
};
use live::LiveRuns;
use params::params;
use std::io::Write;
use std::time::Instant;

pub(crate) fn run(
    arguments: &ReproduceArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    if arguments.list {
        for object in ObjectName::ALL {
            writeln!(stdout, "{:21} {}", object.name(), object.about())?;
        }
        stdout.flush()?;
        return Ok(Ended::AsAsked);
    }
    if !arguments.render_only {
        catch_interrupts("stopping; finished runs are kept (press Ctrl-C again to quit)");
    }
    let names = arguments.names();
    if arguments.dry_run {
        return dry_run::run(arguments, &names, stdout, context);
    }
    let started = Instant::now();
    let (mut made, mut broken, mut complete) = (Vec::new(), Vec::new(), true);
    for name in names {
        let mut params = params(arguments, name)?;
        params.time_limit = params.time_limit.map(|limit| limit.saturating_sub(started.elapsed()));
        match one(arguments, &params, stdout, context) {
            Ok(Some(object)) => made.push(object),
            Ok(None) => return Ok(Ended::FellShort), // interrupted
            Err(error) if arguments.all && has_no_records(&error) => {
                say(&format!("{}: {error}", name.name()));
                complete = false;
            }
            Err(error) if arguments.all => {
                fail(&error.context(name.name()));
                broken.push(name.name());
            }
            Err(error) => return Err(error),
        }
    }
    if !made.is_empty() {
        match write_page(arguments, &made, context) {
            Ok(whole) => complete &= whole,
            Err(error) => {
                fail(&error.context("the page"));
                broken.push("the page");
            }
        }
    }
    if !broken.is_empty() {
        bail!("not made, or not all of it: {}", broken.join(", "));
    }
    let failed: usize = made.iter().map(|object| object.failed).sum();
    if failed > 0 {
        bail!("{failed} runs failed, with the messages above; run the same command again to retry them");
    }
    complete &= made.iter().all(|object| object.missing == 0 && object.fell_short == 0);
    Ok(if complete { Ended::AsAsked } else { Ended::FellShort })
}

/// Whether nothing was run yet of what is only to be shown.
fn has_no_records(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(ReproduceError::NoRecords { .. }))
}

/// The page of all that was made; whether nothing is missing on it.
fn write_page(
    arguments: &ReproduceArguments,
    made: &[ObjectReport],
    context: &Context,
) -> anyhow::Result<bool> {
    let scale = arguments.scale.name();
    let title = match made {
        [object] => format!("{} (scale: {scale})", object.name.about()),
        _ => {
            format!("Adversarial robustness via robust low rank representations, reproduced (scale: {scale})")
        }
    };
    let params = ReportParams { out: Some(arguments.page()), title: Some(title), ..ReportParams::default() };
    let report = report::page_with(context, params, |context, params| page(context, made, params))?;
    say(&format!("wrote {}", arguments.page().display()));
    Ok(report.is_complete())
}

/// One table or figure; `None` if interrupted.
fn one(
    arguments: &ReproduceArguments,
    params: &ReproduceParams,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Option<ObjectReport>> {
    let live = LiveRuns::default();
    let reproduced = reproduce(context, params, &|event| live.see(event));
    live.finish();
    let report = match reproduced? {
        Reproduced::Interrupted => {
            let records = params.records();
            say(&format!("stopped; run the same command again to continue from {}", records.display()));
            return Ok(None);
        }
        Reproduced::Done(report) => *report,
    };
    print(arguments, &report, stdout)?;
    Ok(Some(report))
}

fn print(
    arguments: &ReproduceArguments,
    report: &ObjectReport,
    stdout: &mut impl Write,
) -> anyhow::Result<()> {
    report.files.iter().for_each(|path| say(&format!("wrote {}", path.display())));
    if arguments.json {
        report.records.iter().try_for_each(|record| writeln!(stdout, "{record}"))?;
    } else {
        let tables: Vec<String> = report.tables.iter().map(Table::terminal).collect();
        let end = if arguments.all { "\n" } else { "" };
        write!(stdout, "{}{end}", tables.join("\n"))?;
    }
    stdout.flush()?;
    Ok(())
}
