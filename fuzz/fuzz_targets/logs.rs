//! Records and the logs of other programs.

use super::as_file;
use crate::answer::{Answer, answer, either};
use crate::drive::MEMORY;
use gambeson_checker::FailureProbability;
use gambeson_smooth::analysis::{Question, RadiusNorm, Settings, read_logs};
use gambeson_smooth::record::{
    Entry, LimitChoice, Log, PredictionRecord, Record, merge_records, read_numbered_records, read_records,
    recorded_runtime, to_line,
};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Every line with the digest of what it says, where it is a record or a prediction.
pub(super) fn with_digests(bytes: &[u8]) -> Vec<u8> {
    let lines = bytes.split_inclusive(|&byte| byte == b'\n');
    lines
        .flat_map(|line| {
            digested::<Record>(line).or_else(|| digested::<PredictionRecord>(line)).unwrap_or(line.to_vec())
        })
        .collect()
}

/// Only the digits change: keys that no record has, or has twice, stay for the reader to find.
fn digested<E: Entry>(line: &[u8]) -> Option<Vec<u8>> {
    const DIGITS: usize = 64;
    let entry: E = serde_json::from_slice(line).ok()?;
    let own = place_of_digest(line, DIGITS)?;
    let right = to_line(&entry).ok()?.into_bytes();
    let theirs = place_of_digest(&right, DIGITS)?;
    let mut line = line.to_vec();
    line[own..own + DIGITS].copy_from_slice(&right[theirs..theirs + DIGITS]);
    Some(line)
}

fn place_of_digest(line: &[u8], digits: usize) -> Option<usize> {
    const KEY: &[u8] = b"\"digest\":\"";
    let at = line.windows(KEY.len()).rposition(|window| window == KEY)? + KEY.len();
    (at + digits <= line.len()).then_some(at)
}

const HOW: [LimitChoice; 5] = [
    LimitChoice::Natural,
    LimitChoice::OneSided,
    LimitChoice::Chosen,
    LimitChoice::Mixture,
    LimitChoice::TwoSided,
];

pub(super) fn records(bytes: &[u8]) -> Answer {
    as_file(bytes, "r.jsonl", |path| {
        let _ = (
            merge_records(&[path.to_path_buf()], MEMORY),
            read_numbered_records(path, MEMORY),
            recorded_runtime(path),
        );
        let records = read_records(path, MEMORY).map_err(|error| error.to_string())?;
        let mut known = String::new();
        for record in &records {
            for how in HOW {
                let alpha =
                    FailureProbability::new(record.run.common.alpha).map_err(|error| error.to_string())?;
                let _ = record.derive(alpha, how);
            }
            let claim = record.check_claim().map_or_else(|error| error.to_string(), |()| "proven".to_owned());
            let derived = record.clone().with_derived();
            assert!(
                derived.as_ref().map_or(true, |record| record.check_claim().is_ok()),
                "what the counts prove is not what they prove"
            );
            known = claim;
        }
        Ok(known)
    })
}

/// Goes on with a file as a run would that was stopped, and reads it again.
pub(super) fn append(bytes: &[u8]) -> Answer {
    let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    as_file(bytes, "r.jsonl", |path| {
        if let Ok(record) = serde_json::from_slice::<Record>(first) {
            return appended_to::<Record>(path, record);
        }
        let record = serde_json::from_slice::<PredictionRecord>(first).map_err(|error| error.to_string())?;
        appended_to::<PredictionRecord>(path, record)
    })
}

fn appended_to<E: Entry>(path: &Path, mut entry: E) -> Answer {
    *entry.digest() = None;
    let run = entry.parts().run.clone();
    let (mut log, present) =
        Log::<E>::open_to_append(path, &run, MEMORY).map_err(|error| error.to_string())?;
    let once_more = present.values().next().cloned().unwrap_or(entry);
    log.append(&once_more).map_err(|error| error.to_string())?;
    drop(log);
    let again = Log::<E>::open_to_append(path, &run, MEMORY);
    let again = again.map_or_else(|error| panic!("after an append: {error}"), |(_, present)| present.len());
    assert_eq!(again, present.len().max(1), "entries after an append");
    Ok(String::new())
}

/// Records and predictions.
pub(super) fn appended() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = [
        &include_bytes!("../seeds/records/fixed.jsonl")[..],
        include_bytes!("../seeds/records/mixture.jsonl"),
        include_bytes!("../seeds/logs/predictions.jsonl"),
    ]
    .iter()
    .map(|seed| seed.to_vec())
    .collect();
    // Broken off by a kill, the last line is done again.
    let broken = &include_bytes!("../seeds/records/on-a-grid.jsonl")[..];
    seeds.push(broken[..broken.len() - 40].to_vec());
    seeds
}

pub(super) fn logs(bytes: &[u8]) -> Answer {
    as_file(bytes, "log", |path| {
        let paths = [path.to_path_buf()];
        let alpha = FailureProbability::new(0.001).ok();
        let first = read(&paths, &Settings::default());
        either(
            first,
            read(&paths, &Settings { alpha, sigma: Some(0.5), memory: MEMORY, ..Settings::default() }),
        )
    })
}

fn read(paths: &[PathBuf], settings: &Settings) -> Answer {
    let runs = read_logs(paths, settings).map_err(|error| error.to_string())?;
    let mut known = String::new();
    for run in &runs {
        let _ = write!(known, "{:?}", run.dialect); // a string takes everything
        for any_class in [false, true] {
            for norm in [RadiusNorm::L2, RadiusNorm::Linf] {
                let question = Question { norm, any_class, ..Question::default() };
                known += &answer(run.scores(&question)).unwrap_or_else(|error| error);
            }
        }
    }
    Ok(known)
}
