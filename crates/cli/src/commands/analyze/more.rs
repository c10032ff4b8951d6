//! Further tables, each only if asked for: the envelope with clean accuracy, accuracy by class, two logs compared.

use super::analysis::{AnalysedLog, Analysis, ByClass};
use crate::args::AnalyzeArguments;
use crate::report::decimal::down;
use crate::report::table::Table;
use gambeson_smooth::analysis::{Paired, best_at};
use serde::Serialize;

/// What `--json` prints for `--per-class`.
#[derive(Serialize)]
pub(super) struct ClassObject<'a> {
    label: u32,
    images: usize,
    certified_accuracy: &'a [f64],
}

impl<'a> From<&'a ByClass> for ClassObject<'a> {
    fn from(class: &'a ByClass) -> Self {
        Self { label: class.label, images: class.images, certified_accuracy: &class.accuracy }
    }
}

/// What `--json` prints for `--paired`.
#[derive(Serialize)]
pub(super) struct PairedObject {
    source: &'static str,
    first: String,
    second: String,
    inputs: u64,
    radii: Vec<f64>,
    both: Vec<u64>,
    only_first: Vec<u64>,
    only_second: Vec<u64>,
    p_value: Vec<f64>,
    difference: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
}

pub(super) fn paired_object(analysis: &Analysis) -> Option<PairedObject> {
    let found = analysis.paired.as_ref()?;
    let (first, second) = (analysis.logs.first()?, analysis.logs.get(1)?);
    let all = |of: fn(&Paired) -> f64| found.iter().map(of).collect::<Vec<f64>>();
    let counts = |of: fn(&Paired) -> u64| found.iter().map(of).collect::<Vec<u64>>();
    Some(PairedObject {
        source: "paired",
        first: first.source.name(),
        second: second.source.name(),
        inputs: found.first().map_or(0, |paired| paired.inputs),
        radii: all(|paired| paired.radius),
        both: counts(|paired| paired.both),
        only_first: counts(|paired| paired.first),
        only_second: counts(|paired| paired.second),
        p_value: all(|paired| paired.p_value),
        difference: all(|paired| paired.difference),
        low: all(|paired| paired.interval.0),
        high: all(|paired| paired.interval.1),
    })
}

pub(super) fn tables(analysis: &Analysis, arguments: &AnalyzeArguments) -> Vec<Table> {
    let mut tables = Vec::new();
    if arguments.envelope {
        tables.push(envelope(analysis, arguments));
    }
    if arguments.per_class {
        tables.extend(analysis.logs.iter().map(|log| by_class(log, analysis, arguments)));
    }
    tables.extend(analysis.paired.as_ref().map(|found| paired(found, analysis, arguments)));
    tables
}

/// The best at each radius, and what it answers correctly at radius 0: a large radius may cost the small ones.
fn envelope(analysis: &Analysis, arguments: &AnalyzeArguments) -> Table {
    let digits = usize::from(arguments.digits);
    // Noise levels in the order of the logs, or all together.
    let mut groups: Vec<(Option<f64>, Vec<&AnalysedLog>)> = Vec::new();
    for log in &analysis.logs {
        let sigma = log.sigma.filter(|_| arguments.by_sigma);
        match groups.iter_mut().find(|(other, _)| *other == sigma) {
            Some((_, logs)) => logs.push(log),
            None => groups.push((sigma, vec![log])),
        }
    }
    let mut rows = Vec::new();
    for (sigma, logs) in &groups {
        let accuracies: Vec<Vec<f64>> = logs.iter().map(|log| log.accuracy.clone()).collect();
        for (at, (best, accuracy)) in best_at(&accuracies).into_iter().enumerate() {
            rows.push((*sigma, at, logs[best], accuracy));
        }
    }
    let caption = "Envelope: the best log at each radius, and its certified accuracy at radius 0.";
    let mut table = Table::new(caption.to_owned(), Vec::new());
    if arguments.by_sigma {
        table
            .column("", "σ", &rows, |(sigma, ..)| sigma.map_or("–".to_owned(), |sigma| sigma.to_string()));
    }
    table.column("", "r", &rows, |(_, at, ..)| analysis.radii[at].text.clone());
    table.column("", "best", &rows, |(_, _, _, accuracy)| format!("{accuracy:.digits$}"));
    table.column("", "at r = 0", &rows, |(_, _, log, _)| {
        log.clean.map_or("–".to_owned(), |clean| format!("{clean:.digits$}"))
    });
    table.words("log", &rows, |(_, _, log, _)| log.label.clone());
    table
}

