//! The runs of an experiment: planned, looked up among existing records, and made if missing.

use crate::error::{ReproduceError, RunError};
use crate::event::{ReproduceEvent, Watch};
use crate::program::{Called, Caller};
use crate::record::{Record, Setup, Store};
use gambeson_learn::train::TrainSpec;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A record of a run of this kind.
pub(crate) type RecordOf<P> = Record<<P as Planned>::Case, <P as Planned>::Output>;

/// A run of a plan: `gambeson` with these arguments.
pub(crate) trait Planned: std::fmt::Display {
    /// Whether what is shown are times, which are of one machine, or results that are the same to the bit on all of them.
    const TIMES: bool = true;

    /// What it is run on.
    type Case: Serialize + DeserializeOwned;
    /// What it prints.
    type Output: Serialize + DeserializeOwned;

    fn case(&self) -> Self::Case;

    /// The label of the solver or method.
    fn label(&self) -> &str;

    /// Places in the plan, before this one, of the runs that this one builds on.
    fn needs(&self) -> &[usize] {
        &[]
    }

    /// What `gambeson` is called with, without what changes from one call to the next; `needed` are the records of the
    /// runs that this one builds on.
    fn arguments(&self, needed: &[&RecordOf<Self>]) -> Vec<String>;

    /// Whether an output has all parts that are asked for.
    fn is_whole(&self, _: &Self::Output) -> bool {
        true
    }

    /// The network that it trains or certifies, if it does either.
    fn network_work(&self) -> Option<NetworkWork<'_>> {
        None
    }

    /// The hash of the network that a run trained, if it did.
    fn network(_: &RecordOf<Self>) -> Option<String> {
        None
    }

    /// Whether the run reached what was asked of it.
    fn as_asked(&self, record: &RecordOf<Self>) -> bool;

    /// Runs it; `None` if it was interrupted.
    fn call(
        &self,
        arguments: &[String],
        caller: &Caller<'_>,
    ) -> Result<Option<Called<Self::Output>>, RunError>;
}

/// A run that trains or certifies a network.
#[derive(Debug)]
pub(crate) struct NetworkWork<'a> {
    /// The folder of the network's run.
    pub(crate) run: String,
    /// As tables and figures name it.
    pub(crate) title: String,
    /// The usual name of its data.
    pub(crate) data: String,
    pub(crate) spec: &'a TrainSpec,
    /// `None` for training.
    pub(crate) certified: Option<CertifyWork>,
}

/// A certification.
#[derive(Debug)]
pub(crate) struct CertifyWork {
    /// Copy of its records, made once they are complete.
    pub(crate) kept: PathBuf,
    /// Interval between certified inputs.
    pub(crate) every: usize,
    /// Draws per input.
    pub(crate) n: u64,
}

/// The plan, in order, with the records that exist.
pub(crate) struct Runs<P: Planned> {
    all: Vec<(P, Option<RecordOf<P>>)>,
    /// Records of other runs, or of runs whose arguments are not known yet.
    spare: Vec<RecordOf<P>>,
}

/// How long runs are made, and who sees them.
pub(crate) struct Limits<'a> {
    /// No further run begins after this time.
    pub(crate) time: Option<Duration>,
    pub(crate) watch: &'a Watch<'a>,
}

/// How the runs ended.
pub(crate) enum End {
    /// All runs, or all there was time for; some of them may have failed.
    Done {
        failed: usize,
    },
    Interrupted,
}

impl<P: Planned> Runs<P> {
    /// Records of other runs are set aside; if a run has two records, the later counts. A run with other arguments is
    /// another run, whatever its label.
    pub(crate) fn new(plan: Vec<P>, records: Vec<RecordOf<P>>) -> Self {
        let mut runs = Self { all: Vec::new(), spare: records };
        for run in plan {
            let found = runs.arguments(&run).and_then(|arguments| runs.find(&run, &arguments));
            runs.all.push((run, found.map(|at| runs.spare.remove(at))));
        }
        runs
    }

