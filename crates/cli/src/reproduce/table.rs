//! A table, as Markdown and as LaTeX (booktabs). Cells are plain text, numbers all of them.

/// Columns in groups, rows of cells, and notes below.
pub(crate) struct Table {
    pub(crate) caption: String,
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    pub(crate) notes: Vec<String>,
}

struct Column {
    /// Neighbours of one group share a heading; empty for none.
    group: String,
    heading: String,
}

impl Table {
    pub(crate) fn new(caption: String, notes: Vec<String>) -> Self {
        Self { caption, columns: Vec::new(), rows: Vec::new(), notes }
    }

    /// One more column, top to bottom; a column shorter or longer than the others would be a mistake in the caller, so
    /// cells come from one list of rows.
    pub(crate) fn column<K: Copy>(
        &mut self,
        group: &str,
        heading: &str,
        rows: &[K],
        cell: impl FnMut(K) -> String,
    ) {
        self.columns.push(Column { group: group.to_owned(), heading: heading.to_owned() });
        self.rows.resize_with(rows.len(), Vec::new);
        let cells = rows.iter().copied().map(cell);
        self.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
    }

    pub(crate) fn markdown(&self) -> String {
        let escape = |text: &str| text.replace('|', "\\|");
        let heading = |column: &Column| match column.group.as_str() {
            "" => escape(&column.heading),
            group => escape(&format!("{group}: {}", column.heading)),
        };
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let mut lines = vec![self.caption.clone(), String::new()];
        lines.push(line(self.columns.iter().map(heading).collect()));
        lines.push(line(vec!["---:".to_owned(); self.columns.len()]));
        lines.extend(self.rows.iter().map(|row| line(row.iter().map(|cell| escape(cell)).collect())));
        lines.extend(self.notes.iter().map(|note| format!("\n{note}")));
        lines.join("\n") + "\n"
    }

    /// A `tabular` to be included in a `table` of the reader's own; caption and notes are comments.
    pub(crate) fn latex(&self) -> String {
        let line = |cells: Vec<String>| format!("{} \\\\", cells.join(" & "));
        let mut lines = vec![format!("% {}", self.caption)];
        lines.extend(self.notes.iter().map(|note| format!("% {note}")));
        lines.push("% Needs \\usepackage{booktabs}.".to_owned());
        lines.push(format!("\\begin{{tabular}}{{{}}}", "r".repeat(self.columns.len())));
        lines.push("\\toprule".to_owned());
        let (mut heads, mut rules, mut first) = (Vec::new(), Vec::new(), 1);
        for group in self.columns.chunk_by(|a, b| a.group == b.group && !a.group.is_empty()) {
            let last = first + group.len() - 1;
            match latex(&group[0].group) {
                name if name.is_empty() => heads.push(name),
                name => {
                    heads.push(format!("\\multicolumn{{{}}}{{c}}{{{name}}}", group.len()));
                    rules.push(format!("\\cmidrule(lr){{{first}-{last}}}"));
                }
            }
            first = last + 1;
        }
        if !rules.is_empty() {
            lines.extend([line(heads), rules.concat()]);
        }
        lines.push(line(self.columns.iter().map(|column| latex(&column.heading)).collect()));
        lines.push("\\midrule".to_owned());
        lines.extend(self.rows.iter().map(|row| line(row.iter().map(|cell| latex(cell)).collect())));
        lines.push("\\bottomrule\n\\end{tabular}\n".to_owned());
        lines.join("\n")
    }
}

/// Text as LaTeX prints it.
fn latex(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', letter]),
            '\\' => out += "\\textbackslash{}",
            '~' => out += "\\textasciitilde{}",
            '^' => out += "\\textasciicircum{}",
            '<' => out += "$<$",
            '>' => out += "$>$",
            '±' => out += "$\\pm$",
            '×' => out += "$\\times$",
            '≤' => out += "$\\le$",
            '²' => out += "$^2$",
            '–' => out += "--",
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_have_every_cell() {
        let mut table = Table::new("50 %".to_owned(), vec!["A note.".to_owned()]);
        let rows = [1, 2];
        table.column("", "n", &rows, |n| n.to_string());
        table.column("a|b", "s & t", &rows, |n| format!("{n} ± 0"));
        table.column("a|b", "%", &rows, |_| "–".to_owned());
        assert_eq!(
            table.markdown(),
            "50 %\n\n| n | a\\|b: s & t | a\\|b: % |\n| ---: | ---: | ---: |\n| 1 | 1 ± 0 | – |\n| 2 | 2 ± 0 | – |\n\n\
             A note.\n"
        );
        let text = table.latex();
        assert!(
            text.contains("\\begin{tabular}{rrr}") && text.contains(" & \\multicolumn{2}{c}{a|b} \\\\\n"),
            "{text}"
        );
        assert!(text.contains("\\cmidrule(lr){2-3}\nn & s \\& t & \\% \\\\\n"), "{text}");
        assert!(text.contains("\n1 & 1 $\\pm$ 0 & -- \\\\\n"), "{text}");
    }
}
