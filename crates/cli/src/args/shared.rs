//! What several verbs have in common.

use std::time::Duration;

/// Headings of groups of options that several verbs have.
pub(super) const DATA: &str = "Data";
pub(super) const OUTPUT: &str = "Output";

/// A size of memory: a number of bytes, or of K, M, G or T.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size: expected a number with K, M, G or T, such as 12G");
    let text = text.trim();
    let (number, unit) = match text.strip_suffix(['b', 'B']).unwrap_or(text) {
        text if text.ends_with(['k', 'K']) => (&text[..text.len() - 1], 1e3),
        text if text.ends_with(['m', 'M']) => (&text[..text.len() - 1], 1e6),
        text if text.ends_with(['g', 'G']) => (&text[..text.len() - 1], 1e9),
        text if text.ends_with(['t', 'T']) => (&text[..text.len() - 1], 1e12),
        text => (text, 1.0),
    };
    let size = number.trim().parse::<f64>().map_err(|_| wrong())? * unit;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked to be in range
    if (1.0..1e18).contains(&size) { Ok(size as u64) } else { Err(wrong()) }
}

/// A time limit.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?;
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("{seconds} is not a time"))
}
