//! Records and their heads, and the logs of other programs.

use super::as_file;
use crate::answer::{Answer, answer, either};
use crate::drive::MEMORY;
use gambeson_checker::FailureProbability;
use gambeson_smooth::analysis::{Question, RadiusNorm, Settings, read_logs};
use gambeson_smooth::claim::claim;
use gambeson_smooth::record::{
    DigestedRun, Entry, FileNames, Head, LimitChoice, Log, PredictionRecord, PredictionRun, Record, Recorded,
    Run, RunContent, read_records, recorded_runtime, to_line,
};
use gambeson_smooth::selection::Selection;
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Digits of a digest.
const DIGITS: usize = 64;

/// Every head and every line after it with the digests of what they say. Only the digits change: keys that no line has, or
/// has twice, stay for the reader to find.
pub(super) fn with_digests(bytes: &[u8]) -> Vec<u8> {
    let (mut records, mut predictions) = (None, None);
    let mut all = Vec::new();
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let line = line.to_vec();
        all.extend(match kind(&line).as_deref() {
            Some(Run::KIND) => with_head(line, &mut records),
            Some(_) => with_head(line, &mut predictions),
            None => with_run::<Record>(line, records.as_ref())
                .or_else(|line| with_run::<PredictionRecord>(line, predictions.as_ref()))
                .unwrap_or_else(|line| line),
        });
    }
    all
}

/// What a head calls its file; none of other lines.
fn kind(line: &[u8]) -> Option<String> {
    let line: Value = serde_json::from_slice(line).ok()?;
    line.get("gambeson")?.as_str().map(ToOwned::to_owned)
}

/// A head whose digests are right, if it can be read as far as that; the lines after it are of its run.
fn with_head<R: RunContent>(line: Vec<u8>, last: &mut Option<Arc<DigestedRun<R>>>) -> Vec<u8> {
    match head::<R>(&line).and_then(|head| Some((head.to_line().ok()?, head.run))) {
        Some((right, run)) => {
            *last = Some(run);
            let line = with_digits(line, "plan", right.as_bytes());
            with_digits(line, "digest", right.as_bytes())
        }
        None => line,
    }
}

/// What a head says, its digests aside.
fn head<R: RunContent>(line: &[u8]) -> Option<Head<R>> {
    let mut line: Value = serde_json::from_slice(line).ok()?;
    let mut part = |key: &str| line.get_mut(key).map(Value::take);
    let run = DigestedRun::new(serde_json::from_value(part("run")?).ok()?).ok()?;
    let selection: Selection = serde_json::from_value(part("selection")?).ok()?;
    let files =
        part("files").map_or(Some(FileNames::default()), |files| serde_json::from_value(files).ok())?;
    Some(Head { run, selection, files })
}

/// A line of this run, if it can be read as one.
fn with_run<E: Entry>(line: Vec<u8>, run: Option<&Arc<DigestedRun<E::Run>>>) -> Result<Vec<u8>, Vec<u8>> {
    let right = run.and_then(|run| {
        let content: E::Content = serde_json::from_slice(&line).ok()?;
        to_line(&E::of_run(content, run)).ok()
    });
    match right {
        Some(right) => {
            Ok(with_digits(with_digits(line, "run", right.as_bytes()), "digest", right.as_bytes()))
        }
        None => Err(line),
    }
}

/// A line with the digits that another one has under a key.
fn with_digits(mut line: Vec<u8>, key: &str, right: &[u8]) -> Vec<u8> {
    if let (Some(own), Some(theirs)) = (place_of_digits(&line, key), place_of_digits(right, key)) {
        line[own..own + DIGITS].copy_from_slice(&right[theirs..theirs + DIGITS]);
    }
    line
}

fn place_of_digits(line: &[u8], key: &str) -> Option<usize> {
    let key = format!("\"{key}\":\"");
    let at = line.windows(key.len()).rposition(|window| window == key.as_bytes())? + key.len();
    (at + DIGITS <= line.len()).then_some(at)
}

