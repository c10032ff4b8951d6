//! A table, as Markdown and as LaTeX (booktabs). Cells are plain text, most of them numbers.

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
    /// Of words, which begin at the left; numbers end at the right.
    words: bool,
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
        self.columns.push(Column { group: group.to_owned(), heading: heading.to_owned(), words: false });
        self.rows.resize_with(rows.len(), Vec::new);
        let cells = rows.iter().copied().map(cell);
        self.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
    }

    /// One more column, of words.
    pub(crate) fn words<K: Copy>(&mut self, heading: &str, rows: &[K], cell: impl FnMut(K) -> String) {
        self.column("", heading, rows, cell);
        self.columns.iter_mut().rev().take(1).for_each(|column| column.words = true);
    }

    pub(crate) fn markdown(&self) -> String {
        let escape = |text: &str| one_line(text).replace('|', "\\|");
        let heading = |column: &Column| match column.group.as_str() {
            "" => escape(&column.heading),
            group => escape(&format!("{group}: {}", column.heading)),
        };
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let mut lines = vec![one_line(&self.caption), String::new()];
        lines.push(line(self.columns.iter().map(heading).collect()));
        let rule = |column: &Column| if column.words { ":---" } else { "---:" }.to_owned();
        lines.push(line(self.columns.iter().map(rule).collect()));
        lines.extend(self.rows.iter().map(|row| line(row.iter().map(|cell| escape(cell)).collect())));
        lines.extend(self.notes.iter().map(|note| format!("\n{}", one_line(note))));
        lines.join("\n") + "\n"
    }

    /// For a terminal: columns in line, words at the left, numbers at the right.
    pub(crate) fn terminal(&self) -> String {
        let headings: Vec<String> = self.columns.iter().map(|column| one_line(&column.heading)).collect();
        let mut lines = vec![headings];
        lines.extend(self.rows.iter().map(|row| row.iter().map(|cell| one_line(cell)).collect::<Vec<_>>()));
        // A star stands beside its number: those without one leave room for it.
        for (at, column) in self.columns.iter().enumerate() {
            if !column.words && lines.iter().skip(1).any(|line| line[at].ends_with('*')) {
                let unstarred = lines.iter_mut().filter(|line| !line[at].ends_with('*'));
                unstarred.for_each(|line| line[at].push(' '));
            }
        }
        let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let text = |line: &Vec<String>| {
            let cells = line.iter().zip(&self.columns).zip(&widths).map(|((cell, column), width)| {
                if column.words { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let mut all = vec![one_line(&self.caption)];
        all.extend(lines.iter().map(text));
        all.extend(self.notes.iter().map(|note| one_line(note)));
        all.join("\n") + "\n"
    }

    /// A `tabular` to be included in a `table` of the reader's own; caption and notes are comments.
    pub(crate) fn latex(&self) -> String {
        let line = |cells: Vec<String>| format!("{} \\\\", cells.join(" & "));
        let mut lines = vec![format!("% {}", one_line(&self.caption))];
        lines.extend(self.notes.iter().map(|note| format!("% {}", one_line(note))));
        lines.push("% Needs \\usepackage{booktabs}.".to_owned());
        let align = |column: &Column| if column.words { 'l' } else { 'r' };
        lines.push(format!("\\begin{{tabular}}{{{}}}", self.columns.iter().map(align).collect::<String>()));
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

/// Text without letters that would end its line: names come from files.
fn one_line(text: &str) -> String {
    text.replace(|letter: char| letter.is_control() || ['\u{2028}', '\u{2029}'].contains(&letter), " ")
}

/// Text as LaTeX prints it; `?` for a letter that it cannot print.
fn latex(text: &str) -> String {
    one_line(text).chars().map(|letter| latex_letter(letter).unwrap_or_else(|| "?".to_owned())).collect()
}

/// A letter as pdfLaTeX takes it without further packages; none if it takes none such.
pub(crate) fn latex_letter(letter: char) -> Option<String> {
    let command = match letter {
        '&' | '%' | '$' | '#' | '_' | '{' | '}' => return Some(format!("\\{letter}")),
        '\\' => "\\textbackslash{}",
        '~' => "\\textasciitilde{}",
        '^' => "\\textasciicircum{}",
        '<' => "$<$",
        '>' => "$>$",
        '±' => "$\\pm$",
        '×' => "$\\times$",
        '÷' => "$\\div$",
        '·' => "$\\cdot$",
        '≤' => "$\\le$",
        '≥' => "$\\ge$",
        '≠' => "$\\ne$",
        '≈' => "$\\approx$",
        '∞' => "$\\infty$",
        '√' => "$\\surd$",
        '∑' => "$\\sum$",
        '→' => "$\\to$",
        '−' => "$-$",
        '°' => "$^\\circ$",
        '¹' => "$^1$",
        '²' => "$^2$",
        '³' => "$^3$",
        'µ' => "$\\mu$",
        '–' => "--",
        '—' => "---",
        '‘' => "`",
        '’' => "'",
        '“' => "``",
        '”' => "\'\'",
        '…' => "\\dots{}",
        '†' => "$\\dagger$",
        '‡' => "$\\ddagger$",
        '®' => "\\textregistered{}",
        '™' => "\\texttrademark{}",
        '\u{a0}' | '\u{2009}' | '\u{202f}' => "~",
        ' '..='~' | 'À'..='Ö' | 'Ø'..='ö' | 'ø'..='ÿ' => return Some(letter.to_string()),
        _ => return greek(letter).map(|name| format!("$\\{name}$")),
    };
    Some(command.to_owned())
}

/// The name of a Greek letter that has one in LaTeX.
fn greek(letter: char) -> Option<&'static str> {
    const SMALL: [&str; 25] = [
        "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
        "mu", "nu", "xi", "", "pi", "rho", "varsigma", "sigma", "tau", "upsilon", "phi", "chi", "psi",
        "omega",
    ];
    let capital = match letter {
        'Γ' => "Gamma",
        'Δ' => "Delta",
        'Θ' => "Theta",
        'Λ' => "Lambda",
        'Ξ' => "Xi",
        'Π' => "Pi",
        'Σ' => "Sigma",
        'Φ' => "Phi",
        'Ψ' => "Psi",
        'Ω' => "Omega",
        _ => "",
    };
    let small = (letter as usize).checked_sub('α' as usize).and_then(|at| SMALL.get(at)).copied();
    small.or(Some(capital)).filter(|name| !name.is_empty())
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

    #[test]
    fn what_is_written_into_a_tex_file_compiles() {
        assert_eq!(latex("≥ δ ∞ ρκ†"), "$\\ge$ $\\delta$ $\\infty$ $\\rho$$\\kappa$$\\dagger$");
        assert_eq!(latex("é 漢\u{7}"), "é ? ");
        assert_eq!((latex_letter('ο'), latex_letter('ω')), (None, Some("$\\omega$".to_owned())));
        let mut table = Table::new("a\nb".to_owned(), vec!["c\r\nd".to_owned()]);
        table.column("", "n\nm", &[1], |_| "x\ny".to_owned());
        let text = table.latex();
        let head: Vec<&str> = text.lines().take_while(|line| !line.starts_with("\\begin")).collect();
        assert!(head.iter().all(|line| line.starts_with('%')) && !text.contains('\r'), "{text}");
        assert!(text.contains("n m \\\\\n") && table.markdown().contains("| x y |\n"), "{text}");
    }
}
