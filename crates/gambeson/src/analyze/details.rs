//! Further tables: the distribution of p_A; and those made only if asked for, the envelope with clean accuracy, accuracy by
//! class, two logs compared.

use super::analysis::Analysis;
use super::log::{AnalysedLog, ByClass};
use super::records::SHARES;
use gambeson_report::decimal::{down, down_to_places, up_to_places};
use gambeson_report::table::Table;
use gambeson_smooth::analysis::{Paired, Scores, best_at};

/// Unknown.
pub(super) const NOTHING: &str = "–";
/// Significant digits of lower limits.
const LIMIT_DIGITS: usize = 6;

/// A number rounded to nearest.
pub(super) fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or(NOTHING.to_owned(), |value| format!("{value:.digits$}"))
}

/// Quantiles of p_A over all inputs and over correct predictions, where logs have limits on it.
pub(super) fn limits(analysis: &Analysis) -> impl Iterator<Item = Table> + use<> {
    let caption = "Lower limits on p_A, the probability of the class under noise: quantiles over all inputs.";
    let all = quantiles(&analysis.logs, caption, Scores::limit_quantile);
    let right = if analysis.any_class {
        None
    } else {
        let caption = "The same over correct predictions only.";
        quantiles(&analysis.logs, caption, Scores::right_limit_quantile)
    };
    all.into_iter().chain(right)
}

/// One line for each log that has limits.
fn quantiles(
    logs: &[AnalysedLog],
    caption: &str,
    quantile: fn(&Scores, f64) -> Option<f64>,
) -> Option<Table> {
    let rows: Vec<&AnalysedLog> =
        logs.iter().filter(|log| quantile(&log.scores, SHARES[0]).is_some()).collect();
    if rows.is_empty() {
        return None;
    }
    let mut table = Table::new(caption.to_owned(), Vec::new());
    table.words("log", &rows, |log| log.label.clone());
    for share in SHARES {
        let heading = match share {
            0.0 => "least".to_owned(),
            1.0 => "largest".to_owned(),
            _ => format!("{} %", share * 100.0),
        };
        table.column("", &heading, &rows, |log| {
            quantile(&log.scores, share).map_or(NOTHING.to_owned(), |limit| down(limit, LIMIT_DIGITS))
        });
    }
    Some(table)
}

/// The best at each radius, and what it answers correctly at radius 0: a large radius may cost the small ones.
pub(super) fn envelope(analysis: &Analysis, digits: usize) -> Table {
    // Noise levels in the order of the logs, or all together.
    let mut groups: Vec<(Option<f64>, Vec<&AnalysedLog>)> = Vec::new();
    for log in &analysis.logs {
        let sigma = log.sigma.filter(|_| analysis.by_sigma);
        match groups.iter_mut().find(|(other, _)| *other == sigma) {
            Some((_, logs)) => logs.push(log),
            None => groups.push((sigma, vec![log])),
        }
    }
    let mut rows = Vec::new();
    for (sigma, logs) in &groups {
        let accuracies: Vec<Vec<f64>> = logs.iter().map(|log| log.accuracy.clone()).collect();
        for (at, (best, accuracy)) in best_at(&accuracies).into_iter().enumerate() {
            rows.push((*sigma, at, logs[best], accuracy));
        }
    }
    let caption =
        "Envelope: the best log at each radius, the first of equals, and its certified accuracy at radius 0.";
    let mut table = Table::new(caption.to_owned(), Vec::new());
    if analysis.by_sigma {
        table.column("", "σ", &rows, |(sigma, ..)| {
            sigma.map_or(NOTHING.to_owned(), |sigma| sigma.to_string())
        });
    }
    table.column("", "r", &rows, |(_, at, ..)| analysis.radii[at].to_string());
    table.column("", "best", &rows, |(_, _, _, accuracy)| format!("{accuracy:.digits$}"));
    table.column("", "at r = 0", &rows, |(_, _, log, _)| number(log.clean, digits));
    table.words("log", &rows, |(_, _, log, _)| log.label.clone());
    table
}

/// One line for each class of a log; none if that was not asked for.
pub(super) fn by_class(log: &AnalysedLog, analysis: &Analysis, digits: usize) -> Option<Table> {
    let rows: Vec<&ByClass> = log.classes.as_ref()?.iter().collect();
    let caption = format!("{}: certified accuracy by class at {} radii r.", log.label, analysis.norm.name());
    let mut table = Table::new(caption, Vec::new());
    table.column("", "class", &rows, |class| class.label.to_string());
    table.column("", "images", &rows, |class| class.images.to_string());
    for (at, radius) in analysis.radii.iter().enumerate() {
        table.column("", &format!("r = {radius}"), &rows, |class| format!("{:.digits$}", class.accuracy[at]));
    }
    Some(table)
}

/// Two logs compared, one line for each radius.
pub(super) fn paired(found: &[Paired], analysis: &Analysis, digits: usize) -> Table {
    let names: Vec<&str> = analysis.logs.iter().map(|log| log.label.as_str()).collect();
    let caption = format!(
        "{} against {} on {} inputs: certified by both and by one only, McNemar's exact test, and the difference of \
         accuracies with a 95 % interval for all inputs that these were drawn from (Tango's score interval).",
        names.first().unwrap_or(&""),
        names.get(1).unwrap_or(&""),
        found.first().map_or(0, |paired| paired.inputs)
    );
    let rows: Vec<(usize, &Paired)> = found.iter().enumerate().collect();
    let mut table = Table::new(caption, Vec::new());
    table.column("", "r", &rows, |(at, _)| analysis.radii[at].to_string());
    table.column("", "both", &rows, |(_, paired)| paired.both.to_string());
    table.column("", "first only", &rows, |(_, paired)| paired.first.to_string());
    table.column("", "second only", &rows, |(_, paired)| paired.second.to_string());
    table.column("", "p", &rows, |(_, paired)| {
        if paired.p_value < 0.001 {
            format!("{:.1e}", paired.p_value)
        } else {
            format!("{:.3}", paired.p_value)
        }
    });
    table.column("", "difference", &rows, |(_, paired)| format!("{:+.digits$}", paired.difference));
    let signed = |text: String| if text.starts_with('-') { text } else { format!("+{text}") };
    table.column("", "from", &rows, |(_, paired)| signed(down_to_places(paired.interval.0, digits)));
    table.column("", "to", &rows, |(_, paired)| signed(up_to_places(paired.interval.1, digits)));
    table
}
