//! The command line of `gambeson reproduce`.

use super::shared::seconds;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

pub(super) const HELP: &str = "\
Every run is a process of its own, and its record is appended to DIR/NAME.SCALE.jsonl as soon as it ends: a command that \
was stopped continues where it was. The .md, .tex, .svg and .png files beside it are made from the records alone.

table-norms and fig-pca-error need cifar10 and cifar100 (`gambeson data fetch`), everything with networks or pictures cifar10, table-audio a folder of speech. Networks are trained into --runs, where a stopped training goes on.

Exit codes: 0 all runs are done and reached what was asked; 1 runs are missing or fell short of their gap; 2 error, also \
if a run failed (after all others were tried).";

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // flags
pub(crate) struct ReproduceArguments {
    /// The table or figure.
    #[arg(required_unless_present = "list", value_enum, hide_possible_values = true)]
    pub(crate) name: Option<ObjectName>,
    /// List the tables and figures.
    #[arg(long)]
    pub(crate) list: bool,
    /// How much of the experiment to run.
    #[arg(long, value_enum, default_value_t = ScaleName::Desk)]
    pub(crate) scale: ScaleName,
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
    /// Start no further run after this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) time_limit: Option<Duration>,
    /// Print the records, one JSON object per line, instead of the table.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A table or figure of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObjectName {
    /// Figure 8: Algorithm 2 on positive semidefinite matrices
    FigMwuPsd,
    /// Figure 9: Algorithm 2 on matrices with a non-negative diagonal
    FigMwuQp,
    /// Table 2: run time, positive semidefinite, n = 500 to 4500
    TableRuntime,
    /// Table 3: time and memory on large matrices, n = 5000 to 20000
    TableLargeN,
    /// Table 1: proven kappa of projections of CIFAR-10 and CIFAR-100
    TableNorms,
    /// Figure 5: error of principal components of both CIFARs
    FigPcaError,
    /// Table 4: proven kappa of projections of speech, six trials
    TableAudio,
    /// Figure 3: sparse random changes of cosine coefficients
    FigDctPerturbations,
    /// Figure 7: adversarial examples of a network trained by PGD
    FigAdvExamples,
    /// Ours: Algorithm 1 and its baselines on CIFAR-10, small networks
    TableNetworks,
}

impl ObjectName {
    /// As on the command line, in files and in records.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::FigMwuPsd => "fig-mwu-psd",
            Self::FigMwuQp => "fig-mwu-qp",
            Self::TableRuntime => "table-runtime",
            Self::TableLargeN => "table-large-n",
            Self::TableNorms => "table-norms",
            Self::FigPcaError => "fig-pca-error",
            Self::TableAudio => "table-audio",
            Self::FigDctPerturbations => "fig-dct-perturbations",
            Self::FigAdvExamples => "fig-adv-examples",
            Self::TableNetworks => "table-networks",
        }
    }
}

/// How much of an experiment to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScaleName {
    /// Minutes to an hour on a desk
    Desk,
    /// As in the paper
    Paper,
}

impl ScaleName {
    /// As on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Desk => "desk",
            Self::Paper => "paper",
        }
    }
}
