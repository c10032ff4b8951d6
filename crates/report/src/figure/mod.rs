//! Figures: panels side by side, points with error bars, legends below; and galleries of pictures. Either becomes a list
//! of shapes, and the list an SVG or a PNG: the two show the same.

mod axis;
mod error;
mod files;
mod font;
pub mod gallery;
mod legend;
mod pixels;
mod png;
mod style;
mod svg;
#[cfg(test)]
mod tests;

pub use axis::Axis;
pub(crate) use axis::Range;
pub use error::FigureError;
pub use pixels::Pixels;
pub use style::Style;

use crate::spread::Spread;
use legend::{Entry, LEGEND_LINE, LEGEND_SAMPLE, LEGEND_TEXT, legend};
use style::{BLACK, Colour, GRID, Marker, WHITE};

/// Size of a panel; lengths are in pixels of the SVG. The axes have the same size in every figure: a longer legend makes
/// the figure taller.
const PANEL_WIDTH: f64 = 500.0;
const AXES_HEIGHT: f64 = 356.0;
/// Space around the axes of a panel, for its title and the labels of its axes.
const TOP: f64 = 42.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 16.0;
const BOTTOM: f64 = 62.0;
/// Letters.
const TEXT: f64 = 15.0;
const TITLE: f64 = 17.0;
const TITLE_BASE: f64 = 26.0;
/// From the end of the axes to the baseline of their label.
const LABEL_BASE: f64 = 50.0;
const TICK: f64 = 6.0;
const CAP: f64 = 4.0;

/// Panels side by side: up to three in one row, more in two or more rows of at most four.
pub struct Figure {
    /// From left to right, then from top to bottom.
    pub panels: Vec<Panel>,
}

/// Axes and curves.
#[allow(missing_docs)] // the names say it
pub struct Panel {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Curve>,
}

/// A curve.
#[allow(missing_docs)] // the names say it
pub struct Curve {
    pub label: String,
    /// By ascending x; None for a missing number, where the line is interrupted.
    pub points: Vec<Option<Point>>,
    pub style: Style,
}

/// A mean, with an error bar of one standard deviation if known.
#[derive(Clone, Copy)]
pub struct Point {
    x: f64,
    y: f64,
    deviation: f64,
    /// Trials are missing: the marker is hollow.
    partial: bool,
}

impl Point {
    /// A mean with the standard deviation of repeated measurements.
    pub fn measured(x: f64, Spread { mean, deviation, trials }: Spread) -> Self {
        Self { x, y: mean, deviation: deviation.unwrap_or(0.0), partial: trials.are_partial() }
    }

    /// A published value with its published deviation.
    pub fn quoted(x: f64, y: f64, deviation: f64) -> Self {
        Self { x, y, deviation, partial: false }
    }
}

/// x to the right, y down.
type Position = (f64, f64);

#[derive(Clone, Copy, Debug)]
struct Stroke {
    colour: Colour,
    width: f64,
    dashed: bool,
}

#[derive(Clone, Copy, Debug)]
enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Clone, Debug)]
enum Primitive {
    Line {
        places: Vec<Position>,
        stroke: Stroke,
    },
    /// Closed, filled, with an outline.
    Polygon {
        places: Vec<Position>,
        fill: Colour,
        stroke: Stroke,
    },
    Circle {
        centre: Position,
        radius: f64,
        fill: Colour,
        stroke: Stroke,
    },
    /// A picture in a square, magnified without smoothing; `place` is its upper left corner.
    Picture {
        place: Position,
        side: f64,
        pixels: Pixels,
    },
    /// One line; `turned` reads upwards.
    Text {
        place: Position,
        size: f64,
        anchor: Anchor,
        turned: bool,
        text: String,
    },
}

/// Shapes, the first below.
#[derive(Clone, Debug)]
pub struct Drawing {
    width: f64,
    height: f64,
    shapes: Vec<Primitive>,
}

