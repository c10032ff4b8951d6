//! Certified accuracy of networks, beside what others published.

use super::certified::{NetworkResults, Published};
use super::comparison::{claims, differences};
use super::figures::curves;
use super::stage::Entry;
use crate::rendered::Rendered;
use crate::report::decimal::{percent_down, up};
use crate::report::spread::NOTHING;
use crate::report::table::Table;
use gambeson_learn::attack::BallNorm;

/// Significant digits of κ.
const KAPPA_DIGITS: usize = 4;

#[derive(Clone, Copy)]
enum Row<'a> {
    Here(&'a Entry),
    Elsewhere(&'a Published),
}

impl<'a> Row<'a> {
    /// A cell about a network of ours.
    fn ours(self, cell: impl FnOnce(&'a Entry) -> Option<String>) -> String {
        match self {
            Self::Here(entry) => cell(entry).unwrap_or_else(|| NOTHING.to_owned()),
            Self::Elsewhere(_) => NOTHING.to_owned(),
        }
    }
}

pub(crate) fn networks(results: &NetworkResults) -> Rendered {
    let compared = [BallNorm::L2, BallNorm::Linf].into_iter().filter_map(|norm| differences(results, norm));
    let tables = [table(results)].into_iter().chain(compared).chain(claims(results)).collect();
    Rendered { tables, figure: Some(curves(results).draw()), gallery: None }
}

fn table(results: &NetworkResults) -> Table {
    let experiment = results.experiment;
    let mut table = Table::new(experiment.caption.clone(), notes(results));
    let here = experiment.shown().map(Row::Here);
    let rows: Vec<Row> = here.chain(experiment.published.iter().map(Row::Elsewhere)).collect();
    if experiment.data().len() > 1 {
        table.words("data", &rows, |row| row.ours(|entry| Some(entry.data())));
    }
    table.words("network", &rows, |row| match row {
        Row::Here(entry) => entry.label.clone(),
        Row::Elsewhere(published) => published.label.clone(),
    });
    if !experiment.panel.is_empty() {
        how_trained(&mut table, &rows, results);
    }
    // Of all processors: the clock would count other work of the machine.
    table.column("", "core-minutes", &rows, |row| {
        row.ours(|entry| {
            let seconds = results.trained(entry)?["processor_seconds"].as_f64()?;
            Some(format!("{:.1}", seconds / 60.0))
        })
    });
    accuracies(&mut table, &rows, results);
    table
}

/// Columns with what a network was trained for.
fn how_trained(table: &mut Table, rows: &[Row<'_>], results: &NetworkResults) {
    table.column("", "ε", rows, |row| {
        row.ours(|entry| Some(entry.spec.objective.inner()?.epsilon.to_string()))
    });
    table.column("", "σ", rows, |row| {
        row.ours(|entry| Some(format!("{:.3}", results.trained(entry)?["sigma"].as_f64()?)))
    });
    table.column("", "epochs", rows, |row| row.ours(|entry| Some(entry.spec.optimiser.epochs.to_string())));
}

/// Columns with certified accuracy and what it follows from.
fn accuracies(table: &mut Table, rows: &[Row<'_>], results: &NetworkResults) {
    let experiment = results.experiment;
    for (at, radius) in experiment.l2.iter().enumerate() {
        table.column("certified at l2 (%)", &radius.to_string(), rows, |row| match row {
            Row::Elsewhere(published) if published.l2[at] >= 0.0 => percent_down(published.l2[at]),
            _ => row.ours(|entry| results.accuracy(entry, BallNorm::L2, *radius).map(percent_down)),
        });
    }
    if !experiment.l2.is_empty() {
        let down = |acr: f64| format!("{:.3}", (1000.0 * acr + 1e-9).floor() / 1000.0);
        table.column("", "ACR", rows, |row| match row {
            Row::Elsewhere(published) => published.acr.map_or_else(|| NOTHING.to_owned(), down),
            Row::Here(_) => {
                row.ours(|entry| results.analysed(entry, BallNorm::L2)?["acr"].as_f64().map(down))
            }
        });
    }
    if !experiment.linf.is_empty() && !experiment.panel.is_empty() {
        table.column("", "l2/l_inf", rows, |row| row.ours(|entry| factor(results, entry)));
    }
    for &radius in &experiment.linf {
        table.column("at l_inf of cosines (%)", &radius.to_string(), rows, |row| {
            row.ours(|entry| results.accuracy(entry, BallNorm::Linf, radius).map(percent_down))
        });
    }
}

/// What an ℓ2 radius is divided by: κ, or without a projection the root of the dimension.
fn factor(results: &NetworkResults, entry: &Entry) -> Option<String> {
    let kappa = results.analysed(entry, BallNorm::Linf)?["kappa"].as_f64();
    let root = || Some(format!("√{}", results.trained(entry)?["rank"].as_u64()?));
    kappa.map_or_else(root, |kappa| Some(up(kappa, KAPPA_DIGITS)))
}

fn notes(results: &NetworkResults) -> Vec<String> {
    let experiment = results.experiment;
    let mut notes = Vec::new();
    if !experiment.panel.is_empty() {
        notes.push(setting(results));
    }
    notes.extend(experiment.notes.iter().cloned());
    notes.extend(experiment.shown().filter_map(|entry| challenged(results, entry)));
    notes.extend(results.runs.measured());
    notes.extend(results.runs.incomplete());
    notes.extend(results.runs.fell_short());
    notes
}

/// Data, networks and how they were certified.
fn setting(results: &NetworkResults) -> String {
    let experiment = results.experiment;
    let inputs = |entry| results.output(Entry::name(entry), "certify")?["inputs"].as_u64();
    let images = experiment.shown().find_map(inputs);
    let images = images.map_or(String::new(), |images| format!(" ({images} images)"));
    let mut networks: Vec<String> = Vec::new();
    for entry in experiment.shown() {
        let what = entry.architecture();
        if !networks.contains(&what) {
            networks.push(what);
        }
    }
    let sampling = experiment.certify;
    format!(
        "Data: {}; networks: {}; certified: every {}th test image{images}, n = {}, α = {}.",
        experiment.data().join(" and "),
        networks.join(", "),
        sampling.every,
        sampling.n,
        sampling.alpha
    )
}

/// What became of certified inputs that were attacked.
fn challenged(results: &NetworkResults, entry: &Entry) -> Option<String> {
    let count = |norm: &str| {
        let output = results.output(entry.name(), &format!("challenge {norm}"))?;
        Some((output["inputs"].as_u64()?, output["broken"].as_u64()?, output["abstained"].as_u64()?))
    };
    let ((first, broken, abstained), (second, broken_linf, abstained_linf)) = (count("l2")?, count("linf")?);
    Some(format!(
        "{}: PGD at the certified radius changed the answer of PREDICT (α = 10⁻⁶) for {} of {} certified inputs ({} in ℓ2, \
         {} in ℓ∞); it abstained on {}.",
        entry.label,
        broken + broken_linf,
        first + second,
        first,
        second,
        abstained + abstained_linf
    ))
}
