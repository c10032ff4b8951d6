//! Matrix Market files: coordinate (sparse) and array (dense) matrices of real numbers.
//!
//! Symmetric and skew-symmetric files hold the lower triangle and are expanded to both. Entries at one place add up,
//! exactly.

use super::decimal::Decimal;
use super::enclosed::{Enclosed, Triplets, make_room, total};
use super::error::ParseError;
use super::limits::check_sparse_size;
use super::problem::{BannerProblem, LineProblem};
use super::text::{Fields, clip, numbered_lines};
use crate::linalg::matrix::{DenseMatrix, MatrixError, zeros};
use crate::memory::MemoryLimit;

/// How every Matrix Market file starts, in any case.
pub(super) const BANNER: &str = "%%MatrixMarket";

#[derive(Clone, Copy)]
enum Field {
    Real,
    Integer,
    /// Positions only; every value is 1.
    Pattern,
}

#[derive(Clone, Copy, PartialEq)]
enum Symmetry {
    General,
    Symmetric,
    /// The diagonal is zero and not stored.
    Skew,
}

/// The words of the first line.
struct Banner {
    coordinate: bool,
    field: Field,
    symmetry: Symmetry,
}

/// The matrix, sparse from the coordinate format and dense from the array format.
pub(super) fn parse(text: &str, memory: MemoryLimit) -> Result<Enclosed, ParseError> {
    let banner =
        Banner::parse(text.lines().next().unwrap_or("")).map_err(|problem| ParseError::Banner { problem })?;
    // The banner is a comment line as well.
    let mut lines = numbered_lines(text).filter(|(_, line)| !line.trim_ascii_start().starts_with('%'));
    let (number, line) =
        lines.next().ok_or(ParseError::TooFew { what: "size lines", expected: 1, found: 0 })?;
    let mut fields = Fields::new(number, line.split_ascii_whitespace());
    let rows = fields.count("the number of rows")?;
    let columns = fields.count("the number of columns")?;
    if banner.symmetry != Symmetry::General && rows != columns {
        return Err(fields.error(LineProblem::NotSquare { rows, columns }));
    }
    if rows == 0 || columns == 0 {
        return Err(MatrixError::Empty { rows, columns }.into());
    }
    if banner.coordinate {
        let count = fields.count("the number of entries")?;
        fields.end()?;
        check_sparse_size(rows, columns, text.len())?;
        banner.coordinate_matrix(lines, (rows, columns), count, memory)
    } else {
        fields.end()?;
        banner.array_matrix(lines, (rows, columns), text.len(), memory)
    }
}

impl Banner {
    fn parse(line: &str) -> Result<Self, BannerProblem> {
        let mut words = line.get(BANNER.len()..).unwrap_or("").split_ascii_whitespace();
        let mut next = |word| {
            let text = words.next().ok_or(BannerProblem::Missing { word })?;
            Ok::<_, BannerProblem>(text.to_ascii_lowercase())
        };
        let unsupported = |word, text: &str, supported| {
            Err(BannerProblem::Unsupported { word, text: clip(text), supported })
        };
        match next("the object")?.as_str() {
            "matrix" => {}
            other => return unsupported("object", other, "matrix"),
        }
        let coordinate = match next("the format")?.as_str() {
            "coordinate" => true,
            "array" => false,
            other => return unsupported("format", other, "coordinate, array"),
        };
        let field = match next("the field")?.as_str() {
            "real" | "double" => Field::Real,
            "integer" => Field::Integer,
            "pattern" => Field::Pattern,
            other => return unsupported("field", other, "real, integer, pattern"),
        };
        let symmetry = match next("the symmetry")?.as_str() {
            "general" => Symmetry::General,
            "symmetric" => Symmetry::Symmetric,
            "skew-symmetric" => Symmetry::Skew,
            other => return unsupported("symmetry", other, "general, symmetric, skew-symmetric"),
        };
        match (coordinate, field, symmetry) {
            (false, Field::Pattern, _) => {
                Err(BannerProblem::Contradiction { first: "array", second: "pattern" })
            }
            (_, Field::Pattern, Symmetry::Skew) => {
                Err(BannerProblem::Contradiction { first: "pattern", second: "skew-symmetric" })
            }
            _ => Ok(Self { coordinate, field, symmetry }),
        }
    }

