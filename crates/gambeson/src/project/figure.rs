//! Sweeps and spectra as curves.

use super::sweep::{FitMethodKind, Sweep};
use crate::fit::SpectrumRecord;
use crate::progress::SweepPoint;
use gambeson_report::figure::{Axis, Curve, Figure, Panel, Point, Style};

/// Proven κ against error, method by method, above the limit if the sweep has it: the root of the rank PCA needs.
pub fn sweep_figure(sweep: &Sweep) -> Figure {
    let points = &sweep.points;
    let (least, most) = points.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), point| {
        (least.min(point.error), most.max(point.error))
    });
    let mut series: Vec<Curve> = FitMethodKind::ALL
        .iter()
        .enumerate()
        .map(|(at, method)| {
            let mut own: Vec<&SweepPoint> =
                points.iter().filter(|point| point.method == method.name()).collect();
            own.sort_by(|a, b| a.error.total_cmp(&b.error));
            let points = own.iter().map(|point| Some(Point::quoted(point.error, point.kappa, 0.0)));
            Curve { label: method.name().to_owned(), points: points.collect(), style: Style::ours(at) }
        })
        .filter(|series| !series.points.is_empty())
        .collect();
    if let Some(limit) = &sweep.limit {
        let mut curve: Vec<Option<Point>> = limit
            .iter()
            .enumerate()
            .filter(|(_, error)| (least..=most).contains(error))
            .map(|(rank, &error)| Some(Point::quoted(error, (rank as f64).sqrt(), 0.0)))
            .collect();
        curve.reverse(); // ascending errors
        series.push(Curve { label: "limit".to_owned(), points: curve, style: Style::line(0) });
    }
    let panel = Panel {
        title: format!("{}, channel {}", sweep.data, sweep.channel),
        x: Axis::log("fraction of the energy lost"),
        y: Axis::linear("proven kappa"),
        series,
    };
    Figure { panels: vec![panel] }
}

/// The errors of principal components and of coordinates by rank, channel by channel.
pub fn spectrum_figure(record: &SpectrumRecord) -> Figure {
    let curve = |errors: &[f64]| -> Vec<Option<Point>> {
        let shown = errors.iter().enumerate().skip(1);
        shown.map(|(rank, error)| Some(Point::quoted(rank as f64, *error, 0.0))).collect()
    };
    let mut series: Vec<Curve> = Vec::new();
    for (at, (name, channel)) in record.channel_names().iter().zip(&record.channels).enumerate() {
        let style = Style::channel(name, at);
        let before = if name.is_empty() { String::new() } else { format!("{name}, ") };
        let curves = [("PCA", &channel.pca, style), ("coordinates", &channel.coordinates, style.thin())];
        series.extend(curves.map(|(what, errors, style)| Curve {
            label: format!("{before}{what}"),
            points: curve(errors),
            style,
        }));
    }
    let panel = Panel {
        title: record.moments.data.clone(),
        x: Axis::linear("rank"),
        y: Axis::log("fraction of the energy lost"),
        series,
    };
    Figure { panels: vec![panel] }
}
