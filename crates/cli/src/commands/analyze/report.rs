//! Tables, CSV and JSON.

use super::analysis::{AnalysedLog, Analysis, in_cosines};
use super::more::{self, ClassObject};
use crate::args::{AnalyzeArguments, CertificationName};
use crate::json;
use crate::report::decimal::down;
use crate::report::mark::SCORES;
use crate::report::table::Table;
use crate::screen::shown;
use gambeson_smooth::analysis::{Dialect, RadiusNorm};
use serde::Serialize;
use std::io::Write;

/// Unknown.
const NOTHING: &str = "–";
/// Shares of inputs at which the distribution of p_A is shown.
const SHARES: [f64; 7] = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0];
/// Significant digits of lower limits.
const LIMIT_DIGITS: usize = 6;

/// A row of the main table.
#[derive(Clone, Copy)]
enum Row<'a> {
    AnalysedLog(&'a AnalysedLog),
    /// Its bound by the binomial distribution.
    Exact(&'a AnalysedLog),
    /// Its bound by Bernstein's inequality.
    Bernstein(&'a AnalysedLog),
    Envelope,
}

/// The accuracies, and the distributions of p_A if known.
pub(super) fn tables(analysis: &Analysis, arguments: &AnalyzeArguments) -> Vec<Table> {
    let mut tables = vec![accuracies(analysis, arguments)];
    tables.extend(limits(analysis));
    tables.extend(more::right_limits(analysis, &SHARES, LIMIT_DIGITS));
    tables.extend(more::tables(analysis, arguments));
    tables
}

fn accuracies(analysis: &Analysis, arguments: &AnalyzeArguments) -> Table {
    let digits = usize::from(arguments.digits);
    let what = if analysis.any_class { "Fraction of inputs certified" } else { "Certified accuracy" };
    let caption = format!("{what} at {} radii r.", analysis.norm.name());
    let mut notes = Vec::new();
    let several = analysis.logs.len() > 1;
    let several = several && analysis.incomparable.is_none();
    if several {
        notes.push("*: the best log at that radius.".to_owned());
    } else if let Some(differ) = &analysis.incomparable {
        notes.push(format!("Not compared: {differ}; --mixed compares them all the same."));
    }
    if let Some(kappa) = analysis.given_kappa {
        notes.push(format!(
            "ℓ∞ radii are those of z divided by κ = {kappa} as given, which nothing here proves."
        ));
    }
    if let Some(bound) = analysis.logs.iter().find_map(|log| log.high_probability.as_ref()) {
        notes.push(format!(
            "exact, Bernstein: lower bounds with probability 1 − {} over all draws, for all radii at once; exact from \
             the binomial distribution of false certificates, Bernstein as in Cohen et al.",
            bound.rho
        ));
    }
    notes.extend(analysis.logs.iter().filter_map(|log| certified(log, arguments)));
    let mut rows = Vec::new();
    for log in &analysis.logs {
        rows.push(Row::AnalysedLog(log));
        if log.high_probability.is_some() {
            rows.extend([Row::Exact(log), Row::Bernstein(log)]);
        }
    }
    if arguments.envelope {
        rows.push(Row::Envelope);
    }
    let mut table = Table::new(caption, notes);
    table.words("log", &rows, |row| match row {
        Row::AnalysedLog(log) => log.label.clone(),
        Row::Exact(_) => "  exact".to_owned(),
        Row::Bernstein(_) => "  Bernstein".to_owned(),
        Row::Envelope => "envelope".to_owned(),
    });
    table.column("", "images", &rows, |row| match row {
        Row::AnalysedLog(log) => log.scores.images().map_or(NOTHING.to_owned(), |images| images.to_string()),
        _ => String::new(),
    });
    for (at, radius) in analysis.radii.iter().enumerate() {
        table.column("", &format!("r = {}", radius.text), &rows, |row| match row {
            Row::AnalysedLog(log) => {
                let best = several && std::ptr::eq(log, &raw const analysis.logs[analysis.best[at].0]);
                format!("{:.digits$}{}", log.accuracy[at], if best { "*" } else { "" })
            }
            Row::Exact(log) => bound(log.high_probability.as_ref().map(|bound| bound.exact[at]), digits),
            Row::Bernstein(log) => {
                bound(log.high_probability.as_ref().map(|bound| bound.bernstein[at]), digits)
            }
            Row::Envelope => format!("{:.digits$}", analysis.best[at].1),
        });
    }
    table.column("", "ACR", &rows, |row| match row {
        Row::AnalysedLog(log) => number(log.scores.average_radius(), acr_digits(analysis.norm, digits)),
        _ => String::new(),
    });
    table.column("", "abstained", &rows, |row| match row {
        Row::AnalysedLog(log) => number(log.scores.abstained(), digits),
        _ => String::new(),
    });
    table
}

/// How a log with counts was certified here.
fn certified(log: &AnalysedLog, arguments: &AnalyzeArguments) -> Option<String> {
    let source = &log.source;
    let counts = matches!(source.dialect, Dialect::Records | Dialect::Votes);
    let (sigma, alpha) = (source.sigma.filter(|_| counts)?, source.alpha?);
    let limits = match arguments.proof.method {
        CertificationName::Natural => "natural",
        CertificationName::Mixture => "mixture",
        CertificationName::TwoSided => "two-sided",
    };
    let given = if source.dialect == Dialect::Votes { " as given" } else { "" };
    let run = source.run.as_deref();
    let kappa = run.and_then(|run| run.kappa).filter(|_| arguments.radii.kappa.is_none()).map_or_else(
        String::new,
        |kappa| match &log.proven_by {
            Some(projection) => format!(" κ = {kappa}, proven again, as is σ_max, from {projection}."),
            None => {
                format!(" κ = {kappa} and σ_max as recorded: --projection proves them again.")
            }
        },
    );
    let cosines = if in_cosines(source) { " ℓ∞ is of cosine coefficients." } else { "" };
    let goal = run.and_then(|run| run.goal.as_ref()).map_or_else(String::new, |goal| {
        let targets: Vec<String> = goal.targets.iter().map(ToString::to_string).collect();
        let tolerance = goal.tolerance.map_or_else(String::new, |tolerance| format!(" within {tolerance}"));
        let norm = goal.norm.name();
        format!(
            " Drawing stopped when the {norm} radii {}{tolerance} were settled; other radii are lower bounds of what all \
             draws would give.",
            targets.join(", ")
        )
    });
    Some(format!(
        "{}: certified from its counts, σ = {sigma}{given}, α = {alpha}, {limits} limits.{kappa}{cosines}{goal}",
        log.label
    ))
}

/// Radii in ℓ∞ are small.
fn acr_digits(norm: RadiusNorm, digits: usize) -> usize {
    match norm {
        RadiusNorm::L2 => digits,
        RadiusNorm::Linf => digits + 2,
    }
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or(NOTHING.to_owned(), |value| format!("{value:.digits$}"))
}

/// A lower bound, never rounded up.
fn bound(value: Option<f64>, digits: usize) -> String {
    value.map_or(NOTHING.to_owned(), |value| {
        let nearest = format!("{value:.digits$}");
        let unit = 10_f64.powi(-i32::try_from(digits).unwrap_or(i32::MAX));
        match nearest.parse::<f64>() {
            Ok(above) if above > value => format!("{:.digits$}", (above - unit).max(0.0)),
            _ => nearest,
        }
    })
}

fn limits(analysis: &Analysis) -> Option<Table> {
    let rows: Vec<&AnalysedLog> =
        analysis.logs.iter().filter(|log| !log.scores.limits().is_empty()).collect();
    if rows.is_empty() {
        return None;
    }
    let caption = "Lower limits on p_A, the probability of the class under noise: quantiles over all inputs.";
    let mut table = Table::new(caption.to_owned(), Vec::new());
    table.words("log", &rows, |log| log.label.clone());
    for share in SHARES {
        let heading = match share {
            0.0 => "least".to_owned(),
            1.0 => "largest".to_owned(),
            _ => format!("{} %", share * 100.0),
        };
        table.column("", &heading, &rows, |log| {
            log.scores.limit_quantile(share).map_or(NOTHING.to_owned(), |limit| down(limit, LIMIT_DIGITS))
        });
    }
    Some(table)
}

/// Whether there is a κ, and who says so.
fn kappa_from(analysis: &Analysis, log: &AnalysedLog) -> &'static str {
    let projected = log.source.run.as_ref().map(|run| run.kappa.is_some());
    match (analysis.given_kappa, projected, &log.proven_by) {
        (Some(_), ..) => "given",
        (None, Some(true), Some(_)) => "proven",
        (None, Some(true), None) => "recorded",
        (None, Some(false), _) => "no-projection",
        (None, None, _) => "unknown",
    }
}

#[derive(Serialize)]
struct LogObject<'a> {
    source: String,
    images: Option<usize>,
    norm: &'static str,
    radii: Vec<f64>,
    certified_accuracy: &'a [f64],
    acr: Option<f64>,
    abstained: Option<f64>,
    sigma: Option<f64>,
    alpha: Option<f64>,
    high_probability: Option<BoundObject<'a>>,
    p_a: Option<LimitsObject>,
    /// Hash of the projection the log was made with; null without one.
    projection: Option<&'a str>,
    /// κ that ℓ∞ radii rest on; null without one.
    kappa: Option<f64>,
    /// Where it comes from.
    kappa_from: &'static str,
    /// Why this log is not compared with the others.
    not_compared: Option<&'a str>,
    /// Over correct predictions.
    p_a_correct: Option<LimitsObject>,
    per_class: Option<Vec<ClassObject<'a>>>,
    proven_by: Option<&'a str>,
    /// True for our records, whose noise has exactly the law that certificates are about; null for other logs, which do not
    /// say.
    noise_exact: Option<bool>,
}

