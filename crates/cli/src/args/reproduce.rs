//! The command line of `gambeson reproduce`.

use super::shared::seconds;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use gambeson_reproduce::{ObjectName, Scale};
use std::path::PathBuf;
use std::time::Duration;

pub(super) const HELP: &str = "\
Every run is a process of its own, and its record is appended to DIR/NAME.SCALE.jsonl as soon as it ends: a command that \
was stopped continues where it was. The .md, .tex, .svg and .png files beside it are made from the records alone.

Scales: smoke uses built-in data and takes minutes for all names together; desk and paper need cifar10 and cifar100 \
(`gambeson data fetch`), and table-audio a folder of speech. Networks are trained into --runs, where a stopped training \
goes on, and a network of several figures is trained once. What is kept of each (its spec, how it learned, its certified \
inputs) is copied to DIR/networks.

Exit codes: 0 all runs are done and reached what was asked; 1 runs are missing or fell short of their gap; 2 error, also \
if a run failed (after all others were tried).";

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // flags
pub(crate) struct ReproduceArguments {
    /// The table or figure.
    #[arg(required_unless_present_any = ["list", "all"], value_parser = objects(), hide_possible_values = true)]
    pub(crate) name: Option<ObjectName>,
    /// All tables and figures, one after the other.
    #[arg(long, conflicts_with = "name")]
    pub(crate) all: bool,
    /// List the tables and figures.
    #[arg(long)]
    pub(crate) list: bool,
    /// How much of the experiment to run.
    #[arg(long, value_parser = scales(), default_value = Scale::default().name())]
    pub(crate) scale: Scale,
    /// Folder for records, tables and figures.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    /// Folder for networks that are trained on the way.
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Folder whose NAME.toml replaces the built-in experiment.
    #[arg(long, value_name = "DIR")]
    pub(crate) experiments: Option<PathBuf>,
    /// Folder of sound files for table-audio [default: speech in $GAMBESON_REFERENCE_DATA].
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Run nothing: make the table and figure from existing records.
    #[arg(long)]
    pub(crate) render_only: bool,
    /// Run nothing: say how many runs are missing, and how long networks would take on this machine.
    #[arg(long, conflicts_with = "render_only")]
    pub(crate) dry_run: bool,
    /// Start no further run after this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) time_limit: Option<Duration>,
    /// Print the records, one JSON object per line, instead of the table.
    #[arg(long)]
    pub(crate) json: bool,
}

impl ReproduceArguments {
    /// The tables and figures that are asked for.
    pub(crate) fn names(&self) -> Vec<ObjectName> {
        match self.name {
            Some(name) => vec![name],
            None if self.all => ObjectName::ALL.to_vec(),
            None => Vec::new(), // --list
        }
    }

    /// The page made in the end.
    pub(crate) fn page(&self) -> PathBuf {
        let name = self.name.map_or("all", ObjectName::name);
        self.results.join(format!("{name}.{}.html", self.scale.name()))
    }
}

/// The names of tables and figures.
fn objects() -> impl TypedValueParser<Value = ObjectName> {
    let all = ObjectName::ALL.map(|object| PossibleValue::new(object.name()).help(object.about()));
    PossibleValuesParser::new(all).try_map(|name| ObjectName::from_name(&name).ok_or("unknown"))
}

/// The names of scales.
fn scales() -> impl TypedValueParser<Value = Scale> {
    let all = Scale::ALL.map(|scale| PossibleValue::new(scale.name()).help(scale.about()));
    PossibleValuesParser::new(all).try_map(|name| Scale::from_name(&name).ok_or("unknown"))
}
