//! Lines over two axes, as HTML that fits any width: the SVG is stretched while letters and line widths keep their size,
//! and colours are those of the page, light or dark.

use crate::figure::Range;
use crate::markup::escape;
use std::fmt::Write;

/// Colours, and patterns of dashes: together they tell as many lines apart as both multiplied, also without colours.
const COLOURS: usize = 7;
const PATTERNS: usize = 4;
/// Sides of the stretched drawing.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 1000.0;

/// Lines over two axes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chart {
    /// What it shows, for those who do not see it too.
    pub(super) title: String,
    /// Name under which the script finds the numbers.
    pub(super) key: String,
    /// Along the bottom.
    pub(super) x: ChartAxis,
    /// Along the left.
    pub(super) y: ChartAxis,
    /// The first below.
    pub(super) lines: Vec<ChartLine>,
}

/// An axis from one number to another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ChartAxis {
    /// What it measures, with its unit.
    pub(super) label: String,
    /// Its ends.
    pub(super) ends: (f64, f64),
    /// How its numbers are written.
    pub(super) marks: AxisMarks,
}

/// How the numbers of an axis are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AxisMarks {
    /// As they are.
    Numbers,
    /// Whole numbers only: epochs.
    Counts,
    /// Shares from 0 to 1 as percentages.
    Percent,
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ChartLine {
    /// Colour and dashes: see [`style_class`].
    pub(super) style: usize,
    /// Thinner than others: what only accompanies.
    pub(super) thin: bool,
    /// By rising x.
    pub(super) points: Vec<(f64, f64)>,
    /// How points are joined.
    pub(super) shape: LineShape,
}

/// How the points of a line are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineShape {
    /// By straight lines.
    Straight,
    /// A function that falls in steps: it has the value of a point up to and including its x, and of the next from there; 0
    /// beyond the last.
    Falling,
}

/// The classes of a line, a swatch or a mark in a style.
pub(super) fn style_class(style: usize) -> String {
    format!("c{} d{}", style % COLOURS, style % PATTERNS)
}

/// A short piece of a line, as legends have it.
pub(super) fn swatch(style: usize) -> String {
    format!(
        "<svg class=\"swatch\" viewBox=\"0 0 30 8\" width=\"30\" height=\"8\" aria-hidden=\"true\"><path class=\"line {}\" \
         d=\"M1 4H29\"/></svg>",
        style_class(style)
    )
}

impl ChartAxis {
    fn share(&self, value: f64) -> f64 {
        let (low, high) = self.ends;
        if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Marks with their places between 0 and 1.
    fn ticks(&self) -> Vec<(f64, String)> {
        let (low, high) = self.ends;
        if self.marks == AxisMarks::Percent {
            return (0..=5).map(|at| (f64::from(at) / 5.0, format!("{} %", 20 * at))).collect();
        }
        if !(high > low) {
            return Vec::new();
        }
        let ticks = Range::between(low, high).ticks().into_iter();
        let whole = |value: f64| self.marks == AxisMarks::Numbers || value.fract() == 0.0;
        let shown = ticks.filter(|tick| (low..=high).contains(&tick.value) && whole(tick.value));
        let label = |label: String| match label.split_once('.') {
            Some((whole, _)) if self.marks == AxisMarks::Counts => whole.to_owned(),
            _ => label,
        };
        shown.filter_map(|tick| Some((self.share(tick.value), label(tick.label?)))).collect()
    }
}

impl Chart {
    /// A `figure`. Its marks and lines have places in percent.
    pub(super) fn html(&self) -> String {
        let (title, key) = (escape(&self.title), escape(&self.key));
        let mut html = format!(
            "<figure class=\"chart\" data-chart=\"{key}\" data-low=\"{}\" data-high=\"{}\">\n\
             <figcaption>{title}</figcaption>\n<p class=\"axis y-axis\">{}</p>\n<div class=\"plot\">\n",
            self.x.ends.0,
            self.x.ends.1,
            escape(&self.y.label)
        );
        let mut grid = String::new();
        for (at, label) in self.y.ticks() {
            let _ = write!(grid, "M0 {:.1}H{WIDTH}", HEIGHT * (1.0 - at));
            let _ = writeln!(
                html,
                "<span class=\"tick y\" style=\"bottom:{:.2}%\">{}</span>",
                100.0 * at,
                escape(&label)
            );
        }
        for (at, label) in self.x.ticks() {
            let _ = writeln!(
                html,
                "<span class=\"tick x\" style=\"left:{:.2}%\">{}</span>",
                100.0 * at,
                escape(&label)
            );
        }
        let _ = writeln!(
            html,
            "<div class=\"area\"><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" \
             aria-label=\"{title}\">\n<path class=\"grid\" d=\"{grid}\"/>"
        );
        for (at, line) in self.lines.iter().enumerate() {
            let thin = if line.thin { " thin" } else { "" };
            let _ = writeln!(
                html,
                "<path class=\"line {}{thin}\" data-line=\"{at}\" d=\"{}\"/>",
                style_class(line.style),
                self.path(line)
            );
        }
        let _ = writeln!(
            html,
            "</svg></div>\n</div>\n<p class=\"axis x-axis\">{}</p>\n</figure>",
            escape(&self.x.label)
        );
        html
    }