    /// Lines `row column value`; entries at one place add up.
    fn coordinate_matrix<'a>(
        &self,
        lines: impl Iterator<Item = (usize, &'a str)>,
        (rows, columns): (usize, usize),
        count: usize,
        memory: MemoryLimit,
    ) -> Result<Enclosed, ParseError> {
        let mut triplets = Triplets::new(memory);
        let mut found = 0;
        for (number, line) in lines {
            let mut fields = Fields::new(number, line.split_ascii_whitespace());
            if found == count {
                return Err(fields.error(LineProblem::TooMany { what: "entries", announced: count }));
            }
            let row = fields.index("the row", rows)?;
            let column = fields.index("the column", columns)?;
            let value = self.value(&mut fields)?;
            fields.end()?;
            let stored = match self.symmetry {
                Symmetry::General => true,
                Symmetry::Symmetric => row >= column,
                Symmetry::Skew => row > column,
            };
            if !stored {
                return Err(fields.error(LineProblem::WrongTriangle { row: row + 1, column: column + 1 }));
            }
            triplets.add(row, column, &value, 1.0)?;
            if row != column && self.symmetry != Symmetry::General {
                triplets.add(column, row, &value, self.mirrored(1.0))?;
            }
            found += 1;
        }
        if found < count {
            return Err(ParseError::TooFew { what: "entries", expected: count, found });
        }
        triplets.finish(rows, columns, 1.0)
    }

    /// One value per line, column after column; of a symmetric matrix the lower triangle only.
    fn array_matrix<'a>(
        &self,
        lines: impl Iterator<Item = (usize, &'a str)>,
        (rows, columns): (usize, usize),
        bytes: usize,
        memory: MemoryLimit,
    ) -> Result<Enclosed, ParseError> {
        let area = rows
            .checked_mul(columns)
            .ok_or(ParseError::SizeTooLarge { size: rows.max(columns), limit: bytes })?;
        let count = match self.symmetry {
            Symmetry::General => area,
            Symmetry::Symmetric => area / 2 + rows / 2 + rows % 2,
            Symmetry::Skew => (area - rows) / 2,
        };
        let mut values = Vec::new();
        // Symmetric entries stand for two; counting all of them twice is no loss.
        let copies = if self.symmetry == Symmetry::General { 1.0 } else { 2.0 };
        let mut error = 0.0;
        for (number, line) in lines {
            let mut fields = Fields::new(number, line.split_ascii_whitespace());
            if values.len() == count {
                return Err(fields.error(LineProblem::TooMany { what: "entries", announced: count }));
            }
            let value = self.value(&mut fields)?;
            error = total(error, value.distance(), copies);
            make_room(&mut values, memory)?;
            values.push(value.nearest);
            fields.end()?;
        }
        if values.len() < count {
            return Err(ParseError::TooFew { what: "entries", expected: count, found: values.len() });
        }
        if self.symmetry == Symmetry::General {
            // Column by column is row by row of the transpose.
            return Ok(Enclosed::dense(DenseMatrix::new(columns, rows, values)?.transposed(), error));
        }
        let mut entries = zeros(rows, columns, memory)?;
        let mut values = values.into_iter();
        for column in 0..columns {
            let first = if self.symmetry == Symmetry::Skew { column + 1 } else { column };
            for (row, value) in (first..rows).zip(&mut values) {
                entries[column * columns + row] = self.mirrored(value);
                entries[row * columns + column] = value;
            }
        }
        Ok(Enclosed::dense(DenseMatrix::new(rows, columns, entries)?, error))
    }

    fn value<'a>(&self, fields: &mut Fields<impl Iterator<Item = &'a str>>) -> Result<Decimal, ParseError> {
        match self.field {
            Field::Real => fields.real("the value"),
            Field::Integer => fields.integer("the value"),
            Field::Pattern => Ok(Decimal::exact(1.0)),
        }
    }

    /// The entry across the diagonal from a stored one.
    fn mirrored(&self, value: f64) -> f64 {
        if self.symmetry == Symmetry::Skew { -value } else { value }
    }
}
