//! What a figure draws, by its shapes.

use super::style::PALETTE;
use super::*;
use crate::spread::{Spread, Trials};

fn point(x: f64, mean: f64, deviation: f64, there: usize) -> Point {
    let trials = Trials { there, planned: 3 };
    Point::measured(x, Spread { mean, deviation: Some(deviation), trials })
}

fn drawn(y: Axis, label: &str, points: Vec<Option<Point>>) -> Vec<Primitive> {
    let series = vec![Curve { label: label.to_owned(), points, style: Style::ours(0) }];
    Figure { panels: vec![Panel { title: String::new(), x: Axis::linear("n"), y, series }] }.draw().shapes
}

/// Lines in the colour of the series and of this width.
fn lines(shapes: &[Primitive], wide: f64) -> Vec<&Vec<Position>> {
    shapes
        .iter()
        .filter_map(|shape| match shape {
            Primitive::Line { places, stroke } if stroke.colour == PALETTE[0] && stroke.width == wide => {
                Some(places)
            }
            _ => None,
        })
        .collect()
}

#[test]
fn lines_end_where_a_number_is_missing() {
    let points = vec![
        Some(point(1.0, 1.0, 0.0, 3)),
        Some(point(2.0, 2.0, 0.0, 3)),
        None,
        Some(point(4.0, 4.0, 0.0, 3)),
    ];
    let whole = drawn(Axis::log(""), "a", points);
    // One of two points, and the sample of the legend.
    assert_eq!(lines(&whole, 1.8).iter().map(|places| places.len()).collect::<Vec<_>>(), [2, 2]);
    let zero =
        vec![Some(point(1.0, 1.0, 0.0, 3)), Some(point(2.0, 0.0, 0.0, 3)), Some(point(3.0, 1.0, 0.0, 3))];
    assert_eq!(lines(&drawn(Axis::log(""), "a", zero), 1.8).len(), 1, "nor over what the axis cannot show");
}

#[test]
fn points_of_some_trials_are_hollow_and_the_figure_says_so() {
    let shapes =
        drawn(Axis::linear(""), "a", vec![Some(point(1.0, 1.0, 0.1, 3)), Some(point(2.0, 2.0, 0.1, 2))]);
    let fills: Vec<bool> = shapes
        .iter()
        .filter_map(
            |shape| if let Primitive::Circle { fill, .. } = shape { Some(*fill == WHITE) } else { None },
        )
        .collect();
    assert_eq!(fills, [false, true, false], "two points and the legend");
    let says = |shapes: &[Primitive]| {
        shapes.iter().any(|shape| matches!(shape, Primitive::Text { text, .. } if text.starts_with("hollow")))
    };
    assert!(says(&shapes));
    assert!(!says(&drawn(Axis::linear(""), "a", vec![Some(point(1.0, 1.0, 0.1, 3))])));
}

#[test]
fn a_bar_down_to_zero_has_no_end_on_a_logarithmic_axis() {
    for (y, bars) in [(Axis::log(""), 2 + 3), (Axis::linear(""), 3 + 3)] {
        let shapes = drawn(y, "a", vec![Some(point(1.0, 1.0, 1.5, 3)), Some(point(2.0, 1.0, 0.5, 3))]);
        assert_eq!(lines(&shapes, 1.3).len(), bars);
    }
}

