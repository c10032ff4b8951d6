//! The distribution of the limits that radii come from.

use super::super::chart::{AxisMarks, Chart, ChartAxis, ChartLine, LineShape};
use super::{Certified, CertifiedRun, Limits, RunLabel};
use crate::decimal::down;
use crate::spread::NOTHING;
use crate::table::Table;

/// Significant digits of limits.
const DIGITS: usize = 6;

/// Shares of inputs, and the limit at each.
type Quantiles = [(f64, f64)];

impl Certified {
    /// A chart and its tables; nothing where no run has limits.
    pub(super) fn limits_html(&self, key: &str) -> String {
        let limited = |run: &'_ CertifiedRun| run.limits.is_some();
        let runs: Vec<&CertifiedRun> = self.runs.iter().filter(|run| limited(run)).collect();
        if runs.is_empty() {
            return String::new();
        }
        let steps =
            |run: &CertifiedRun| run.limits.as_ref().map(|limits| limits.steps.points()).unwrap_or_default();
        let least =
            runs.iter().filter_map(|run| steps(run).first().map(|(limit, _)| *limit)).fold(0.5, f64::min);
        let line = |run: &&CertifiedRun| ChartLine {
            style: run.run.style,
            thin: false,
            points: steps(run),
            shape: LineShape::Falling,
        };
        let chart = Chart {
            title: "Inputs whose class has a probability of at least p under noise".to_owned(),
            key: format!("{key}/limits"),
            x: ChartAxis {
                label: "lower limit p".to_owned(),
                ends: ((10.0 * least).floor() / 10.0, 1.0),
                marks: AxisMarks::Numbers,
            },
            y: ChartAxis {
                label: "share of the inputs".to_owned(),
                ends: (0.0, 1.0),
                marks: AxisMarks::Percent,
            },
            lines: runs.iter().map(line).collect(),
        };
        let all = quantiles("all inputs", &runs, |limits| &limits.quantiles);
        let right = quantiles("inputs certified for their label", &runs, |limits| &limits.right_quantiles);
        let tables = all.into_iter().chain(right.filter(|_| self.labelled)).map(|table| table.html());
        format!(
            "<h3>How often the answer holds under noise</h3>\n<p>A radius follows from a lower limit on the probability \
             that the network answers with the class when noise is added. It must exceed one half, or an upper limit on the \
             probability of every other class.</p>\n<div class=\"narrow\">{}</div>\n{}",
            chart.html(),
            tables.collect::<String>()
        )
    }
}

/// One line for each run that has quantiles; `None` where none has.
fn quantiles(over: &str, runs: &[&CertifiedRun], of: fn(&Limits) -> &Quantiles) -> Option<Table> {
    let rows: Vec<(&RunLabel, &Quantiles)> = runs
        .iter()
        .filter_map(|run| Some((&run.run, of(run.limits.as_ref()?))))
        .filter(|(_, list)| !list.is_empty())
        .collect();
    let shares: Vec<f64> = rows.first()?.1.iter().map(|(share, _)| *share).collect();
    let mut table =
        Table::new(format!("Quantiles of the lower limits over {over}, rounded down."), Vec::new());
    table.words("run", &rows, |(run, _)| run.label.clone());
    for (at, share) in shares.into_iter().enumerate() {
        let heading = match share {
            0.0 => "least".to_owned(),
            1.0 => "largest".to_owned(),
            _ => format!("{} %", 100.0 * share),
        };
        table.column("", &heading, &rows, |(_, list)| {
            list.get(at).map_or(NOTHING.to_owned(), |(_, limit)| down(*limit, DIGITS))
        });
    }
    Some(table)
}
