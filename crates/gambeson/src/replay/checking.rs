//! A check of records under way: what every record must satisfy, then draws made again or afresh.

use super::outcome::{FreshComparison, RecordFinding, RecordsCheck};
use super::params::CheckRecordsParams;
use super::sample::RecordSample;
use crate::context::Context;
use crate::error::Error;
use crate::event::{Event, ReplayProgress};
use crate::smoothing::input;
use gambeson_checker::FailureProbability;
use gambeson_data::dataset::Dataset;
use gambeson_lowrank::observe::Observer;
use gambeson_smooth::record::{ONNX_RUNTIME, Record, Recorded};
use gambeson_smooth::replay::{Contrast, Finding, ReplayError, compare, examine, replay, tolerated};
use gambeson_smooth::smoother::{DrawCounter, Drawn, SmoothingPlan};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// Of the draws of a record computed by ONNX Runtime, how many may differ as those of another version do.
const NEAR_TIES: f64 = 1e-3;

/// A record and where it is.
#[derive(Clone, Copy)]
struct Numbered<'a> {
    /// Its file, where there are several.
    file: Option<&'a Path>,
    /// From 1.
    line: usize,
    record: &'a Record,
}

impl Numbered<'_> {
    fn finding(&self, reason: String) -> RecordFinding {
        let file = self.file.map(|path| path.display().to_string());
        RecordFinding { file, line: Some(self.line), index: Some(self.record.index), reason }
    }
}

/// A check under way.
pub(super) struct Checking<'a> {
    context: &'a Context,
    data: &'a Dataset,
    sample: RecordSample,
    deadline: Option<Instant>,
    /// By rising index.
    records: Vec<Numbered<'a>>,
    alpha: f64,
    /// The nonce to certify afresh with.
    fresh: Option<u64>,
    checked: RecordsCheck,
}

impl<'a> Checking<'a> {
    pub(super) fn new(
        context: &'a Context,
        data: &'a Dataset,
        params: &CheckRecordsParams,
        recorded: &'a Recorded<Record>,
        fresh: Option<u64>,
        checked: RecordsCheck,
        started: Instant,
    ) -> Self {
        let deadline = params.time_limit.and_then(|limit| started.checked_add(limit));
        let several = recorded.numbered().map(|(path, ..)| path).collect::<BTreeSet<_>>().len() > 1;
        let numbered = |(path, line, record)| Numbered { file: several.then_some(path), line, record };
        let records = recorded.numbered().map(numbered).collect();
        let (sample, alpha) = (params.sample, recorded.run().common.alpha);
        Self { context, data, sample, deadline, records, alpha, fresh, checked }
    }

    /// What needs no draws, and nothing else.
    pub(super) fn examine(mut self, plan: &SmoothingPlan) -> Result<RecordsCheck, Error> {
        self.checked.stopped = !self.examine_all(plan)?;
        Ok(self.checked)
    }

    pub(super) fn run<S: DrawCounter>(mut self, mut counter: S) -> Result<RecordsCheck, Error>
    where
        S::Error: Send + Sync,
    {
        if !self.examine_all(counter.plan())? {
            self.checked.stopped = true;
            return Ok(self.checked);
        }
        // Inputs that the data lack cannot be drawn.
        self.records.retain(|it| it.record.index < self.data.len() as u64);
        let inputs: Vec<u64> = self.records.iter().map(|it| it.record.index).collect();
        let (order, seed) = self.sample.order(&inputs);
        self.checked.sample_seed = seed;
        let chosen: Vec<Numbered<'a>> = order.into_iter().map(|at| self.records[at]).collect();
        match self.fresh {
            None => self.draw_again(&chosen, &mut counter)?,
            Some(nonce) => self.certify_afresh(&chosen, &mut counter, nonce)?,
        }
        Ok(self.checked)
    }

    /// Everything that needs no draws, of every record; false if that was ended.
    fn examine_all(&mut self, plan: &SmoothingPlan) -> Result<bool, Error> {
        let (inputs, classes) = (self.data.len(), self.data.classes().len());
        for numbered in &self.records {
            let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if late || self.context.is_interrupted() {
                return Ok(false);
            }
            let index = numbered.record.index;
            if index >= inputs as u64 {
                let reason = format!("the data have only {inputs} inputs");
                self.checked.findings.push(numbered.finding(reason));
                continue;
            }
            let findings = examine(plan, numbered.record, &input(self.data, index), classes)
                .map_err(|reason| Error::Replay { index, reason: Box::new(reason) })?;
            let findings = findings.iter().map(|it| numbered.finding(it.to_string()));
            self.checked.findings.extend(findings);
        }
        self.checked.examined = true;
        Ok(true)
    }

    /// Whether a timed sample is large enough.
    fn enough(&self, begun: Instant) -> bool {
        match self.sample {
            RecordSample::Timed { time, at_least, .. } => {
                self.checked.checked as u64 >= at_least && begun.elapsed() >= time
            }
            RecordSample::All | RecordSample::Random { .. } | RecordSample::Input { .. } => false,
        }
    }

