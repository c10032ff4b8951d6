//! A line of a file: from bytes to an entry, and back.
//!
//! What a line says and what is read from it must be the same. A digest is taken of what was read, so whatever a reader
//! overlooks could be put into a line without breaking it: keys that entries do not have, keys too many in a rule or a
//! grid, lists where records have objects. All of that is refused here, for every kind of entry.

use super::entry::Entry;
use super::error::RecordProblem;
use super::run::VERSION;
use gambeson_lowrank::file::sha256;
use serde_json::Value;

/// Letters of an unknown key that are shown.
const SHOWN: usize = 40;

/// An entry as a line of a file, its digest included, without the end of the line.
pub fn to_line<E: Entry>(entry: &E) -> Result<String, serde_json::Error> {
    let mut entry = entry.clone();
    *entry.digest() = Some(digest(&entry)?);
    serde_json::to_string(&entry)
}

/// SHA-256 of an entry as it is written, without its digest.
fn digest<E: Entry>(entry: &E) -> Result<String, serde_json::Error> {
    let mut entry = entry.clone();
    *entry.digest() = None;
    serde_json::to_vec(&entry).map(|bytes| sha256(&bytes))
}

/// Why a line is not an entry.
pub(super) enum Fault {
    Malformed(serde_json::Error),
    Invalid(RecordProblem),
}

pub(super) fn parse_line<E: Entry>(line: &[u8]) -> Result<E, Fault> {
    #[derive(serde::Deserialize)]
    struct Version {
        version: u32,
    }
    let Version { version } = serde_json::from_slice(line).map_err(Fault::Malformed)?;
    if version != VERSION {
        return Err(Fault::Invalid(RecordProblem::Version { found: version }));
    }
    let mut record: E = serde_json::from_slice(line).map_err(Fault::Malformed)?;
    let written: Value = serde_json::from_slice(line).map_err(Fault::Malformed)?;
    let read = serde_json::to_value(&record).map_err(Fault::Malformed)?;
    same_content::<E>(&written, &read).map_err(Fault::Invalid)?;
    match record.digest().take() {
        None => return Err(Fault::Invalid(RecordProblem::NoDigest)),
        // What was written comes back to the bit, numbers included, so the same bytes must follow from it.
        Some(stored) if digest(&record).map_err(Fault::Malformed)? == stored => {}
        Some(_) => return Err(Fault::Invalid(RecordProblem::Digest)),
    }
    record.validate().map_err(Fault::Invalid)?;
    Ok(record)
}

/// Whether the keys of a line are those of an entry, and their values of the form in which entries have them.
fn same_content<E: Entry>(written: &Value, read: &Value) -> Result<(), RecordProblem> {
    for (key, value) in written.as_object().into_iter().flatten() {
        let same = match read.get(key) {
            Some(read) => same_form(value, read),
            // What is left out where it is nothing may be written as nothing.
            None if E::OPTIONAL_KEYS.contains(&key.as_str()) => value.is_null() || value.is_number(),
            None => return Err(RecordProblem::UnknownKey { key: key.chars().take(SHOWN).collect() }),
        };
        if !same {
            return Err(RecordProblem::Form { key: key.clone() });
        }
    }
    Ok(())
}

/// Whether two values differ at most in how their numbers are written: serde reads a list as a struct, and an object as one
/// of several words.
fn same_form(written: &Value, read: &Value) -> bool {
    match (written, read) {
        (Value::Number(_), Value::Number(_)) => true,
        (Value::Array(written), Value::Array(read)) => {
            written.len() == read.len() && written.iter().zip(read).all(|(a, b)| same_form(a, b))
        }
        (Value::Object(written), Value::Object(read)) => {
            written.len() == read.len()
                && written.iter().all(|(key, a)| read.get(key).is_some_and(|b| same_form(a, b)))
        }
        (written, read) => written == read,
    }
}
