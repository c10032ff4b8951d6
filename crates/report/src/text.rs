//! Text for people: width of a page, and texts from files that cannot pretend to be something else.

use std::path::Path;

/// Columns of a page, in terminals, pipes and files alike.
pub const COLUMNS: usize = 80;

/// A paragraph in lines of at most 80 columns; lines after the first begin with `indent` spaces. No word is broken: one
/// that is longer than a line, such as a path, has a line of its own.
pub fn wrapped(text: &str, indent: usize) -> String {
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
pub fn shown(text: &str) -> String {
    let safe = |letter: char| !letter.is_control() && !is_invisible(letter);
    if text.chars().all(safe) {
        return text.to_owned();
    }
    text.chars()
        .map(|letter| if safe(letter) { letter.to_string() } else { letter.escape_unicode().to_string() })
        .collect()
}

/// A path for people, by the same rule.
pub fn shown_path(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

/// The same for a message of several lines.
pub fn shown_lines(text: &str) -> String {
    text.split('\n').map(shown).collect::<Vec<_>>().join("\n")
}

/// Marks that change the direction of what follows, separators of lines, and letters of no width.
pub fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A command to copy, in lines of at most 80 columns that a shell takes as one.
pub fn command(text: &str, indent: usize) -> String {
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
