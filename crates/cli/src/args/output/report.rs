//! The command line of `gambeson report`.

use super::super::shared::{OUTPUT, at_least_one};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) const HELP: &str = "\
One HTML file that needs no other and no network: certified-accuracy curves with a radius to choose, accuracy by class, the \
inputs themselves with what each run answers, curves of training, what each run claims and what it was made of, and lines \
to copy that check every proven number again. Without JavaScript it can still be read and printed.

RUN is a folder of `gambeson train`, a file of records, a folder that holds such, a pattern with * and ?, or a log that \
`gambeson analyze` reads. Radii are derived again from counts, and kappa is proven again from a projection beside the \
records. Inputs are shown with pictures where the data they name can be opened and have the hash in the records.

What cannot be read is left out, and said on the page and on stderr. Networks and projections beside the records are found; \
lines to copy name them, or those given by --model and --projection.

Examples:
  gambeson report quickstart
  gambeson report sigma-*.jsonl --model models/fashion/network.safetensors --out fashion.html

Exit codes: 0 done, 1 something was left out, 2 error.";

/// The name of the page that `train` and `quickstart` end with.
pub(crate) const REPORT: &str = "report.html";

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Folders of training, files of records, folders of these, or patterns with * and ?.
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// The page.
    #[arg(long, value_name = "FILE.html", default_value = REPORT, help_heading = OUTPUT)]
    pub(crate) out: PathBuf,
    /// The heading of the page [default: from the data].
    #[arg(long, value_name = "TEXT", help_heading = OUTPUT)]
    pub(crate) title: Option<String>,
    /// The name of a run on the page; once per run, in order [default: from the file names].
    #[arg(long, value_name = "TEXT", help_heading = OUTPUT)]
    pub(crate) label: Vec<String>,
    /// Data whose inputs are shown, if the name in the records does not open them. May be repeated.
    #[arg(long, value_name = "NAME|PATH")]
    pub(crate) data: Vec<OsString>,
    /// A network that records were made with, if it is not beside them. May be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Vec<PathBuf>,
    /// A projection that records were made with, if it is not beside them. May be repeated.
    #[arg(long, value_name = "P.safetensors")]
    pub(crate) projection: Vec<PathBuf>,
    /// Inputs shown of each data set, at most, evenly chosen.
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = at_least_one, help_heading = OUTPUT)]
    pub(crate) inputs: usize,
    /// Print one JSON object instead of text.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}
