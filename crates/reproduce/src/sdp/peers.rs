//! Runs of other solvers, as `bench/peers/sdp/solvers.py` records them, beside ours.

use crate::record::PeerRecord;
use crate::report::decimal::down;
use crate::report::spread::{NOTHING, Spread, cell};
use crate::sdp::SdpExperiment;

/// After a time whose run did not do what was asked.
const MARK: &str = " †";
/// Significant digits of a limit that was not enough.
const LIMIT_DIGITS: usize = 3;

/// The runs on the matrices of an experiment.
pub(crate) struct Peers(Vec<PeerRecord>);

impl Peers {
    /// Without gambeson's own rows, which are in the file to judge the others.
    pub(crate) fn new(all: Vec<PeerRecord>, experiment: &SdpExperiment) -> Self {
        let ours = |peer: &PeerRecord| peer.solver.starts_with("gambeson");
        let kind = experiment.kind.name();
        let wanted = |peer: &PeerRecord| peer.kind == kind && experiment.n.contains(&peer.n) && !ours(peer);
        Self(all.into_iter().filter(wanted).collect())
    }

    /// In the order of the file.
    pub(crate) fn names(&self) -> Vec<&str> {
        distinct(self.0.iter().map(|peer| peer.solver.as_str()))
    }

    fn of(&self, n: usize, solver: &str) -> Vec<&PeerRecord> {
        self.0.iter().filter(|peer| peer.n == n && peer.solver == solver).collect()
    }

    /// Seconds. With runs that timed out among them, what the mean is more than.
    pub(crate) fn cell(&self, n: usize, solver: &str) -> String {
        let runs = self.of(n, solver);
        if runs.is_empty() {
            return NOTHING.to_owned();
        }
        let of_all = |count: usize| {
            if count < runs.len() { format!(" ({count} of {})", runs.len()) } else { String::new() }
        };
        let failed = runs.iter().filter(|run| run.seconds.is_none()).count();
        let seconds: Vec<f64> = runs.iter().filter_map(|run| run.seconds).collect();
        if failed > 0 {
            return format!("failed{}", of_all(failed));
        }
        let stopped = runs.iter().filter(|run| run.value.is_none()).count();
        if stopped > 0 {
            let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
            return format!("> {}{}", down(mean, LIMIT_DIGITS), of_all(stopped));
        }
        let mark = if runs.iter().any(|run| run.is_short()) { MARK } else { "" };
        cell(Spread::of(&seconds, seconds.len())) + mark
    }

    /// Where they were measured, on how many matrices, and what the marks mean.
    pub(crate) fn notes(&self) -> Vec<String> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let machines = distinct(self.0.iter().map(|peer| {
            let cpu = peer.cpu.as_deref().unwrap_or("an unknown processor");
            let threads =
                peer.threads.map_or("an unknown number of".to_owned(), |threads| threads.to_string());
            format!("{cpu}, {threads} thread{}", if peer.threads == Some(1) { "" } else { "s" })
        }));
        let counts = || self.0.iter().map(|peer| self.of(peer.n, &peer.solver).len());
        let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
        let count = if least == most { most.to_string() } else { format!("{least} to {most}") };
        let plural = if most == 1 { "" } else { "s" };
        let mut notes = vec![format!(
            "Peers: measured by bench/peers/sdp on {}, on {count} other instance{plural} of the family for each n; they \
             prove nothing.",
            machines.join("; ")
        )];
        let has = |of: fn(&PeerRecord) -> bool| self.0.iter().any(of);
        if has(PeerRecord::is_short) {
            notes.push(
                "†: some run ended without reaching its target, or claims less than the proven lower end."
                    .to_owned(),
            );
        }
        if has(|run| run.value.is_none() && run.seconds.is_some()) {
            notes.push(
                "\"> N\": no result after N seconds; with (1 of 3), in one of three instances, N being the mean of all."
                    .to_owned(),
            );
        }
        notes
    }
}

/// Each once, in the order of their first appearance.
fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut kept, item| {
        if !kept.contains(&item) {
            kept.push(item);
        }
        kept
    })
}
