//! Certified accuracy against the radius, and how p_A is distributed.

use super::analysis::{AnalysedLog, Analysis};
use crate::report::figure::{Axis, Figure, Panel, Point, Series, Style};
use gambeson_smooth::analysis::{RadiusNorm, Scores, best_at};

/// Points of a curve: more than pixels are wide would not be seen.
const POINTS: usize = 500;
/// Logs that get a colour of their own; the others are dashed.
const COLOURS: usize = 7;

pub(super) fn draw(analysis: &Analysis, envelope: bool) -> anyhow::Result<Figure> {
    let mut panels = vec![accuracy(analysis, envelope)?];
    let logs: Vec<(usize, &AnalysedLog)> =
        analysis.logs.iter().enumerate().filter(|(_, log)| !log.scores.limits().is_empty()).collect();
    if !logs.is_empty() {
        let series = logs.iter().map(|&(at, log)| Series {
            label: log.label.clone(),
            points: limits(&log.scores),
            style: style(at),
        });
        panels.push(Panel {
            title: "Distribution of p".to_owned(),
            x: Axis::linear("lower limit p on the probability of the class"),
            y: Axis::linear("fraction of inputs with a limit of at least p"),
            series: series.collect(),
        });
    }
    Ok(Figure { panels })
}

fn style(at: usize) -> Style {
    if at < COLOURS { Style::curve(at) } else { Style::curve(at).thin() }
}

fn accuracy(analysis: &Analysis, envelope: bool) -> anyhow::Result<Panel> {
    let largest = analysis.logs.iter().map(|log| log.scores.largest_radius()).fold(0.0, f64::max);
    // A little farther than anything is certified, so that curves come down.
    let radii: Vec<f64> = (0..=POINTS).map(|at| largest * 1.02 * at as f64 / POINTS as f64).collect();
    let mut curves: Vec<Vec<f64>> = Vec::new();
    for log in &analysis.logs {
        curves.push(log.scores.certified_accuracy(&radii)?);
    }
    // A curve ends where it has come down: many along the axis would hide each other.
    let points = |curve: &[f64]| -> Vec<Option<Point>> {
        let shown = curve.iter().position(|&part| part == 0.0).map_or(curve.len(), |zero| zero + 1);
        let point = |(&radius, &part)| Some(Point::quoted(radius, part, 0.0));
        radii.iter().zip(&curve[..shown]).map(point).collect()
    };
    let mut series: Vec<Series> = analysis
        .logs
        .iter()
        .zip(&curves)
        .enumerate()
        .map(|(at, (log, curve))| Series {
            label: log.label.clone(),
            points: points(curve),
            style: style(at),
        })
        .collect();
    if envelope {
        let best: Vec<f64> = best_at(&curves).into_iter().map(|(_, accuracy)| accuracy).collect();
        series.push(Series { label: "envelope".to_owned(), points: points(&best), style: Style::line(1) });
    }
    Ok(Panel {
        title: if analysis.any_class { "Certified" } else { "Certified accuracy" }.to_owned(),
        x: match analysis.norm {
            RadiusNorm::L2 => Axis::linear("ℓ2 radius"),
            RadiusNorm::Linf => Axis::linear("ℓ∞ radius"),
        },
        y: if analysis.any_class {
            Axis::linear("fraction of inputs certified")
        } else {
            Axis::linear("certified accuracy")
        },
        series,
    })
}

/// The part of inputs with at least each of the limits.
fn limits(scores: &Scores) -> Vec<Option<Point>> {
    let limits = scores.limits();
    let total = limits.len();
    let every = total.div_ceil(POINTS).max(1);
    let shown = (0..total).filter(|at| at % every == 0 || at + 1 == total);
    let point = |at: usize| Some(Point::quoted(limits[at], (total - at) as f64 / total as f64, 0.0));
    shown.map(point).collect()
}