    fn path(&self, line: &ChartLine) -> String {
        let place = |(x, y): (f64, f64)| (WIDTH * self.x.share(x), HEIGHT * (1.0 - self.y.share(y)));
        let mut path = String::new();
        match line.shape {
            LineShape::Straight => {
                for (at, point) in line.points.iter().enumerate() {
                    let (x, y) = place(*point);
                    let _ = write!(path, "{}{x:.1} {y:.1}", if at == 0 { "M" } else { "L" });
                }
            }
            LineShape::Falling => falling(&line.points, place, &mut path),
        }
        path
    }
}

/// The path of a falling function, without steps too small to be seen.
fn falling(points: &[(f64, f64)], place: impl Fn((f64, f64)) -> (f64, f64), path: &mut String) {
    let tenths = |value: f64| format!("{value:.1}");
    let Some(&(_, first)) = points.first() else { return };
    let start = place((f64::NEG_INFINITY, first));
    let (mut x, mut y) = (tenths(start.0), tenths(start.1));
    let _ = write!(path, "M{x} {y}");
    let lower = points.iter().skip(1).map(|&(_, share)| share).chain([0.0]);
    for (&(radius, _), next) in points.iter().zip(lower) {
        let (end, level) = place((radius, next));
        let (end, level) = (tenths(end), tenths(level));
        if end != x {
            let _ = write!(path, "H{end}");
            x = end;
        }
        if level != y {
            let _ = write!(path, "V{level}");
            y = level;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(high: f64, marks: AxisMarks) -> ChartAxis {
        ChartAxis { label: "x <y>".to_owned(), ends: (0.0, high), marks }
    }

    #[test]
    fn a_falling_line_keeps_its_value_up_to_each_point() {
        let points = vec![(1.0, 0.75), (1.0, 0.75), (2.0, 0.25)];
        let line = ChartLine { style: 0, thin: false, points, shape: LineShape::Falling };
        let (title, key) = ("A <title>".to_owned(), "k".to_owned());
        let chart = Chart {
            title,
            key,
            x: axis(4.0, AxisMarks::Counts),
            y: axis(1.0, AxisMarks::Percent),
            lines: vec![line],
        };
        assert_eq!(chart.path(&chart.lines[0]), "M0.0 250.0H250.0V750.0H500.0V1000.0");
        let html = chart.html();
        assert!(html.contains("A &lt;title&gt;") && html.contains("x &lt;y&gt;"), "{html}");
        assert!(html.contains("bottom:20.00%\">20 %</span>"), "{html}");
        let marks: Vec<String> = chart.x.ticks().into_iter().map(|(_, label)| label).collect();
        assert_eq!(marks, ["0", "1", "2", "3", "4"]);
    }

    #[test]
    fn axes_without_length_and_lines_without_points_are_drawn() {
        let line = ChartLine { style: 9, thin: true, points: Vec::new(), shape: LineShape::Falling };
        let empty = Chart {
            title: String::new(),
            key: String::new(),
            x: axis(0.0, AxisMarks::Numbers),
            y: axis(0.0, AxisMarks::Numbers),
            lines: vec![line],
        };
        assert!(empty.html().contains("d=\"\""));
        assert_eq!(style_class(9), "c2 d1");
    }
}
