//! `gambeson reproduce --dry-run`: what there is to do, and how long it takes.

use super::live::LiveRuns;
use super::params::params;
use crate::args::ReproduceArguments;
use crate::ended::Ended;
use crate::progress::duration;
use gambeson::Context;
use gambeson_report::table::Table;
use gambeson_reproduce::{Estimate, NetworkEstimate, ObjectName, Timings, estimate};
use std::collections::BTreeSet;
use std::io::Write;

const NOTE: &str = "Networks of several figures count in the first. Training is extrapolated from steps timed on this machine \
    with its other work; certification, from forward passes. Other runs are not timed; nor are fits of projections.";

pub(super) fn run(
    arguments: &ReproduceArguments,
    names: &[ObjectName],
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    let mut timings = Timings::default();
    let live = LiveRuns::default();
    let mut rows: Vec<Row> = Vec::new();
    let (mut trained, mut certified) = (BTreeSet::new(), BTreeSet::new());
    for &name in names {
        let params = params(arguments, name)?;
        let found = estimate(context, &params, &mut timings, &|event| live.see(event))?;
        if arguments.json {
            writeln!(stdout, "{}", gambeson_report::json::line(&found)?)?;
        }
        rows.push(Row::new(&found, &mut trained, &mut certified));
    }
    if !arguments.json {
        if rows.len() > 1 {
            rows.push(rows.iter().fold(Row::total(), Row::plus));
        }
        write!(stdout, "{}", table(arguments, &rows).terminal())?;
    }
    stdout.flush()?;
    Ok(Ended::AsAsked)
}

/// What there is to do for a name.
struct Row {
    name: &'static str,
    runs: usize,
    missing: usize,
    /// Networks to train.
    networks: usize,
    training: Option<f64>,
    certification: Option<f64>,
}

impl Row {
    fn new(found: &Estimate, trained: &mut BTreeSet<String>, certified: &mut BTreeSet<String>) -> Self {
        let new: Vec<&NetworkEstimate> = found.networks.iter().collect();
        let to_train: Vec<&&NetworkEstimate> =
            new.iter().filter(|one| !one.trained && trained.insert(one.run.clone())).collect();
        let to_certify: Vec<&&NetworkEstimate> =
            new.iter().filter(|one| certified.insert(one.run.clone())).collect();
        Self {
            name: found.name.name(),
            runs: found.runs,
            missing: found.missing,
            networks: to_train.len(),
            training: to_train.iter().map(|one| one.training_seconds).sum(),
            certification: to_certify.iter().map(|one| one.certification_seconds).sum(),
        }
    }

    fn total() -> Self {
        Self { name: "all", runs: 0, missing: 0, networks: 0, training: Some(0.0), certification: Some(0.0) }
    }

    fn plus(self, other: &Self) -> Self {
        Self {
            name: self.name,
            runs: self.runs + other.runs,
            missing: self.missing + other.missing,
            networks: self.networks + other.networks,
            training: self.training.zip(other.training).map(|(one, two)| one + two),
            certification: self.certification.zip(other.certification).map(|(one, two)| one + two),
        }
    }
}

fn table(arguments: &ReproduceArguments, rows: &[Row]) -> Table {
    let caption = format!("What is to be done at scale {}.", arguments.scale.name());
    let mut table = Table::new(caption, vec![NOTE.to_owned()]);
    let rows: Vec<&Row> = rows.iter().collect();
    let time = |seconds: Option<f64>| match seconds {
        None => "?".to_owned(),
        Some(0.0) => "–".to_owned(),
        Some(seconds) => duration(seconds),
    };
    table.words("name", &rows, |row| row.name.to_owned());
    table.column("", "runs", &rows, |row| row.runs.to_string());
    table.column("", "missing", &rows, |row| row.missing.to_string());
    table.column("", "to train", &rows, |row| row.networks.to_string());
    table.column("", "training", &rows, |row| time(row.training));
    table.column("", "certifying", &rows, |row| time(row.certification));
    table
}
