//! The page people read: its width and its colours.
//!
//! Text is laid out for 80 columns everywhere, so that a page looks the same in a terminal, a pipe and a file. Colours
//! appear only on a terminal, and not if NO_COLOR is set or TERM is `dumb`.

use crate::args::COLUMNS;
use clap::builder::styling::{AnsiColor, Style};
use std::io::IsTerminal;
use std::path::Path;

/// A verdict in green, for stdout.
pub(crate) fn proven() -> String {
    painted("PROVEN", AnsiColor::Green, &std::io::stdout())
}

/// A verdict in red, for stdout.
pub(crate) fn rejected() -> String {
    painted("REJECTED", AnsiColor::Red, &std::io::stdout())
}

/// The word before an error, in red, for stderr.
pub(crate) fn error() -> String {
    painted("error:", AnsiColor::Red, &std::io::stderr())
}

/// Whether a stream shows colours.
pub(crate) fn coloured(stream: &impl IsTerminal) -> bool {
    draws(stream) && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Whether a stream is a terminal on which the cursor can be moved.
pub(crate) fn draws(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn painted(text: &str, colour: AnsiColor, stream: &impl IsTerminal) -> String {
    if !coloured(stream) {
        return text.to_owned();
    }
    let style = Style::new().bold().fg_color(Some(colour.into()));
    format!("{style}{text}{style:#}")
}

/// A paragraph in lines of at most 80 columns; lines after the first begin with `indent` spaces. No word is broken: one
/// that is longer than a line, such as a path, has a line of its own.
pub(crate) fn wrapped(text: &str, indent: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if length(line) + 1 + length(word) <= COLUMNS => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
            Some(_) => lines.push(" ".repeat(indent) + word),
        }
    }
    lines.join("\n")
}

/// A text from a file, for people: what would move the cursor, change colours or pretend to be another line is escaped.
pub(crate) fn shown(text: &str) -> String {
    let safe = |letter: char| !letter.is_control() && !is_invisible(letter);
    if text.chars().all(safe) {
        return text.to_owned();
    }
    text.chars()
        .map(|letter| if safe(letter) { letter.to_string() } else { letter.escape_unicode().to_string() })
        .collect()
}

/// A path for people, by the same rule.
pub(crate) fn shown_path(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

/// The same for a message of several lines.
pub(crate) fn shown_lines(text: &str) -> String {
    text.split('\n').map(shown).collect::<Vec<_>>().join("\n")
}

/// The same for a line that may have colours.
fn shown_in_colours(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let first = shown(parts.next().unwrap_or_default());
    parts.fold(first, |before, part| {
        let is_colour = |colour: &&str| colour.bytes().all(|byte| byte.is_ascii_digit() || byte == b';');
        let colour = part.strip_prefix('[').and_then(|rest| rest.split('m').next()).filter(is_colour);
        match colour.and_then(|colour| part.split_at_checked(colour.len() + 2)) {
            Some((colour, rest)) => before + "\x1b" + colour + &shown(rest),
            None => before + &shown("\x1b") + &shown(part),
        }
    })
}

/// Marks that change the direction of what follows, separators of lines, and letters of no width.
pub(crate) fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A command to copy, in lines of at most 80 columns that a shell takes as one.
pub(crate) fn command(text: &str, indent: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if length(line) + 1 + length(word) + 2 <= COLUMNS => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
            Some(_) => lines.push(" ".repeat(indent) + word),
        }
    }
    lines.join(" \\\n")
}

/// A message for stderr, line by line: wrapped on a terminal, unchanged in a pipe, where programs read it. Lines after the
/// first are indented, so that no text from a file can pretend to be a result or another message.
pub(crate) fn message(text: &str) -> String {
    const INDENT: usize = 2;
    let drawn = std::io::stderr().is_terminal();
    let line = |(at, line): (usize, &str)| {
        let indent = if at == 0 || line.is_empty() { 0 } else { INDENT };
        let line = " ".repeat(indent) + &shown_in_colours(line);
        if drawn { wrapped(&line, INDENT) } else { line }
    };
    text.split('\n').enumerate().map(line).collect::<Vec<_>>().join("\n")
}

/// Columns of a text, colours not counted.
fn length(text: &str) -> usize {
    let coloured = text.split('\x1b').skip(1).filter_map(|part| part.find('m')).map(|end| end + 2);
    text.chars().count() - coloured.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_from_files_cannot_move_the_cursor() {
        assert_eq!(shown("robust, 3 × 32 × 32"), "robust, 3 × 32 × 32");
        assert_eq!(shown("a\nPROVEN\x1b[32m"), "a\\u{a}PROVEN\\u{1b}[32m");
        assert_eq!(shown("\u{202e}txt"), "\\u{202e}txt");
        assert_eq!(shown_lines("a\nb\x07"), "a\nb\\u{7}");
        assert_eq!(shown_path(Path::new("a\nb")), "a\\u{a}b");
        assert_eq!(
            shown_in_colours("\x1b[1;31merror:\x1b[0m a\x1b[2Jb\x1b"),
            "\x1b[1;31merror:\x1b[0m a\\u{1b}[2Jb\\u{1b}"
        );
    }

    #[test]
    fn no_line_of_a_message_looks_like_another_message() {
        assert_eq!(message("x: bad\nPROVEN\n\nerror: y\r"), "x: bad\n  PROVEN\n\n  error: y\\u{d}");
    }

    #[test]
    fn lines_are_filled_and_no_word_is_broken() {
        assert_eq!(wrapped("", 3), "");
        assert_eq!(wrapped("a  b", 3), "a  b");
        let text = "word ".repeat(40);
        let lines: Vec<String> = wrapped(text.trim_end(), 2).lines().map(str::to_owned).collect();
        assert_eq!(lines[0].len(), 79);
        assert!(lines[1].starts_with("  word ") && lines[1].len() <= COLUMNS);
        assert_eq!(lines.iter().flat_map(|line| line.split_whitespace()).count(), 40);
        let long = "x".repeat(100);
        assert_eq!(wrapped(&format!("a {long} b"), 1), format!("a\n {long}\n b"));
        assert_eq!(length("\x1b[1m\x1b[32mPROVEN\x1b[0m: it"), "PROVEN: it".len());
    }
}
