//! Certified accuracy of networks, beside what others published.

use super::certified::{NetworkResults, Published};
use super::figures::curves;
use super::stage::Entry;
use crate::rendered::Rendered;
use crate::report::decimal::percent_down;
use crate::report::spread::NOTHING;
use crate::report::table::Table;

#[derive(Clone, Copy)]
enum Row<'a> {
    Here(&'a Entry),
    Elsewhere(&'a Published),
}

pub(crate) fn networks(results: &NetworkResults) -> Rendered {
    Rendered { table: table(results), figure: Some(curves(results).draw()) }
}

fn table(results: &NetworkResults) -> Table {
    let experiment = results.experiment;
    let mut notes = experiment.notes.clone();
    let challenged = experiment.network.iter().filter_map(|entry| challenged(results, entry));
    notes.extend(challenged);
    notes.extend(results.runs.measured());
    notes.extend(results.runs.incomplete());
    notes.extend(results.runs.fell_short());
    let rows: Vec<Row> = experiment
        .network
        .iter()
        .map(Row::Here)
        .chain(experiment.published.iter().map(Row::Elsewhere))
        .collect();
    let mut table = Table::new(experiment.caption.clone(), notes);
    table.words("network", &rows, |row| match row {
        Row::Here(entry) => entry.label.clone(),
        Row::Elsewhere(published) => published.label.clone(),
    });
    let nothing = || NOTHING.to_owned();
    // Of all processors: the clock would count other work of the machine.
    table.column("", "core-minutes", &rows, |row| match row {
        Row::Here(entry) => {
            let trained = results.output(&entry.label, "train");
            let seconds = trained.and_then(|output| output["processor_seconds"].as_f64());
            seconds.map_or_else(nothing, |seconds| format!("{:.1}", seconds / 60.0))
        }
        Row::Elsewhere(_) => nothing(),
    });
    let percent = percent_down;
    for (at, &radius) in experiment.l2.iter().enumerate() {
        table.column("certified at l2 (%)", &radius.to_string(), &rows, |row| match row {
            Row::Here(entry) => results.accuracy(&entry.label, "l2", radius).map_or_else(nothing, percent),
            Row::Elsewhere(published) if published.l2[at] >= 0.0 => percent(published.l2[at]),
            Row::Elsewhere(_) => nothing(),
        });
    }
    table.column("", "ACR", &rows, |row| {
        let acr = match row {
            Row::Here(entry) => {
                results.output(&entry.label, "analyze l2").and_then(|output| output["acr"].as_f64())
            }
            Row::Elsewhere(published) => published.acr,
        };
        acr.map_or_else(nothing, |acr| format!("{:.3}", (1000.0 * acr + 1e-9).floor() / 1000.0))
    });
    for &radius in &experiment.linf {
        table.column("at l_inf of cosines (%)", &radius.to_string(), &rows, |row| match row {
            Row::Here(entry) => results.accuracy(&entry.label, "linf", radius).map_or_else(nothing, percent),
            Row::Elsewhere(_) => nothing(),
        });
    }
    table
}

/// What became of certified inputs that were attacked.
fn challenged(results: &NetworkResults, entry: &Entry) -> Option<String> {
    let count = |norm: &str| {
        let output = results.output(&entry.label, &format!("challenge {norm}"))?;
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
