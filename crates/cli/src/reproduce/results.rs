//! The records of an experiment, in the order of its plan, and what tables and figures ask of them.

use super::experiment::{Experiment, Planned, PublishedPoint, Scale, Solver};
use super::peers::Peers;
use super::record::{PeerRecord, Record};
use crate::decimal::{up, up_to_places};

/// Significant digits of measured numbers.
const DIGITS: usize = 3;
/// Where there is nothing to show.
pub(crate) const NOTHING: &str = "–";

/// What was planned, and what of it is there.
pub(crate) struct Results<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) scale: &'a Scale,
    runs: Vec<(Planned<'a>, Option<Record>)>,
    pub(crate) peers: Peers,
}

impl<'a> Results<'a> {
    /// Records of other settings are left out; of two of one run the later counts.
    pub(crate) fn new(
        experiment: &'a Experiment,
        scale: &'a Scale,
        mut records: Vec<Record>,
        peers: Vec<PeerRecord>,
    ) -> Self {
        let plan = experiment.plan(scale).into_iter();
        let runs = plan
            .map(|run| {
                let found = records.iter().rposition(|record| run.matches(record));
                (run, found.map(|at| records.remove(at)))
            })
            .collect();
        Self { experiment, scale, runs, peers: Peers::new(peers, experiment, scale) }
    }

    pub(crate) fn runs_mut(&mut self) -> impl Iterator<Item = (Planned<'a>, &mut Option<Record>)> {
        self.runs.iter_mut().map(|(run, record)| (*run, record))
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        self.runs.iter().filter_map(|(_, record)| record.as_ref())
    }

    pub(crate) fn missing(&self) -> usize {
        self.runs.len() - self.records().count()
    }

    /// Runs that are there and did not reach what was asked.
    pub(crate) fn short(&self) -> impl Iterator<Item = Planned<'a>> {
        self.runs
            .iter()
            .filter(|(run, record)| record.as_ref().is_some_and(|record| !run.as_asked(record)))
            .map(|(run, _)| *run)
    }

    /// The trials of one solver for one dimension.
    pub(crate) fn of(&self, n: usize, solver: &Solver) -> impl Iterator<Item = &Record> {
        let label = &solver.label;
        self.runs
            .iter()
            .filter(move |(run, _)| run.n == n && run.solver.label == *label)
            .filter_map(|(_, record)| record.as_ref())
    }

    /// Mean and deviation over the trials, none if any trial has none.
    pub(crate) fn spread(
        &self,
        n: usize,
        solver: &Solver,
        of: impl Fn(&Record) -> Option<f64>,
    ) -> Option<Spread> {
        let all: Option<Vec<f64>> = self.of(n, solver).map(of).collect();
        Spread::of(&all?, self.scale.trials as usize)
    }

    /// The largest over the trials, none if any trial has none: what holds for all of them.
    pub(crate) fn largest(
        &self,
        n: usize,
        solver: &Solver,
        of: impl Fn(&Record) -> Option<f64>,
    ) -> Option<Largest> {
        let all: Option<Vec<f64>> = self.of(n, solver).map(of).collect();
        let all = all?;
        let trials = Trials { there: all.len(), planned: self.scale.trials as usize };
        all.into_iter().reduce(f64::max).map(|value| Largest { value, trials })
    }

    /// What a reader has to know: where it was measured, what is missing, what fell short.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut machines: Vec<String> = Vec::new();
        for record in self.records() {
            let machine = record.setup.to_string();
            if !machines.contains(&machine) {
                machines.push(machine);
            }
        }
        let trials = self.scale.trials;
        let mut notes = vec![if trials == 1 {
            "One matrix for each n.".to_owned()
        } else {
            format!(
                "Mean ± standard deviation over {trials} matrices for each n; times and bounds rounded up."
            )
        }];
        if !machines.is_empty() {
            notes.push(format!("Measured: {}.", machines.join("; ")));
        }
        if let Some(paper) = &self.experiment.paper {
            notes.push(format!(
                "The paper's numbers: on {}; ratios to them compare machines too.",
                paper.machine
            ));
        }
        if self.missing() > 0 {
            notes.push(format!(
                "Incomplete: {} of {} runs are there; (1 of 3): from so many of the trials planned.",
                self.records().count(),
                self.runs.len()
            ));
        }
        let short: Vec<String> = self.short().map(|run| run.to_string()).collect();
        if !short.is_empty() {
            notes.push(format!("Fell short of what was asked: {}.", short.join("; ")));
        }
        notes
    }
}

/// Seconds a user waits for a proven bracket of a matrix in memory.
pub(crate) fn seconds(record: &Record) -> f64 {
    record.bound.seconds_solve + record.bound.seconds_check
}

/// How many trials a number is from; shown where some are missing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trials {
    pub(crate) there: usize,
    pub(crate) planned: usize,
}

impl Trials {
    pub(crate) fn are_partial(self) -> bool {
        self.there < self.planned
    }
}

impl std::fmt::Display for Trials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.are_partial() { write!(f, " ({} of {})", self.there, self.planned) } else { Ok(()) }
    }
}

/// The largest number of all trials.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Largest {
    pub(crate) value: f64,
    pub(crate) trials: Trials,
}

impl Largest {
    /// In another unit.
    pub(crate) fn per(self, unit: f64) -> Self {
        Self { value: self.value / unit, ..self }
    }
}

/// Mean and standard deviation, the latter with n − 1 below and only where there are two numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) mean: f64,
    pub(crate) deviation: Option<f64>,
    pub(crate) trials: Trials,
}

impl Spread {
    pub(crate) fn of(values: &[f64], planned: usize) -> Option<Self> {
        let trials = Trials { there: values.len(), planned };
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
        (!values.is_empty()).then_some(Self { mean, deviation, trials })
    }

    /// `mean ± deviation`, both rounded up, to as many places as the mean shows.
    pub(crate) fn text(self, digits: usize) -> String {
        let (mean, trials) = (up(self.mean, digits), self.trials);
        let Some(deviation) = self.deviation else { return format!("{mean}{trials}") };
        let places = mean.split_once('.').map_or(0, |(_, places)| places.len());
        let deviation = if mean.contains('e') { up(deviation, 2) } else { up_to_places(deviation, places) };
        format!("{mean} ± {deviation}{trials}")
    }
}

/// A measured number as a cell.
pub(crate) fn cell(spread: Option<Spread>) -> String {
    spread.map_or(NOTHING.to_owned(), |spread| spread.text(DIGITS))
}

/// A bound, a size or another number that is safe rounded up, as a cell.
pub(crate) fn bound_cell(largest: Option<Largest>) -> String {
    largest.map_or(NOTHING.to_owned(), |Largest { value, trials }| format!("{}{trials}", up(value, DIGITS)))
}

/// As the paper prints it.
pub(crate) fn published_cell(point: Option<PublishedPoint>) -> String {
    point.map_or(NOTHING.to_owned(), |PublishedPoint { mean, deviation, .. }| format!("{mean} ± {deviation}"))
}
