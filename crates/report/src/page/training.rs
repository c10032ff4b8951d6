//! Training: loss and accuracy by epoch.

use super::certified::RunLabel;
use super::chart::{AxisMarks, Chart, ChartAxis, ChartLine, LineShape, swatch};
use super::parts::paragraphs;
use crate::markup::escape;
use crate::spread::NOTHING;
use crate::table::Table;
use serde::Serialize;
use std::fmt::Write;

/// Networks that were trained.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Training {
    /// Paragraphs before everything.
    pub notes: Vec<String>,
    /// The networks.
    pub runs: Vec<TrainedRun>,
}

/// A network that was trained.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedRun {
    /// Its name and colour.
    pub run: RunLabel,
    /// What was trained, in a few words.
    pub about: String,
    /// By rising number.
    pub epochs: Vec<Epoch>,
}

/// What an epoch came to. All of it is measured; nothing here is proven.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epoch {
    /// From 1.
    pub number: usize,
    /// The mean loss of its inputs.
    pub loss: f64,
    /// Share of its inputs answered rightly, as they were shown.
    pub accuracy: f64,
    /// Share of test inputs answered rightly under one draw of noise.
    pub test: Option<f64>,
    /// Seconds of training since the beginning.
    pub seconds: f64,
}

/// What the script shows beside the pointer: the epochs, and a text for each.
#[derive(Clone, Debug, Serialize)]
pub(super) struct TrainingData {
    runs: Vec<TrainedData>,
}

#[derive(Clone, Debug, Serialize)]
struct TrainedData {
    label: String,
    style: usize,
    epochs: Vec<usize>,
    loss: Vec<String>,
    accuracy: Vec<String>,
}

impl Training {
    /// Everything below the heading of the section with this name.
    pub(super) fn html(&self, key: &str) -> String {
        let mut html = paragraphs(&self.notes);
        let last = self.runs.iter().filter_map(|run| run.epochs.last()).map(|epoch| epoch.number).max();
        let last = last.unwrap_or(1).max(2) as f64;
        let losses = self.runs.iter().flat_map(|run| run.epochs.iter().map(|epoch| epoch.loss));
        let most = losses.filter(|loss| loss.is_finite()).fold(0.0, f64::max);
        let axis = |label: &str, ends, marks| ChartAxis { label: label.to_owned(), ends, marks };
        let loss = Chart {
            title: "Loss".to_owned(),
            key: format!("{key}/loss"),
            x: axis("epoch", (1.0, last), AxisMarks::Counts),
            y: axis(
                "mean loss of the inputs as shown",
                (0.0, if most > 0.0 { 1.05 * most } else { 1.0 }),
                AxisMarks::Numbers,
            ),
            lines: self.lines(|epoch| Some(epoch.loss), false),
        };
        let mut lines = self.lines(|epoch| Some(epoch.accuracy), true);
        lines.extend(self.lines(|epoch| epoch.test, false));
        let accuracy = Chart {
            title: "Accuracy: thick on test inputs, thin in training".to_owned(),
            key: format!("{key}/accuracy"),
            x: axis("epoch", (1.0, last), AxisMarks::Counts),
            y: axis("share answered rightly", (0.0, 1.0), AxisMarks::Percent),
            lines,
        };
        let _ = writeln!(
            html,
            "<div class=\"training\" data-part=\"training\" data-key=\"{key}\">\n<ul class=\"names\">"
        );
        for TrainedRun { run, about, .. } in &self.runs {
            let (swatch, label, about) = (swatch(run.style), escape(&run.label), escape(about));
            let _ = writeln!(html, "<li>{swatch} <b>{label}</b> <small>{about}</small></li>");
        }
        let _ = writeln!(html, "</ul>\n<div class=\"pair\">\n{}{}</div>", loss.html(), accuracy.html());
        for run in &self.runs {
            let _ = writeln!(
                html,
                "<details><summary>{}: every epoch</summary>\n{}</details>",
                escape(&run.run.label),
                run.table().html()
            );
        }
        html + "</div>\n"
    }

    fn lines(&self, value: fn(&Epoch) -> Option<f64>, thin: bool) -> Vec<ChartLine> {
        let point = |epoch: &Epoch| {
            let value = value(epoch).filter(|value| value.is_finite())?;
            Some((epoch.number as f64, value))
        };
        let line = |run: &TrainedRun| ChartLine {
            style: run.run.style,
            thin,
            points: run.epochs.iter().filter_map(point).collect(),
            shape: LineShape::Straight,
        };
        self.runs.iter().map(line).filter(|line| !line.points.is_empty()).collect()
    }

    pub(super) fn data(&self) -> TrainingData {
        let run = |TrainedRun { run, epochs, .. }: &TrainedRun| TrainedData {
            label: run.label.clone(),
            style: run.style,
            epochs: epochs.iter().map(|epoch| epoch.number).collect(),
            loss: epochs.iter().map(|epoch| format!("{:.4}", epoch.loss)).collect(),
            accuracy: epochs
                .iter()
                .map(|epoch| {
                    let test =
                        epoch.test.map_or_else(String::new, |test| format!(", test {}", percent(test)));
                    format!("training {}{test}", percent(epoch.accuracy))
                })
                .collect(),
        };
        TrainingData { runs: self.runs.iter().map(run).collect() }
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

impl TrainedRun {
    fn table(&self) -> Table {
        let mut table = Table::new(format!("{}: epochs.", self.run.label), Vec::new());
        let rows: Vec<&Epoch> = self.epochs.iter().collect();
        table.column("", "epoch", &rows, |epoch| epoch.number.to_string());
        table.column("", "loss", &rows, |epoch| format!("{:.4}", epoch.loss));
        table.column("", "training", &rows, |epoch| percent(epoch.accuracy));
        table.column("", "test", &rows, |epoch| epoch.test.map_or(NOTHING.to_owned(), percent));
        table.column("", "seconds", &rows, |epoch| format!("{:.0}", epoch.seconds));
        table
    }
}