#[test]
fn a_legend_stays_within_its_panel_below_the_axes() {
    let long = "a rather long name of a solver ".repeat(4);
    let whole = ["a", &long, "last"].map(str::to_owned);
    let series = whole.iter().map(|label| Curve {
        label: label.clone(),
        points: vec![Some(point(1.0, 1.0, 0.0, 3))],
        style: Style::ours(0),
    });
    let panel = |series| Panel { title: String::new(), x: Axis::linear("n"), y: Axis::linear(""), series };
    let drawing = Figure { panels: vec![panel(series.collect())] }.draw();
    let axes = TOP + AXES_HEIGHT;
    let texts: Vec<(f64, f64, &String)> = drawing
        .shapes
        .iter()
        .filter_map(|shape| match shape {
            Primitive::Text { place, size, text, .. } if *size == LEGEND_TEXT => {
                Some((place.0, place.1, text))
            }
            _ => None,
        })
        .collect();
    assert_eq!(texts.len(), 3);
    for (left, height, text) in &texts {
        assert!(left + font::width(text, LEGEND_TEXT) <= PANEL_WIDTH - RIGHT + 1e-9, "{text}");
        assert!(*height > axes && *height < drawing.height, "{text}");
    }
    assert_eq!([texts[0].2.as_str(), texts[2].2.as_str()], ["a", "last"]);
    assert!(texts[1].2.starts_with("a rather long") && texts[1].2.contains('…'), "{}", texts[1].2);
    assert!(texts[1].2.ends_with("a solver "), "{}", texts[1].2);
}

#[test]
fn a_longer_legend_makes_the_figure_taller_and_the_plot_no_smaller() {
    let height = |count: usize| {
        let series = (0..count).map(|at| Curve {
            label: format!("a name that is about as long as a line, number {at}"),
            points: vec![Some(point(1.0, 1.0, 0.0, 3))],
            style: Style::curve(at),
        });
        let (x, y) = (Axis::linear("n"), Axis::linear(""));
        let drawing =
            Figure { panels: vec![Panel { title: String::new(), x, y, series: series.collect() }] }.draw();
        let axis = drawing.shapes.iter().find_map(|shape| match shape {
            Primitive::Line { places, .. } if places.len() == 3 => Some(places[1].1 - places[0].1),
            _ => None,
        });
        (drawing.height, axis.expect("the axes"))
    };
    let ((few, plot), (many, same)) = (height(1), height(12));
    assert!(plot == AXES_HEIGHT && same == plot && many > few + 11.0 * 20.0);
}

#[test]
fn channels_of_pictures_have_their_own_colours() {
    let [red, green, blue] = ["R", "G", "B"].map(|name| Style::channel(name, 0).colour);
    let large = |Colour(a, b, c): Colour, at: usize| [a, b, c][at] > 2 * [a, b, c][(at + 1) % 3];
    assert!(large(red, 0) && large(green, 1) && large(blue, 2));
    assert!(Style::channel("channel 1", 1).colour == PALETTE[1]);
    assert!(Style::channel("R", 0).thin().colour == red);
}

#[test]
fn many_panels_stand_in_rows() {
    let size = |panels: usize| {
        let series = || vec![Curve { label: "a".to_owned(), points: Vec::new(), style: Style::curve(0) }];
        let panel =
            |_| Panel { title: "t".to_owned(), x: Axis::linear("x"), y: Axis::linear("y"), series: series() };
        let drawing = Figure { panels: (0..panels).map(panel).collect() }.draw();
        let titles: Vec<Position> = drawing
            .shapes
            .iter()
            .filter_map(|shape| match shape {
                Primitive::Text { place, text, .. } if text == "t" => Some(*place),
                _ => None,
            })
            .collect();
        assert!(titles.iter().all(|(x, y)| *x < drawing.width && *y < drawing.height), "{titles:?}");
        let row = titles.iter().filter(|(_, y)| *y == titles[0].1).count();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a few
        let rows = (drawing.height / size_of_row()).round() as usize;
        (row, rows)
    };
    for (panels, row, rows) in [(1, 1, 1), (3, 3, 1), (4, 2, 2), (6, 3, 2), (8, 4, 2), (9, 3, 3)] {
        assert_eq!(size(panels), (row, rows), "{panels}");
    }
}

/// The height of a row of panels with one line of legend.
fn size_of_row() -> f64 {
    TOP + AXES_HEIGHT + BOTTOM + LEGEND_LINE
}
