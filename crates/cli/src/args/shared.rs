//! What several verbs have in common.

use std::time::Duration;

/// Columns of a page of help, and of everything printed for people.
pub(crate) const COLUMNS: usize = 80;
/// Headings of groups of options that several verbs have.
pub(super) const DATA: &str = "Data";
pub(super) const OUTPUT: &str = "Output";

/// A time limit.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?;
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("{seconds} is not a time"))
}
