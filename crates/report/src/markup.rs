//! Texts and data inside HTML: whatever they hold, they cannot leave their place.

use crate::text::{is_invisible, shown};
use serde::Serialize;
use std::fmt::Write;

/// A text between tags, or in an attribute between quotes.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in shown(text).chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// JSON for a `<script type="application/json">`. The letters that could end the element, or begin a comment in it, stand
/// only in strings, where they are written as escapes.
pub(crate) fn island(data: &impl Serialize) -> serde_json::Result<String> {
    let text = serde_json::to_string(data)?;
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '<' | '>' | '&') || letter.is_control() || is_invisible(letter) {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "\\u{:04x}", u32::from(letter));
        } else {
            escaped.push(letter);
        }
    }
    Ok(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: [&str; 6] = [
        "</script><script>alert(1)</script>",
        "<!--<script>",
        "\" onload=\"alert(1)",
        "' onload='alert(1)",
        "a\u{202e}b\u{2028}c\nd\x1b[2J",
        "]]>&lt;&amp;",
    ];

    #[test]
    fn nothing_in_a_text_is_markup() {
        for text in HOSTILE {
            let escaped = escape(text);
            assert!(
                !escaped.contains(['<', '>', '"', '\'', '\n', '\u{202e}', '\u{2028}', '\x1b']),
                "{escaped}"
            );
        }
        assert_eq!(escape("a < b & \"c\""), "a &lt; b &amp; &quot;c&quot;");
    }

    #[test]
    fn an_island_holds_the_same_data_and_no_tag() {
        for text in HOSTILE {
            let written = island(&[text]).expect("JSON");
            assert!(written.is_ascii() && !written.contains(['<', '>', '&']), "{written}");
            let read: Vec<String> = serde_json::from_str(&written).expect("JSON");
            assert_eq!(read, [text]);
        }
    }
}
