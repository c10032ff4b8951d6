//! Tables as HTML: in a box that scrolls by itself where the screen is narrow.

use super::columns::{Column, Table};
use crate::markup::escape;

impl Table {
    /// Caption, table, and notes as paragraphs.
    pub fn html(&self) -> String {
        let caption = escape(&self.caption);
        let note = |note: &String| format!("<p class=\"note\">{}</p>\n", escape(note));
        let notes = self.notes.iter().map(note).collect::<Vec<_>>().concat();
        // A region that scrolls must be reachable by keyboard.
        format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\">\n<table class=\"numbers\">\n\
             <caption><span>{caption}</span></caption>\n<thead>\n{}</thead>\n<tbody>\n{}</tbody>\n</table>\n</div>\n{notes}",
            self.html_head(),
            self.html_rows()
        )
    }

    fn html_head(&self) -> String {
        let heading = |column: &Column| {
            format!("<th scope=\"col\"{}>{}</th>", class_of(column), escape(&column.heading))
        };
        let headings = self.columns.iter().map(heading).collect::<Vec<_>>().concat();
        if self.columns.iter().all(|column| column.group.is_empty()) {
            return format!("<tr>{headings}</tr>\n");
        }
        let groups = self.columns.chunk_by(|a, b| a.group == b.group && !a.group.is_empty());
        let group = |columns: &[Column]| match columns[0].group.as_str() {
            "" => "<td></td>".to_owned(),
            name => {
                format!("<th scope=\"colgroup\" colspan=\"{}\">{}</th>", columns.len(), escape(name))
            }
        };
        format!(
            "<tr class=\"groups\">{}</tr>\n<tr>{headings}</tr>\n",
            groups.map(group).collect::<Vec<_>>().concat()
        )
    }

    fn html_rows(&self) -> String {
        // The first column names the row, where it has words.
        let cell = |(at, (column, text)): (usize, (&Column, &String))| {
            let (class, text) = (class_of(column), escape(text));
            if at == 0 && column.words {
                format!("<th scope=\"row\"{class}>{text}</th>")
            } else {
                format!("<td{class}>{text}</td>")
            }
        };
        let row = |row: &Vec<String>| {
            let cells: String = self.columns.iter().zip(row).enumerate().map(cell).collect();
            format!("<tr>{cells}</tr>\n")
        };
        self.rows.iter().map(row).collect()
    }
}

fn class_of(column: &Column) -> &'static str {
    match (column.words, column.quoted) {
        (true, _) => " class=\"words\"",
        (false, true) => " class=\"quoted\"",
        (false, false) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_captions_and_notes_are_escaped_and_groups_span_their_columns() {
        let rows = ["<b>one</b>", "two"];
        let mut table = Table::new("A & B".to_owned(), vec!["</table>".to_owned()]);
        table.words("name", &rows, str::to_owned);
        table.column("ours", "r = 0", &rows, |_| "0.5".to_owned());
        table.column("ours", "r = 1", &rows, |_| "0.4".to_owned());
        table.quoted("paper", "r = 0", &rows, |_| "0.6".to_owned());
        let html = table.html();
        assert!(html.contains("<caption><span>A &amp; B</span></caption>"), "{html}");
        assert!(html.contains("<th scope=\"row\" class=\"words\">&lt;b&gt;one&lt;/b&gt;</th>"), "{html}");
        assert!(html.contains("<td></td><th scope=\"colgroup\" colspan=\"2\">ours</th>"), "{html}");
        assert!(html.contains("<td class=\"quoted\">0.6</td>"), "{html}");
        assert!(html.contains("<p class=\"note\">&lt;/table&gt;</p>"), "{html}");
        assert_eq!(html.matches("</table>").count(), 1);
    }
}
