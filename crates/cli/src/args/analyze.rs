//! The command line of `gambeson analyze`.

use super::certify::RadiusNormName;
use clap::{Args, ValueEnum};
use gambeson_smooth::record::LimitChoice;
use std::path::PathBuf;

pub(super) const HELP: &str = "\
Logs, recognised by content: our own records (certified again from their counts; what they claim is never believed; \
shards of one run are merged), the tables of Cohen et al., SmoothAdv, Consistency, SmoothMix, CAT-RS, ANCER, ACES, ARS \
and their kin (a header that begins with idx), votes (idx, label, selection_*, estimation_*; need --sigma and --alpha), \
intervals and radii of DSRS, and curves of radius and accuracy. Radii of other programs are taken as written: most of \
them were rounded to nearest.

Certified accuracy is the part of inputs that are classified correctly and certified at least to the radius; the \
average certified radius (acr) counts 0 for all others. Of several logs the best at each radius has a star.

JSON: one object a log with source, images, radii, certified_accuracy, acr, abstained (fractions, in the order of \
radii), and norm, sigma, alpha, high_probability (with --rho), p_a (quantiles of the lower limits on p_A), proven_by (the --projection that proved \
kappa again); null where the log does not tell.

Exit codes: 0 done, 2 error: also where a log has a broken line, which is named, and where a record claims more than \
its counts, or the projection given, prove.";

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // one a flag
pub(crate) struct AnalyzeArguments {
    /// Logs of certification.
    #[arg(required = true, value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
    /// Radii, as 0.25 or 2/255 [default: from 0 to the largest in steps of 0.25, for linf in about eight].
    #[arg(long, value_delimiter = ',', value_parser = radius, allow_hyphen_values = true)]
    pub(crate) radii: Option<Vec<Radius>>,
    /// The norm of radii [default: l2; linf with --kappa or --by-dimension].
    #[arg(long, value_enum)]
    pub(crate) norm: Option<RadiusNormName>,
    /// linf radii by this kappa instead of the log's own: the radius where noise was added, divided by it.
    #[arg(long, value_name = "K", value_parser = positive, conflicts_with = "by_dimension", allow_hyphen_values = true)]
    pub(crate) kappa: Option<f64>,
    /// linf radii by the root of the number of coordinates: 3072 for CIFAR.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) by_dimension: Option<u64>,
    /// Prove kappa again: the projection a log of ours was made with, its certificate P.cert.json beside it. Several may
    /// be given.
    #[arg(long, value_name = "P.safetensors", conflicts_with = "kappa")]
    pub(crate) projection: Vec<PathBuf>,
    /// Certificates of the projections, in their order, where they are elsewhere.
    #[arg(long, value_name = "P.cert.json", requires = "projection")]
    pub(crate) certificate: Vec<PathBuf>,
    /// The levels of noise of its coordinates, if a log was made with such.
    #[arg(long, value_name = "FILE.npy", requires = "projection")]
    pub(crate) noise_levels: Option<PathBuf>,
    /// Certify counts again with this failure probability.
    #[arg(long, value_name = "A", value_parser = probability, allow_hyphen_values = true)]
    pub(crate) alpha: Option<f64>,
    /// The limits on probabilities of classes.
    #[arg(long, value_enum, default_value_t = CertificationName::Natural)]
    pub(crate) method: CertificationName,
    /// The noise level of votes; of other logs, to find p_A from their radii.
    #[arg(long, value_name = "S", value_parser = positive, allow_hyphen_values = true)]
    pub(crate) sigma: Option<f64>,
    /// Also bound certified accuracy from below with probability 1 - RHO over all draws.
    #[arg(long, value_name = "RHO", value_parser = probability, allow_hyphen_values = true)]
    pub(crate) rho: Option<f64>,
    /// For --rho: the failure probability that logs without counts were made with.
    #[arg(long, value_name = "A", value_parser = probability, requires = "rho", allow_hyphen_values = true)]
    pub(crate) log_alpha: Option<f64>,
    /// Count what is certified whatever its class: for logs without labels.
    #[arg(long)]
    pub(crate) any_class: bool,
    /// Also the best of all logs at each radius.
    #[arg(long)]
    pub(crate) envelope: bool,
    /// Digits after the point in tables; rounded to nearest, as tables of accuracy are.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=9))]
    pub(crate) digits: u8,
    /// One JSON object a log on stdout.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the table as Markdown, with the command that made it.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Write the table as LaTeX.
    #[arg(long, value_name = "FILE")]
    pub(crate) latex: Option<PathBuf>,
    /// Write the numbers as CSV, unrounded.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Draw certified accuracy against the radius, and the distribution of p_A where it is known: .svg or .png.
    #[arg(long, value_name = "FILE", value_parser = figure)]
    pub(crate) figure: Option<PathBuf>,
}

/// A radius and how it was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Radius {
    pub(crate) value: f64,
    pub(crate) text: String,
}

impl From<f64> for Radius {
    fn from(value: f64) -> Self {
        Self { value, text: value.to_string() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CertificationName {
    /// What fits the records' sampling rule: Clopper-Pearson for a fixed number of draws.
    Natural,
    /// Valid at any stopping time.
    Mixture,
    /// A lower limit on the class, upper limits on all others, half of alpha each.
    TwoSided,
}

impl From<CertificationName> for LimitChoice {
    fn from(name: CertificationName) -> Self {
        match name {
            CertificationName::Natural => Self::Natural,
            CertificationName::Mixture => Self::Mixture,
            CertificationName::TwoSided => Self::TwoSided,
        }
    }
}

fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number"))
}

fn radius(text: &str) -> Result<Radius, String> {
    let value = match text.split_once('/') {
        Some((above, below)) => number(above)? / number(below)?,
        None => number(text)?,
    };
    if value.is_finite() && value >= 0.0 {
        Ok(Radius { value, text: text.trim().to_owned() })
    } else {
        Err(format!("{text} is not a radius: a number of at least 0"))
    }
}

fn positive(text: &str) -> Result<f64, String> {
    number(text).and_then(|value| {
        if value.is_finite() && value > 0.0 { Ok(value) } else { Err("must be a positive number".to_owned()) }
    })
}

fn probability(text: &str) -> Result<f64, String> {
    number(text).and_then(|value| {
        if value > 0.0 && value < 1.0 { Ok(value) } else { Err("must lie between 0 and 1".to_owned()) }
    })
}

fn figure(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(std::ffi::OsStr::to_str) {
        Some("svg" | "png") => Ok(path),
        _ => Err("a figure is a .svg or a .png".to_owned()),
    }
}
