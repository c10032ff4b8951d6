//! The command line of `gambeson analyze`.

use super::certify::RadiusNormName;
use super::output::FigureArguments;
use super::shared::OUTPUT;
use super::shared::choices;
use clap::Args;
use gambeson::analyze::Radius;
use gambeson::{AnalyzeParams, LimitChoice};
use gambeson_checker::FailureProbability;
use std::path::PathBuf;

pub(super) const HELP: &str = "\
Logs are recognised by content: our own records (certified again from their counts, never trusted; shards of one run \
are merged); the tables of Cohen et al., SmoothAdv, Consistency, SmoothMix, CAT-RS, ANCER, ACES, ARS and similar (the \
header begins with idx); votes (idx, label, selection_*, estimation_*; these need --sigma and --alpha); intervals and \
radii of DSRS; and curves of radius and accuracy. Radii of other programs are taken as written; most were rounded to \
nearest.

Certified accuracy is the fraction of inputs classified correctly with a certified radius of at least r. The average \
certified radius (ACR) counts 0 for all other inputs. With several logs of the same inputs, stars mark the highest accuracy at \
each radius; logs of other data, or of other images, are compared only with --mixed.

JSON: one object per log with source, images, radii, certified_accuracy, acr, abstained (fractions, in the order of \
radii), norm, sigma, alpha, high_probability (with --rho), p_a and p_a_correct (quantiles of the lower limits on p_A, over \
all inputs and over correct predictions), projection (hash; null without one), kappa with kappa_from (no-projection, \
recorded: not proven here, proven: again, from --projection, or given: by --kappa) and proven_by (the --projection that \
proved it), dimension with dimension_from where linf radii are those in l2 divided by its root (data: as the data set has \
that the log names, recorded: not compared with it, as it is not in the data directory, or given: by --by-dimension), \
noise_exact, and per_class if asked for; null if the log does not say. --paired adds one object.

The distribution of p_A over correct predictions says what the average radius hides: ACR rewards large radii of easy inputs.

Exit codes: 0 done; 2 error, also if a log has a broken line, or if a record claims more than its counts or the given \
projection prove.";

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // flags
pub(crate) struct AnalyzeArguments {
    /// Certification logs: files, folders (all files below), or patterns with * and ?.
    #[arg(required = true, value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) radii: RadiiArguments,
    #[command(flatten)]
    pub(crate) proof: ProofArguments,
    /// Leave out logs that cannot be read or do not answer, saying which, instead of stopping.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) skip_bad: bool,
    /// Order logs by noise level (as recorded, or as sigma_S or noise_S in the path) and make one envelope for each.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) by_sigma: bool,
    /// Add a table of certified accuracy by class.
    #[arg(long, conflicts_with = "any_class", help_heading = OUTPUT)]
    pub(crate) per_class: bool,
    /// Compare two logs on the inputs that both have or planned: McNemar's exact test, and a 95 % interval for the difference.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) paired: bool,
    /// Add the envelope: the best of all logs at each radius.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) envelope: bool,
    /// Compare logs of different inputs all the same: mark the best, draw the envelope, pair them.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) mixed: bool,
    /// The name of a log in tables and figures; once per log, in order [default: from the file names].
    #[arg(long, value_name = "TEXT", help_heading = OUTPUT)]
    pub(crate) label: Vec<String>,
    /// Decimal places in tables: rounded to nearest, bounds and intervals outwards.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        value_parser = clap::value_parser!(u8).range(1..=9),
        help_heading = OUTPUT
    )]
    pub(crate) digits: u8,
    /// Print one JSON object per log instead of the table.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// Write the table as Markdown, with the command that made it.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) markdown: Option<PathBuf>,
    /// Write the table as LaTeX.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) latex: Option<PathBuf>,
    /// Write the numbers as CSV, unrounded.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) csv: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) figure: FigureArguments,
}

/// At which radii, of which inputs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Radii")]
pub(crate) struct RadiiArguments {
    /// Radii, such as 0.25 or 2/255 [default: from 0 to the largest in steps of 0.25; for linf, about eight].
    #[arg(long, value_name = "R,...", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) radii: Option<Vec<Radius>>,
    /// The norm of the radii [default: l2; linf with --kappa or --by-dimension].
    #[arg(long, value_enum)]
    pub(crate) norm: Option<RadiusNormName>,
    /// Compute linf radii with this kappa instead of the log's own: the radius in the noisy coordinates divided by K.
    #[arg(long, value_name = "K", value_parser = positive, conflicts_with = "by_dimension", allow_hyphen_values = true)]
    pub(crate) kappa: Option<f64>,
    /// Compute linf radii as the l2 radius divided by the root of N, the number of coordinates (3072 for CIFAR).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) by_dimension: Option<u64>,
    /// Count every certified input, whatever its class: for logs without labels.
    #[arg(long)]
    pub(crate) any_class: bool,
}

/// What is proven, and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Proof")]
pub(crate) struct ProofArguments {
    /// Prove kappa again from the projection one of our logs was made with, and its certificate P.cert.json. May be
    /// repeated.
    #[arg(long, value_name = "P.safetensors", conflicts_with = "kappa")]
    pub(crate) projection: Vec<PathBuf>,
    /// The certificate of each --projection, in order [default: P.cert.json].
    #[arg(long, value_name = "FILE", requires = "projection")]
    pub(crate) certificate: Vec<PathBuf>,
    /// The noise levels a log was made with, if it was made with --noise-levels.
    #[arg(long, value_name = "FILE.npy", requires = "projection")]
    pub(crate) noise_levels: Option<PathBuf>,
    /// Certify counts again with this failure probability.
    #[arg(long, value_name = "A", value_parser = probability, allow_hyphen_values = true)]
    pub(crate) alpha: Option<f64>,
    /// The confidence limits on class probabilities.
    #[arg(long, value_enum, default_value_t = AnalyzeParams::default().limits.into())]
    pub(crate) method: CertificationName,
    /// The noise level: needed for votes; for other logs, gives p_A from the radii.
    #[arg(long, value_name = "S", value_parser = positive, allow_hyphen_values = true)]
    pub(crate) sigma: Option<f64>,
    /// Also print lower bounds on certified accuracy that hold with probability 1 - RHO over all draws.
    #[arg(long, value_name = "RHO", value_parser = probability, allow_hyphen_values = true)]
    pub(crate) rho: Option<f64>,
    /// For --rho: the failure probability with which logs without counts were made.
    #[arg(long, value_name = "A", value_parser = probability, requires = "rho", allow_hyphen_values = true)]
    pub(crate) log_alpha: Option<f64>,
}

choices! { CertificationName for LimitChoice {
    /// Those of the run; one-sided for votes
    Natural = LimitChoice::Natural,
    /// A lower limit for the class
    OneSided = LimitChoice::OneSided,
    /// One-sided or two-sided, by the selection draws of each input
    Chosen = LimitChoice::Chosen,
    /// Valid at any stopping time
    Mixture = LimitChoice::Mixture,
    /// Lower for the class, upper for all others, half of alpha each
    TwoSided = LimitChoice::TwoSided,
} }

fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number"))
}

fn positive(text: &str) -> Result<f64, String> {
    number(text).and_then(|value| {
        if value.is_finite() && value > 0.0 { Ok(value) } else { Err("must be a positive number".to_owned()) }
    })
}

fn probability(text: &str) -> Result<f64, String> {
    number(text).and_then(|value| {
        let least = FailureProbability::LEAST;
        FailureProbability::new(value).map(|_| value).map_err(|_| format!("must lie between {least:e} and 1"))
    })
}
