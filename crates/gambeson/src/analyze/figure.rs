//! Certified accuracy against the radius, and how p_A is distributed.

use super::analysis::Analysis;
use crate::error::Error;
use crate::error::analyze::AnalyzeError;
use gambeson_report::figure::{Axis, Curve, Figure, Panel, Point, Style};
use gambeson_smooth::analysis::{AnalysisError, RadiusNorm, Scores, best_at};

/// Points of a curve: more than pixels are wide would not be seen.
const POINTS: usize = 500;
/// Logs that get a colour of their own; the others are dashed.
const COLOURS: usize = 7;

impl Analysis {
    /// Certified accuracy against the radius, and the distribution of p_A where logs have limits on it. Predictions cannot be
    /// drawn beside certificates: they have no radii.
    pub fn figure(&self) -> Result<Figure, Error> {
        let mut panels = vec![self.accuracy_panel().map_err(AnalyzeError::from)?];
        let limited = self.logs.iter().enumerate().filter(|(_, log)| !log.scores.limits().is_empty());
        let series: Vec<Curve> = limited
            .map(|(at, log)| Curve {
                label: log.label.clone(),
                points: limits(&log.scores),
                style: style(at),
            })
            .collect();
        if !series.is_empty() {
            panels.push(Panel {
                title: "Distribution of p".to_owned(),
                x: Axis::linear("lower limit p on the probability of the class"),
                y: Axis::linear("fraction of inputs with a limit of at least p"),
                series,
            });
        }
        Ok(Figure { panels })
    }

    fn accuracy_panel(&self) -> Result<Panel, AnalysisError> {
        let largest = self.logs.iter().map(|log| log.scores.largest_radius()).fold(0.0, f64::max);
        // A little farther than anything is certified, so that curves come down.
        let radii: Vec<f64> = (0..=POINTS).map(|at| largest * 1.02 * at as f64 / POINTS as f64).collect();
        let mut curves: Vec<Vec<f64>> = Vec::new();
        for log in &self.logs {
            curves.push(log.scores.certified_accuracy(&radii)?);
        }
        // A curve ends where it has come down: many along the axis would hide each other.
        let points = |curve: &[f64]| -> Vec<Option<Point>> {
            let shown = curve.iter().position(|&part| part == 0.0).map_or(curve.len(), |zero| zero + 1);
            let point = |(&radius, &part)| Some(Point::quoted(radius, part, 0.0));
            radii.iter().zip(&curve[..shown]).map(point).collect()
        };
        let mut series: Vec<Curve> = self
            .logs
            .iter()
            .zip(&curves)
            .enumerate()
            .map(|(at, (log, curve))| Curve {
                label: log.label.clone(),
                points: points(curve),
                style: style(at),
            })
            .collect();
        if self.envelope {
            let best: Vec<f64> = best_at(&curves).into_iter().map(|(_, accuracy)| accuracy).collect();
            series.push(Curve { label: "envelope".to_owned(), points: points(&best), style: Style::line(1) });
        }
        Ok(Panel {
            title: if self.any_class { "Certified" } else { "Certified accuracy" }.to_owned(),
            x: match self.norm {
                RadiusNorm::L2 => Axis::linear("ℓ2 radius"),
                RadiusNorm::Linf => Axis::linear("ℓ∞ radius"),
            },
            y: if self.any_class {
                Axis::linear("fraction of inputs certified")
            } else {
                Axis::linear("certified accuracy")
            },
            series,
        })
    }
}

fn style(at: usize) -> Style {
    if at < COLOURS { Style::curve(at) } else { Style::curve(at).thin() }
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
