//! The figure of `project sweep`.

use crate::args::FitMethodName;
use crate::json::SweepPoint;
use crate::report::figure::{Axis, Figure, Panel, Point, Series, Style};

/// Proven kappa against error, method by method, above the limit: the root of the rank PCA needs. `limit` has the error
/// of PCA for each rank.
pub(super) fn frontier(points: &[SweepPoint], limit: &[f64], title: &str) -> Figure {
    let (least, most) = points.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), point| {
        (least.min(point.error), most.max(point.error))
    });
    let mut series: Vec<Series> = FitMethodName::ALL
        .iter()
        .enumerate()
        .map(|(at, method)| {
            let mut own: Vec<&SweepPoint> =
                points.iter().filter(|point| point.method == method.name()).collect();
            own.sort_by(|a, b| a.error.total_cmp(&b.error));
            let points = own.iter().map(|point| Some(Point::quoted(point.error, point.kappa, 0.0)));
            Series { label: method.name().to_owned(), points: points.collect(), style: Style::ours(at) }
        })
        .filter(|series| !series.points.is_empty())
        .collect();
    let mut curve: Vec<Option<Point>> = limit
        .iter()
        .enumerate()
        .filter(|(_, error)| (least..=most).contains(error))
        .map(|(rank, &error)| Some(Point::quoted(error, (rank as f64).sqrt(), 0.0)))
        .collect();
    curve.reverse(); // ascending errors
    series.push(Series { label: "limit".to_owned(), points: curve, style: Style::line(0) });
    let panel = Panel {
        title: title.to_owned(),
        x: Axis::log("fraction of the energy lost"),
        y: Axis::linear("proven kappa"),
        series,
    };
    Figure { panels: vec![panel] }
}
