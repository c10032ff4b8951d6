//! Words of a line for a POSIX shell, as bash and zsh read them: whatever a name holds, it stays one word, and what is shown
//! is what is copied.

use gambeson_report::text::is_invisible;
use std::ffi::OsStr;
use std::fmt::Write;

/// A path or another text as one word. One that begins with a dash would be an option.
pub(super) fn word(text: &OsStr) -> String {
    let bytes = text.as_encoded_bytes();
    let before = if bytes.starts_with(b"-") { "./" } else { "" };
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() && text.chars().all(is_plain) => format!("{before}{text}"),
        Ok(text) if !text.chars().any(|letter| letter.is_control() || is_invisible(letter)) => {
            format!("'{before}{}'", text.replace('\'', "'\\''"))
        }
        _ => format!("$'{before}{}'", escaped(bytes)),
    }
}

/// Letters that mean nothing to a shell.
fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "-_./,:=+@%".contains(letter)
}

/// What stands between `$'` and `'`.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        match byte {
            b'\'' | b'\\' => {
                text.push('\\');
                text.push(char::from(byte));
            }
            b' '..=b'~' => text.push(char::from(byte)),
            byte => {
                // Three octal digits: a digit that follows is none of it. Writing to a string cannot fail.
                let _ = write!(text, "\\{byte:03o}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const NAMES: [&str; 9] = [
        "runs/a.jsonl",
        "a b",
        "it's",
        "$(touch x); `y` \"z\" \\ & | > *",
        "-rf",
        "a\nb\tc\x1b[2J7",
        "a\u{202e}b",
        "ü/日本",
        "'; exit 1; '",
    ];

    #[test]
    fn a_shell_reads_back_the_name() {
        for name in NAMES {
            let word = word(OsStr::new(name));
            assert!(!word.chars().any(|letter| letter.is_control() || is_invisible(letter)), "{word}");
            let line = format!("printf %s {word}");
            let Ok(output) = Command::new("bash").args(["-c", &line]).output() else {
                gambeson_testing::skipped("there is no bash");
                return;
            };
            let expected = if name.starts_with('-') { format!("./{name}") } else { name.to_owned() };
            assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{word}");
        }
    }

    #[test]
    fn plain_names_stay_as_they_are() {
        assert_eq!(word(OsStr::new("runs/sigma_0.25.jsonl")), "runs/sigma_0.25.jsonl");
        assert_eq!((word(OsStr::new("")), word(OsStr::new("-x"))), ("''".to_owned(), "./-x".to_owned()));
    }
}
