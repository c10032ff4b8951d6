//! The public logs, each read as what it is.
//!
//! One file per family, each with `recognises` (by content, never by name) and `read`; [`read`] tries them in order.
//! Ten dialects are known:
//!
//! * `votes`: counts of all classes;
//! * `intervals`: intervals of DSRS (10);
//! * `table`: header `idx`, separated by tabs or commas: certificates of Cohen et al. and all that followed them
//!   (1, 2, 3), predictions (4), ANCER (5), ACES (6), ARS (7), of any length (9);
//! * `pairs`: curves of radius and certified accuracy (8), and radii of DSRS (10).
//!
//! Radii are taken as they are written. Most programs write them with three digits, rounded to nearest, so that about
//! every second one is a little larger than what was certified; the log does not show which.
//!
//! A contradiction is an error that names the line: a log is evidence, and evidence is not repaired.

mod intervals;
mod pairs;
mod parsed_log;
mod table;
mod text;
mod votes;

use super::error::LogError;
use super::logged::{Evidence, LoggedRun, Settings};
use crate::record::LimitChoice;
use parsed_log::ParsedLog;
use std::path::Path;

/// Reads a log that is not ours.
pub(super) fn read(path: &Path, bytes: &[u8], settings: &Settings) -> Result<LoggedRun, LogError> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if text.trim().is_empty() {
        return Err(LogError::Empty { path: path.to_path_buf() });
    }
    let ParsedLog { dialect, evidence, sigma, alpha } = if votes::recognises(text) {
        votes::read(path, text, settings)?
    } else {
        // Checked before anything else: whoever asks for another α must not take old radii for new ones.
        if settings.alpha.is_some() || settings.how != LimitChoice::Natural {
            return Err(LogError::NoCounts { path: path.to_path_buf() });
        }
        if intervals::recognises(text) {
            intervals::read(path, text)?
        } else if table::recognises(text) {
            table::read(path, text, settings)?
        } else if pairs::recognises(text) {
            pairs::read(path, text)?
        } else {
            let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            return Err(LogError::Unknown { path: path.to_path_buf(), start: text::clip(first) });
        }
    };
    let empty = match &evidence {
        Evidence::Inputs(inputs) => inputs.is_empty(),
        Evidence::Curve(points) => points.is_empty(),
    };
    if empty {
        return Err(LogError::Empty { path: path.to_path_buf() });
    }
    let paths = vec![path.to_path_buf()];
    let (data, broken_off, planned, run) = (None, Vec::new(), None, None);
    Ok(LoggedRun { paths, dialect, evidence, sigma, alpha, data, broken_off, planned, run })
}
