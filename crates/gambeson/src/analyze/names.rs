//! What paths say: names that tell logs apart, and noise levels.

use crate::error::analyze::AnalyzeError;
use gambeson_report::text::shown;
use gambeson_smooth::analysis::LoggedRun;
use std::path::PathBuf;

/// The labels given, or else what tells the paths apart.
pub(super) fn labels_of(sources: &[LoggedRun], given: &[String]) -> Result<Vec<String>, AnalyzeError> {
    if given.is_empty() {
        return Ok(labels(sources));
    }
    if given.len() != sources.len() {
        return Err(AnalyzeError::Labels { labels: given.len(), logs: sources.len() });
    }
    Ok(given.iter().map(|label| shown(label)).collect())
}

/// The shortest ends of the paths that tell the logs apart, without extensions.
fn labels(sources: &[LoggedRun]) -> Vec<String> {
    let path = |source: &LoggedRun| {
        let path = source.paths.first().map(|path| path.with_extension("")).unwrap_or_default();
        // The .25 of sigma_0.25 is not an extension.
        let whole = source.paths.first().cloned().unwrap_or_default();
        let ending = whole.extension().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
        let numeric = ending.chars().all(|letter| letter.is_ascii_digit());
        if numeric { whole } else { path }
    };
    let ends = distinct_ends(&sources.iter().map(path).collect::<Vec<_>>());
    let label = |(source, end): (&LoggedRun, String)| {
        let more = source.paths.len().saturating_sub(1);
        let shards = if more > 0 { format!(" (+ {more})") } else { String::new() };
        shown(&(end + &shards))
    };
    sources.iter().zip(ends).map(label).collect()
}

/// The shortest end of each path that no other has.
pub(crate) fn distinct_ends(paths: &[PathBuf]) -> Vec<String> {
    let words = |path: &PathBuf| -> Vec<String> {
        path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let parts: Vec<Vec<String>> = paths.iter().map(words).collect();
    let longest = parts.iter().map(Vec::len).max().unwrap_or(0);
    let end = |parts: &[String], length: usize| parts[parts.len().saturating_sub(length)..].join("/");
    let label = |at: usize| {
        let others = |length: usize| {
            let own = end(&parts[at], length);
            parts.iter().enumerate().all(|(other, parts)| other == at || end(parts, length) != own)
        };
        let length = (1..=longest).find(|&length| others(length)).unwrap_or(longest);
        end(&parts[at], length)
    };
    (0..parts.len()).map(label).collect()
}

/// The noise level of a log: as it says, or what follows `sigma` or `noise` in its path, the last of several.
pub(super) fn sigma_of(source: &LoggedRun) -> Option<f64> {
    let path = source.paths.first()?.to_string_lossy().to_lowercase();
    let named = ["sigma", "noise"].iter().filter_map(|word| {
        let at = path.rfind(word)?;
        let rest = path[at + word.len()..].trim_start_matches(['_', '=', '-']);
        let end = rest.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(rest.len());
        let level: f64 = rest[..end].trim_end_matches('.').parse().ok()?;
        Some((at, level))
    });
    source.sigma.or_else(|| named.max_by_key(|(at, _)| *at).map(|(_, level)| level))
}