impl Figure {
    /// The figure as shapes.
    pub fn draw(&self) -> Drawing {
        let columns = columns(self.panels.len());
        let width = PANEL_WIDTH * columns as f64;
        let room = PANEL_WIDTH - LEFT - RIGHT;
        let names = |panel: &Panel| {
            legend(&panel.series.iter().map(|series| &*series.label).collect::<Vec<_>>(), room)
        };
        let mut drawing = Drawing { width, height: 0.0, shapes: Vec::new() };
        let mut axes_end = 0.0;
        for row in self.panels.chunks(columns) {
            let legends: Vec<_> = row.iter().map(names).collect();
            let lines = legends.iter().flatten().map(|entry| entry.line + 1).max().unwrap_or(0);
            let top = drawing.height + TOP;
            let bottom = top + AXES_HEIGHT;
            for (at, (panel, legend)) in row.iter().zip(legends).enumerate() {
                let left = PANEL_WIDTH * at as f64 + LEFT;
                drawing.panel(panel, &legend, &PlotArea { left, top, right: left + room, bottom });
            }
            drawing.height = bottom + BOTTOM + LEGEND_LINE * lines as f64;
            axes_end = bottom;
        }
        let mut points = self.panels.iter().flat_map(Panel::points);
        if points.any(|point| point.partial) {
            let place = (width - RIGHT, axes_end + LABEL_BASE);
            drawing.text(place, LEGEND_TEXT, Anchor::End, "hollow: trials missing");
        }
        drawing
    }
}

/// How many panels stand in a row: as many rows as are needed, filled evenly.
fn columns(panels: usize) -> usize {
    const ONE_ROW: usize = 3;
    const MOST: usize = 4;
    if panels <= ONE_ROW { panels.max(1) } else { panels.div_ceil(panels.div_ceil(MOST).max(2)) }
}

impl Panel {
    fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(|series| series.points.iter().flatten())
    }
}

/// The rectangle of the axes.
struct PlotArea {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl PlotArea {
    fn x(&self, range: &Range, value: f64) -> f64 {
        self.left + (self.right - self.left) * range.share(value)
    }

    fn y(&self, range: &Range, value: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * range.share(value)
    }
}

impl Drawing {
    fn line(&mut self, places: Vec<Position>, colour: Colour, width: f64) {
        self.shapes.push(Primitive::Line { places, stroke: Stroke { colour, width, dashed: false } });
    }

    fn text(&mut self, place: Position, size: f64, anchor: Anchor, text: &str) {
        self.shapes.push(Primitive::Text { place, size, anchor, turned: false, text: text.to_owned() });
    }

    fn panel(&mut self, panel: &Panel, legend: &[Entry], frame: &PlotArea) {
        let x = panel.x.range(panel.points().map(|point| point.x));
        let ends = |point: &Point| [point.y, point.y - point.deviation, point.y + point.deviation];
        let y = panel.y.range(panel.points().flat_map(ends));
        self.axes(panel, frame, &x, &y);
        for series in &panel.series {
            self.series(series, frame, &x, &y);
        }
        let middle = f64::midpoint(frame.left, frame.right);
        self.text((middle, frame.top - TOP + TITLE_BASE), TITLE, Anchor::Middle, &panel.title);
        for (series, entry) in panel.series.iter().zip(legend) {
            let left = frame.left + entry.offset;
            let height = frame.bottom + LABEL_BASE + LEGEND_LINE * (entry.line + 1) as f64;
            self.joined(vec![(left, height - 5.0), (left + LEGEND_SAMPLE - 8.0, height - 5.0)], series.style);
            self.marker((left + (LEGEND_SAMPLE - 8.0) / 2.0, height - 5.0), series.style);
            self.text((left + LEGEND_SAMPLE, height), LEGEND_TEXT, Anchor::Start, &entry.label);
        }
    }

