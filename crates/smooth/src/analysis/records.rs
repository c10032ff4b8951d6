//! Our own records: merged by run, certified again from their counts.

use super::error::LogError;
use super::logged::{Dialect, Evidence, Input, LoggedRun, Predicted, Settings};
use crate::record::{Derived, Entry, PredictionRecord, Record, Recorded, RecordedFile};
use gambeson_checker::{FailureProbability, LowerLimit, UpperLimit};
use std::path::{Path, PathBuf};

/// Files of records of one kind, gathered by plan.
pub(super) struct Gathered<E: Entry> {
    plans: Vec<(Vec<PathBuf>, Recorded<E>)>,
}

impl<E: Entry> Default for Gathered<E> {
    fn default() -> Self {
        Self { plans: Vec::new() }
    }
}

impl<E: Entry> Gathered<E> {
    /// Adds a file. Returns the number of its plan if that is new.
    pub(super) fn add(&mut self, path: &Path, bytes: &[u8]) -> Result<Option<usize>, LogError> {
        let file = RecordedFile::<E>::parse(path, bytes)?;
        file.check_claims()?;
        let own = path.to_path_buf();
        let known = self.plans.iter_mut().find(|(_, plan)| file.is_of_plan(plan.head()));
        if let Some((paths, plan)) = known {
            paths.push(own);
            plan.add(file)?;
            return Ok(None);
        }
        self.plans.push((vec![own], Recorded::of_file(file)?));
        Ok(Some(self.plans.len() - 1))
    }
}

impl Gathered<Record> {
    /// One result per plan, in the order of their numbers.
    pub(super) fn certified_again(self, settings: &Settings) -> Result<Vec<Option<LoggedRun>>, LogError> {
        let logged = |(paths, recorded): (Vec<PathBuf>, Recorded<Record>)| {
            let run = recorded.run();
            let own = run.common.alpha;
            let mut inputs = Vec::new();
            for (path, line, record) in recorded.numbered() {
                inputs.push(input(path, line, record, settings)?);
            }
            Ok(Some(LoggedRun {
                paths,
                dialect: Dialect::Records,
                evidence: Evidence::Inputs(inputs),
                sigma: Some(run.common.sigma),
                alpha: Some(settings.alpha.map_or(own, FailureProbability::value)),
                data: Some(run.common.data.clone()),
                broken_off: recorded.broken_off().to_vec(),
                planned: Some(recorded.planned()),
                run: Some(Box::new((***run).clone())),
            }))
        };
        self.plans.into_iter().map(logged).collect()
    }
}

impl Gathered<PredictionRecord> {
    /// One result per plan, in the order of their numbers; classes as the counts prove them.
    pub(super) fn predicted(self) -> Vec<Option<LoggedRun>> {
        let logged = |(paths, recorded): (Vec<PathBuf>, Recorded<PredictionRecord>)| {
            let input = |&PredictionRecord { index, label, class, .. }: &PredictionRecord| Input {
                index,
                label,
                predicted: class.map_or(Predicted::Abstained, Predicted::Class),
                correct: label.map(|label| class == Some(label)),
                latent: None,
                l2: None,
                linf: None,
                lower_limit: None,
                upper_limit: None,
            };
            let common = &recorded.run().common;
            Some(LoggedRun {
                paths,
                dialect: Dialect::Predictions,
                evidence: Evidence::Inputs(recorded.entries().map(input).collect()),
                sigma: Some(common.sigma),
                alpha: Some(common.alpha),
                data: Some(common.data.clone()),
                broken_off: recorded.broken_off().to_vec(),
                planned: Some(recorded.planned()),
                run: None,
            })
        };
        self.plans.into_iter().map(logged).collect()
    }
}

fn input(path: &Path, line: usize, record: &Record, settings: &Settings) -> Result<Input, LogError> {
    let refused = |reason| LogError::Statistics { path: path.to_path_buf(), line, reason };
    let own = FailureProbability::new(record.run.common.alpha).map_err(refused)?;
    let alpha = settings.alpha.unwrap_or(own);
    let proven = record.derive(alpha, settings.how).map_err(refused)?;
    let Derived { class, latent, l2, linf } = proven.derived;
    Ok(Input {
        index: record.index,
        label: record.label,
        predicted: class.map_or(Predicted::Abstained, Predicted::Class),
        correct: record.label.map(|label| class == Some(label)),
        latent: Some(latent.unwrap_or(0.0)),
        l2: Some(l2.unwrap_or(0.0)),
        linf: Some(linf.unwrap_or(0.0)),
        lower_limit: proven.lower_limit.map(LowerLimit::value),
        upper_limit: proven.upper_limit.map(UpperLimit::value),
    })
}
