//! The records of an experiment with SDP solvers, and what tables and figures ask of them.

use crate::plan::Runs;
use crate::record::PeerRecord;
use crate::report::spread::{Largest, NOTHING, Spread, Trials};
use crate::sdp::peers::Peers;
use crate::sdp::{PlannedBound, PublishedPoint, SdpExperiment, SdpRecord, Solver};

/// The plan, with the records that exist.
pub(crate) struct Results<'a, 'p> {
    pub(crate) experiment: &'a SdpExperiment,
    runs: &'a Runs<PlannedBound<'p>>,
    pub(crate) peers: Peers,
}

impl<'a, 'p> Results<'a, 'p> {
    pub(crate) fn new(
        experiment: &'a SdpExperiment,
        runs: &'a Runs<PlannedBound<'p>>,
        peers: Vec<PeerRecord>,
    ) -> Self {
        Self { experiment, runs, peers: Peers::new(peers, experiment) }
    }

    /// The trials of one solver for one dimension.
    pub(crate) fn of(&self, n: usize, solver: &Solver) -> impl Iterator<Item = &SdpRecord> {
        let label = &solver.label;
        self.runs
            .iter()
            .filter(move |(run, _)| run.n == n && run.solver.label == *label)
            .filter_map(|(_, record)| record)
    }

    /// Mean and deviation over the trials; None if a trial has no number.
    pub(crate) fn spread(
        &self,
        n: usize,
        solver: &Solver,
        of: impl Fn(&SdpRecord) -> Option<f64>,
    ) -> Option<Spread> {
        let all: Option<Vec<f64>> = self.of(n, solver).map(of).collect();
        Spread::of(&all?, self.experiment.trials as usize)
    }

    /// The largest over the trials, which holds for all of them; None if a trial has no number.
    pub(crate) fn largest(
        &self,
        n: usize,
        solver: &Solver,
        of: impl Fn(&SdpRecord) -> Option<f64>,
    ) -> Option<Largest> {
        let all: Option<Vec<f64>> = self.of(n, solver).map(of).collect();
        let all = all?;
        let trials = Trials { there: all.len(), planned: self.experiment.trials as usize };
        all.into_iter().reduce(f64::max).map(|value| Largest { value, trials })
    }

    /// What a reader has to know: where it was measured, what is missing, what fell short.
    pub(crate) fn notes(&self) -> Vec<String> {
        let trials = self.experiment.trials;
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
        let partial = |missing| format!("{missing}; (1 of 3): from one of three planned trials.");
        notes.extend(self.runs.incomplete().map(partial));
        notes.extend(self.runs.fell_short());
        notes
    }
}

/// Seconds a user waits for a proven bracket of a matrix in memory.
pub(crate) fn seconds(record: &SdpRecord) -> f64 {
    record.output.bound.seconds_solve + record.output.bound.seconds_check
}

/// As the paper prints it.
pub(crate) fn published_cell(point: Option<PublishedPoint>) -> String {
    point.map_or(NOTHING.to_owned(), |PublishedPoint { mean, deviation, .. }| format!("{mean} ± {deviation}"))
}