fn by_class(log: &AnalysedLog, analysis: &Analysis, arguments: &AnalyzeArguments) -> Table {
    let digits = usize::from(arguments.digits);
    let rows: Vec<&ByClass> = log.classes.iter().collect();
    let caption = format!("{}: certified accuracy by class at {} radii r.", log.label, analysis.norm.name());
    let mut table = Table::new(caption, Vec::new());
    table.column("", "class", &rows, |class| class.label.to_string());
    table.column("", "images", &rows, |class| class.images.to_string());
    for (at, radius) in analysis.radii.iter().enumerate() {
        table.column("", &format!("r = {}", radius.text), &rows, |class| {
            format!("{:.digits$}", class.accuracy[at])
        });
    }
    table
}

fn paired(found: &[Paired], analysis: &Analysis, arguments: &AnalyzeArguments) -> Table {
    let digits = usize::from(arguments.digits);
    let names: Vec<&str> = analysis.logs.iter().map(|log| log.label.as_str()).collect();
    let caption = format!(
        "{} against {} on {} inputs: certified by both and by one only, McNemar's exact test, and the difference of \
         accuracies with a 95 % interval.",
        names.first().unwrap_or(&""),
        names.get(1).unwrap_or(&""),
        found.first().map_or(0, |paired| paired.inputs)
    );
    let rows: Vec<(usize, &Paired)> = found.iter().enumerate().collect();
    let mut table = Table::new(caption, Vec::new());
    table.column("", "r", &rows, |(at, _)| analysis.radii[at].text.clone());
    table.column("", "both", &rows, |(_, paired)| paired.both.to_string());
    table.column("", "first only", &rows, |(_, paired)| paired.first.to_string());
    table.column("", "second only", &rows, |(_, paired)| paired.second.to_string());
    table.column("", "p", &rows, |(_, paired)| {
        if paired.p_value < 0.001 {
            format!("{:.1e}", paired.p_value)
        } else {
            format!("{:.3}", paired.p_value)
        }
    });
    table.column("", "difference", &rows, |(_, paired)| format!("{:+.digits$}", paired.difference));
    table.column("", "from", &rows, |(_, paired)| format!("{:+.digits$}", paired.interval.0));
    table.column("", "to", &rows, |(_, paired)| format!("{:+.digits$}", paired.interval.1));
    table
}

/// Quantiles of p_A over correct predictions.
pub(super) fn right_limits(analysis: &Analysis, shares: &[f64], digits: usize) -> Option<Table> {
    let rows: Vec<&AnalysedLog> =
        analysis.logs.iter().filter(|log| log.scores.right_limit_quantile(0.0).is_some()).collect();
    if rows.is_empty() || analysis.any_class {
        return None;
    }
    let caption = "The same over correct predictions only.";
    let mut table = Table::new(caption.to_owned(), Vec::new());
    table.words("log", &rows, |log| log.label.clone());
    for &share in shares {
        let heading = match share {
            0.0 => "least".to_owned(),
            1.0 => "largest".to_owned(),
            _ => format!("{} %", share * 100.0),
        };
        table.column("", &heading, &rows, |log| {
            log.scores.right_limit_quantile(share).map_or("–".to_owned(), |limit| down(limit, digits))
        });
    }
    Some(table)
}
