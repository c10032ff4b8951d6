//! Tables 2 and 3 of the paper: run times of SDP solvers.

use crate::rendered::Rendered;
use crate::report::decimal::down;
use crate::report::spread::{Largest, NOTHING, bound_cell, cell};
use crate::report::table::Table;
use crate::sdp::results::{Results, published_cell, seconds};
use crate::sdp::{PublishedSeries, SdpRecord, Solver};

/// Significant digits of a ratio of times.
const RATIO_DIGITS: usize = 3;

/// Table 2: seconds for each n and solver, beside the paper's and those of peers measured here.
pub(crate) fn runtime(results: &Results) -> Rendered {
    let caption = format!("Seconds to solve and prove, random {} matrices.", results.experiment.kind.name());
    let (mut table, rows) = started(results, caption);
    for solver in &results.experiment.solvers {
        table.column("here (s)", &solver.label, rows, |n| {
            cell(results.spread(n, solver, |record| Some(seconds(record))))
        });
    }
    for peer in results.peers.names() {
        table.column("peers here (s)", peer, rows, |n| results.peers.cell(n, peer));
    }
    for solver in &results.experiment.solvers {
        if let Some(series) =
            published(results).iter().find(|series| Some(&series.label) == solver.against.as_ref())
        {
            let heading = format!("{} / {}", series.label, solver.label);
            table.column("paper / here", &heading, rows, |n| ratio(results, n, series, solver));
        }
    }
    table.notes.extend(results.peers.notes());
    Rendered::of_table(table)
}

/// Table 3: where time and memory go for large matrices.
pub(crate) fn large_n(results: &Results) -> Rendered {
    let caption =
        format!("Large random {} matrices: time, certified gap, memory.", results.experiment.kind.name());
    let (mut table, rows) = started(results, caption);
    for solver in &results.experiment.solvers {
        let label = &solver.label;
        let mut measured = |group: &str, heading: &str, of: fn(&SdpRecord) -> Option<f64>| {
            table.column(group, heading, rows, |n| cell(results.spread(n, solver, of)));
        };
        if solver.check {
            measured(label, "generate (s)", |record| Some(record.output.bound.seconds_read));
        }
        measured(label, "solve (s)", |record| Some(record.output.bound.seconds_solve));
        measured(label, "check (s)", |record| Some(record.output.bound.seconds_check));
        table.column(label, "gap ≤", rows, |n| {
            bound_cell(results.largest(n, solver, |record| record.output.bound.gap))
        });
        if solver.check {
            let peak = |record: &SdpRecord| record.output.bound.peak_memory.map(|bytes| bytes as f64);
            memory(&mut table, results, solver, label, rows, peak);
            let group = format!("{label}, checked alone");
            let alone = |record: &SdpRecord| Some(record.output.check.as_ref()?.result.seconds_check);
            table.column(&group, "check (s)", rows, |n| cell(results.spread(n, solver, alone)));
            let peak = |record: &SdpRecord| {
                record.output.check.as_ref()?.result.peak_memory.map(|bytes| bytes as f64)
            };
            memory(&mut table, results, solver, &group, rows, peak);
        }
    }
    table.notes.push(MEMORY_NOTE.to_owned());
    Rendered::of_table(table)
}

const MEMORY_NOTE: &str = "gap: upper/sdp_lower − 1, proven, the largest of the trials. Memory: the largest peak of the \
                           trials, also as a multiple of the matrix of 8n² bytes.";

/// Peak memory in GB and as a multiple of the matrix.
fn memory(
    table: &mut Table,
    results: &Results,
    solver: &Solver,
    group: &str,
    rows: &[usize],
    peak: impl Fn(&SdpRecord) -> Option<f64> + Copy,
) {
    let most = |n| results.largest(n, solver, peak);
    let per = |n, unit| bound_cell(most(n).map(|bytes: Largest| bytes.per(unit)));
    table.column(group, "memory (GB)", rows, |n| per(n, 1e9));
    table.column(group, "× matrix", rows, |n| per(n, 8.0 * (n as f64).powi(2)));
}

/// The columns every table of this family begins with, and the dimensions of its rows.
fn started<'a>(results: &'a Results, caption: String) -> (Table, &'a [usize]) {
    let mut table = Table::new(caption, results.notes());
    let rows = &results.experiment.n;
    table.column("", "n", rows, |n| n.to_string());
    for series in published(results) {
        table.quoted("paper (s)", &series.label, rows, |n| published_cell(series.at(n)));
    }
    (table, rows)
}

fn published<'a>(results: &'a Results) -> &'a [PublishedSeries] {
    results.experiment.paper.as_ref().map_or(&[], |paper| &paper.series)
}

/// How many of our runs fit into the time the paper needed, rounded down.
fn ratio(results: &Results, n: usize, series: &PublishedSeries, solver: &Solver) -> String {
    match (series.at(n), results.spread(n, solver, |record| Some(seconds(record)))) {
        (Some(paper), Some(ours)) if ours.mean > 0.0 => {
            down(paper.mean / ours.mean, RATIO_DIGITS) + &ours.trials.to_string()
        }
        _ => NOTHING.to_owned(),
    }
}
