//! What the dialects share: numbered lines, fields, and numbers or errors.

use crate::analysis::error::{LineProblem, LogError};
use std::collections::HashMap;
use std::path::Path;

/// Where a line is, for errors.
#[derive(Clone, Copy)]
pub(super) struct LogLine<'a> {
    pub(super) path: &'a Path,
    /// From 1.
    pub(super) line: usize,
}

impl LogLine<'_> {
    pub(super) fn error(self, problem: LineProblem) -> LogError {
        LogError::Line { path: self.path.to_path_buf(), line: self.line, problem }
    }

    fn value(self, column: &str, text: &str, expected: &'static str) -> LogError {
        self.error(LineProblem::Value { column: column.to_owned(), text: clip(text), expected })
    }

    /// A whole number of at least 0.
    pub(super) fn count(self, column: &str, text: &str) -> Result<u64, LogError> {
        text.parse().map_err(|_| self.value(column, text, "a whole number"))
    }

    /// A finite number.
    pub(super) fn real(self, column: &str, text: &str) -> Result<f64, LogError> {
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(self.value(column, text, "a number")),
        }
    }

    /// A number from 0 to 1.
    pub(super) fn share(self, column: &str, text: &str) -> Result<f64, LogError> {
        match self.real(column, text)? {
            value if (0.0..=1.0).contains(&value) => Ok(value),
            _ => Err(self.value(column, text, "a number from 0 to 1")),
        }
    }

    /// A class.
    pub(super) fn class(self, column: &str, text: &str) -> Result<u32, LogError> {
        text.parse().map_err(|_| self.value(column, text, "a class"))
    }

    /// A class; none for −1, which abstains.
    pub(super) fn prediction(self, column: &str, text: &str) -> Result<Option<u32>, LogError> {
        match text {
            "-1" => Ok(None),
            _ => match text.parse() {
                Ok(class) => Ok(Some(class)),
                Err(_) => Err(self.value(column, text, "a class, or -1 where it abstains")),
            },
        }
    }

    /// 0 or 1, as Python prints it.
    pub(super) fn flag(self, column: &str, text: &str) -> Result<bool, LogError> {
        match text {
            "0" | "False" => Ok(false),
            "1" | "True" => Ok(true),
            _ => Err(self.value(column, text, "0 or 1")),
        }
    }

    /// A time in seconds, or as h:mm:ss with days before it, as Python prints a `timedelta`.
    pub(super) fn time(self, column: &str, text: &str) -> Result<f64, LogError> {
        seconds(text).ok_or_else(|| self.value(column, text, "seconds or h:mm:ss"))
    }
}

fn seconds(text: &str) -> Option<f64> {
    let (days, clock) = match text.split_once(',') {
        Some((days, clock)) => {
            let days = days.strip_suffix("days").or_else(|| days.strip_suffix("day"))?;
            (days.trim().parse::<u32>().ok()?, clock.trim())
        }
        None => (0, text),
    };
    let parts: Vec<&str> = clock.split(':').collect();
    let value = match parts[..] {
        [seconds] if days == 0 => seconds.parse::<f64>().ok()?,
        [hours, minutes, seconds] => {
            let (hours, minutes) = (hours.parse::<u32>().ok()?, minutes.parse::<u32>().ok()?);
            (f64::from(days) * 24.0 + f64::from(hours)) * 3600.0
                + f64::from(minutes) * 60.0
                + seconds.parse::<f64>().ok()?
        }
        _ => return None,
    };
    (value.is_finite() && value >= 0.0).then_some(value)
}

/// The beginning of a text, short enough for a message.
pub(super) fn clip(text: &str) -> String {
    const LONGEST: usize = 40;
    let text: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// Splits a line as its file does.
pub(super) fn split(line: &str, separator: char) -> Vec<&str> {
    line.split(separator).map(str::trim).collect()
}

/// What separates the fields of a table with this header.
pub(super) fn separator(header: &str) -> char {
    if header.contains('\t') { '\t' } else { ',' }
}

/// The lines that are not blank.
pub(super) fn lines<'a>(path: &'a Path, text: &'a str) -> impl Iterator<Item = (LogLine<'a>, &'a str)> {
    text.lines()
        .enumerate()
        .map(move |(at, line)| (LogLine { path, line: at + 1 }, line))
        .filter(|(_, line)| !line.trim().is_empty())
}

/// Refuses inputs that come twice.
#[derive(Default)]
pub(super) struct Seen(HashMap<u64, usize>);

impl Seen {
    pub(super) fn add(&mut self, place: LogLine, index: u64) -> Result<(), LogError> {
        match self.0.insert(index, place.line) {
            Some(first) => Err(place.error(LineProblem::Duplicate { index, first })),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_python_prints_them() {
        assert_eq!(seconds("15.4"), Some(15.4));
        assert_eq!(seconds("0:00:13.736080"), Some(13.736_08));
        assert_eq!(seconds("3:48:55.597253"), Some(3.0 * 3600.0 + 48.0 * 60.0 + 55.597_253));
        assert_eq!(seconds("1 day, 0:00:01"), Some(86_401.0));
        assert_eq!(seconds("2 days, 1:00:00"), Some(49.0 * 3600.0));
        for broken in ["", "abc", "0:00", "-1", "nan", "inf", "1:2:3:4", "1 day, 5", "0:00:0x"] {
            assert_eq!(seconds(broken), None, "{broken}");
        }
    }
}
