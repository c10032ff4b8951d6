//! Files of records as values, and as a forger writes them: with digests that fit.

use crate::support::Bench;
use gambeson_smooth::record::{
    DigestedRun, Entry, FileNames, Head, PredictionRecord, PredictionRun, Record, Run, RunContent, to_line,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;

fn parsed(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The head of a file: all that its records have in common is in `run`.
pub(crate) fn head(bench: &Bench, name: &str) -> Value {
    parsed(&bench.read(name)).swap_remove(0)
}

/// The records or predictions of a file, without its heads.
pub(crate) fn lines(bench: &Bench, name: &str) -> Vec<Value> {
    parsed(&bench.read(name)).into_iter().filter(|line| line.get("gambeson").is_none()).collect()
}

fn read<T: DeserializeOwned>(value: &Value) -> Option<T> {
    serde_json::from_value(value.clone()).ok()
}

fn head_of<R: RunContent>(head: &Value) -> Option<Head<R>> {
    let run = DigestedRun::new(read::<R>(&head["run"])?).ok()?;
    let files = head.get("files").map_or(Some(FileNames::default()), read)?;
    Some(Head { run, selection: read(&head["selection"])?, files })
}

/// A record of the run of a head.
fn entry_of<E: Entry>(run: &Arc<DigestedRun<E::Run>>, record: &Value) -> Option<E> {
    let mut record = record.clone();
    record["run"] = run.digest().into();
    record.as_object_mut()?.remove("digest");
    Some(E::of_run(read(&record)?, run))
}

fn sealed_as<E: Entry>(head: &Value, records: &[Value]) -> Option<String> {
    let head = head_of::<E::Run>(head)?;
    let line = |record| Some(to_line(&entry_of::<E>(&head.run, record)?).ok()? + "\n");
    let records = records.iter().map(line).collect::<Option<String>>()?;
    Some(head.to_line().ok()? + "\n" + &records)
}

/// A head and the records after it, of its run and with digests that fit; none where they cannot be read as such.
pub(crate) fn try_sealed(head: &Value, records: &[Value]) -> Option<String> {
    if head["gambeson"] == PredictionRun::KIND {
        sealed_as::<PredictionRecord>(head, records)
    } else {
        sealed_as::<Record>(head, records)
    }
}

/// The same of what can be read.
pub(crate) fn sealed(head: &Value, records: &[Value]) -> String {
    try_sealed(head, records).unwrap_or_else(|| panic!("no head with its records: {head}"))
}

/// The same in a file.
pub(crate) fn write(bench: &Bench, name: &str, head: &Value, records: &[Value]) {
    bench.write(name, sealed(head, records));
}

/// The record, with what its counts prove by the run of a head beside them; none where they prove nothing that could be
/// said.
pub(crate) fn try_derived(head: &Value, record: &Value) -> Option<Value> {
    let record: Record = entry_of(&head_of::<Run>(head)?.run, record)?;
    serde_json::to_value(record.with_derived().ok()?.to_content()).ok()
}

/// The same of counts as runs have them.
pub(crate) fn derived(head: &Value, record: &Value) -> Value {
    try_derived(head, record).unwrap_or_else(|| panic!("no record: {record}"))
}

/// A head of so many inputs, for runs that were never made; `run` has what differs from a small toy run.
pub(crate) fn made_up(kind: &str, inputs: u64, run: &Value) -> Value {
    let mut common = json!({
        "n": 1000, "law": "gaussian", "sigma": 0.5, "alpha": 0.001, "seed": 1,
        "generator": gambeson_smooth::noise::GENERATOR, "assumed": gambeson_smooth::record::ASSUMED,
        "grid": {"quantum": "1/255", "exponent": -1}, "model": "m", "batch": 64, "data": "d", "projection": null,
        "noise": null
    });
    if kind == Run::KIND {
        let own = json!({
            "rule": {"kind": "fixed"}, "n0": 10, "representation": null, "kappa": null, "spectral": null, "dimension": 100
        });
        common.as_object_mut().expect("an object").extend(own.as_object().expect("an object").clone());
    }
    for (key, value) in run.as_object().expect("an object") {
        common[key] = value.clone();
    }
    let selection = gambeson_smooth::selection::Selection::all(inputs);
    json!({ "gambeson": kind, "run": common, "selection": selection })
}
