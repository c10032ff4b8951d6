//! Curves of certified accuracy, and galleries.

use super::certified::NetworkResults;
use super::pictures::PictureResults;
use super::stage::Entry;
use crate::rendered::Rendered;
use crate::report::base64;
use crate::report::figure::gallery::{Gallery, Picture};
use crate::report::figure::{Axis, Curve, Figure, Panel, Pixels, Point, Style};
use crate::report::page::PictureGallery;
use crate::report::table::Table;
use gambeson_learn::attack::BallNorm;
use serde_json::Value;

/// The panels of the experiment; without any, all networks in both norms.
pub(super) fn curves(results: &NetworkResults) -> Figure {
    let experiment = results.experiment;
    let all: Vec<&Entry> = experiment.shown().collect();
    if experiment.panel.is_empty() {
        let titles = |norm| match norm {
            BallNorm::L2 => "l2",
            BallNorm::Linf => "l_inf of cosine coefficients",
        };
        let panels = experiment.norms().map(|norm| panel(results, titles(norm).to_owned(), norm, &all));
        return Figure { panels: panels.collect() };
    }
    let panels = experiment.panel.iter().map(|shown| {
        let entries: Vec<&Entry> = shown.curves.iter().filter_map(|name| experiment.entry(name)).collect();
        let mut parts: Vec<String> = entries.first().map(|entry| entry.data()).into_iter().collect();
        parts.extend(Some(shown.title.clone()).filter(|title| !title.is_empty()));
        panel(results, parts.join(", "), shown.norm, &entries)
    });
    Figure { panels: panels.collect() }
}

/// Curves of some networks, dashed without a projection. A colour for each, or for each pair of one epsilon.
fn panel(results: &NetworkResults, title: String, norm: BallNorm, entries: &[&Entry]) -> Panel {
    let x = match norm {
        BallNorm::L2 => "l2 radius",
        BallNorm::Linf => "l_inf radius",
    };
    let radius = |entry: &Entry| entry.spec.objective.inner().map(|inner| inner.epsilon);
    let mut radii: Vec<Option<f64>> = Vec::new();
    for entry in entries {
        if !radii.contains(&radius(entry)) {
            radii.push(radius(entry));
        }
    }
    let given = !results.experiment.panel.is_empty();
    let alike = |one: &Entry, other: &Entry| {
        radius(one) == radius(other) && one.spec.projection.is_none() == other.spec.projection.is_none()
    };
    let in_pairs =
        entries.iter().all(|entry| entries.iter().filter(|other| alike(entry, other)).count() == 1);
    let curve = |(at, entry): (usize, &&Entry)| {
        let colour = if given && in_pairs && radii.len() > 1 {
            radii.iter().position(|of| *of == radius(entry))
        } else {
            Some(at)
        };
        let style = Style::curve(colour.unwrap_or(at));
        let style = if given && entry.spec.projection.is_none() { style.dashed() } else { style };
        Curve { label: entry.label.clone(), points: points(results, entry, norm), style }
    };
    let series = entries.iter().enumerate().map(curve).collect();
    Panel { title, x: Axis::linear(x), y: Axis::linear("certified accuracy"), series }
}

/// A curve, as far as where it has come down.
fn points(results: &NetworkResults, entry: &Entry, norm: BallNorm) -> Vec<Option<Point>> {
    let mut points = Vec::new();
    for radius in results.experiment.radii(norm) {
        let share = results.accuracy(entry, norm, radius);
        points.push(share.map(|share| Point::quoted(radius, share, 0.0)));
        if share == Some(0.0) {
            break;
        }
    }
    points
}

/// Originals beside what became of them, one column per perturbation.
pub(crate) fn gallery(results: &PictureResults) -> Rendered {
    let columns: Vec<(&str, &Value)> = results
        .runs
        .records()
        .filter(|record| record.case.stage != "train")
        .map(|record| (&*record.case.network, &record.output.printed))
        .collect();
    let list = |value: &Value, key: &str| -> Vec<f64> {
        let bytes = value[key].as_str().and_then(base64::decode).unwrap_or_default();
        bytes.into_iter().map(|byte| f64::from(byte) / 255.0).collect()
    };
    let [channels, height, width] = results.experiment.shape;
    let picture = |values: &[f64], caption: String| {
        let fits = values.len() == channels * height * width;
        fits.then(|| Picture { pixels: Pixels::of_values(channels, height, width, values), caption })
    };
    let shown = columns.first().and_then(|(_, output)| output["pictures"].as_array()).map_or(0, Vec::len);
    let rows = (0..shown).map(|at| {
        let original = columns.first().and_then(|(_, output)| {
            let one = &output["pictures"][at];
            picture(&list(one, "original"), one["class"].as_str().unwrap_or_default().to_owned())
        });
        let changed = columns.iter().filter_map(|(_, output)| {
            let one = &output["pictures"][at];
            picture(&list(one, "perturbed"), one["after"].as_str().unwrap_or_default().to_owned())
        });
        original.into_iter().chain(changed).collect()
    });
    let headings =
        ["original".to_owned()].into_iter().chain(columns.iter().map(|(label, _)| (*label).to_owned()));
    let gallery = Gallery { headings: headings.collect(), rows: rows.collect(), note: None };
    let slider = results.experiment.changes_coefficients();
    let slider = slider.then(|| "k, the number of cosine coefficients changed".to_owned());
    let drawn = Rendered::of_table(table(results, &columns)).with_figure(gallery.draw());
    // Pictures that cannot be encoded are in the figure still.
    Rendered { gallery: PictureGallery::of(&gallery, slider).ok(), ..drawn }
}

fn table(results: &PictureResults, columns: &[(&str, &Value)]) -> Table {
    let mut notes = results.experiment.notes.clone();
    notes.extend(results.runs.incomplete());
    notes.extend(results.runs.fell_short());
    let mut table = Table::new(results.experiment.caption.clone(), notes);
    let rows: Vec<usize> = (0..columns.len()).collect();
    let number = |at: usize, key: &str, digits: usize| {
        columns[at].1[key].as_f64().map_or("–".to_owned(), |value| format!("{value:.digits$}"))
    };
    table.words("perturbation", &rows, |at| columns[at].0.to_owned());
    table.column("", "inputs", &rows, |at| columns[at].1["inputs"].to_string());
    table.column("largest change", "of a value", &rows, |at| number(at, "largest", 4));
    if columns.iter().all(|(_, output)| output["sparsity"].is_number()) {
        table.column("largest change", "of a coefficient", &rows, |at| number(at, "longest", 4));
    }
    if columns.iter().any(|(_, output)| output["before"].is_number()) {
        table.column("accuracy", "before", &rows, |at| number(at, "before", 3));
        table.column("accuracy", "after", &rows, |at| number(at, "after", 3));
    }
    table
}
