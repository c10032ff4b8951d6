//! The records of an experiment with SDP solvers, and what tables and figures ask of them.

use super::peers::Peers;
use super::plan::Runs;
use super::record::PeerRecord;
use super::sdp::{PlannedBound, PublishedPoint, Scale, SdpExperiment, SdpRecord, Solver};
use crate::decimal::{up, up_to_places};

/// Significant digits of measured numbers.
const DIGITS: usize = 3;
/// Where there is nothing to show.
pub(crate) const NOTHING: &str = "–";

/// What was planned, and what of it is there.
pub(crate) struct Results<'a, 'p> {
    pub(crate) experiment: &'a SdpExperiment,
    pub(crate) scale: &'a Scale,
    runs: &'a Runs<PlannedBound<'p>>,
    pub(crate) peers: Peers,
}

impl<'a, 'p> Results<'a, 'p> {
    pub(crate) fn new(
        experiment: &'a SdpExperiment,
        scale: &'a Scale,
        runs: &'a Runs<PlannedBound<'p>>,
        peers: Vec<PeerRecord>,
    ) -> Self {
        Self { experiment, scale, runs, peers: Peers::new(peers, experiment, scale) }
    }

    /// The trials of one solver for one dimension.
    pub(crate) fn of(&self, n: usize, solver: &Solver) -> impl Iterator<Item = &SdpRecord> {
        let label = &solver.label;
        self.runs
            .iter()
            .filter(move |(run, _)| run.n == n && run.solver.label == *label)
            .filter_map(|(_, record)| record)
    }

    /// Mean and deviation over the trials, none if any trial has none.
    pub(crate) fn spread(
        &self,
        n: usize,
        solver: &Solver,
        of: impl Fn(&SdpRecord) -> Option<f64>,
    ) -> Option<Spread> {
        let all: Option<Vec<f64>> = self.of(n, solver).map(of).collect();
        Spread::of(&all?, self.scale.trials as usize)
    }

    /// The largest over the trials, none if any trial has none: what holds for all of them.
    pub(crate) fn largest(
        &self,
        n: usize,
        solver: &Solver,
        of: impl Fn(&SdpRecord) -> Option<f64>,
    ) -> Option<Largest> {
        let all: Option<Vec<f64>> = self.of(n, solver).map(of).collect();
        let all = all?;
        let trials = Trials { there: all.len(), planned: self.scale.trials as usize };
        all.into_iter().reduce(f64::max).map(|value| Largest { value, trials })
    }

    /// What a reader has to know: where it was measured, what is missing, what fell short.
    pub(crate) fn notes(&self) -> Vec<String> {
        let trials = self.scale.trials;
        let mut notes = vec![if trials == 1 {
            "One matrix for each n.".to_owned()
        } else {
            format!(
                "Mean ± standard deviation over {trials} matrices for each n; times and bounds rounded up."
            )
        }];
        notes.extend(self.runs.measured());
        if let Some(paper) = &self.experiment.paper {
            notes.push(format!(
                "The paper's numbers: on {}; ratios to them compare machines too.",
                paper.machine
            ));
        }
        let partial = |missing| format!("{missing}; (1 of 3): from so many of the trials planned.");
        notes.extend(self.runs.incomplete().map(partial));
        notes.extend(self.runs.fell_short());
        notes
    }
}

/// Seconds a user waits for a proven bracket of a matrix in memory.
pub(crate) fn seconds(record: &SdpRecord) -> f64 {
    record.output.bound.seconds_solve + record.output.bound.seconds_check
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
