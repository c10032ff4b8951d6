//! SDPA sparse files of max-cut shape: maximise `<F_0, X>` subject to `<F_i, X>` = 1 and X positive
//! semidefinite, where `F_i` has the single entry (i, i) = 1, so that `X_ii` = 1, and `F_0` = L/4.
//!
//! The sign is as in SDPLIB: maximising `<F_0, X>` is SDPA's dual problem, so `F_0` is L/4 itself and not
//! its negative.

use super::decimal::Decimal;
use super::enclosed::{Enclosed, Triplets};
use super::error::ParseError;
use super::problem::{LineProblem, MaxCutProblem};
use super::text::{Fields, numbered_lines};
use crate::linalg::matrix::MatrixError;
use crate::memory::MemoryLimit;

/// How far the rows of a Laplacian written in decimals may be from summing to zero, relative to the sum of
/// their absolute values: files with five significant digits pass.
const ROW_SUM_TOLERANCE: f64 = 1e-4;

/// Whether the file starts with two lines of one integer each (text may follow), after any comments.
pub(super) fn recognises(text: &str) -> bool {
    let mut lines = content_lines(text).map(|(_, line)| {
        let mut fields = fields(line).map(|field| field.parse::<i64>().is_ok());
        fields.next() == Some(true) && fields.next() != Some(true)
    });
    (lines.next(), lines.next()) == (Some(true), Some(true))
}

/// L/4, both triangles; entries are stored as the file has them.
pub(super) fn parse(text: &str, memory: MemoryLimit) -> Result<Enclosed, ParseError> {
    let mut lines = content_lines(text);
    let size = size(&mut lines)?;
    let mut last_line = right_hand_side(&mut lines, size)?;

    // As many right-hand sides were in the file, so a list of this length is no longer than the file.
    let mut constrained = vec![false; size];
    let mut objective = Vec::new();
    for (number, line) in lines {
        last_line = number;
        let mut fields = Fields::new(number, fields(line));
        let not_max_cut = |why| ParseError::NotMaxCut { line: number, why };
        let matrix = fields.count("the matrix number")?;
        if matrix > size {
            let field = "the matrix number";
            return Err(fields.error(LineProblem::IndexOutOfRange { field, index: matrix, max: size }));
        }
        let block = fields.count("the block number")?;
        if block != 1 {
            return Err(not_max_cut(MaxCutProblem::Block { block }));
        }
        let i = fields.index("the row", size)?;
        let j = fields.index("the column", size)?;
        let value = fields.real("the value")?;
        fields.end()?;
        // As the file counts, from 1.
        let (row, column) = (i + 1, j + 1);
        if matrix == 0 {
            if i > j {
                return Err(fields.error(LineProblem::WrongTriangle { row, column }));
            }
            objective.push(Entry { i, j, value, line: number });
        } else if (row, column) != (matrix, matrix) || !is_one(&value) {
            let value = value.nearest;
            return Err(not_max_cut(MaxCutProblem::Constraint { constraint: matrix, row, column, value }));
        } else if std::mem::replace(&mut constrained[i], true) {
            return Err(fields.error(LineProblem::Repeated { row, column }));
        }
    }
    if let Some(missing) = constrained.iter().position(|present| !present) {
        let why = MaxCutProblem::MissingConstraint { constraint: missing + 1 };
        return Err(ParseError::NotMaxCut { line: last_line, why });
    }
    quarter_laplacian(size, objective, memory)
}

/// An entry of the objective in its upper triangle, indices from 0, line number from 1.
struct Entry {
    i: usize,
    j: usize,
    value: Decimal,
    line: usize,
}

fn is_one(value: &Decimal) -> bool {
    *value == Decimal::exact(1.0)
}

/// The three lines with the number of constraints, the number of blocks, and the size of the block.
fn size<'a>(lines: &mut impl Iterator<Item = (usize, &'a str)>) -> Result<usize, ParseError> {
    let constraints = {
        let (number, line) = header_line(lines, 0)?;
        Fields::new(number, fields(line)).count("the number of constraints")?
    };
    let (number, line) = header_line(lines, 1)?;
    let found = signed(number, line, "the number of blocks")?;
    if found != 1 {
        return Err(ParseError::NotMaxCut { line: number, why: MaxCutProblem::BlockCount { found } });
    }
    let (number, line) = header_line(lines, 2)?;
    let size = signed(number, line, "the size of the block")?;
    if usize::try_from(size) != Ok(constraints) {
        return Err(ParseError::NotMaxCut {
            line: number,
            why: MaxCutProblem::BlockSize { size, constraints },
        });
    }
    if constraints == 0 {
        return Err(MatrixError::Empty { rows: 0, columns: 0 }.into());
    }
    Ok(constraints)
}

