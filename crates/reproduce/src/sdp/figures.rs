//! Figures 8 and 9 of the paper: time, value and error of Algorithm 2 against an exact solver.

use crate::rendered::Rendered;
use crate::report::figure::{Axis, Curve, Figure, Panel, Point, Style};
use crate::report::spread::{NOTHING, Spread, bound_cell, cell};
use crate::report::table::Table;
use crate::sdp::results::{Results, seconds};
use crate::sdp::{SdpRecord, Solver};
use gambeson_checker::rounding::{add_up, div_up, mul_up};

/// Significant digits of values, enough to tell the solvers apart.
const VALUE_DIGITS: usize = 6;

/// Three panels: seconds, proven values, and what is known about their errors.
pub(crate) fn comparison(results: &Results) -> Rendered {
    Rendered::of_table(table(results)).with_figure(figure(results).draw())
}

/// The solver that stands for the exact value: the one asked for the smallest gap.
fn is_reference(results: &Results, solver: &Solver) -> bool {
    results.experiment.solvers.iter().all(|other| other.gap >= solver.gap)
}

/// By how many per cent a solver's value exceeds the proven lower end of the reference on the same matrix, which is no
/// less than its true error; over the trials that both have.
fn error(results: &Results, n: usize, solver: &Solver) -> Option<Spread> {
    let reference = results.experiment.solvers.iter().find(|other| is_reference(results, other))?;
    let pairs = results.of(n, solver).filter_map(|ours| {
        let exact = results.of(n, reference).find(|exact| exact.case.seed == ours.case.seed)?;
        per_cent_above(ours.output.bound.upper, exact.output.bound.sdp_lower)
    });
    Spread::of(&pairs.collect::<Vec<_>>(), results.experiment.trials as usize)
}

/// 100·(upper/lower − 1), every rounding upwards.
fn per_cent_above(upper: f64, lower: f64) -> Option<f64> {
    (lower > 0.0).then(|| mul_up(add_up(div_up(upper, lower), -1.0), 100.0))
}

fn gap_per_cent(record: &SdpRecord) -> Option<f64> {
    record.output.bound.gap.map(|gap| mul_up(gap, 100.0))
}

fn table(results: &Results) -> Table {
    let caption = format!(
        "Random {} matrices: seconds to solve and prove, proven upper bounds, and their errors.",
        results.experiment.kind.name()
    );
    let mut table = Table::new(caption, results.notes());
    let rows = &results.experiment.n[..];
    table.column("", "n", rows, |n| n.to_string());
    for solver in &results.experiment.solvers {
        let label = &solver.label;
        table.column(label, "seconds", rows, |n| {
            cell(results.spread(n, solver, |record| Some(seconds(record))))
        });
        table.column(label, "value ≤", rows, |n| {
            let value = results.spread(n, solver, |record| Some(record.output.bound.upper));
            value.map_or(NOTHING.to_owned(), |value| value.text(VALUE_DIGITS))
        });
        table.column(label, "gap ≤ (%)", rows, |n| bound_cell(results.largest(n, solver, gap_per_cent)));
        if !is_reference(results, solver) {
            table.column(label, "error ≤ (%)", rows, |n| cell(error(results, n, solver)));
        }
    }
    table.notes.push(ERROR_NOTE.to_owned());
    table
}

const ERROR_NOTE: &str = "error: how far the value exceeds the proven lower end of the solver with the smallest gap, on the \
                          same matrix. gap: upper/sdp_lower − 1, proven, the largest of the trials.";

fn figure(results: &Results) -> Figure {
    let solvers = &results.experiment.solvers;
    let n = Axis::linear("n");
    let series = |at: usize, label: String, of: &dyn Fn(usize) -> Option<Spread>| {
        let points =
            results.experiment.n.iter().map(|&n| of(n).map(|spread| Point::measured(n as f64, spread)));
        Curve { label, points: points.collect(), style: Style::ours(at) }
    };
    let mut time: Vec<Curve> = solvers
        .iter()
        .enumerate()
        .map(|(at, solver)| {
            let label = format!("{}, gap {:e}", solver.label, solver.gap);
            series(at, label, &|n| results.spread(n, solver, |record| Some(seconds(record))))
        })
        .collect();
    for (at, published) in results.experiment.paper.iter().flat_map(|paper| &paper.series).enumerate() {
        let points = published
            .points
            .iter()
            .map(|point| Some(Point::quoted(point.n as f64, point.mean, point.deviation)));
        let label = format!("{} (paper)", published.label);
        time.push(Curve { label, points: points.collect(), style: Style::quoted(at) });
    }
    // Values that differ by less than a marker is wide: one in front of the other.
    let values = solvers.iter().enumerate().map(|(at, solver)| {
        let of = |n| results.spread(n, solver, |record| Some(record.output.bound.upper));
        let Curve { label, points, style } = series(at, solver.label.clone(), &of);
        Curve { label, points, style: if is_reference(results, solver) { style } else { style.underneath() } }
    });
    let gaps = solvers.iter().enumerate().map(|(at, solver)| {
        series(at, format!("gap of {}", solver.label), &|n| results.spread(n, solver, gap_per_cent))
    });
    let errors = solvers.iter().enumerate().filter(|(_, solver)| !is_reference(results, solver)).map(
        |(at, solver)| {
            let label = format!("error of {}", solver.label);
            series(solvers.len() + at, label, &|n| error(results, n, solver))
        },
    );
    Figure {
        panels: vec![
            Panel {
                title: "Time".to_owned(),
                x: n,
                y: Axis::log("seconds to solve and prove"),
                series: time,
            },
            Panel {
                title: "Proven upper bound".to_owned(),
                x: n,
                y: Axis::linear("proven value"),
                series: values.collect(),
            },
            Panel {
                title: "Relative error and certified gap".to_owned(),
                x: n,
                y: Axis::log("% of the value"),
                series: errors.chain(gaps).collect(),
            },
        ],
    }
}
