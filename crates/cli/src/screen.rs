//! The page people read: its width and its colours.
//!
//! Text is laid out for 80 columns everywhere, so that a page looks the same in a terminal, a pipe and a file. Colours
//! appear only on a terminal, and not if NO_COLOR is set or TERM is `dumb`.

use clap::builder::styling::{AnsiColor, Style};
pub(crate) use gambeson_report::text::{COLUMNS, command, shown, shown_lines, shown_path, wrapped};
use std::io::IsTerminal;

/// A verdict in green, for stdout.
pub(crate) fn proven() -> String {
    good("PROVEN")
}

/// Another good verdict in green, for stdout.
pub(crate) fn good(verdict: &str) -> String {
    painted(verdict, AnsiColor::Green, &std::io::stdout())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_kept_and_nothing_else() {
        assert_eq!(
            shown_in_colours("\x1b[1;31merror:\x1b[0m a\x1b[2Jb\x1b"),
            "\x1b[1;31merror:\x1b[0m a\\u{1b}[2Jb\\u{1b}"
        );
    }

    #[test]
    fn no_line_of_a_message_looks_like_another_message() {
        assert_eq!(message("x: bad\nPROVEN\n\nerror: y\r"), "x: bad\n  PROVEN\n\n  error: y\\u{d}");
    }
}
