//! Tables in 80 columns of a terminal.
//!
//! Columns that do not fit go into further blocks below, each with the first columns again, and columns of one group
//! stay together if they can. Headings are wrapped between words. Numbers are never broken.

use super::columns::{Table, one_line};
use crate::text::COLUMNS;
use crate::text::wrapped;

/// Between columns.
const SPACE: usize = 2;
/// Headings up to this long are not wrapped.
const HEADING: usize = 12;
/// The columns that every block repeats are at most this wide: longer names are wrapped, longer words cut in the middle.
const KEYS: usize = 48;
/// Names are made narrower, down to this, if the table then fits without further blocks.
const LEAST: usize = 20;

/// A column as text.
struct Laid {
    group: String,
    heading: Vec<String>,
    /// Lines of each cell; a number has one.
    cells: Vec<Vec<String>>,
    words: bool,
    width: usize,
}

impl Table {
    /// Caption, blocks of columns, notes; no line is longer than 80 columns unless a single cell is.
    pub fn terminal(&self) -> String {
        let mut columns = self.laid();
        let keys = match columns.iter().take_while(|column| column.words).count() {
            0 => 1.min(columns.len()),
            words => words,
        };
        let rest = columns.split_off(keys);
        let over = (width(&columns) + SPACE + width(&rest)).saturating_sub(COLUMNS);
        match width(&columns).checked_sub(over) {
            Some(fitting) if fitting >= LEAST => narrow(&mut columns, fitting),
            _ => narrow(&mut columns, KEYS),
        }
        let room = COLUMNS.saturating_sub(width(&columns));
        let blocks = blocks(rest, room);
        let texts: Vec<String> = blocks.iter().map(|block| lines(&columns, block, self.rows.len())).collect();
        let mut parts = vec![wrapped(&one_line(&self.caption), 2), texts.join("\n\n")];
        if texts.len() > 1 && !self.notes.is_empty() {
            parts.push(String::new());
        }
        parts.extend(self.notes.iter().map(|note| wrapped(&one_line(note), 2)));
        parts.join("\n") + "\n"
    }

    fn laid(&self) -> Vec<Laid> {
        let lay = |(at, column): (usize, &super::columns::Column)| {
            let mut cells: Vec<String> = self.rows.iter().map(|row| one_line(&row[at])).collect();
            // A star stands beside its number: cells without one leave room for it.
            if !column.words && cells.iter().any(|cell| cell.ends_with('*')) {
                cells.iter_mut().filter(|cell| !cell.ends_with('*')).for_each(|cell| cell.push(' '));
            }
            let widest = cells.iter().map(|cell| count(cell)).max().unwrap_or(0);
            let heading = heading(&one_line(&column.heading), widest.max(HEADING));
            let width = heading.iter().map(|line| count(line)).max().unwrap_or(0).max(widest);
            let cells = cells.into_iter().map(|cell| vec![cell]).collect();
            Laid { group: one_line(&column.group), heading, cells, words: column.words, width }
        };
        self.columns.iter().enumerate().map(lay).collect()
    }
}

fn count(text: &str) -> usize {
    text.chars().count()
}

/// Of columns side by side.
fn width(columns: &[Laid]) -> usize {
    columns.iter().map(|column| column.width).sum::<usize>() + SPACE * columns.len().saturating_sub(1)
}

