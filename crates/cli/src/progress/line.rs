//! One line of a terminal, drawn again and again.
//!
//! The library's own target fills the line with spaces up to the edge, so that the `^C` a terminal echoes begins another
//! line and the one above is never cleared. Here the cursor stays behind the text, and a line that is too long for the
//! terminal is cut by the terminal instead of being wrapped.

use crate::screen::COLUMNS;
use indicatif::TermLike;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// stderr, written to when a drawing is complete.
#[derive(Debug, Default)]
pub(super) struct Line(Mutex<String>);

impl Line {
    fn push(&self, text: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
    }

    /// What was drawn since the last time.
    fn take(&self) -> String {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl TermLike for Line {
    fn width(&self) -> u16 {
        u16::try_from(COLUMNS).unwrap_or(u16::MAX)
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(()) // there is one line
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        let text = text.trim_end();
        if !text.is_empty() {
            self.push(&format!("\x1b[?7l{text}\x1b[?7h"));
        }
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        self.push("\r\x1b[2K");
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        let mut stderr = io::stderr().lock();
        stderr.write_all(self.take().as_bytes())?;
        stderr.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_stays_behind_the_text() {
        let line = Line::default();
        line.clear_line().expect("written");
        line.write_str("3 of 7").expect("written");
        line.write_str(&" ".repeat(74)).expect("written");
        assert_eq!(line.take(), "\r\x1b[2K\x1b[?7l3 of 7\x1b[?7h");
    }
}