    /// The draws of the run once more.
    fn draw_again<S: DrawCounter>(&mut self, chosen: &[Numbered<'a>], counter: &mut S) -> Result<(), Error>
    where
        S::Error: Send + Sync,
    {
        let begun = Instant::now();
        for numbered in chosen {
            if self.enough(begun) {
                break;
            }
            let record = numbered.record;
            let row = input(self.data, record.index);
            let classes = self.data.classes().len();
            let found = self.observed(record, chosen.len(), |observer| {
                replay(&mut *counter, record, &row, classes, observer)
            })?;
            let Some(replayed) = found else { break };
            let checked = &mut self.checked;
            checked.differing += replayed.differing;
            let radius = |record: &Record| record.derived.latent.unwrap_or(0.0);
            checked.smaller_by = checked.smaller_by.max(radius(record) - radius(&replayed.again));
            // Another version of ONNX Runtime rounds otherwise, so that near-ties may fall otherwise: no lie, but what is
            // claimed must follow from the draws as they fell here.
            let near_ties = record.run.common.runtime.as_deref() == Some(ONNX_RUNTIME)
                && replayed.differing as f64 <= (NEAR_TIES * record.draws() as f64).max(3.0);
            let counts = replayed.findings.iter().filter(|it| matches!(it, Finding::Counts { .. }));
            for finding in counts {
                let finding = numbered.finding(finding.to_string());
                if !near_ties {
                    checked.findings.push(finding);
                } else if !replayed.proves(record) {
                    checked.not_reproduced.push(finding);
                }
            }
        }
        Ok(())
    }

    /// Draws with the seed of another nonce.
    fn certify_afresh<S: DrawCounter>(
        &mut self,
        chosen: &[Numbered<'a>],
        counter: &mut S,
        nonce: u64,
    ) -> Result<(), Error>
    where
        S::Error: Send + Sync,
    {
        let (mut refuted, mut right, mut right_afresh) = (Vec::new(), 0_usize, 0_usize);
        let (all, begun) = (chosen.len() as u64, Instant::now());
        for numbered in chosen {
            if self.enough(begun) {
                break;
            }
            let record = numbered.record;
            let row = input(self.data, record.index);
            let found = self.observed(record, chosen.len(), |observer| {
                compare(&mut *counter, record, &row, all, observer)
            })?;
            let Some(compared) = found else { break };
            let correct = |record: &Record| {
                record.derived.class.is_some() && (row.label.is_none() || record.derived.class == row.label)
            };
            right += usize::from(correct(record));
            right_afresh += usize::from(correct(&compared.fresh));
            let reason = compared.claim.map(contrasted).unwrap_or_default();
            if compared.impossible {
                let chance = "; honest draws differ so much once in a million runs";
                self.checked.findings.push(numbered.finding(reason.clone() + chance));
            }
            if compared.refuted() {
                refuted.push(numbered.finding(reason));
            }
        }
        let done = self.checked.checked.max(1);
        let alpha = FailureProbability::new(self.alpha).map_err(|reason| Error::field_of("alpha", reason))?;
        let tolerated = tolerated(done as u64, alpha)?;
        if refuted.len() as u64 > tolerated && self.checked.findings.is_empty() {
            self.checked.findings.extend(refuted.iter().cloned());
        }
        self.checked.fresh = Some(FreshComparison {
            nonce,
            refuted,
            tolerated,
            recorded_accuracy: right as f64 / done as f64,
            fresh_accuracy: right_afresh as f64 / done as f64,
        });
        Ok(())
    }

    /// Draws for one record, seen by the observer; none if it ended them.
    fn observed<T, E: std::error::Error + Send + Sync + 'static>(
        &mut self,
        record: &Record,
        total: usize,
        draw: impl FnOnce(&mut Watch<'_>) -> Result<Option<T>, ReplayError<E>>,
    ) -> Result<Option<T>, Error> {
        let mut watch = Watch { context: self.context, records: total, deadline: self.deadline, draws: 0 };
        let found = draw(&mut watch)
            .map_err(|reason| Error::Replay { index: record.index, reason: Box::new(reason) })?;
        self.checked.draws += watch.draws;
        if found.is_some() {
            self.checked.checked += 1;
            let event = Event::Replay { records: total, progress: ReplayProgress::Checked };
            let _ = self.context.tell(&event); // the next draws ask again
        } else {
            self.checked.stopped = true;
        }
        Ok(found)
    }
}

/// What a record claims, and what fresh draws prove.
fn contrasted(claim: Contrast) -> String {
    let Contrast { claimed, at_most, others_claimed, others_at_least } = claim;
    match others_claimed.zip(others_at_least).filter(|_| !claim.contradicts_class()) {
        Some((claimed, at_least)) => format!(
            "it claims a probability of at most {claimed:.5} for every other class, but fresh draws prove at least \
             {at_least:.5} for one"
        ),
        None => {
            format!(
                "it claims a probability of at least {claimed:.5}, but fresh draws prove at most {at_most:.5}"
            )
        }
    }
}

/// Counts draws, and ends them when the observer or the time limit says so.
struct Watch<'a> {
    context: &'a Context,
    records: usize,
    deadline: Option<Instant>,
    draws: u64,
}

impl Observer<Drawn> for Watch<'_> {
    fn observe(&mut self, drawn: &Drawn) -> ControlFlow<()> {
        self.draws += drawn.draws;
        let progress = ReplayProgress::Drawn { draws: drawn.draws };
        let told = self.context.tell(&Event::Replay { records: self.records, progress });
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if late { ControlFlow::Break(()) } else { told }
    }
}