#[derive(Serialize)]
struct BoundObject<'a> {
    rho: f64,
    alpha: f64,
    false_certificates: u64,
    exact: &'a [f64],
    bernstein: &'a [f64],
}

#[derive(Serialize)]
struct LimitsObject {
    shares: [f64; SHARES.len()],
    lower_limits: Vec<f64>,
}

#[derive(Serialize)]
struct EnvelopeObject {
    source: &'static str,
    images: Option<usize>,
    norm: &'static str,
    radii: Vec<f64>,
    certified_accuracy: Vec<f64>,
    acr: Option<f64>,
    abstained: Option<f64>,
    /// The best log at each radius.
    best: Vec<String>,
}

pub(super) fn json(analysis: &Analysis, envelope: bool, stdout: &mut impl Write) -> anyhow::Result<()> {
    let radii: Vec<f64> = analysis.radii.iter().map(|radius| radius.value).collect();
    let norm = analysis.norm.name();
    for log in &analysis.logs {
        let quantiles: Option<Vec<f64>> =
            SHARES.iter().map(|&share| log.scores.limit_quantile(share)).collect();
        let right: Option<Vec<f64>> =
            SHARES.iter().map(|&share| log.scores.right_limit_quantile(share)).collect();
        let object = LogObject {
            source: log.source.name(),
            images: log.scores.images(),
            norm,
            radii: radii.clone(),
            certified_accuracy: &log.accuracy,
            acr: log.scores.average_radius(),
            abstained: log.scores.abstained(),
            sigma: log.source.sigma,
            alpha: log.source.alpha,
            high_probability: log.high_probability.as_ref().map(|bound| BoundObject {
                rho: bound.rho,
                alpha: bound.alpha,
                false_certificates: bound.false_certificates,
                exact: &bound.exact,
                bernstein: &bound.bernstein,
            }),
            p_a: quantiles.map(|lower_limits| LimitsObject { shares: SHARES, lower_limits }),
            projection: log.source.run.as_ref().and_then(|run| run.common.projection.as_deref()),
            kappa: analysis.given_kappa.or(log.source.run.as_ref().and_then(|run| run.kappa)),
            kappa_from: kappa_from(analysis, log),
            not_compared: analysis.incomparable.as_deref(),
            p_a_correct: right.map(|lower_limits| LimitsObject { shares: SHARES, lower_limits }),
            per_class: (!log.classes.is_empty()).then(|| log.classes.iter().map(ClassObject::from).collect()),
            proven_by: log.proven_by.as_deref(),
            noise_exact: log.source.run.is_some().then_some(true),
        };
        writeln!(stdout, "{}", json::line(&object)?)?;
    }
    if envelope {
        let object = EnvelopeObject {
            source: "envelope",
            images: None,
            norm,
            radii,
            certified_accuracy: analysis.best.iter().map(|&(_, accuracy)| accuracy).collect(),
            acr: None,
            abstained: None,
            best: analysis.best.iter().map(|&(at, _)| analysis.logs[at].source.name()).collect(),
        };
        writeln!(stdout, "{}", json::line(&object)?)?;
    }
    if let Some(object) = more::paired_object(analysis) {
        writeln!(stdout, "{}", json::line(&object)?)?;
    }
    Ok(())
}

