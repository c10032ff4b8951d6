//! Figures about projections.

use crate::projection::Data;
use crate::projection::spectrum::SpectrumResults;
use crate::rendered::Rendered;
use crate::report::decimal::up;
use crate::report::figure::{Axis, Curve, Figure, Panel, Point, Style};
use crate::report::spread::NOTHING;
use crate::report::table::Table;
use gambeson::fit::{ChannelSpectrum, SpectrumRecord};

/// Numbers of components in the table beside Figure 5.
const RANKS: [usize; 12] = [1, 2, 5, 10, 20, 50, 100, 150, 200, 250, 300, 400];
/// Significant digits of errors.
const DIGITS: usize = 4;

/// Figure 5: error against the number of principal components, channel by channel, a panel for each data set; beside
/// them as many coordinates.
pub(crate) fn pca_error(results: &SpectrumResults) -> Rendered {
    Rendered::of_table(pca_error_table(results)).with_figure(pca_error_figure(results).draw())
}

/// Spectra by channel, with the names of the channels.
fn channels<'a>(data: &'a Data, record: Option<&'a SpectrumRecord>) -> Vec<(String, &'a ChannelSpectrum)> {
    let channels = record.map_or(&[][..], |record| &record.channels).iter().enumerate();
    channels
        .map(|(c, channel)| {
            let name = data.channels.get(c).cloned();
            (name.unwrap_or_else(|| format!("channel {c}")), channel)
        })
        .collect()
}

fn pca_error_table(results: &SpectrumResults) -> Table {
    let mut notes = vec!["Fraction of the energy lost, rounded up.".to_owned()];
    notes.extend(results.runs.measured());
    notes.extend(results.runs.incomplete().map(|missing| missing + "."));
    notes.extend(results.runs.fell_short());
    let caption = "Error of d principal components, and of as many DCT coordinates.";
    let mut table = Table::new(caption.to_owned(), notes);
    let rows: Vec<usize> = RANKS.into_iter().filter(|rank| *rank <= results.experiment.components).collect();
    table.column("", "d", &rows, |rank| rank.to_string());
    let cell =
        |errors: &[f64], rank: usize| errors.get(rank).map_or(NOTHING.to_owned(), |error| up(*error, DIGITS));
    for (run, record) in results.runs.iter() {
        let record = record.map(|record| &record.output.spectrum);
        for (name, channel) in channels(run.data, record) {
            let label = &run.data.label;
            table.column(label, &format!("{name}, PCA"), &rows, |rank| cell(&channel.pca, rank));
            table.column(label, &format!("{name}, coordinates"), &rows, |rank| {
                cell(&channel.coordinates, rank)
            });
        }
    }
    table
}

fn pca_error_figure(results: &SpectrumResults) -> Figure {
    let most = results.experiment.components;
    let curve = |errors: &[f64]| -> Vec<Option<Point>> {
        let shown = errors.iter().enumerate().skip(1).take(most);
        shown.map(|(rank, error)| Some(Point::quoted(rank as f64, *error, 0.0))).collect()
    };
    let panel = |data: &Data, record: Option<&SpectrumRecord>| {
        let channels = channels(data, record);
        let mut series: Vec<Curve> = Vec::new();
        for (at, (name, channel)) in channels.iter().enumerate() {
            let curves = [
                ("PCA", &channel.pca, Style::channel(name, at)),
                ("coordinates", &channel.coordinates, Style::channel(name, at).thin()),
            ];
            series.extend(curves.map(|(what, errors, style)| Curve {
                label: format!("{name}, {what}"),
                points: curve(errors),
                style,
            }));
        }
        Panel {
            title: data.label.clone(),
            x: Axis::linear("number of components d"),
            y: Axis::log("fraction of the energy lost"),
            series,
        }
    };
    let panels = results.runs.iter();
    let panels = panels.map(|(run, record)| panel(run.data, record.map(|record| &record.output.spectrum)));
    Figure { panels: panels.collect() }
}
