//! Options of what is drawn: figures of several verbs, and pages.

mod figure;
mod report;

pub(crate) use figure::{FigureArguments, FigureFiles};
pub(crate) use report::{HELP as REPORT_HELP, REPORT, ReportArguments};
