//! The records of an experiment, in the order of its plan, and what tables and figures ask of them.

use super::experiment::{Experiment, Planned, PublishedPoint, Scale, Solver};
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
    peers: Vec<PeerRecord>,
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
        Self { experiment, scale, runs, peers }
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
        Spread::of(&all?)
    }

    /// The largest over the trials, none if any trial has none: what holds for all of them.
    pub(crate) fn largest(
        &self,
        n: usize,
        solver: &Solver,
        of: impl Fn(&Record) -> Option<f64>,
    ) -> Option<f64> {
        let all: Option<Vec<f64>> = self.of(n, solver).map(of).collect();
        all?.into_iter().reduce(f64::max)
    }

    /// Seconds of another solver on matrices of this family.
    pub(crate) fn peer(&self, n: usize, solver: &str) -> Option<Spread> {
        let of = self.peers().filter(|peer| peer.n == n && peer.solver == solver);
        Spread::of(&of.map(|peer| peer.seconds).collect::<Vec<_>>())
    }

    /// Other solvers measured at a dimension of the plan, in the order of the file.
    pub(crate) fn peer_names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for peer in self.peers().filter(|peer| self.scale.n.contains(&peer.n)) {
            if !names.contains(&peer.solver.as_str()) {
                names.push(&peer.solver);
            }
        }
        names
    }

    /// Without gambeson's own rows, which are there as the judge of the others.
    fn peers(&self) -> impl Iterator<Item = &PeerRecord> {
        let ours = |peer: &PeerRecord| peer.solver.starts_with(env!("CARGO_PKG_NAME"));
        self.peers.iter().filter(move |peer| peer.kind == self.experiment.kind.name() && !ours(peer))
    }

    /// What a reader has to know: where it was measured, what is missing, what fell short.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut machines: Vec<String> = Vec::new();
        for Record { threads, version, cpu, .. } in self.records() {
            let cpu = cpu.as_deref().unwrap_or("unknown processor");
            let plural = if *threads == 1 { "" } else { "s" };
            let machine = format!("gambeson {version} on {cpu}, {threads} thread{plural}");
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
                "Incomplete: {} of {} runs are there.",
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

/// Mean and standard deviation, the latter with n − 1 below and only where there are two numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) mean: f64,
    pub(crate) deviation: Option<f64>,
}

impl Spread {
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
        (!values.is_empty()).then_some(Self { mean, deviation })
    }

    /// `mean ± deviation`, both rounded up, to as many places as the mean shows.
    pub(crate) fn text(self, digits: usize) -> String {
        let mean = up(self.mean, digits);
        let Some(deviation) = self.deviation else { return mean };
        let places = mean.split_once('.').map_or(0, |(_, places)| places.len());
        if mean.contains('e') {
            return format!("{mean} ± {}", up(deviation, 2));
        }
        format!("{mean} ± {}", up_to_places(deviation, places))
    }
}

/// A measured number as a cell.
pub(crate) fn cell(spread: Option<Spread>) -> String {
    spread.map_or(NOTHING.to_owned(), |spread| spread.text(DIGITS))
}

/// A bound, a size or another number that is safe rounded up, as a cell.
pub(crate) fn bound_cell(value: Option<f64>) -> String {
    value.map_or(NOTHING.to_owned(), |value| up(value, DIGITS))
}

/// As the paper prints it.
pub(crate) fn published_cell(point: Option<PublishedPoint>) -> String {
    point.map_or(NOTHING.to_owned(), |PublishedPoint { mean, deviation, .. }| format!("{mean} ± {deviation}"))
}
