//! One HTML file that needs no other, and loads none: its content security policy forbids it.
//!
//! The policy names the one script of the page by its hash. If a text ever escaped from its place, a script in it would not
//! run.

use crate::base64;
use crate::mark::PAGE;
use crate::markup::{escape, island};
use gambeson_lowrank::file::sha256;
use serde::Serialize;

/// Typography, colours and tables, in the light and in the dark, on paper too.
const STYLE: &str = include_str!("assets/base.css");

/// A page without a script; its title is a text, `style` is added to the look of all pages, `body` is HTML.
pub fn page(title: &str, style: &str, body: &str) -> String {
    whole(title, style, body, None)
}

/// The same with a script, which finds data as JSON in the element `data`.
pub(super) fn page_with_script(
    title: &str,
    style: &str,
    body: &str,
    data: &impl Serialize,
    script: &str,
) -> serde_json::Result<String> {
    Ok(whole(title, style, body, Some((&island(data)?, script))))
}

/// A row of a table; `tag` is `th` or `td`, the cells are HTML.
pub fn row(tag: &str, cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| format!("<{tag}>{cell}</{tag}>")).collect();
    format!("<tr>{}</tr>", cells.concat())
}

/// A table of such rows, which scrolls by itself where it is too wide.
pub fn table(rows: &[String]) -> String {
    format!("<div class=\"scroll\" tabindex=\"0\"><table>\n{}\n</table></div>\n", rows.join("\n"))
}

fn whole(title: &str, style: &str, body: &str, script: Option<(&str, &str)>) -> String {
    let (title, style) = (escape(title), format!("{STYLE}{style}"));
    let (source, scripts) = match script {
        None => ("'none'".to_owned(), String::new()),
        Some((data, script)) => (
            format!("'{}'", source_hash(script)),
            format!(
                "<script id=\"data\" type=\"application/json\">{data}</script>\n<script>{script}</script>\n"
            ),
        ),
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{PAGE}\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'; \
         script-src {source}; base-uri 'none'; form-action 'none'\">\n\
         <title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}{scripts}</body>\n</html>\n"
    )
}

/// What a policy calls an inline script.
fn source_hash(source: &str) -> String {
    let hex = sha256(source.as_bytes());
    let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap_or(0); // digits of a hash
    let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
    format!("sha256-{}", base64::encode(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_named_as_browsers_name_it() {
        // The example of the W3C recommendation Content Security Policy Level 2, section 4.2.5.
        assert_eq!(
            source_hash("alert('Hello, world.');"),
            "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng="
        );
    }

    #[test]
    fn a_page_begins_with_its_mark_and_runs_no_other_script() {
        let text = "<script>alert(\"1\")</script> & \u{202e}x\n";
        let plain = page(text, "", "<p>body</p>\n");
        assert!(
            plain.starts_with("<!doctype html>") && plain.find(PAGE).is_some_and(|at| at < 1000),
            "{plain}"
        );
        assert!(!plain.contains("<script") && plain.contains("script-src 'none'"), "{plain}");
        let html = page_with_script("t", "", "", &[text], "let a = 1;").expect("JSON");
        assert_eq!(html.matches("<script").count(), 2, "data and script: {html}");
        assert!(html.contains(&source_hash("let a = 1;")), "{html}");
        assert_eq!(row("td", &["a".to_owned(), "b".to_owned()]), "<tr><td>a</td><td>b</td></tr>");
    }
}
