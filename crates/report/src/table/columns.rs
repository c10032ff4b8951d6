//! A table as columns of plain text, most of them numbers; and as Markdown.

use crate::text::is_invisible;

/// Columns in groups, rows of cells, and notes below.
#[derive(Clone, Debug)]
pub struct Table {
    /// Above the table.
    pub caption: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<String>>,
    /// Below the table, one paragraph each.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Column {
    /// Neighbours of one group share a heading; empty without one.
    pub(super) group: String,
    pub(super) heading: String,
    /// Words are aligned left, numbers right.
    pub(super) words: bool,
    /// Numbers that others published, set apart where a page can show it.
    pub(super) quoted: bool,
}

impl Table {
    /// A table without columns.
    pub fn new(caption: String, notes: Vec<String>) -> Self {
        Self { caption, columns: Vec::new(), rows: Vec::new(), notes }
    }

    /// Adds a column, top to bottom. All columns are made from one list of rows, so that they have the same length.
    pub fn column<K: Copy>(&mut self, group: &str, heading: &str, rows: &[K], cell: impl FnMut(K) -> String) {
        self.columns.push(Column {
            group: group.to_owned(),
            heading: heading.to_owned(),
            words: false,
            quoted: false,
        });
        self.rows.resize_with(rows.len(), Vec::new);
        let cells = rows.iter().copied().map(cell);
        self.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
    }

    /// Adds a column of words.
    pub fn words<K: Copy>(&mut self, heading: &str, rows: &[K], cell: impl FnMut(K) -> String) {
        self.column("", heading, rows, cell);
        self.columns.iter_mut().rev().take(1).for_each(|column| column.words = true);
    }

    /// Adds a column of numbers that others published.
    pub fn quoted<K: Copy>(&mut self, group: &str, heading: &str, rows: &[K], cell: impl FnMut(K) -> String) {
        self.column(group, heading, rows, cell);
        self.columns.iter_mut().rev().take(1).for_each(|column| column.quoted = true);
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        // What Markdown would take for markup is none: cells, captions and notes hold names from files.
        let escape = |text: &str| {
            one_line(text).replace('\\', "\\\\").replace('|', "\\|").replace('`', "\\`").replace('<', "&lt;")
        };
        let heading = |column: &Column| match column.group.as_str() {
            "" => escape(&column.heading),
            group => escape(&format!("{group}: {}", column.heading)),
        };
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let mut lines = vec![escape(&self.caption), String::new()];
        lines.push(line(self.columns.iter().map(heading).collect()));
        let rule = |column: &Column| if column.words { ":---" } else { "---:" }.to_owned();
        lines.push(line(self.columns.iter().map(rule).collect()));
        lines.extend(self.rows.iter().map(|row| line(row.iter().map(|cell| escape(cell)).collect())));
        lines.extend(self.notes.iter().map(|note| format!("\n{}", escape(note))));
        lines.join("\n") + "\n"
    }
}

/// Text without characters that would end its line or turn it round: names come from files.
pub(super) fn one_line(text: &str) -> String {
    text.replace(|letter: char| letter.is_control() || is_invisible(letter), " ")
}
