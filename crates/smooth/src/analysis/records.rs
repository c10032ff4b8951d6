//! Our own records: merged by run, certified again from their counts.

use super::error::LogError;
use super::logged::{Dialect, Evidence, Input, LoggedRun, Predicted, Settings};
use crate::record::{Derived, Entry, Line, Merged, PredictionRecord, Record, parse_records};
use gambeson_checker::{FailureProbability, LowerLimit};
use std::path::{Path, PathBuf};

/// Files of records of one kind, gathered by run.
pub(super) struct Gathered<E: Entry> {
    runs: Vec<Shards<E>>,
}

/// Files of one run.
struct Shards<E: Entry> {
    run: E::Run,
    paths: Vec<PathBuf>,
    merged: Merged<E>,
    broken_off: Vec<(PathBuf, usize)>,
}

impl<E: Entry> Default for Gathered<E> {
    fn default() -> Self {
        Self { runs: Vec::new() }
    }
}

impl<E: Entry> Gathered<E> {
    /// Adds a file. Returns the number of its run if that is new.
    pub(super) fn add(&mut self, path: &Path, bytes: &[u8]) -> Result<Option<usize>, LogError> {
        let (lines, broken) = parse_records::<E>(path, bytes)?;
        let Some(first) = lines.first() else {
            return Err(LogError::Empty { path: path.to_path_buf() });
        };
        let run = first.record.parts().run.clone();
        let known = self.runs.iter().position(|shards| shards.run == run);
        let at = known.unwrap_or(self.runs.len());
        if known.is_none() {
            let merged = Merged::new(run.clone());
            self.runs.push(Shards { run, paths: Vec::new(), merged, broken_off: Vec::new() });
        }
        let shards = &mut self.runs[at];
        shards.paths.push(path.to_path_buf());
        shards.broken_off.extend(broken.map(|line| (path.to_path_buf(), line)));
        for line in lines {
            shards.merged.add(path, line)?;
        }
        Ok(known.is_none().then_some(at))
    }
}

impl Gathered<Record> {
    /// One result per run, in the order of their numbers.
    pub(super) fn certified_again(self, settings: &Settings) -> Result<Vec<Option<LoggedRun>>, LogError> {
        let logged = |Shards { run, paths, merged, broken_off }: Shards<Record>| {
            let mut alpha = run.common.alpha;
            let mut inputs = Vec::new();
            for (path, line) in merged.into_lines() {
                let (input, used) = input(&path, &line, settings)?;
                alpha = used.value();
                inputs.push(input);
            }
            let evidence = Evidence::Inputs(inputs);
            let (sigma, alpha, data) = (Some(run.common.sigma), Some(alpha), Some(run.common.data.clone()));
            let (dialect, run) = (Dialect::Records, Some(Box::new(run)));
            Ok(Some(LoggedRun { paths, dialect, evidence, sigma, alpha, data, broken_off, run }))
        };
        self.runs.into_iter().map(logged).collect()
    }
}

impl Gathered<PredictionRecord> {
    /// One result per run, in the order of their numbers; classes as the counts prove them.
    pub(super) fn predicted(self) -> Vec<Option<LoggedRun>> {
        let logged = |Shards { run, paths, merged, broken_off }: Shards<PredictionRecord>| {
            let input = |PredictionRecord { index, label, class, .. }: PredictionRecord| Input {
                index,
                label,
                predicted: class.map_or(Predicted::Abstained, Predicted::Class),
                correct: label.map(|label| class == Some(label)),
                latent: None,
                l2: None,
                linf: None,
                lower_limit: None,
            };
            let evidence =
                Evidence::Inputs(merged.into_lines().map(|(_, line)| input(line.record)).collect());
            let (sigma, alpha, data) =
                (Some(run.common.sigma), Some(run.common.alpha), Some(run.common.data));
            let dialect = Dialect::Predictions;
            Some(LoggedRun { paths, dialect, evidence, sigma, alpha, data, broken_off, run: None })
        };
        self.runs.into_iter().map(logged).collect()
    }
}

fn input(path: &Path, line: &Line, settings: &Settings) -> Result<(Input, FailureProbability), LogError> {
    let record = &line.record;
    let refused = |reason| LogError::Statistics { path: path.to_path_buf(), line: line.number, reason };
    let own = FailureProbability::new(record.run.common.alpha).map_err(refused)?;
    let alpha = settings.alpha.unwrap_or(own);
    let proven = record.derive(alpha, settings.how).map_err(refused)?;
    let Derived { class, latent, l2, linf } = proven.derived;
    Ok((
        Input {
            index: record.index,
            label: record.label,
            predicted: class.map_or(Predicted::Abstained, Predicted::Class),
            correct: record.label.map(|label| class == Some(label)),
            latent: Some(latent.unwrap_or(0.0)),
            l2: Some(l2.unwrap_or(0.0)),
            linf: Some(linf.unwrap_or(0.0)),
            lower_limit: proven.lower_limit.map(LowerLimit::value),
        },
        alpha,
    ))
}
