//! Reads logs of any dialect, our own records among them.

use super::dialect;
use super::error::LogError;
use super::logged::{LoggedRun, Settings};
use super::records::Gathered;
use crate::record::{PredictionRecord, PredictionRun, Record, RunContent, kind_of};
use gambeson_lowrank::file::without_mark;
use std::path::PathBuf;

/// Reads logs, in the order given; shards of one run become one, at the place of the first.
pub fn read_logs(paths: &[PathBuf], settings: &Settings) -> Result<Vec<LoggedRun>, LogError> {
    let mut places = Vec::new();
    let mut records = Gathered::<Record>::default();
    let mut predictions = Gathered::<PredictionRecord>::default();
    for path in paths {
        let bytes = settings
            .memory
            .read_file(path)
            .map_err(|reason| LogError::File { path: path.clone(), reason })?;
        if kind_of(&bytes).as_deref() == Some(PredictionRun::KIND) {
            if let Some(run) = predictions.add(path, &bytes)? {
                places.push(Slot::Predictions(run));
            }
        } else if without_mark(&bytes).trim_ascii_start().starts_with(b"{") {
            // Of all logs, only ours are JSON.
            if let Some(run) = records.add(path, &bytes)? {
                places.push(Slot::Run(run));
            }
        } else {
            places.push(Slot::Other(Box::new(dialect::read(path, &bytes, settings)?)));
        }
    }
    let mut runs = records.certified_again(settings)?;
    let mut predictions = predictions.predicted();
    let logged = places.into_iter().filter_map(|place| match place {
        Slot::Run(run) => runs.get_mut(run).and_then(Option::take),
        Slot::Predictions(run) => predictions.get_mut(run).and_then(Option::take),
        Slot::Other(logged) => Some(*logged),
    });
    Ok(logged.collect())
}

/// What comes where in the order of runs.
enum Slot {
    /// The run with this number.
    Run(usize),
    /// The run of predictions with this number.
    Predictions(usize),
    Other(Box<LoggedRun>),
}
