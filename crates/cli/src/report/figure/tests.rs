//! What a figure draws, by its shapes.

use super::*;
use crate::report::spread::{Spread, Trials};

fn point(x: f64, mean: f64, deviation: f64, there: usize) -> Point {
    let trials = Trials { there, planned: 3 };
    Point::measured(x, Spread { mean, deviation: Some(deviation), trials })
}

fn drawn(y: Axis, label: &str, points: Vec<Option<Point>>) -> Vec<Shape> {
    let series = vec![Series { label: label.to_owned(), points, style: Style::ours(0) }];
    Figure { panels: vec![Panel { title: String::new(), x: Axis::linear("n"), y, series }] }.draw().shapes
}

/// Lines of the colour of the series and of so great a width.
fn lines(shapes: &[Shape], wide: f64) -> Vec<&Vec<Place>> {
    shapes
        .iter()
        .filter_map(|shape| match shape {
            Shape::Line { places, stroke } if stroke.colour == PALETTE[0] && stroke.width == wide => {
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
        .filter_map(|shape| if let Shape::Circle { fill, .. } = shape { Some(*fill == WHITE) } else { None })
        .collect();
    assert_eq!(fills, [false, true, false], "two points and the legend");
    let says = |shapes: &[Shape]| {
        shapes.iter().any(|shape| matches!(shape, Shape::Text { text, .. } if text.starts_with("hollow")))
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
fn a_legend_stays_within_its_panel() {
    for label in ["a".to_owned(), "a rather long name of a solver ".repeat(4)] {
        for shape in drawn(Axis::linear(""), &label, vec![Some(point(1.0, 1.0, 0.0, 3))]) {
            if let Shape::Text { place, size, text, .. } = shape
                && text == label
            {
                assert!(place.0 + font::width(&text, size) <= PANEL_WIDTH - RIGHT + 1e-9, "{size}");
                assert!(label.len() > 1 || size == LEGEND_TEXT);
            }
        }
    }
}
