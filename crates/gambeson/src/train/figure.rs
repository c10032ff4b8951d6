//! Loss and accuracy by epoch.

use gambeson_learn::train::run::Metrics;
use gambeson_report::figure::{Axis, Curve, Figure, Panel, Point, Style};

/// The loss and the accuracy of every epoch, in two panels.
pub fn training_figure(metrics: &[Metrics]) -> Figure {
    let series = |label: &str, at: usize, value: fn(&Metrics) -> Option<f64>| Curve {
        label: label.to_owned(),
        points: metrics
            .iter()
            .map(|epoch| value(epoch).map(|value| Point::quoted(epoch.epoch as f64, value, 0.0)))
            .collect(),
        style: Style::curve(at),
    };
    let loss = Panel {
        title: "Loss".to_owned(),
        x: Axis::linear("epoch"),
        y: Axis::linear("mean loss of the inputs as shown"),
        series: vec![series("training", 0, |epoch| Some(epoch.loss))],
    };
    let mut both = vec![series("training, as shown", 0, |epoch| Some(epoch.accuracy))];
    if metrics.iter().any(|epoch| epoch.test_accuracy.is_some()) {
        both.push(series("test, one draw of noise", 1, |epoch| epoch.test_accuracy));
    }
    let accuracy = Panel {
        title: "Accuracy".to_owned(),
        x: Axis::linear("epoch"),
        y: Axis::linear("fraction answered rightly"),
        series: both,
    };
    Figure { panels: vec![loss, accuracy] }
}
