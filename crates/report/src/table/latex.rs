//! Tables as LaTeX (booktabs).

use super::columns::{Column, Table, one_line};

impl Table {
    /// A `tabular` to be included in a `table` of the reader's own; caption and notes are comments.
    pub fn latex(&self) -> String {
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

/// Text as LaTeX prints it; `?` for a letter that it cannot print.
fn latex(text: &str) -> String {
    one_line(text).chars().map(|letter| latex_letter(letter).unwrap_or_else(|| "?".to_owned())).collect()
}

/// A letter as pdfLaTeX accepts it without further packages; None if it cannot be written.
pub fn latex_letter(letter: char) -> Option<String> {
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
    fn names_are_no_markup() {
        let mut table = Table::new("<b>".to_owned(), vec!["a `b`\u{202e}c".to_owned()]);
        table.words("log", &["<script>`x`\\|"], |name| (*name).to_owned());
        let text = table.markdown();
        assert!(text.starts_with("&lt;b>\n") && text.ends_with("\na \\`b\\` c\n"), "{text}");
        assert!(text.contains("\n| &lt;script>\\`x\\`\\\\\\| |\n"), "{text}");
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
