//! The legend of a panel: below the axes, in as many columns as fit, so that it never takes room from the plot.

use super::font;

pub(super) const LEGEND_TEXT: f64 = 14.0;
pub(super) const LEGEND_LINE: f64 = 23.0;
/// Room for the sample of the line before a label.
pub(super) const LEGEND_SAMPLE: f64 = 34.0;
const LEGEND_SPACE: f64 = 16.0;

/// An entry: its line, counting from 0, how far it stands from the left, and what it says.
pub(super) struct Entry {
    pub(super) line: usize,
    pub(super) offset: f64,
    pub(super) label: String,
}

/// Where the entries of a panel stand that has `room` from left to right.
pub(super) fn legend(names: &[&str], room: f64) -> Vec<Entry> {
    let labels: Vec<String> = names.iter().map(|name| shortened(name, room - LEGEND_SAMPLE)).collect();
    let widths: Vec<f64> =
        labels.iter().map(|label| LEGEND_SAMPLE + font::width(label, LEGEND_TEXT)).collect();
    let columns = |count: usize| -> Vec<f64> {
        let widest = |column| widths.iter().skip(column).step_by(count).copied().fold(0.0, f64::max);
        (0..count).map(|column| widest(column) + LEGEND_SPACE).collect()
    };
    let fitting =
        (2..=names.len()).rev().map(columns).find(|all| all.iter().sum::<f64>() - LEGEND_SPACE <= room);
    let columns = fitting.unwrap_or_else(|| columns(1));
    let place = |(at, label)| Entry {
        line: at / columns.len(),
        offset: columns[..at % columns.len()].iter().sum(),
        label,
    };
    labels.into_iter().enumerate().map(place).collect()
}

/// The label, or as much of its beginning and end as fits: names of files differ at either.
fn shortened(label: &str, room: f64) -> String {
    let fits = |text: &str| font::width(text, LEGEND_TEXT) <= room;
    if fits(label) {
        return label.to_owned();
    }
    let letters: Vec<char> = label.chars().collect();
    let cut = |kept: usize| -> String {
        let end = kept / 2;
        let [first, last] = [&letters[..kept - end], &letters[letters.len() - end..]];
        [first, &['…'], last].concat().into_iter().collect()
    };
    (0..letters.len()).rev().map(cut).find(|text| fits(text)).unwrap_or_default()
}