/// A heading in lines of at most `most` letters, unless a word is longer.
fn heading(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if count(line) + 1 + count(word) <= most => *line = format!("{line} {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Wraps the longest names until the columns fit.
fn narrow(columns: &mut [Laid], most: usize) {
    while width(columns) > most {
        let Some(widest) = columns.iter_mut().max_by_key(|column| column.width) else { return };
        if widest.width <= HEADING {
            return;
        }
        widest.width -= 1;
        let most = widest.width;
        for cell in &mut widest.cells {
            let words: Vec<String> = cell.join(" ").split(' ').map(|word| shortened(word, most)).collect();
            *cell = heading(&words.join(" "), most);
        }
    }
}

/// A word of at most `most` letters, cut in the middle.
fn shortened(word: &str, most: usize) -> String {
    let letters: Vec<char> = word.chars().collect();
    if letters.len() <= most {
        return word.to_owned();
    }
    let letters: Vec<char> = letters.into_iter().filter(|letter| *letter != '…').collect();
    let (kept, end) = (most - 1, (most - 1) / 2);
    [&letters[..kept - end], &['…'], &letters[letters.len() - end..]].concat().iter().collect()
}

/// Columns in blocks that fit, groups whole if they can be.
fn blocks(columns: Vec<Laid>, room: usize) -> Vec<Vec<Laid>> {
    let mut units: Vec<Vec<Laid>> = Vec::new();
    for column in columns {
        match units.last_mut() {
            Some(unit) if !column.group.is_empty() && unit[0].group == column.group => unit.push(column),
            _ => units.push(vec![column]),
        }
    }
    let taken = |columns: &[Laid]| columns.iter().map(|column| column.width + SPACE).sum::<usize>();
    let mut blocks: Vec<Vec<Laid>> = Vec::new();
    for mut unit in units {
        // A heading of a group that is wider than its columns.
        let missing = count(&unit[0].group).saturating_sub(width(&unit));
        if let Some(last) = unit.last_mut() {
            last.width += missing.min(room.saturating_sub(last.width));
        }
        match blocks.last_mut() {
            Some(block) if taken(block) + taken(&unit) <= room => block.extend(unit),
            _ if taken(&unit) <= room => blocks.push(unit),
            _ => {
                for column in unit {
                    match blocks.last_mut() {
                        Some(block) if taken(block) + column.width + SPACE <= room => block.push(column),
                        _ => blocks.push(vec![column]),
                    }
                }
            }
        }
    }
    if blocks.is_empty() { vec![Vec::new()] } else { blocks }
}

/// A block with the columns it repeats.
fn lines(keys: &[Laid], block: &[Laid], rows: usize) -> String {
    let all = || keys.iter().chain(block);
    let line = |cell: &dyn Fn(&Laid) -> String| {
        let cells = all().map(|column| {
            let (text, width) = (cell(column), column.width);
            if column.words { format!("{text:<width$}") } else { format!("{text:>width$}") }
        });
        cells.collect::<Vec<_>>().join(&" ".repeat(SPACE)).trim_end().to_owned()
    };
    let mut lines = Vec::new();
    if block.iter().any(|column| !column.group.is_empty()) {
        lines.push(groups(keys, block));
    }
    let high = all().map(|column| column.heading.len()).max().unwrap_or(0);
    for at in 0..high {
        lines.push(line(&|column| {
            let above = high - column.heading.len(); // headings end on one line
            at.checked_sub(above).map_or(String::new(), |at| column.heading[at].clone())
        }));
    }
    for row in 0..rows {
        let high = all().map(|column| column.cells[row].len()).max().unwrap_or(0);
        lines.extend(
            (0..high).map(|at| line(&|column| column.cells[row].get(at).cloned().unwrap_or_default())),
        );
    }
    lines.join("\n")
}

/// The names of groups, each in the middle over its columns.
fn groups(keys: &[Laid], block: &[Laid]) -> String {
    let mut text = " ".repeat(width(keys));
    for group in block.chunk_by(|a, b| a.group == b.group && !a.group.is_empty()) {
        let (name, wide) = (&group[0].group, width(group));
        let rule = wide.saturating_sub(count(name) + 2);
        let name = match name.as_str() {
            "" => " ".repeat(wide),
            name if rule < 2 => format!("{name:^wide$}"),
            name => format!("{} {name} {}", "-".repeat(rule / 2), "-".repeat(rule - rule / 2)),
        };
        text.push_str(&" ".repeat(SPACE));
        text.push_str(&name);
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: usize) -> Table {
        let rows: Vec<usize> = (0..3).collect();
        let mut table = Table::new("A caption".to_owned(), vec!["note ".repeat(40).trim_end().to_owned()]);
        table.words("method", &rows, |row| format!("method {row}"));
        for at in 0..columns {
            let group = if at % 3 == 0 { String::new() } else { format!("group {}", at / 3) };
            table.column(&group, &format!("column {at} with words"), &rows, |row| {
                format!("{}.{row}25", 1000 + at)
            });
        }
        table
    }

    #[test]
    fn a_wide_table_is_stacked_and_keeps_every_cell() {
        for columns in [0, 1, 5, 6, 13, 40] {
            let text = table(columns).terminal();
            assert!(text.lines().all(|line| count(line) <= COLUMNS), "{text}");
            for (at, row) in (0..columns).flat_map(|at| (0..3).map(move |row| (at, row))) {
                let cell = format!("{}.{row}25", 1000 + at);
                let holder: Vec<&str> =
                    text.lines().filter(|line| line.split_whitespace().any(|word| word == cell)).collect();
                assert_eq!(holder.len(), 1, "{cell} in {text}");
                assert!(holder[0].starts_with(&format!("method {row}")), "{text}");
            }
        }
        assert_eq!(table(3).terminal().matches("method 0").count(), 1, "a narrow one is one block");
    }

    #[test]
    fn names_give_way_if_the_table_then_fits() {
        let rows = ["cifar10_resnet50_votes_of_a_run_somewhere"];
        let mut table = Table::new(String::new(), Vec::new());
        table.words("log", &rows, str::to_owned);
        (0..6).for_each(|at| table.column("", &format!("r = {at}"), &rows, |_| "0.125".to_owned()));
        let text = table.terminal();
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.lines().any(|line| count(line) == COLUMNS), "{text}");
    }

    #[test]
    fn long_names_are_wrapped_and_long_words_cut_in_the_middle() {
        let stacked = |name: &'static str| {
            let mut table = Table::new(String::new(), Vec::new());
            table.words("log", &[name], str::to_owned);
            (0..9).for_each(|at| table.column("", &format!("r = {at}"), &[name], |_| "0.125".to_owned()));
            let text = table.terminal();
            assert!(text.lines().all(|line| count(line) <= COLUMNS), "{text}");
            text
        };
        let text = stacked("runs/of/a/very/long/path/that/does/not/end/soon/at/all/sigma_0.25");
        let line = text.lines().last().expect("a row");
        assert!(line.starts_with("runs/of/a/very") && line.contains('…'), "{text}");
        assert!(line.contains("sigma_0.25"), "{text}");
        let name = "a method with a name of many words that does not fit into a line of this table";
        let text = stacked(name);
        assert!(!text.contains('…'), "{text}");
        let block = text.split("\n\n").next().expect("a block");
        let words: Vec<&str> = block.lines().skip(2).flat_map(str::split_whitespace).collect();
        let words: Vec<&str> = words.into_iter().filter(|word| *word != "0.125").collect();
        assert_eq!(words.join(" "), name, "{text}");
        assert!(text.lines().any(|line| line.starts_with("a method") && line.ends_with("0.125")), "{text}");
    }
}
