//! Pieces that several sections have.

use crate::markup::escape;
use std::fmt::Write;

/// One paragraph each.
pub(super) fn paragraphs(texts: &[String]) -> String {
    texts.iter().map(|text| format!("<p>{}</p>\n", escape(text))).collect::<Vec<_>>().concat()
}

/// Lines for a shell under a heading; the script adds buttons that copy them.
pub(super) fn commands(what: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut html = format!("<div class=\"commands\">\n<p>{}</p>\n", escape(what));
    for line in lines {
        let _ = writeln!(html, "<pre class=\"command\" tabindex=\"0\"><code>{}</code></pre>", words(line));
    }
    html + "</div>\n"
}

/// A line for a shell, whose words the style keeps whole: browsers would break them after dashes.
fn words(line: &str) -> String {
    let word = |word: &str| format!("<span>{}</span>", escape(word));
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}