    /// The place of the record of a run, the latest of several.
    fn find(&self, run: &P, arguments: &[String]) -> Option<usize> {
        self.spare.iter().rposition(|record| {
            record.solver == run.label() && record.arguments == arguments && run.is_whole(&record.output)
        })
    }

    /// None while a record that they depend on is missing.
    fn arguments(&self, run: &P) -> Option<Vec<String>> {
        let needed: Option<Vec<_>> = run.needs().iter().map(|&at| self.all[at].1.as_ref()).collect();
        needed.map(|needed| run.arguments(&needed))
    }

    /// In the order of the plan.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&P, Option<&RecordOf<P>>)> {
        self.all.iter().map(|(run, record)| (run, record.as_ref()))
    }

    /// The records that exist.
    pub(crate) fn records(&self) -> impl Iterator<Item = &RecordOf<P>> {
        self.iter().filter_map(|(_, record)| record)
    }

    pub(crate) fn missing(&self) -> usize {
        self.all.len() - self.records().count()
    }

    /// Finished runs that did not reach what was asked.
    pub(crate) fn short(&self) -> impl Iterator<Item = &P> {
        self.iter()
            .filter(|(run, record)| record.is_some_and(|record| !run.as_asked(record)))
            .map(|(run, _)| run)
    }

    /// Where it was measured.
    pub(crate) fn measured(&self) -> Option<String> {
        let mut machines: Vec<String> = Vec::new();
        for record in self.records() {
            let machine = record.setup.to_string();
            if !machines.contains(&machine) {
                machines.push(machine);
            }
        }
        (!machines.is_empty()).then(|| format!("Measured: {}.", machines.join("; ")))
    }

    /// How many are missing, if any.
    pub(crate) fn incomplete(&self) -> Option<String> {
        let (there, all) = (self.records().count(), self.all.len());
        (there < all).then(|| format!("Incomplete: {there} of {all} runs are done"))
    }

    /// What fell short, if anything.
    pub(crate) fn fell_short(&self) -> Option<String> {
        let short: Vec<String> = self.short().map(ToString::to_string).collect();
        (!short.is_empty()).then(|| format!("Fell short of what was asked: {}.", short.join("; ")))
    }

    /// Makes the missing runs, in the order of the plan.
    pub(crate) fn make_missing(
        &mut self,
        experiment: &str,
        store: &mut Store,
        setup: &Setup,
        caller: &Caller<'_>,
        limits: &Limits<'_>,
    ) -> Result<End, ReproduceError> {
        let started = Instant::now();
        let (mut done, mut failed, missing) = (0, 0, self.missing());
        for at in 0..self.all.len() {
            let (planned, record) = &self.all[at];
            if record.is_some() {
                continue;
            }
            if limits.time.is_some_and(|limit| started.elapsed() >= limit) {
                break;
            }
            (limits.watch)(&ReproduceEvent::Begins { run: planned.to_string(), done, missing });
            let Some(arguments) = self.arguments(planned) else {
                (limits.watch)(&ReproduceEvent::Skipped { run: planned.to_string() });
                failed += 1;
                continue;
            };
            // The run may have been made before the record that it needs was lost.
            if let Some(found) = self.find(planned, &arguments) {
                self.all[at].1 = Some(self.spare.remove(found));
                done += 1;
                continue;
            }
            let called = match planned.call(&arguments, caller) {
                Ok(Some(called)) => called,
                Ok(None) => return Ok(End::Interrupted),
                Err(reason) => {
                    (limits.watch)(&ReproduceEvent::Failed { run: planned.to_string(), reason: &reason });
                    failed += 1;
                    continue;
                }
            };
            let made = Record {
                experiment: experiment.to_owned(),
                case: planned.case(),
                solver: planned.label().to_owned(),
                arguments,
                exit: called.exit,
                seconds_wall: called.seconds_wall,
                output: called.printed,
                setup: setup.clone(),
            };
            store.append(&made)?;
            let as_asked = planned.as_asked(&made);
            (limits.watch)(&ReproduceEvent::Recorded { run: planned.to_string(), as_asked });
            self.all[at].1 = Some(made);
            done += 1;
        }
        Ok(End::Done { failed })
    }
}