    fn axes(&mut self, panel: &Panel, frame: &PlotArea, x: &Range, y: &Range) {
        let &PlotArea { left, top, right, bottom } = frame;
        for tick in y.ticks() {
            let at = frame.y(y, tick.value);
            if tick.label.is_some() {
                self.line(vec![(left, at), (right, at)], GRID, 1.0);
            }
            let length = if tick.label.is_some() { TICK } else { TICK / 2.0 };
            self.line(vec![(left - length, at), (left, at)], BLACK, 1.0);
            if let Some(label) = &tick.label {
                self.text((left - TICK - 4.0, at + TEXT * 0.36), TEXT, Anchor::End, label);
            }
        }
        for tick in x.ticks() {
            let at = frame.x(x, tick.value);
            let length = if tick.label.is_some() { TICK } else { TICK / 2.0 };
            self.line(vec![(at, bottom), (at, bottom + length)], BLACK, 1.0);
            if let Some(label) = &tick.label {
                self.text((at, bottom + TICK + 3.0 + TEXT), TEXT, Anchor::Middle, label);
            }
        }
        self.line(vec![(left, top), (left, bottom), (right, bottom)], BLACK, 1.2);
        self.text((f64::midpoint(left, right), bottom + LABEL_BASE), TEXT, Anchor::Middle, panel.x.label);
        self.shapes.push(Primitive::Text {
            place: (left - LEFT + 20.0, f64::midpoint(top, bottom)),
            size: TEXT,
            anchor: Anchor::Middle,
            turned: true,
            text: panel.y.label.to_owned(),
        });
    }

    fn series(&mut self, series: &Curve, frame: &PlotArea, x: &Range, y: &Range) {
        let shown = |point: &Option<Point>| point.filter(|point| y.shows(point.y));
        let place = |point: Point| (frame.x(x, point.x), frame.y(y, point.y));
        for piece in series.points.split(|point| shown(point).is_none()) {
            self.joined(piece.iter().flatten().copied().map(place).collect(), series.style);
        }
        let points = || series.points.iter().filter_map(shown);
        for point in points().filter(|point| point.deviation > 0.0) {
            let at = frame.x(x, point.x);
            let ends = [point.y - point.deviation, point.y + point.deviation];
            let [low, high] = ends.map(|end| frame.y(y, end));
            self.line(vec![(at, low), (at, high)], series.style.colour, 1.3);
            // A bar that leaves a logarithmic axis has no end there.
            for (_, height) in ends.into_iter().zip([low, high]).filter(|(end, _)| y.shows(*end)) {
                self.line(vec![(at - CAP, height), (at + CAP, height)], series.style.colour, 1.3);
            }
        }
        for point in points() {
            let hollow = series.style.hollow || point.partial;
            self.marker(place(point), Style { hollow, ..series.style });
        }
    }

    fn joined(&mut self, places: Vec<Position>, style: Style) {
        if places.len() > 1 {
            let stroke = Stroke { colour: style.colour, width: style.width, dashed: style.dashed };
            self.shapes.push(Primitive::Line { places, stroke });
        }
    }

    fn marker(&mut self, (x, y): Position, Style { colour, marker, hollow, radius: r, .. }: Style) {
        if r == 0.0 {
            return;
        }
        let fill = if hollow { WHITE } else { colour };
        let stroke = Stroke {
            colour: if hollow { colour } else { WHITE },
            width: if hollow { 1.5 } else { 0.8 },
            dashed: false,
        };
        let places = match marker {
            Marker::Circle => {
                self.shapes.push(Primitive::Circle { centre: (x, y), radius: r, fill, stroke });
                return;
            }
            Marker::Square => vec![(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)],
            Marker::Triangle => {
                vec![(x, y - 1.3 * r), (x + 1.2 * r, y + 0.8 * r), (x - 1.2 * r, y + 0.8 * r)]
            }
            Marker::Diamond => {
                vec![(x, y - 1.35 * r), (x + 1.35 * r, y), (x, y + 1.35 * r), (x - 1.35 * r, y)]
            }
        };
        self.shapes.push(Primitive::Polygon { places, fill, stroke });
    }
}
