//! What the text formats share: numbered lines, and fields that become numbers or errors.

use super::decimal::{Decimal, NotADecimal};
use super::error::ParseError;
use super::problem::LineProblem;

/// The non-blank lines with their numbers, from 1.
pub(super) fn numbered_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(k, line)| (k + 1, line)).filter(|(_, line)| !line.trim_ascii().is_empty())
}

pub(super) fn has_prefix_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// The beginning of a text, short enough for a message.
pub(super) fn clip(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The fields of one line, taken one after the other.
pub(super) struct Fields<I> {
    line: usize,
    fields: I,
}

impl<'a, I: Iterator<Item = &'a str>> Fields<I> {
    pub(super) fn new(line: usize, fields: I) -> Self {
        Self { line, fields }
    }

    pub(super) fn error(&self, problem: LineProblem) -> ParseError {
        ParseError::Line { number: self.line, problem }
    }

    /// The next field as a non-negative integer.
    pub(super) fn count(&mut self, field: &'static str) -> Result<usize, ParseError> {
        let text = self.text(field)?;
        text.parse().map_err(|_| self.error(LineProblem::NotACount { field, text: clip(text) }))
    }

    /// The next field, an index from 1 to `max`, as an index from 0.
    pub(super) fn index(&mut self, field: &'static str, max: usize) -> Result<usize, ParseError> {
        match self.count(field)? {
            0 => Err(self.error(LineProblem::IndexZero { field })),
            index if index > max => Err(self.error(LineProblem::IndexOutOfRange { field, index, max })),
            index => Ok(index - 1),
        }
    }

    /// The next field as a finite number.
    pub(super) fn real(&mut self, field: &'static str) -> Result<Decimal, ParseError> {
        let text = self.text(field)?;
        self.finite(text)
    }

    /// The next field as a finite number, if there is one.
    pub(super) fn optional_real(&mut self) -> Result<Option<Decimal>, ParseError> {
        self.fields.next().map(|text| self.finite(text)).transpose()
    }

    /// The next field as an integer.
    pub(super) fn integer(&mut self, field: &'static str) -> Result<Decimal, ParseError> {
        let text = self.text(field)?;
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.error(LineProblem::NotAnInteger { text: clip(text) }));
        }
        self.finite(text)
    }

    /// Checks that nothing is left.
    pub(super) fn end(&mut self) -> Result<(), ParseError> {
        match self.fields.next() {
            Some(text) => Err(self.error(LineProblem::ExtraField { text: clip(text) })),
            None => Ok(()),
        }
    }

    fn text(&mut self, field: &'static str) -> Result<&'a str, ParseError> {
        self.fields.next().ok_or_else(|| self.error(LineProblem::MissingField { field }))
    }

    fn finite(&self, text: &str) -> Result<Decimal, ParseError> {
        match Decimal::parse(text) {
            Ok(number) => Ok(number),
            Err(NotADecimal::NotFinite) => Err(self.error(LineProblem::NotFinite { text: clip(text) })),
            Err(NotADecimal::NotANumber) => Err(self.error(LineProblem::NotANumber { text: clip(text) })),
        }
    }
}