/// A header and one line per log; shortest decimals that read back to the same numbers.
pub(super) fn csv(analysis: &Analysis, envelope: bool) -> String {
    let radii: Vec<String> = analysis.radii.iter().map(|radius| radius.value.to_string()).collect();
    let mut lines = vec![format!("{SCORES}{}", radii.join(","))];
    let some = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let list = |values: &mut dyn Iterator<Item = f64>| -> String {
        values.map(|value| value.to_string()).collect::<Vec<_>>().join(",")
    };
    for log in &analysis.logs {
        lines.push(format!(
            "{},{},{},{},{}",
            quoted(&log.source.name()),
            log.scores.images().map_or(String::new(), |images| images.to_string()),
            some(log.scores.average_radius()),
            some(log.scores.abstained()),
            list(&mut log.accuracy.iter().copied())
        ));
    }
    if envelope {
        lines.push(format!("envelope,,,,{}", list(&mut analysis.best.iter().map(|&(_, accuracy)| accuracy))));
    }
    lines.join("\n") + "\n"
}

/// A field of a CSV file. One that a spreadsheet would compute is made a text.
fn quoted(text: &str) -> String {
    let formula = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    let text = format!("{formula}{}", shown(text));
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_bounds_are_never_rounded_up() {
        assert_eq!(bound(Some(0.5976), 3), "0.597");
        assert_eq!(bound(Some(0.5), 3), "0.500");
        assert_eq!(bound(Some(0.000_9), 3), "0.000");
        assert_eq!(bound(None, 3), NOTHING);
    }

    #[test]
    fn fields_of_a_csv_file_are_quoted_where_they_must() {
        assert_eq!(quoted("a.tsv"), "a.tsv");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("=1+2,a\nb"), "\"'=1+2,a\\u{a}b\"");
    }
}
