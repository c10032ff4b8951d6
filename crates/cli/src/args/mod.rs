//! The command line: one file per verb or pair of verbs, and what they share. Depends on no other module of the program.

mod analyze;
mod attack;
mod bundle;
mod certify;
mod data;
mod export;
mod matrix;
mod output;
mod project;
mod quickstart;
mod replay;
mod reproduce;
mod shared;
mod train;

pub(crate) use analyze::AnalyzeArguments;
pub(crate) use attack::AttackArguments;
pub(crate) use bundle::BundleArguments;
pub(crate) use certify::{CertifyArguments, PredictArguments, SmoothArguments};
pub(crate) use data::{
    AudioArguments, DataCommand, FetchArguments, ImportArguments, InfoArguments, SourceName,
};
pub(crate) use export::ExportArguments;
use gambeson_report::text::COLUMNS;
pub(crate) use matrix::{BoundArguments, CheckArguments};
pub(crate) use output::{FigureFiles, REPORT, ReportArguments};
pub(crate) use project::{
    FitArguments, FitDataArguments, InspectArguments, ProjectCommand, SparseArguments, SpectrumArguments,
    SweepArguments,
};
pub(crate) use quickstart::{CONTENDERS, QuickstartArguments};
pub(crate) use replay::ReplayArguments;
pub(crate) use reproduce::ReproduceArguments;
pub(crate) use shared::ReadingArguments;
pub(crate) use train::{TrainArguments, TrainRequest};

use clap::{Args, CommandFactory, Parser, Subcommand};
use std::path::PathBuf;

/// Certified adversarial robustness from low-rank structure.
#[derive(Debug, Parser)]
#[command(name = "gambeson", version, propagate_version = true, max_term_width = COLUMNS, after_help = HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Number of threads [default: all cores]. Results do not depend on it.
    #[arg(long, value_name = "N", global = true, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Most memory to use, such as 12G or 500M [default: 80 % of what is free].
    #[arg(long, value_name = "SIZE", global = true, value_parser = shared::bytes)]
    pub(crate) memory_limit: Option<u64>,
    /// Overwrite files that gambeson did not create. Inputs are never overwritten.
    #[arg(long, global = true)]
    pub(crate) force: bool,
}

const HELP: &str = "\
Start with `gambeson quickstart`. Results go to stdout, everything else to stderr. Exit codes: 0 done and as asked, 1 \
ran but fell short (a certificate rejected, a gap not reached, stopped early), 2 error.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// See the whole idea on built-in data: fit, prove, train, certify, attack, prove again.
    #[command(after_help = quickstart::HELP)]
    Quickstart(QuickstartArguments),
    /// Prove an upper bound on max x'Mx over |x|_inf <= 1, or on an inf->1 or inf->2 norm.
    #[command(after_help = matrix::BOUND_HELP)]
    Bound(BoundArguments),
    /// Check what a certificate proves about a matrix or a projection, draw the records of a run again, or check a bundle.
    #[command(override_usage = matrix::CHECK_USAGE, after_help = matrix::CHECK_HELP)]
    Check(CheckArguments),
    /// Describe data sets, fetch them, or import your own.
    #[command(subcommand, after_help = data::HELP)]
    Data(DataCommand),
    /// Fit projections with a proven kappa, inspect them, compare methods.
    #[command(subcommand, after_help = project::HELP)]
    Project(ProjectCommand),
    /// Train a network: Algorithm 1 of the paper, its baselines, or without any adversary.
    #[command(after_help = train::HELP)]
    Train(TrainArguments),
    /// Certify a smoothed classifier: a class for each input, and the radii within which it cannot change.
    #[command(after_help = certify::CERTIFY_HELP)]
    Certify(Box<CertifyArguments>),
    /// Predict the class of each input with a smoothed classifier, or abstain.
    #[command(after_help = certify::PREDICT_HELP)]
    Predict(Box<PredictArguments>),
    /// Bundle a run for others to check: records, proofs, network, data, and a page in plain words.
    #[command(after_help = bundle::HELP)]
    Bundle(Box<BundleArguments>),
    /// Attack a network or a smoothed classifier: adversarial examples, and certified inputs at their radii.
    #[command(after_help = attack::HELP)]
    Attack(Box<AttackArguments>),
    /// Compute certified accuracy from certification logs, our own or of other programs: tables and figures.
    #[command(after_help = analyze::HELP)]
    Analyze(Box<AnalyzeArguments>),
    /// Show runs on one page: certified accuracy, inputs, training, claims, and how to check them.
    #[command(after_help = output::REPORT_HELP)]
    Report(Box<ReportArguments>),
    /// Convert a network: from a state dict, ONNX or gambeson's own format to ONNX or gambeson's own.
    #[command(after_help = export::HELP)]
    Export(ExportArguments),
    /// Reproduce an experiment of the paper: run it, keep the records, make its table or figure.
    #[command(after_help = reproduce::HELP)]
    Reproduce(ReproduceArguments),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print a manual page, or write all of them to a folder.
    #[command(after_help = MAN_HELP)]
    Man(ManArguments),
}

const MAN_HELP: &str = "\
Examples:
  gambeson man project fit | man -l -
  gambeson man --out ~/.local/share/man/man1";

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// The verb, such as `bound` or `project fit` [default: the page of the program].
    #[arg(value_name = "VERB", conflicts_with = "out")]
    pub(crate) verb: Vec<String>,
    /// Write all pages to this folder: gambeson.1, gambeson-bound.1, and so on.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

impl ManArguments {
    /// The program and all its verbs: a page for each.
    pub(crate) fn program() -> clap::Command {
        let mut program = Arguments::command().disable_help_subcommand(true);
        program.build();
        program
    }

    /// A command and all below it.
    pub(crate) fn pages(command: &clap::Command) -> Vec<&clap::Command> {
        let below = command.get_subcommands().flat_map(Self::pages);
        std::iter::once(command).chain(below).collect()
    }

    /// `gambeson-project-fit`.
    pub(crate) fn page_name(command: &clap::Command) -> &str {
        command.get_display_name().unwrap_or(command.get_name())
    }

    /// All files that are written into the folder, if one is given.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let Some(folder) = &self.out else { return Vec::new() };
        let program = Self::program();
        let file = |command: &clap::Command| folder.join(format!("{}.1", Self::page_name(command)));
        Self::pages(&program).into_iter().map(file).collect()
    }
}
