//! JSON for terminals and pipes: one object a line.

use crate::text::is_invisible;
use serde::Serialize;

/// An object as a line. Letters outside ASCII stand only in its strings, where those that a terminal would obey rather than
/// show are escaped, as JSON itself does with the older half of them.
pub fn line(object: &impl Serialize) -> serde_json::Result<String> {
    let text = serde_json::to_string(object)?;
    let obeyed = |letter: char| letter.is_control() || is_invisible(letter);
    if !text.contains(obeyed) {
        return Ok(text);
    }
    let escaped = |letter: char| {
        if obeyed(letter) { format!("\\u{:04x}", u32::from(letter)) } else { letter.to_string() }
    };
    Ok(text.chars().map(escaped).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_for_a_terminal_read_back_to_the_same_texts() {
        let text = "a\u{9b}31m\u{202e}\u{7f}é\n";
        let line = line(&[text]).expect("a line");
        assert_eq!(line, "[\"a\\u009b31m\\u202e\\u007fé\\n\"]");
        assert_eq!(serde_json::from_str::<Vec<String>>(&line).expect("JSON"), [text]);
    }
}
