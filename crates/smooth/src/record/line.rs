//! Lines of a file: from bytes to an entry or a head, and back.
//!
//! What a line says and what is read from it must be the same. A digest is taken of what was read, so whatever a reader
//! overlooks could be put into a line without breaking it: unknown keys, keys too many in a rule or a grid, lists where
//! records have objects. All of that is refused here, for every kind of line.

use super::entry::Entry;
use super::error::RecordProblem;
use super::head::DigestedRun;
use gambeson_lowrank::file::sha256;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// Letters of an unknown key that are shown.
const SHOWN: usize = 40;

/// An entry as a line of a file, its digest included, without the end of the line.
pub fn to_line<E: Entry>(entry: &E) -> Result<String, serde_json::Error> {
    let mut content = entry.to_content();
    E::take_digest(&mut content);
    seal(&content)
}

/// A line with the digest of its content, which has none yet.
pub(super) fn seal(content: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut line = serde_json::to_string(content)?;
    let digest = sha256(line.as_bytes());
    line.truncate(line.len() - 1); // the closing brace
    line.push_str(",\"digest\":\"");
    line.push_str(&digest);
    line.push_str("\"}");
    Ok(line)
}

/// Why a line is not an entry.
#[derive(Debug)]
pub(super) enum Fault {
    Malformed(serde_json::Error),
    Invalid(RecordProblem),
}

/// The content of a line whose digest is right. `digest` takes it out.
pub(super) fn parse_sealed<L: Serialize + DeserializeOwned>(
    line: &[u8],
    digest: impl FnOnce(&mut L) -> Option<String>,
) -> Result<L, Fault> {
    let mut content: L = serde_json::from_slice(line).map_err(Fault::Malformed)?;
    let stored = digest(&mut content);
    let sealed = seal(&content).map_err(Fault::Malformed)?;
    if sealed.as_bytes() == line.trim_ascii() {
        return Ok(content);
    }
    // Other programs may order keys, write numbers and leave blanks as they like.
    let written: Value = serde_json::from_slice(line).map_err(Fault::Malformed)?;
    let read: Value = serde_json::from_str(&sealed).map_err(Fault::Malformed)?;
    same_content("", &written, &read).map_err(Fault::Invalid)?;
    match stored {
        None => Err(Fault::Invalid(RecordProblem::NoDigest)),
        Some(stored) if read.get("digest").and_then(Value::as_str) == Some(&*stored) => Ok(content),
        Some(_) => Err(Fault::Invalid(RecordProblem::Digest)),
    }
}

/// The entry of a line, of one of these runs.
pub(super) fn parse_line<E: Entry>(line: &[u8], runs: &[Arc<DigestedRun<E::Run>>]) -> Result<E, Fault> {
    let content: E::Content = parse_sealed(line, E::take_digest)?;
    let named = E::named_run(&content);
    let Some(run) = runs.iter().find(|run| run.digest() == named) else {
        let found = named.chars().take(SHOWN).collect();
        return Err(Fault::Invalid(RecordProblem::UnknownRun { found }));
    };
    let entry = E::of_run(content, run);
    entry.validate().map_err(Fault::Invalid)?;
    Ok(entry)
}

/// Whether the keys of an object are those that it was read as, and their values of the form in which lines have them. The
/// digest of the line may be missing or another. `place` is what leads to the object, with a dot at its end.
fn same_content(place: &str, written: &Value, read: &Value) -> Result<(), RecordProblem> {
    for (key, value) in written.as_object().into_iter().flatten() {
        let name = || format!("{place}{key}").chars().take(SHOWN).collect();
        match read.get(key) {
            _ if place.is_empty() && key == "digest" => {}
            Some(read) if value.is_object() && read.is_object() => {
                same_content(&format!("{place}{key}."), value, read)?;
            }
            Some(read) if same_form(value, read) => {}
            Some(_) => return Err(RecordProblem::Form { key: name() }),
            // What is left out where it is 0, or where there is none, may be written as that.
            None if OPTIONAL_COUNTS.contains(&key.as_str()) && value.as_f64() == Some(0.0) => {}
            None if OPTIONAL_KEYS.contains(&key.as_str()) && value.is_null() => {}
            None => return Err(RecordProblem::UnknownKey { key: name() }),
        }
    }
    Ok(())
}

/// Keys that are left out where they are 0.
const OPTIONAL_COUNTS: [&str; 6] = [
    "selection_none",
    "estimation_none",
    "selection_undecided",
    "estimation_undecided",
    "undecided",
    "perturbed_error",
];

/// Keys that are left out where there is none.
const OPTIONAL_KEYS: [&str; 3] = ["goal", "nonce", "runtime"];

/// Whether two values differ at most in how their numbers are written: serde reads a list as a struct, and an object as one
/// of several words.
fn same_form(written: &Value, read: &Value) -> bool {
    match (written, read) {
        (Value::Number(_), Value::Number(_)) => true,
        (Value::Array(written), Value::Array(read)) => {
            written.len() == read.len() && written.iter().zip(read).all(|(a, b)| same_form(a, b))
        }
        (written, read) => written == read,
    }
}