/// The numbers 1, one per constraint, on as many lines as they take. Returns the number of the last line.
fn right_hand_side<'a>(
    lines: &mut impl Iterator<Item = (usize, &'a str)>,
    constraints: usize,
) -> Result<usize, ParseError> {
    let mut found = 0;
    loop {
        let (number, line) = lines.next().ok_or(ParseError::TooFew {
            what: "right-hand sides",
            expected: constraints,
            found,
        })?;
        let mut fields = Fields::new(number, fields(line));
        while found < constraints {
            let Some(value) = fields.optional_real()? else { break };
            found += 1;
            if !is_one(&value) {
                let value = value.nearest;
                let why = MaxCutProblem::RightHandSide { constraint: found, value };
                return Err(ParseError::NotMaxCut { line: number, why });
            }
        }
        if found == constraints {
            fields.end()?;
            return Ok(number);
        }
    }
}

fn quarter_laplacian(
    size: usize,
    mut entries: Vec<Entry>,
    memory: MemoryLimit,
) -> Result<Enclosed, ParseError> {
    // Stable, so that of repeated entries the later line is the one reported.
    entries.sort_by_key(|entry| (entry.i, entry.j));
    // Solvers disagree on whether repeated entries add up or replace each other.
    for pair in entries.windows(2) {
        let (first, second) = (&pair[0], &pair[1]);
        if (first.i, first.j) == (second.i, second.j) {
            let problem = LineProblem::Repeated { row: second.i + 1, column: second.j + 1 };
            return Err(ParseError::Line { number: second.line, problem });
        }
    }
    let mut rows = vec![RowSum::default(); size];
    let mut triplets = Triplets::new(memory);
    for &Entry { i, j, value, line } in &entries {
        rows[i].add(value.nearest, line);
        triplets.add(i, j, &value, 1.0)?;
        if i != j {
            rows[j].add(value.nearest, line);
            triplets.add(j, i, &value, 1.0)?;
        }
    }
    for (i, row) in rows.iter().enumerate() {
        if row.sum.abs() > ROW_SUM_TOLERANCE * row.absolute {
            let why = MaxCutProblem::RowSum { row: i + 1, sum: row.sum };
            return Err(ParseError::NotMaxCut { line: row.last_line, why });
        }
    }
    triplets.finish(size, size, 1.0)
}

#[derive(Clone, Default)]
struct RowSum {
    sum: f64,
    absolute: f64,
    last_line: usize,
}

impl RowSum {
    fn add(&mut self, value: f64, line: usize) {
        self.sum += value;
        self.absolute += value.abs();
        self.last_line = self.last_line.max(line);
    }
}

/// The numbered lines after the comments, which come first and start with `"` or `*`.
fn content_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    numbered_lines(text).skip_while(|(_, line)| line.trim_ascii_start().starts_with(['"', '*']))
}

/// The fields of a line: SDPA counts commas, parentheses and braces as blanks.
fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split([' ', '\t', '\r', ',', '(', ')', '{', '}']).filter(|field| !field.is_empty())
}

fn header_line<'a>(
    lines: &mut impl Iterator<Item = (usize, &'a str)>,
    found: usize,
) -> Result<(usize, &'a str), ParseError> {
    lines.next().ok_or(ParseError::TooFew { what: "header lines", expected: 3, found })
}

/// The first field of a line as an integer; what follows it is comment.
fn signed(number: usize, line: &str, field: &'static str) -> Result<i64, ParseError> {
    let text = fields(line)
        .next()
        .ok_or(ParseError::Line { number, problem: LineProblem::MissingField { field } })?;
    text.parse().map_err(|_| ParseError::Line {
        number,
        problem: LineProblem::NotAnInteger { text: super::text::clip(text) },
    })
}