pub(super) fn records(bytes: &[u8]) -> Answer {
    as_file(bytes, "r.jsonl", |path| {
        let paths = [path.to_path_buf(), path.to_path_buf()];
        let (twice, unproven) =
            (Recorded::<Record>::read(&paths, MEMORY), Recorded::<Record>::read_unproven(&paths, MEMORY));
        let _ = recorded_runtime(path);
        let recorded = read_records(path, MEMORY).map_err(|error| error.to_string())?;
        let again = twice.map_or_else(|error| panic!("merged with itself: {error}"), |twice| twice.len());
        assert_eq!((again, unproven.is_ok()), (recorded.len(), true), "merged with itself");
        let mut known = String::new();
        for record in recorded.entries() {
            for how in [LimitChoice::Natural, LimitChoice::Mixture, LimitChoice::TwoSided] {
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

/// Heads alone and before records: what is written of them is read as the same, and what they claim adds up.
pub(super) fn heads(bytes: &[u8]) -> Answer {
    as_file(bytes, "r.jsonl", |path| {
        let claims = claimed(path);
        either(
            of_kind::<Record>(path).map(|()| claims),
            of_kind::<PredictionRecord>(path).map(|()| String::new()),
        )
    })
}

fn of_kind<E: Entry>(path: &Path) -> Result<(), String> {
    let paths = [path.to_path_buf()];
    let recorded = Recorded::<E>::read(&paths, MEMORY).map_err(|error| error.to_string())?;
    let head = recorded.head();
    let (plan, line) = (head.plan_digest().ok(), head.to_line().map_err(|error| error.to_string())?);
    assert!(line.contains(plan.as_deref().unwrap_or("no digest")), "a head without the digest of its plan");
    let planned = recorded.planned();
    assert!(recorded.len() as u64 + recorded.missing() == planned.count, "inputs planned and not counted");
    let missing = recorded.missing_inputs().next();
    assert!(missing.is_none_or(|index| planned.contains(index)), "an input is missing that was not planned");
    std::fs::write(path, line + "\n").map_err(|error| error.to_string())?;
    let again = Recorded::<E>::read(&paths, MEMORY);
    let again = again.unwrap_or_else(|error| panic!("what was written of a head is refused: {error}"));
    assert_eq!((again.head().plan_digest().ok(), again.missing()), (plan, planned.count), "read again");
    Ok(())
}

/// What the records of a plan claim.
fn claimed(path: &Path) -> String {
    let Ok(recorded) = read_records(path, MEMORY) else { return String::new() };
    let claim = claim(recorded.head(), String::new(), String::new(), &recorded.entries());
    let Ok(claim) = claim else { return "no claim".to_owned() };
    for share in claim.l2.iter().chain(&claim.linf) {
        assert!(share.at_least <= share.accuracy && share.population_at_least <= share.accuracy, "{share:?}");
        assert!(share.certified <= claim.records, "{share:?}");
    }
    format!("{} {}", claim.inputs().len(), claim.most_false)
}

/// Heads of several kinds, alone, of shards, and before records.
pub(super) fn planned() -> Vec<Vec<u8>> {
    let all = [
        &include_bytes!("../seeds/records/fixed.jsonl")[..],
        include_bytes!("../seeds/records/mixture.jsonl"),
        include_bytes!("../seeds/records/sequential.jsonl"),
        include_bytes!("../seeds/logs/predictions.jsonl"),
    ];
    let first = |seed: &[u8]| seed.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default().to_vec();
    let shard = |seed: &[u8], part: &str| {
        let line = String::from_utf8_lossy(seed).replace("{\"index\":0,\"count\":1}", part);
        with_digests(line.as_bytes())
    };
    let mut seeds: Vec<Vec<u8>> = all.iter().map(|seed| first(seed)).collect();
    let shards =
        ["{\"index\":0,\"count\":2}", "{\"index\":1,\"count\":2}"].map(|part| shard(&first(all[0]), part));
    seeds.push(shards.concat());
    seeds.extend(all.iter().map(|seed| seed.to_vec()));
    seeds
}

/// Goes on with a file as a run would that was stopped, and reads it again.
pub(super) fn append(bytes: &[u8]) -> Answer {
    let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    as_file(bytes, "r.jsonl", |path| match kind(first).as_deref() {
        Some(PredictionRun::KIND) => appended_to::<PredictionRecord>(path, head(first)),
        _ => appended_to::<Record>(path, head(first)),
    })
}

fn appended_to<E: Entry>(path: &Path, head: Option<Head<E::Run>>) -> Answer {
    let head = head.ok_or("no head")?;
    let (mut log, present) =
        Log::<E>::open_to_append(path, &head, MEMORY).map_err(|error| error.to_string())?;
    if let Some(once_more) = present.values().next() {
        log.append(once_more).map_err(|error| error.to_string())?;
    }
    drop(log);
    let again = Log::<E>::open_to_append(path, &head, MEMORY);
    let again = again.map_or_else(|error| panic!("after an append: {error}"), |(_, present)| present.len());
    assert_eq!(again, present.len(), "entries after an append");
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
