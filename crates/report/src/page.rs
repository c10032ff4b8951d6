//! Pages of HTML: one file, no script, nothing from elsewhere.

use crate::mark::PAGE;
use crate::text::shown;

/// How pages look: wide tables scroll by themselves, long words break.
const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222;\
background:#fff}table{border-collapse:collapse;margin:1rem 0}\
td,th{padding:.25rem .75rem;text-align:right;border-bottom:1px solid #ddd;vertical-align:top}\
td:first-child,th:first-child{text-align:left}svg{max-width:100%;height:auto}\
code,pre{background:#f4f4f4;padding:.1rem .3rem;overflow-wrap:anywhere}.wide{overflow-x:auto}\
.proven{color:#1a7f37;font-weight:bold}";

/// A page; its title is a text, `style` is added to the look of all pages.
pub fn page(title: &str, style: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">{PAGE}\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';style-src 'unsafe-inline'\">\
         <title>{}</title><style>{STYLE}{style}</style></head><body>\n{body}</body></html>\n",
        escape(title)
    )
}

/// A text as HTML, in quotes too; what a browser would obey rather than show is escaped.
pub fn escape(text: &str) -> String {
    shown(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A row of a table; `tag` is `th` or `td`, the cells are HTML.
pub fn row(tag: &str, cells: &[String]) -> String {
    let between = format!("</{tag}><{tag}>");
    format!("<tr><{tag}>{}</{tag}></tr>", cells.join(&between))
}

/// A table of such rows.
pub fn table(rows: &[String]) -> String {
    format!("<div class=\"wide\"><table>\n{}\n</table></div>\n", rows.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_leave_their_place() {
        let text = "<script>alert(\"1\")</script> & \u{202e}x\n";
        let safe = escape(text);
        assert_eq!(safe, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; \\u{202e}x\\u{a}");
        let page = page(text, "", "<p>body</p>\n");
        assert!(page.contains(&format!("<title>{safe}</title>")) && !page.contains("<script"), "{page}");
        assert!(page.starts_with("<!doctype html>") && page[..4096.min(page.len())].contains(PAGE));
        assert_eq!(row("td", &["a".to_owned(), "b".to_owned()]), "<tr><td>a</td><td>b</td></tr>");
    }
}
