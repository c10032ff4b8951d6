//! `gambeson report`: runs as one page.

mod lines;
mod shell;

use crate::args::ReportArguments;
use crate::ended::Ended;
use crate::json;
use crate::live_data::LiveData;
use crate::progress::say;
use crate::screen::{shown, shown_path, wrapped};
use gambeson::{Context, Report, ReportParams};
use lines::command_line;
use std::io::Write;

pub(super) fn run(
    arguments: &ReportArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    let params = ReportParams {
        out: Some(arguments.out.clone()),
        title: arguments.title.clone(),
        labels: arguments.label.clone(),
        data: arguments.data.clone(),
        networks: arguments.model.clone(),
        projections: arguments.projection.clone(),
        inputs: arguments.inputs,
        ..ReportParams::default()
    };
    let report = page(context, &arguments.runs, params)?;
    json::print_or(arguments.json, &report, stdout, |stdout| print(&report, stdout))?;
    Ok(if report.is_complete() { Ended::AsAsked } else { Ended::FellShort })
}

/// Makes a page with lines to copy, and says what is not on it.
pub(super) fn page(
    context: &Context,
    runs: &[std::path::PathBuf],
    params: ReportParams,
) -> anyhow::Result<Report> {
    page_with(context, params, |context, params| gambeson::report(context, runs, params))
}

/// The same, by another function of the library.
pub(super) fn page_with(
    context: &Context,
    params: ReportParams,
    make: impl FnOnce(&Context, ReportParams) -> Result<Report, gambeson::Error>,
) -> anyhow::Result<Report> {
    let params = ReportParams { command_line: Some(command_line), ..params };
    let report = LiveData::observed(context, |context| make(context, params))?;
    let record = report.record();
    record.problems.iter().for_each(|problem| say(&format!("left out: {problem}")));
    record.remarks.iter().for_each(|remark| say(remark));
    Ok(report)
}

fn print(report: &Report, stdout: &mut impl Write) -> std::io::Result<()> {
    let record = report.record();
    let path = report.out.as_deref().map(shown_path).unwrap_or_default();
    writeln!(
        stdout,
        "{}",
        wrapped(&format!("page           {path}, {} bytes: {}", record.bytes, shown(&record.title)), 15)
    )?;
    for run in &record.runs {
        let inputs = run.inputs.map_or_else(String::new, |inputs| format!(", {inputs} inputs"));
        let text = format!("{:<15}{}: {}{inputs}", run.kind, shown(&run.label), shown(&run.source));
        writeln!(stdout, "{}", wrapped(&text, 15))?;
    }
    let sections: Vec<&str> = record.sections.iter().map(|section| &*section.heading).collect();
    writeln!(stdout, "{}", wrapped(&format!("sections       {}", sections.join(", ")), 15))
}
