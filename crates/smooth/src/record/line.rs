//! Lines about inputs: from bytes to an entry, and back.

use super::entry::Entry;
use super::error::RecordProblem;
use super::head::DigestedRun;
use super::sealed::{Fault, parse_sealed, seal};
use std::sync::Arc;

/// Letters of an unknown digest that are shown.
const SHOWN: usize = 40;

/// An entry as a line of a file, its digest included, without the end of the line.
pub fn to_line<E: Entry>(entry: &E) -> Result<String, serde_json::Error> {
    let mut content = entry.to_content();
    E::take_digest(&mut content);
    seal(&content)
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
